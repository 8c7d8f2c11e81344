"""Tiles on a GPU: whatever has room in a block's shared memory, the answer is that of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from matrix import seed_of
from test_hops_on_a_gpu import both, bounded, child, go, graph_of, spread

import vgraph as vg
from vgraph.algorithms import bfs, label_components, sssp
from vgraph.runtime.devices.cuda import use

ROOMS = (4096, 150, 16)
"""Bytes for a tile: for all vertices that were asked for, for some, and for one."""
ORDERS = {"unordered": vg.UNORDERED, "delta": vg.delta_stepping(4)}
"""The narrow buckets leave some of what waits in a tile for its next visit."""


@pytest.mark.parametrize(
    ("order", "directed"),
    [("delta", True), *(pytest.param(order, False, marks=pytest.mark.slow) for order in ORDERS)],
)
def test_shortest_paths(order: str, directed: bool) -> None:
    for k, room in enumerate(ROOMS):
        graph = graph_of(k, directed=directed)
        found = go(sssp, graph, "relax", room, seed_of(order, k), tiles=16, order=ORDERS[order])
        np.testing.assert_array_equal(found.dist, vg.run(sssp, graph, device="cpu", source=0).dist)


@pytest.mark.parametrize("directed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_searches(directed: bool) -> None:
    for k, room in enumerate(ROOMS):
        graph = graph_of(k, directed=directed)
        found = go(bfs, graph, "visit", room, k, tiles=16)
        np.testing.assert_array_equal(found.level, vg.run(bfs, graph, device="cpu", source=0).level)
        vg.verify(found, graph)


@pytest.mark.parametrize(
    "operator",
    [both, *(pytest.param(o, marks=pytest.mark.slow) for o in (bounded, child))],
    ids=lambda o: o.name,
)
def test_what_is_written(operator: vg.OperatorDef) -> None:
    graph, algorithm = graph_of(7, directed=True), spread(operator)
    wanted = vg.run(algorithm, graph, device="cpu", source=0)
    for room in ROOMS[:2]:
        found = go(algorithm, graph, operator.name, room, room, tiles=16, order=vg.UNORDERED)
        np.testing.assert_array_equal(found.dist, wanted.dist)
        np.testing.assert_array_equal(found.level, wanted.level)


@pytest.mark.slow
def test_ids_of_64_bits() -> None:
    graph = graph_of(3, directed=True)
    wide = vg.Graph.from_edges(*graph.edges()[:2], num_vertices=graph.num_vertices, id_bits=64)
    for k, room in enumerate(ROOMS):
        found = go(bfs, wide, "visit", room, k, tiles=16)
        np.testing.assert_array_equal(found.level, vg.run(bfs, graph, device="cpu", source=0).level)


def test_the_grid_meets_once() -> None:
    graph = vg.Graph.from_edges(range(99), range(1, 100))
    assert go(bfs, graph, "visit", 4096, 0, tiles=16).stats.rounds == 2  # tiles, and one that claims


def test_no_vertices() -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=0, directed=False)
    given = vg.Schedule().at("lower", tiles=16, order=vg.UNORDERED)
    with use(EmulatedDevice()):
        assert vg.run(label_components, graph, device="cuda", schedule=given).component.size == 0
