"""Betweenness against NetworkX, which counts parallel edges once."""

from __future__ import annotations

import math
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_algorithms_differential import arcs_of, graphs, larger

import vgraph as vg

HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 2}])


def as_networkx(graph: vg.Graph) -> Any:
    g = nx.DiGraph() if graph.directed else nx.Graph()
    g.add_nodes_from(range(graph.num_vertices))
    g.add_edges_from(zip(*(x.tolist() for x in arcs_of(graph)[:2]), strict=True))
    return g


def expected(graph: vg.Graph, sources: list[int] | None, normalized: bool, endpoints: bool) -> np.ndarray:
    g = as_networkx(graph)
    if sources is None:
        found = nx.betweenness_centrality(g, normalized=normalized, endpoints=endpoints)
    else:
        found = nx.betweenness_centrality_subset(g, sources, list(g), normalized=normalized)
    return np.array([found[v] for v in range(len(g))])


def agrees(graph: vg.Graph, sources: list[int] | None = None, **how: Any) -> None:
    params = {"normalized": how.pop("normalized", True), "endpoints": how.pop("endpoints", False)}
    found = vg.run(vg.algorithms.betweenness, graph, sources=sources, **params, **how).centrality
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected(graph, sources, **params), rtol=1e-12, atol=1e-15)


@settings(max_examples=15)
@given(graphs(), st.booleans(), st.booleans(), st.sampled_from([1, 2, 3]))
def test_all_sources(graph: vg.Graph, normalized: bool, endpoints: bool, threads: int) -> None:
    agrees(graph, threads=threads, normalized=normalized, endpoints=endpoints)
    agrees(graph, device="python", normalized=normalized, endpoints=endpoints)


@settings(max_examples=10)
@given(graphs(), st.sets(st.integers(0, 13)), st.booleans(), st.sampled_from([1, 2, 3]))
def test_some_sources(graph: vg.Graph, chosen: set[int], normalized: bool, threads: int) -> None:
    sources = sorted({s % graph.num_vertices for s in chosen})
    agrees(graph, sources, threads=threads, normalized=normalized)


@pytest.mark.parametrize("direction", [None, vg.PUSH, vg.PULL])
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs(directed: bool, threads: int, direction: Any) -> None:
    schedule = None if direction is None else vg.Schedule().at("reach", direction=direction)
    agrees(larger(3, directed, "int32"), [5, 17, 2999], threads=threads, schedule=schedule)


@settings(max_examples=10)
@given(graphs(), st.sets(st.integers(0, 13)), st.sets(st.integers(0, 13)), st.booleans(), HOW)
def test_some_targets(graph: vg.Graph, begin: set[int], end: set[int], normalized: bool, how: Any) -> None:
    sources, targets = (sorted({v % graph.num_vertices for v in chosen}) for chosen in (begin, end))
    g = as_networkx(graph)
    found = nx.betweenness_centrality_subset(g, sources, targets, normalized=normalized)
    run = vg.run(
        vg.algorithms.betweenness, graph, sources=sources, targets=targets, normalized=normalized, **how
    )
    np.testing.assert_allclose(run.centrality, [found[v] for v in g], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["betweenness", "weighted_betweenness"])
def test_samples(name: str) -> None:
    """A sample of all is all; estimates are those of the sources that were drawn, and right on average."""
    algorithm = getattr(vg.algorithms, name)
    rng = np.random.default_rng(8)
    n = 40
    graph = vg.Graph.from_edges(*rng.integers(0, n, (2, 120)), num_vertices=n, weight=rng.integers(1, 4, 120))
    whole = vg.run(algorithm, graph).centrality
    np.testing.assert_allclose(vg.run(algorithm, graph, samples=n, seed=5).centrality, whole, rtol=1e-12)
    drawn = np.random.default_rng(2).choice(n, 10, replace=False)
    some = vg.run(algorithm, graph, sources=drawn, endpoints=True, normalized=False).centrality
    estimate = vg.run(
        algorithm, graph, samples=10, seed=2, endpoints=True, normalized=False, device="python"
    ).centrality
    np.testing.assert_allclose(estimate, some * (n / 10), rtol=1e-12)
    many = [vg.run(algorithm, graph, samples=10, seed=s).centrality for s in range(200)]
    error = np.std(many, axis=0) / np.sqrt(len(many))
    assert (np.abs(np.mean(many, axis=0) - whole) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("name", ["betweenness", "weighted_betweenness"])
def test_pairs_that_there_are_not(name: str) -> None:
    algorithm = getattr(vg.algorithms, name)
    graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[1, 2])
    for wrong, message in (
        ({"sources": [0], "samples": 1}, "not both"),
        ({"samples": 0}, "from 1 to 3, the number of vertices"),
        ({"samples": 4}, "from 1 to 3, the number of vertices"),
        ({"samples": 1.5}, "no int"),
        ({"targets": [3]}, "from 0 to 2"),
        ({"targets": [-1]}, "from 0 to 2"),
        ({"targets": [0.5]}, "of vertices"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(algorithm, graph, **wrong)


def test_endpoints_are_targets() -> None:
    """Two of the three vertices behind the source: 0 begins two paths, 1 and 2 end one each, 1 lies between too."""
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[1, 1, 1])
    wanted = {"sources": [0], "targets": [1, 2], "endpoints": True, "normalized": False}
    for algorithm in (vg.algorithms.betweenness, vg.algorithms.weighted_betweenness):
        for how in ({}, {"device": "python"}):
            assert vg.run(algorithm, path, **wanted, **how).centrality.tolist() == [2, 2, 1, 0]


def test_sources_may_be_arrays_and_repeat() -> None:
    graph = larger(4, True, "int32")
    run = vg.run(vg.algorithms.betweenness, graph, sources=np.array([7, 7], np.int32)).centrality
    np.testing.assert_allclose(
        run, 2 * vg.run(vg.algorithms.betweenness, graph, sources=[7]).centrality, rtol=1e-12
    )
    with pytest.raises(vg.ParameterError, match="3000"):
        vg.run(vg.algorithms.betweenness, graph, sources=[3000])


def ladder(rungs: int) -> vg.Graph:
    """Diamonds in a row: 2 ** rungs shortest paths from one end to the other."""
    k = np.arange(rungs)
    ends = np.r_[3 * k, 3 * k, 3 * k + 1, 3 * k + 2], np.r_[3 * k + 1, 3 * k + 2, 3 * k + 3, 3 * k + 3]
    return vg.Graph.from_edges(*ends, directed=False)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_path_counts_beyond_float64(device: str) -> None:
    """NetworkX counts in Python's integers; the centrality of a middle vertex is known: half of all pairs across."""
    rungs = 1100
    graph = ladder(rungs)
    centrality = vg.run(
        vg.algorithms.betweenness, graph, device=device, sources=[0], normalized=False
    ).centrality
    joints = np.arange(3 * (rungs - 1), 0, -3)
    behind = 3 * rungs - joints
    np.testing.assert_allclose(centrality[joints], behind / 2, rtol=1e-12)
    np.testing.assert_allclose(centrality[joints + 1], (behind - 2) / 4, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_grid_with_more_paths_than_a_float64_holds(threads: int) -> None:
    """From a corner, C(i + j, i) paths lead to row i, column j; quotients of neighbors are small."""
    side = 530
    assert math.comb(2 * (side - 1), side - 1) > sys.float_info.max
    v = np.arange(side * side).reshape(side, side)
    ends = np.r_[v[:, :-1].ravel(), v[:-1].ravel()], np.r_[v[:, 1:].ravel(), v[1:].ravel()]
    graph = vg.Graph.from_edges(*ends, directed=False)
    run = vg.run(vg.algorithms.betweenness, graph, sources=[0], normalized=False, threads=threads)
    behind = np.zeros((side + 1, side + 1))
    for level in range(2 * side - 2, -1, -1):
        i = np.arange(max(0, level - side + 1), min(side, level + 1))
        j = level - i
        down = np.where(i + 1 < side, (i + 1) / (level + 1) * (1 + behind[i + 1, j]), 0)
        right = np.where(j + 1 < side, (j + 1) / (level + 1) * (1 + behind[i, j + 1]), 0)
        behind[i, j] = down + right
    behind[0, 0] = 0
    np.testing.assert_allclose(2 * run.centrality.reshape(side, side), behind[:side, :side], rtol=1e-10)


def test_counts_are_measured_where_a_bound_is_huge_and_go_on_as_they_are() -> None:
    """One path leads along a line, whatever a bound by edges says: so it is looked at seldom."""
    n = 400
    graph = vg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), num_vertices=n, directed=False)
    run = vg.run(vg.algorithms.betweenness, graph, sources=[0], normalized=False)
    np.testing.assert_array_equal(2 * run.centrality, np.r_[0, np.arange(n - 2, -1, -1)])
    assert 1 <= sum(r.label == "measure" for r in run.trace) < n // 50


def test_counts_that_differ_too_much_are_an_error() -> None:
    """A tail as long as the ladder: one path beside 2 ** 2000 in the same level."""
    rungs = 2000
    first = 3 * rungs + 1
    tail = np.arange(first, first + 2 * rungs)
    base = ladder(rungs)
    s, t, _ = base.edges()
    graph = vg.Graph.from_edges(
        np.r_[s, 0, tail[:-1]], np.r_[t, first, tail[1:]], num_vertices=int(tail[-1]) + 1, directed=False
    )
    with pytest.raises(vg.AlgorithmError, match=r"2 \*\* 1800"):
        vg.run(vg.algorithms.betweenness, graph, sources=[0])
