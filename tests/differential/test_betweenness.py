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


@settings(max_examples=60)
@given(graphs(), st.booleans(), st.booleans(), st.sampled_from([1, 2, 3]))
def test_all_sources(graph: vg.Graph, normalized: bool, endpoints: bool, threads: int) -> None:
    agrees(graph, threads=threads, normalized=normalized, endpoints=endpoints)
    agrees(graph, device="python", normalized=normalized, endpoints=endpoints)


@settings(max_examples=40)
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
