"""Betweenness of edges against NetworkX, there of vertices in the middle of edges where some are parallel."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_algorithms_differential import graphs, larger
from test_betweenness import ladder

import vgraph as vg

HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 3}])


def expected(graph: vg.Graph, sources: list[int], normalized: bool) -> np.ndarray:
    """A vertex in the middle of each edge, so that none are parallel: its betweenness is the edge's."""
    g = nx.DiGraph() if graph.directed else nx.Graph()
    n = graph.num_vertices
    g.add_nodes_from(range(n))
    ends = zip(*(ids.tolist() for ids in graph.edges()[:2]), strict=True)
    for middle, (s, t) in enumerate(ends, n):
        g.add_edges_from([(s, middle), (middle, t)])
    found = nx.betweenness_centrality_subset(g, sources, range(n))
    scale = (1 if graph.directed else 2) / max(1, n * (n - 1)) if normalized else 1
    return np.array([found[v] * scale for v in range(n, len(g))])


def agrees(graph: vg.Graph, sources: list[int] | None = None, normalized: bool = True, **how: Any) -> None:
    """In the order of `edges()`, which is the user's if the graph is made from them."""
    made = vg.Graph.from_edges(*graph.edges()[:2], num_vertices=graph.num_vertices, directed=graph.directed)
    found = vg.run(vg.algorithms.edge_betweenness, made, sources=sources, normalized=normalized, **how)
    assert found.centrality.dtype == np.float64
    every = list(range(graph.num_vertices)) if sources is None else sources
    np.testing.assert_allclose(found.centrality, expected(graph, every, normalized), rtol=1e-12, atol=1e-15)
    vg.verify(found)


@settings(max_examples=25)
@given(graphs(), st.booleans(), HOW)
def test_all_sources(graph: vg.Graph, normalized: bool, how: Any) -> None:
    agrees(graph, normalized=normalized, **how)


@settings(max_examples=15)
@given(graphs(), st.lists(st.integers(0, 13), max_size=4), st.booleans(), HOW)
def test_some_sources(graph: vg.Graph, chosen: list[int], normalized: bool, how: Any) -> None:
    agrees(graph, [s % graph.num_vertices for s in chosen], normalized, **how)


@pytest.mark.parametrize("direction", [None, vg.PUSH, vg.PULL])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs(directed: bool, threads: int, direction: Any) -> None:
    schedule = None if direction is None else vg.Schedule().at("reach", direction=direction)
    agrees(larger(3, directed, "int32"), [5, 17, 2999], threads=threads, schedule=schedule)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"threads": 3}], ids=str)
def test_networkx_in_the_order_of_the_edges(directed: bool, normalized: bool, how: Any) -> None:
    """Two parts and a vertex without edges; simple, but for loops."""
    rng = np.random.default_rng(4)
    ends = np.unique(np.sort(rng.integers(0, 12, (40, 2)), axis=1), axis=0)
    ends = rng.permutation(np.r_[ends, ends + 12], axis=0)
    graph = vg.Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=25, directed=directed)
    found = vg.run(vg.algorithms.edge_betweenness, graph, normalized=normalized, **how).centrality
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(25))
    g.add_edges_from(ends.tolist())
    theirs = nx.edge_betweenness_centrality(g, normalized=normalized)
    wanted = [theirs[s, t] if (s, t) in theirs else theirs[t, s] for s, t in ends.tolist()]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert (found[ends[:, 0] == ends[:, 1]] == 0).all()


@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"threads": 3}], ids=str)
def test_parallel_edges_are_paths_of_their_own(how: Any) -> None:
    """Of three paths from 0 to 3, two lead over 1."""
    graph = vg.Graph.from_edges([2, 0, 1, 0, 0, 3], [3, 1, 3, 2, 1, 3])
    found = vg.run(vg.algorithms.edge_betweenness, graph, normalized=False, **how).centrality
    np.testing.assert_allclose(found, [4 / 3, 5 / 6, 5 / 3, 4 / 3, 5 / 6, 0], rtol=1e-15)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_graphs_without_edges(n: int, directed: bool) -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=n, directed=directed)
    for how in ({"device": "python"}, {}):
        found = vg.run(vg.algorithms.edge_betweenness, graph, **how)
        assert found.centrality.shape == (0,)
        vg.verify(found)


def test_path_counts_beyond_float64() -> None:
    """2 ** 1100 paths: of those to a vertex half lead along each side of a diamond."""
    rungs = 1100
    graph = ladder(rungs)
    graph = vg.Graph.from_edges(*graph.edges()[:2], directed=False)
    found = vg.run(vg.algorithms.edge_betweenness, graph, sources=[0], normalized=False).centrality
    sources, _, _ = graph.edges()
    behind = 3 * (rungs - sources // 3) - 2  # behind the sides of a diamond
    wanted = behind / 2 + (sources % 3 == 0)  # those that lead to a side end there, too
    np.testing.assert_allclose(2 * found, wanted, rtol=1e-12)


def test_counts_that_differ_too_much_are_an_error() -> None:
    """A tail as long as the ladder: one path beside 2 ** 2000 in the same level."""
    rungs = 2000
    tail = np.arange(3 * rungs + 1, 5 * rungs + 1)
    s, t, _ = ladder(rungs).edges()
    graph = vg.Graph.from_edges(np.r_[s, 0, tail[:-1]], np.r_[t, tail], directed=False)
    with pytest.raises(vg.AlgorithmError, match=r"2 \*\* 1800"):
        vg.run(vg.algorithms.edge_betweenness, graph, sources=[0])
