"""Spellings that programs from elsewhere rely on, each as it is promised, on the interpreter and on a CPU."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg

DEVICES = ["python", "cpu"]
SOURCES = np.array([2, 0, 1, 0, 3])
TARGETS = np.array([3, 2, 2, 1, 0])
LENGTHS = np.array([1.0, 5.0, 1.0, 2.0, 1.0])
"""Not in the order of rows: results of edges come back in this one."""


def cycle_with_chord() -> vg.Graph:
    return vg.Graph.from_edges(SOURCES, TARGETS, length=LENGTHS, weight=LENGTHS)


@vg.operator
def add_one(src, edge, dst):
    edge.x += 1
    if src == 0:
        edge.x += 10


@vg.algorithm
def marked_edges(graph):
    x = graph.edge_property(vg.int32, fill=0)
    graph.edge_apply(add_one)
    return x


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.parent = min((dst.dist, dst.parent), (src.dist + edge.weight, src))


@vg.algorithm
def tree(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist, parent


@vg.operator
def draw(v):
    v.number = vg.random(v, 3)


@vg.algorithm
def lots(graph):
    number = graph.vertex_property(vg.float64)
    graph.vertex_apply(draw)
    return number


@vg.operator
def guard(v):
    v.seen = True
    if v.x > 3:
        return
    v.x = -1


@vg.algorithm
def guarded(graph, seeds: vg.array(vg.vertex)):
    x = graph.vertex_property(vg.int32, fill=2)
    seen = graph.vertex_property(vg.bool_)
    x[0] = 4
    graph.vertex_apply(guard, graph.frontier(seeds))
    return x, seen


@vg.operator
def common(v):
    for u in v.out_neighbors:
        v.shared += len(v.out_neighbors & u.out_neighbors)
    for u in v.out_neighbors:
        for w in u.out_neighbors:
            if w in v.neighbors:
                v.closed += 1


@vg.algorithm
def sets(graph):
    shared, closed = graph.vertex_property(vg.int64)
    graph.vertex_apply(common)
    return shared, closed


@vg.operator
def spread(src, edge, dst):
    dst.total += damping * edge.weight  # noqa: F821 (the algorithm's parameter)


@vg.algorithm
def damped(graph, damping=0.5, weight: vg.edge_property(vg.float64) = 1):
    total = graph.vertex_property(vg.float64)
    graph.edge_apply(spread)
    return total


@pytest.mark.parametrize("device", DEVICES)
def test_properties_of_edges_come_in_the_users_order(device: str) -> None:
    result = vg.run(marked_edges, cycle_with_chord(), device=device)
    assert result.x.dtype == np.int32
    assert result.x.tolist() == [1, 11, 1, 11, 1]


@pytest.mark.parametrize("device", DEVICES)
def test_the_value_that_goes_with_the_least(device: str) -> None:
    result = vg.run(tree, cycle_with_chord(), source=0, device=device, max_rounds=100)
    assert result.dist.tolist() == [0, 2, 3, 4]
    assert result.parent.tolist()[1:] == [0, 1, 2]


def test_numbers_are_of_the_seed_and_the_keys() -> None:
    first, again, other = (
        vg.run(lots, cycle_with_chord(), device=device, seed=seed, max_rounds=100).number
        for device, seed in (("python", 7), ("cpu", 7), ("cpu", 8))
    )
    assert first.dtype == np.float64
    assert first.tolist() == again.tolist() != other.tolist()
    assert ((first >= 0) & (first < 1)).all()
    assert len(set(first.tolist())) == 4


@pytest.mark.parametrize("device", DEVICES)
def test_frontiers_of_arrays_and_early_return(device: str) -> None:
    result = vg.run(guarded, cycle_with_chord(), seeds=np.array([0, 3]), device=device)
    assert result.x.tolist() == [4, 2, 2, -1]
    assert result.seen.tolist() == [True, False, False, True]


@pytest.mark.parametrize("device", DEVICES)
def test_sets_of_neighbors(device: str) -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], directed=False)
    result = vg.run(sets, graph, device=device)
    assert result.shared.tolist() == [2, 2, 2, 0]
    assert result.closed.tolist() == [2, 2, 2, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_parameters_in_operators_and_weights_by_name(device: str) -> None:
    graph = cycle_with_chord().with_edge_property("weight", np.full(5, 9.0))
    assert vg.run(damped, graph, device=device).total.tolist() == [0.5, 0.5, 1.0, 0.5]
    result = vg.run(damped, graph, damping=2, weight="length", device=device)
    assert result.total.tolist() == [2.0, 4.0, 12.0, 2.0]


def test_results_of_the_library() -> None:
    directed = cycle_with_chord()
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    both_ways = vg.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    assert vg.run(vg.algorithms.sssp, directed, source=0).parent.tolist()[1:] == [0, 1, 2]
    harmonic = vg.run(vg.algorithms.harmonic_centrality, path).centrality
    assert np.sort(harmonic) == pytest.approx([0, 1, 1.5, 1 + 1 / 2 + 1 / 3])
    between = vg.run(vg.algorithms.edge_betweenness, path).centrality
    assert between == pytest.approx(np.array([3, 4, 3]) / 12)  # of all pairs
    groups = vg.run(vg.algorithms.leiden, both_ways)
    assert groups.community.tolist() == [0, 0, 0, 3, 3, 3]
    assert groups.modularity == pytest.approx(6 / 7 - 0.5)
    assert vg.run(vg.algorithms.topological_order, path).order.tolist() == [0, 1, 2, 3]
