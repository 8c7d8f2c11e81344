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
ORDERS = {"unordered": vg.UNORDERED, "delta": vg.delta_stepping(1)}
"""The narrow buckets leave some of what waits in a tile for its next visit."""


@pytest.mark.parametrize(
    ("order", "directed"),
    [
        ("delta", True),
        ("delta", False),
        *(pytest.param(order, False, marks=pytest.mark.slow) for order in ORDERS if order != "delta"),
    ],
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


@vg.algorithm
def widest(
    graph, source: vg.vertex, kind: vg.vertex_property(vg.int32), wide: vg.vertex_property(vg.float64)
):
    found = graph.vertex_property(vg.float64)
    found[:] = wide
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(spread_wide, frontier)
    return found


@vg.operator
def spread_wide(src, edge, dst):
    """The widest path; of a vertex of some kind nothing goes on."""
    if src.kind != 3:
        dst.found = max(dst.found, min(src.found, edge.weight + dst.kind))


@vg.operator
def mark_near(src, edge, dst):
    """What goes on does not depend on the value, which for who begins is the one that no other is worse than."""
    dst.near = min(dst.near, edge.weight)


@vg.algorithm
def nearest(graph, source: vg.vertex):
    near = graph.vertex_property(vg.int32, fill=vg.inf)
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(mark_near, frontier)
    return near


@pytest.mark.parametrize("seed", range(2))
def test_who_was_not_reached_hands_nothing_on(seed: int) -> None:
    """Values that vertices have from the beginning stay there until they are reached."""
    graph = graph_of(seed, directed=False)
    n = graph.num_vertices
    rng = np.random.default_rng(seed)
    given = {
        "kind": rng.integers(0, 5, n).astype(np.int32),
        "wide": rng.integers(0, 70, n).astype(np.float64),
    }
    given["wide"][0] = (np.inf, -np.inf)[seed]
    wanted = vg.run(widest, graph, device="python", source=0, **given).found
    for k, room in enumerate(ROOMS[:2]):
        found = go(widest, graph, "spread_wide", room, k, tiles=16, order=vg.UNORDERED, arguments=given)
        np.testing.assert_array_equal(found.found, wanted)


@pytest.mark.parametrize("seed", [1])
def test_what_does_not_depend_on_the_value_of_who_begins(seed: int) -> None:
    graph = graph_of(seed, directed=False)
    wanted = vg.run(nearest, graph, device="python", source=0).near
    for k, room in enumerate(ROOMS):
        found = go(nearest, graph, "mark_near", room, k, tiles=16, order=vg.UNORDERED)
        np.testing.assert_array_equal(found.near, wanted)


@pytest.mark.parametrize(
    ("algorithm", "directed", "pulls"), [(sssp, False, True), (sssp, True, False), (bfs, False, True)]
)
def test_vertices_look_at_their_neighbors_where_arcs_lead_both_ways(
    algorithm: vg.AlgorithmDef, directed: bool, pulls: bool
) -> None:
    label = "relax" if algorithm is sssp else "visit"
    schedule = vg.Schedule().at(label, tiles=16, order=vg.delta_stepping(4), direction=vg.PUSH)
    text = str(
        vg.explain(algorithm, graph_of(1, directed=directed), device="cuda", schedule=schedule, source=0)
    )
    assert ("by_pulled_tiles<Min" in text) is pulls
    assert (" by_tiles<" in text) is not pulls
