"""Multi-hop rounds on a GPU: blocks whose queues are so small that they spill give the answer of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from matrix import seed_of

import vgraph as vg
from vgraph.algorithms import bfs, sssp
from vgraph.runtime.devices.cuda import use

ROOMS = (4096, 150, 60)
"""Bytes for the queue of a block: for all vertices, for 4, and for one."""
ORDERS = {"unordered": vg.UNORDERED, "delta": vg.delta_stepping(40)}


def graph_of(seed: int, *, directed: bool) -> vg.Graph:
    """Long paths with some arcs back and to the side."""
    rng = np.random.default_rng(seed)
    n, m = 90, int(rng.integers(90, 250))
    sources = rng.integers(0, n, m)
    targets = (sources + rng.integers(-3, 9, m)) % n
    return vg.Graph.from_edges(
        sources, targets, num_vertices=n, directed=directed, weight=rng.integers(0, 99, m).astype(np.int32)
    )


def go(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, label: str, room: int, seed: int, **options: Any
) -> vg.Result:
    arguments = options.pop("arguments", {})
    if "source" in algorithm.signature.parameters:
        arguments = {"source": 0, **arguments}
    schedule = vg.Schedule().at(label, direction=vg.PUSH, **options)
    with use(EmulatedDevice(multiprocessors=3, block=(32, 64)[seed % 2], shared=room, seed=seed)):
        return vg.run(algorithm, graph, device="cuda", schedule=schedule, **arguments)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_shortest_paths(order: str, directed: bool) -> None:
    for k, room in enumerate(ROOMS):
        graph = graph_of(k, directed=directed)
        found = go(sssp, graph, "relax", room, seed_of(order, k), hops=2 + k, order=ORDERS[order])
        np.testing.assert_array_equal(found.dist, vg.run(sssp, graph, device="cpu", source=0).dist)


@pytest.mark.parametrize("directed", [False, True])
def test_searches(directed: bool) -> None:
    for k, room in enumerate(ROOMS):
        graph = graph_of(k, directed=directed)
        found = go(bfs, graph, "visit", room, k, hops=2 + k)
        np.testing.assert_array_equal(found.level, vg.run(bfs, graph, device="cpu", source=0).level)
        vg.verify(found, graph)


@vg.operator
def both(src, edge, dst):
    """Two minima: what is written does not say which of them changed."""
    dst.dist = min(dst.dist, src.dist + edge.weight)
    dst.level = min(dst.level, src.level + 1)


@vg.operator
def bounded(src, edge, dst):
    """A minimum under a condition."""
    if edge.weight < 60:
        dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def child(src, edge, dst):
    """A word of two values."""
    dst.dist, dst.level = min((dst.dist, dst.level), (src.dist + edge.weight, edge.weight))


def spread(operator: vg.OperatorDef) -> vg.AlgorithmDef:
    """Both properties at the fixpoint of `operator`."""

    @vg.algorithm
    def found(graph, source: vg.vertex):
        dist = graph.vertex_property(vg.int32, fill=vg.inf)
        level = graph.vertex_property(vg.int32, fill=vg.inf)
        dist[source] = 0
        level[source] = 0
        frontier = graph.frontier(source)
        while frontier:
            frontier = graph.edge_apply(operator, frontier)
        return dist, level

    return found


@pytest.mark.parametrize("operator", [both, bounded, child], ids=lambda o: o.name)
def test_what_is_written(operator: vg.OperatorDef) -> None:
    graph, algorithm = graph_of(7, directed=True), spread(operator)
    wanted = vg.run(algorithm, graph, device="cpu", source=0)
    for room in ROOMS[:2]:
        found = go(algorithm, graph, operator.name, room, room, hops=3, order=vg.UNORDERED)
        np.testing.assert_array_equal(found.dist, wanted.dist)
        np.testing.assert_array_equal(found.level, wanted.level)


def test_fewer_rounds_are_made() -> None:
    graph = vg.Graph.from_edges(range(99), range(1, 100))
    rounds = [go(bfs, graph, "visit", 4096, 0, hops=hops).stats.rounds for hops in (1, 9)]
    assert rounds == [100, 12 + 1]  # and one that claims
