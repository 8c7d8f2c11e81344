"""Ordered execution: every order of taking vertices gives the fixpoint that the reference interpreter gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg
from vgraph.compiler.backends.abi import BUCKETS_CELLS
from vgraph.runtime import policy

KINDS = [
    ("int32", vg.STRICT),
    ("uint64", vg.STRICT),
    ("float32", vg.STRICT),
    ("int32", vg.delta_stepping()),
    ("int64", vg.delta_stepping(2**40)),
    ("uint32", vg.delta_stepping(1)),
    ("uint64", vg.delta_stepping(64)),
    ("float32", vg.delta_stepping(0.25)),
    ("float64", vg.delta_stepping(1e-6)),
]  # fmt: skip


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def widen(src, edge, dst):
    dst.width = max(dst.width, min(src.width, edge.weight))


@vg.operator
def lower(src, edge, dst):
    dst.label = min(dst.label, src.label)


@vg.algorithm
def paths(graph, source: vg.vertex):
    dist = graph.vertex_property(graph.weight.dtype, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@vg.algorithm
def widest(graph, source: vg.vertex):
    width = graph.vertex_property(graph.weight.dtype)
    width[source] = vg.inf
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(widen, frontier)
    return width


@vg.operator
def own(v):
    v.label = v.id


@vg.algorithm
def labels(graph):
    label = graph.vertex_property(vg.int64)
    graph.vertex_apply(own)
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(lower, frontier)
    return label


@vg.algorithm
def from_each(graph, sources):
    """The same buckets used again and again."""
    dist = graph.vertex_property(graph.weight.dtype, fill=vg.inf)
    for s in sources:
        dist[s] = 0
        frontier = graph.frontier(s)
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
    return dist


def graph_of(n: int, seed: int, dtype: str, high: int, degree: int = 3, wide: bool = False) -> vg.Graph:
    rng = np.random.default_rng(seed)
    m = degree * n
    weight = rng.integers(0, high, m).astype(dtype)
    if dtype.startswith("float"):
        weight = (weight / 8).astype(dtype)  # eighths: sums are exact
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    bits = 64 if wide else None
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=True, id_bits=bits, weight=weight)


def at(label: str, order: Any, **options: Any) -> vg.Schedule:
    return vg.Schedule().at(label, order=order, **options)


@pytest.mark.parametrize(("dtype", "order"), KINDS)
@settings(max_examples=30)
@given(
    n=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    high=st.sampled_from([2, 50, 10**5]),
    threads=st.sampled_from([1, 2, 3]),
)
def test_every_order_gives_the_interpreters_fixpoint(dtype, order, n, seed, high, threads):
    graph = graph_of(n, seed, dtype, high, wide=dtype == "uint64")
    for algorithm, label, name in ((paths, "relax", "dist"), (widest, "widen", "width")):
        expected = getattr(vg.run(algorithm, graph, device="python", source=0), name)
        found = getattr(vg.run(algorithm, graph, schedule=at(label, order), threads=threads, source=0), name)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.covering(2)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(
    "order", [vg.STRICT, vg.delta_stepping(), vg.delta_stepping(1), vg.delta_stepping(1e9)]
)
@pytest.mark.parametrize("high", [2, 300, 10**6])
def test_distances_of_dijkstra(order, threads, high):
    """Larger graphs, SciPy as a second opinion; with small deltas most vertices lie beyond the circle of buckets."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    graph = graph_of(3000, high + threads, "int64", high, degree=4)
    s, t, rest = graph.edges()
    lightest: dict[tuple[int, int], int] = {}
    for pair, w in zip(zip(s.tolist(), t.tolist(), strict=True), rest["weight"].tolist(), strict=True):
        lightest[pair] = min(w, lightest.get(pair, w))
    rows, columns = np.array(list(lightest)).T
    matrix = coo_array(
        (np.array(list(lightest.values())) + 1e-9, (rows, columns)), shape=(3000, 3000)
    ).tocsr()
    expected = np.round(dijkstra(matrix, indices=7))
    found = vg.run(paths, graph, schedule=at("relax", order), threads=threads, source=7).dist
    reached = np.isfinite(expected)
    np.testing.assert_array_equal(found[reached], expected[reached].astype(np.int64))
    assert (found[~reached] == np.iinfo(np.int64).max).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", [vg.STRICT, vg.delta_stepping(), vg.delta_stepping(7)])
def test_a_frontier_of_all_and_no_weights(order, threads):
    graph = graph_of(5000, 5, "int32", 9, degree=2)
    expected = vg.run(labels, graph, schedule=at("lower", vg.UNORDERED)).label
    np.testing.assert_array_equal(
        vg.run(labels, graph, schedule=at("lower", order), threads=threads).label, expected
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("order", [vg.STRICT, vg.delta_stepping(10)])
def test_buckets_are_used_again(order, threads):
    graph = graph_of(800, 3, "int32", 100)
    sources = [0, 5, 9, 700]
    expected = vg.run(from_each, graph, device="python", sources=sources).dist
    found = vg.run(from_each, graph, schedule=at("relax", order), threads=threads, sources=sources).dist
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("order", [vg.STRICT, vg.delta_stepping(1), vg.delta_stepping(5)])
def test_arcs_that_lower_below_the_bucket_under_way(order, threads):
    """Negative weights without negative cycles: speed suffers, the result does not."""
    n = 400
    rng = np.random.default_rng(1)
    s = rng.integers(0, n - 1, 5 * n)
    t = s + 1 + rng.integers(0, n, 5 * n) % (n - 1 - s)
    graph = vg.Graph.from_edges(s, t, num_vertices=n, directed=True, weight=rng.integers(-50, 50, 5 * n))
    expected = vg.run(paths, graph, device="python", source=0).dist
    found = vg.run(paths, graph, schedule=at("relax", order), threads=threads, source=0).dist
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", [vg.STRICT, vg.delta_stepping(2**31), vg.delta_stepping(1)])
def test_values_near_the_largest(order):
    weight = np.array([2**62, 2**62 - 1, 5, 2**53 + 1])
    graph = vg.Graph.from_edges([0, 1, 0, 3], [1, 2, 3, 1], num_vertices=5, directed=True, weight=weight)
    found = vg.run(paths, graph, schedule=at("relax", order), source=0, threads=2).dist
    assert found.tolist() == [0, 2**53 + 6, 2**53 + 2**62 + 5, 5, 2**63 - 1]


def test_not_a_number_spreads_in_every_order():
    weight = np.array([1.0, np.nan, 2.0, 1.0])
    graph = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], num_vertices=5, directed=True, weight=weight)
    for order in (vg.UNORDERED, vg.STRICT, vg.delta_stepping(0.5)):
        found = vg.run(paths, graph, schedule=at("relax", order), source=0).dist
        np.testing.assert_array_equal(found, [0, 1, np.nan, np.nan, 1])


def test_the_schedule_reports_delta():
    graph = graph_of(1000, 1, "int32", 100, degree=4)
    width = policy.DELTA_FACTOR * graph.edge_properties["weight"].mean() * graph.num_vertices / graph.num_arcs
    result = vg.run(paths, graph, source=0)
    assert result.schedule.labels["relax"].order == vg.delta_stepping(width)
    assert result.trace[0].direction == "delta"
    assert f"order=delta({width})" in str(vg.explain(paths, graph, source=0).schedule)
    assert policy.delta(graph) == 1.0
    again = vg.run(paths, graph, source=0, schedule=result.schedule)
    assert again.schedule == result.schedule
    one = vg.Graph.from_edges([0], [1], num_vertices=2, directed=True, weight=[0])
    assert policy.delta(one, "weight") == 1.0


def test_what_is_ordered_by_default():
    graph = graph_of(50, 1, "int32", 100)
    assert vg.run(paths, graph, source=0).schedule.labels["relax"].order.kind == "delta"
    assert vg.run(labels, graph).schedule.labels["lower"].order == vg.UNORDERED
    bellman = vg.run(vg.algorithms.bellman_ford, graph, source=0)
    assert bellman.schedule.labels["relax"].order == vg.UNORDERED
    pulled = vg.run(paths, graph, source=0, schedule=vg.Schedule().at("relax", direction=vg.PULL))
    assert pulled.schedule.labels["relax"].order == vg.UNORDERED


def test_strict_order_visits_each_vertex_once():
    graph = graph_of(2000, 4, "int64", 1000)
    result = vg.run(paths, graph, source=0, schedule=at("relax", vg.STRICT), threads=2)
    reached = int((result.dist < np.iinfo(np.int64).max).sum())
    assert result.trace[0].direction == "strict"
    assert result.trace[0].frontier == reached
    explained = str(vg.explain(paths, graph, source=0, schedule=at("relax", vg.STRICT), threads=2))
    assert "one thread runs this loop" in explained


def test_rounds_of_buckets_are_few_on_a_path():
    """A bucket's own arcs are followed without a round for each: here all lies in one bucket."""
    n = 3 * BUCKETS_CELLS
    graph = vg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), num_vertices=n, weight=np.ones(n - 1, int))
    result = vg.run(paths, graph, source=0, schedule=at("relax", vg.delta_stepping(10**6)), threads=2)
    assert result.dist.tolist() == list(range(n))
    assert len(result.trace) < 10
