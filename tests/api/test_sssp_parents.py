"""`result.parent` of `sssp`: a tree of shortest paths, found when it is asked for."""

from __future__ import annotations

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest

import vgraph as vg
from vgraph.errors import VerificationError

sssp = vg.algorithms.sssp


def random_graph(dtype: str = "int32", *, least: int = 0, directed: bool = True, seed: int = 1) -> vg.Graph:
    rng = np.random.default_rng(seed)
    s, t, w = rng.integers(0, 80, 300), rng.integers(0, 90, 300), rng.integers(least, 4, 300)
    return vg.Graph.from_edges(s, t, num_vertices=100, directed=directed, weight=w.astype(dtype))


def assert_tree(graph: vg.Graph, result: vg.Result, source: int) -> None:
    dist, parent = result.dist, result.parent
    s = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets))
    weights: dict[tuple[int, int], list[Any]] = {}
    for u, v, x in zip(s, graph.out.column_indices, graph.edge_properties["weight"], strict=True):
        weights.setdefault((int(u), int(v)), []).append(x)
    far = np.inf if dist.dtype.kind == "f" else np.iinfo(dist.dtype).max
    for v in range(graph.num_vertices):
        if dist[v] == far:
            assert parent[v] == -1
            continue
        steps = 0
        while v != source:
            u = int(parent[v])
            assert any(dist[u] + x == dist[v] for x in weights[u, v])
            v, steps = u, steps + 1
            assert steps < graph.num_vertices
    assert parent[source] == source


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_parents_are_a_tree_also_where_weights_are_0(dtype: str, directed: bool) -> None:
    graph = random_graph(dtype, directed=directed)
    result = vg.run(sssp, graph, source=7)
    assert_tree(graph, result, 7)
    vg.verify(result)
    again = vg.run(sssp, graph, source=7, threads=1, device="python" if directed else "cpu")
    np.testing.assert_array_equal(again.parent, result.parent)


def test_the_smallest_of_the_nearer_ones() -> None:
    graph = random_graph("int64", least=1)
    result = vg.run(sssp, graph, source=7)
    s, t, _ = graph.edges()
    whole = nx.MultiDiGraph()
    whole.add_weighted_edges_from(
        zip(s.tolist(), t.tolist(), graph.edge_properties["weight"].tolist(), strict=True)
    )
    before, _ = nx.dijkstra_predecessor_and_distance(whole, 7)
    for v, candidates in before.items():
        assert result.parent[v] == (min(candidates) if candidates else 7)


def test_circles_of_arcs_that_add_nothing() -> None:
    # 5 -> 1, and 1, 2, 3 in circles of length 0; the smallest tight predecessor of 1 is itself one of them
    graph = vg.Graph.from_edges([5, 1, 2, 2, 3, 0, 3], [1, 2, 1, 3, 2, 3, 0], weight=[1.0, 0, 0, 0, 0, 0, 0])
    result = vg.run(sssp, graph, source=5)
    assert result.parent.tolist() == [3, 5, 1, 2, -1, 5]
    large = vg.Graph.from_edges([5, 1, 2, 2], [1, 2, 1, 3], weight=[1e30, 1.0, 1.0, 1.0])  # lost in the sum
    assert vg.run(sssp, large, source=5).parent.tolist() == [-1, 5, 1, 2, -1, 5]


def test_it_is_made_when_it_is_asked_for() -> None:
    result = vg.run(sssp, random_graph(), source=0)  # nobody else has this graph
    assert result.names == ("dist",)
    assert "parent" in dir(result)
    copy = pickle.loads(pickle.dumps(result))
    with pytest.raises(AttributeError, match="no 'parent'; it has dist"):
        _ = copy.parent
    assert result.parent is result.parent
    assert (pickle.loads(pickle.dumps(result)).parent == result.parent).all()


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (7, 3, "the source, with parent 3"),
        (3, -1, "but its parent is -1"),
        (3, 1000, "is no vertex"),
        (99, 0, "but its parent is 0"),
        (3, 3, "no shortest path comes over its parent"),
    ],
)
def test_the_verifier_looks_at_them(at: int, value: int, message: str) -> None:
    graph = random_graph(least=1)
    result = vg.run(sssp, graph, source=7)
    result.parent[at] = value
    with pytest.raises(VerificationError, match=f"vertex {at}: .*{message}"):
        vg.verify(result)


def test_the_verifier_finds_circles() -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 1], weight=[1, 0, 0])
    result = vg.run(sssp, graph, source=0)
    assert result.parent.tolist() == [0, 0, 1]
    result.parent[1] = 2
    with pytest.raises(VerificationError, match="vertex 1: its parents lead in a circle"):
        vg.verify(result)
