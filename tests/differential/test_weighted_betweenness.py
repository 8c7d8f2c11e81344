"""Weighted betweenness and closeness against NetworkX, which takes the lightest of parallel edges."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_algorithms_differential import graphs, larger
from test_betweenness import HOW, ladder

import vgraph as vg

ALGORITHM = vg.algorithms.weighted_betweenness


def positive(graph: vg.Graph) -> vg.Graph:
    """The graph with few different weights, all above 0: paths are often equally short."""
    weight = graph.edge_properties["weight"]
    return graph.with_edge_property("weight", (np.abs(weight) % 3 + 1).astype(weight.dtype))


def as_networkx(graph: vg.Graph) -> Any:
    g = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    g.add_nodes_from(range(graph.num_vertices))
    s, t, properties = graph.edges()
    g.add_weighted_edges_from(zip(s.tolist(), t.tolist(), properties["weight"].tolist(), strict=True))
    return g


def same(found: Any, by_node: dict[int, float]) -> None:
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [by_node[v] for v in range(len(found))], rtol=1e-11, atol=1e-14)


@settings(max_examples=15)
@given(graphs(), st.booleans(), st.booleans(), HOW)
def test_all_pairs(graph: vg.Graph, normalized: bool, endpoints: bool, how: Any) -> None:
    graph = positive(graph)
    which = {"normalized": normalized, "endpoints": endpoints}
    found = vg.run(ALGORITHM, graph, **which, **how)
    same(found.centrality, nx.betweenness_centrality(as_networkx(graph), weight="weight", **which))
    vg.verify(found)


@settings(max_examples=10)
@given(graphs(), st.sets(st.integers(0, 13)), st.sets(st.integers(0, 13)), st.booleans(), HOW)
def test_some_pairs(graph: vg.Graph, begin: set[int], end: set[int], normalized: bool, how: Any) -> None:
    graph = positive(graph)
    sources, targets = (sorted({v % graph.num_vertices for v in chosen}) for chosen in (begin, end))
    found = vg.run(ALGORITHM, graph, sources=sources, targets=targets, normalized=normalized, **how)
    g = as_networkx(graph)
    want = nx.betweenness_centrality_subset(g, sources, targets, normalized=normalized, weight="weight")
    same(found.centrality, want)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_larger_graphs(directed: bool, threads: int, dtype: str) -> None:
    graph = positive(larger(3, directed, dtype))
    found = vg.run(ALGORITHM, graph, sources=[5, 17, 2999], threads=threads)
    g = as_networkx(graph)
    want = nx.betweenness_centrality_subset(g, [5, 17, 2999], list(g), normalized=True, weight="weight")
    same(found.centrality, want)


def test_equal_weights_are_hops() -> None:
    graph = larger(3, False, "int32")
    graph = graph.with_edge_property("weight", np.full(graph.num_arcs, 7))
    hops = vg.run(vg.algorithms.betweenness, graph, sources=[5, 17]).centrality
    np.testing.assert_allclose(vg.run(ALGORITHM, graph, sources=[5, 17]).centrality, hops, rtol=1e-12)


def test_the_lightest_of_parallel_arcs_counts_once() -> None:
    """Two ways from 0 to 3, of length 2 each; the heavy arc and the second light one make no further way."""
    ends = [0, 0, 0, 1, 2, 0], [1, 1, 1, 3, 3, 2]
    for weight, want in (([5, 1, 1, 1, 1, 1], [0.5, 0.5]), ([5, 2, 2, 1, 1, 1], [0, 1])):
        for directed in (True, False):
            graph = vg.Graph.from_edges(*ends, directed=directed, weight=weight)
            found = vg.run(ALGORITHM, graph, sources=[0], targets=[3], normalized=False).centrality
            assert found[1:3].tolist() == [x if directed else x / 2 for x in want]
    again = graph.with_edge_property("weight", graph.edge_properties["weight"] * 2)
    assert (vg.run(ALGORITHM, again).centrality == vg.run(ALGORITHM, graph).centrality).all()


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf])
def test_weights_without_meaning(weight: float) -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[1.0, weight])
    with pytest.raises(vg.ParameterError, match="weight"):
        vg.run(ALGORITHM, graph)


def test_graphs_without_weights() -> None:
    with pytest.raises(vg.ParameterError, match="no edge property"):
        vg.run(ALGORITHM, vg.Graph.from_edges([0, 0], [1, 1]))


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_weights_lost_in_rounding(device: str) -> None:
    """1e20 + 1 is 1e20: 1 and 2 are equally far, and there is no telling which comes first."""
    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=False, weight=[1e20, 1.0])
    with pytest.raises(vg.AlgorithmError, match="rounding"):
        vg.run(ALGORITHM, graph, device=device)
    large = vg.Graph.from_edges([0, 1], [1, 2], weight=np.full(2, 2e38, np.float32))
    with pytest.raises(vg.ParameterError, match="may add up to more"):
        vg.run(ALGORITHM, large, device=device)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_more_paths_than_a_float64_holds(device: str) -> None:
    for rungs in (1000, 1100) if device == "cpu" else (1100,):
        graph = ladder(rungs)
        graph = graph.with_edge_property("weight", np.ones(graph.num_arcs))
        if rungs > 1023:
            with pytest.raises(vg.AlgorithmError, match="float64"):
                vg.run(ALGORITHM, graph, device=device, sources=[0])
            continue
        found = vg.run(ALGORITHM, graph, device=device, sources=[0], normalized=False).centrality
        joints = np.arange(3 * (rungs - 1), 0, -3)
        np.testing.assert_allclose(found[joints], (3 * rungs - joints) / 2, rtol=1e-12)


def test_no_vertices() -> None:
    graph = vg.Graph.from_edges([], [], weight=[])
    assert vg.run(ALGORITHM, graph).centrality.size == 0
    assert vg.run(ALGORITHM, graph, device="python").centrality.size == 0


@settings(max_examples=10)
@given(graphs(), st.sets(st.integers(0, 13)), st.booleans(), HOW)
def test_closeness(graph: vg.Graph, some: set[int], improved: bool, how: Any) -> None:
    """Weights of 0 are lengths, too."""
    weight = graph.edge_properties["weight"]
    graph = graph.with_edge_property("weight", (np.abs(weight) % 3).astype(weight.dtype))
    g = as_networkx(graph)
    found = vg.run(vg.algorithms.weighted_closeness, graph, wf_improved=improved, **how)
    want = nx.closeness_centrality(g, distance="weight", wf_improved=improved)
    same(found.centrality, want)
    vg.verify(found)
    asked = sorted({v % graph.num_vertices for v in some})
    found = vg.run(vg.algorithms.weighted_closeness, graph, vertices=asked, wf_improved=improved, **how)
    same(found.centrality, {v: want[v] if v in asked else 0.0 for v in g})
    vg.verify(found)


def test_lengths_without_meaning() -> None:
    for weight in (-1, np.nan, np.inf):
        graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[1.0, weight])
        with pytest.raises(vg.ParameterError, match="weight"):
            vg.run(vg.algorithms.weighted_closeness, graph)
