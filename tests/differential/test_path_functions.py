"""Functions of the library that run compiled searches: k shortest paths, distances of all pairs in blocks."""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from test_algorithms_differential import graphs
from test_shortest_paths import digraph

import vgraph as vg
from vgraph.algorithms import all_pairs_shortest_paths, k_shortest_paths

HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 3}])


def light(graph: vg.Graph) -> nx.DiGraph:
    """Of parallel arcs the lightest."""
    found = nx.DiGraph()
    found.add_nodes_from(range(graph.num_vertices))
    for u, v, weight in sorted(digraph(graph).edges(data="weight"), key=lambda e: -e[2]):
        found.add_edge(u, v, weight=weight)
    return found


@settings(max_examples=10)
@given(graphs(dtypes=("int32", "float64")), st.integers(0, 6), st.booleans(), HOW)
def test_paths_in_order(graph: vg.Graph, k: int, weighted: bool, how: Any) -> None:
    """All paths of NetworkX that are not longer than the k-th, and each of another length or another way."""
    n = graph.num_vertices
    g, source, target = light(graph), n // 2, n - 1
    every = islice(nx.shortest_simple_paths(g, source, target, "weight" if weighted else None), k)
    try:
        lengths = [nx.path_weight(g, p, "weight") if weighted else len(p) - 1 for p in every]
    except nx.NetworkXNoPath:
        lengths = []
    found = k_shortest_paths(graph, source, target, k, "weight" if weighted else 1, **how)
    assert [path.length for path in found] == lengths
    assert len({tuple(path.vertices.tolist()) for path in found}) == len(found)
    for vertices, length in found:
        assert (vertices[0], vertices[-1]) == (source, target)
        assert nx.is_simple_path(g, vertices.tolist())
        assert length == (nx.path_weight(g, vertices.tolist(), "weight") if weighted else len(vertices) - 1)


def test_all_paths_there_are() -> None:
    """More than enough asked for: every simple path, once, also over arcs of weight 0."""
    rng = np.random.default_rng(2)
    graph = vg.Graph.from_edges(*rng.integers(0, 9, (2, 40)), num_vertices=9, weight=rng.integers(0, 4, 40))
    found = k_shortest_paths(graph, 0, 8, 10_000, graph.edge_properties["weight"])
    assert sorted(path.vertices.tolist() for path in found) == sorted(nx.all_simple_paths(light(graph), 0, 8))
    lengths = [path.length for path in found]
    assert lengths == sorted(lengths)
    assert len(found) > 20


@settings(max_examples=10)
@given(graphs(dtypes=("int32", "float64")), st.booleans(), HOW)
def test_all_pairs(graph: vg.Graph, weighted: bool, how: Any) -> None:
    g = light(graph)
    (block,) = all_pairs_shortest_paths(graph, weighted=weighted, **how)
    assert block.sources.tolist() == list(range(graph.num_vertices))
    want = dict(nx.all_pairs_dijkstra_path_length(g, weight="weight" if weighted else lambda *_: 1))
    far = np.iinfo(block.distances.dtype).max if block.distances.dtype.kind == "i" else np.inf
    for v, row in zip(block.sources.tolist(), block.distances, strict=True):
        expected = dict.fromkeys(g, far if weighted else -1) | want[v]
        assert row.tolist() == [expected[u] for u in g]


@pytest.mark.parametrize("weighted", [True, False])
def test_blocks(weighted: bool) -> None:
    """150 vertices are three blocks; the first is there before the others are asked for."""
    rng = np.random.default_rng(4)
    graph = vg.Graph.from_edges(
        *rng.integers(0, 150, (2, 400)),
        num_vertices=150,
        multi_edges="min",
        weight=rng.integers(1, 9, 400) / 4,
    )
    values = graph.edge_properties["weight"]
    matrix = csr_array((values, graph.out.column_indices, graph.out.row_offsets), shape=(150, 150))
    want = dijkstra(matrix, unweighted=not weighted)
    blocks = all_pairs_shortest_paths(graph, weighted=weighted)
    for first, count in ((0, 64), (64, 64), (128, 22)):
        sources, distances = next(blocks)
        assert sources.tolist() == list(range(first, first + count))
        assert distances.dtype == (np.float64 if weighted else np.int32)
        assert (np.where(distances < 0, np.inf, distances) == want[sources]).all()
    assert next(blocks, None) is None


def test_what_is_small_or_refused() -> None:
    empty = vg.Graph.from_edges([], [], num_vertices=0, weight=np.zeros(0))
    assert list(all_pairs_shortest_paths(empty)) == list(all_pairs_shortest_paths(empty, weighted=True)) == []
    alone = vg.Graph.from_edges([], [], num_vertices=2)
    assert [d.tolist() for _, d in all_pairs_shortest_paths(alone)] == [[[0, -1], [-1, 0]]]
    assert [(p.vertices.tolist(), p.length) for p in k_shortest_paths(alone, 1, 1, 3)] == [([1], 0.0)]
    assert k_shortest_paths(alone, 0, 1, 3) == []
    for weight, words in (
        ([1.0, np.nan], "not finite"),
        ([1, -1], "negative"),
        ([1e308, 1e308], "may add up"),
    ):
        graph = vg.Graph.from_edges([0, 1], [1, 2], weight=weight)
        with pytest.raises(vg.ParameterError, match=words):
            all_pairs_shortest_paths(graph, weighted=True)
        with pytest.raises(vg.ParameterError, match=words):
            k_shortest_paths(graph, 0, 2, 3, "weight")
    for k in (-1, 1.5, True):
        with pytest.raises(vg.ParameterError, match="k="):
            k_shortest_paths(alone, 0, 1, k)
    with pytest.raises(vg.ParameterError, match="target"):
        k_shortest_paths(alone, 0, 2, 1)
    with pytest.raises(vg.ParameterError, match="no such edge property"):
        k_shortest_paths(alone, 0, 1, 1, "weight")
    with pytest.raises(vg.ParameterError, match="no edge property"):
        all_pairs_shortest_paths(alone, weighted=True)
