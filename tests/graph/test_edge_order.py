"""The numbers of edges, and results of edges in the order in which a caller gave them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from vgraph.errors import GraphError
from vgraph.graph import Graph


def variants(graph: Graph) -> Iterator[Graph]:
    """The graph, with its vertices in another order, and copies of both."""
    yield graph
    yield graph.relabelled("degree").graph
    yield pickle.loads(pickle.dumps(graph))
    yield pickle.loads(pickle.dumps(graph.relabelled("degree").graph))


def first_of(s: Any, t: Any, directed: bool) -> list[int]:
    """For each edge the first of those that are parallel to it."""
    seen: dict[tuple[int, int], int] = {}
    pairs = zip(s.tolist(), t.tolist(), strict=True)
    keys = [p if directed else (min(p), max(p)) for p in pairs]
    return [seen.setdefault(key, i) for i, key in enumerate(keys)]


@pytest.mark.parametrize("multi_edges", [True, False, "min"])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_numbers_and_order(directed: bool, self_loops: bool, multi_edges: Any) -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        n, m = int(rng.integers(1, 8)), int(rng.integers(0, 20))
        s, t = rng.integers(0, n, (2, m))
        options: Any = {"directed": directed, "multi_edges": multi_edges, "self_loops": self_loops}
        given = Graph.from_edges(s, t, num_vertices=n, mark=np.arange(1, m + 1, dtype=np.int32), **options)
        marks = np.arange(m) if multi_edges is True else np.array(first_of(s, t, directed), int)
        expected = np.where((s == t) & (not self_loops), 0, marks + 1)
        for graph in variants(given):
            by_number = graph.edges()[2]["mark"]
            numbers = graph.edge_array("edge.number")
            assert (graph.edge_properties["mark"] == by_number[numbers]).all()
            assert (graph.in_property("mark") == by_number[graph.in_property("edge.number")]).all()
            assert graph.in_given_order(by_number).tolist() == expected.tolist()


def test_vectors_keep_their_rows() -> None:
    graph = Graph.from_edges([1, 0, 2], [1, 2, 1], self_loops=False, x=[[1, 2], [3, 4], [5, 6]])
    assert graph.in_given_order(graph.edges()[2]["x"]).tolist() == [[0, 0], [3, 4], [5, 6]]


@pytest.mark.parametrize("multi_edges", [True, False])
def test_arrays_that_changed_are_noticed(multi_edges: bool) -> None:
    s, t = np.array([2, 0, 1]), np.array([1, 1, 2])
    graphs = [Graph.from_edges(s, t, multi_edges=multi_edges, keep_order=keep) for keep in (True, False)]
    s[0] = 0
    with pytest.raises(GraphError, match="keep_order=False"):
        graphs[0].in_given_order(np.arange(3))
    assert graphs[1].in_given_order(np.arange(3)).tolist() == [0, 1, 2]


def test_opposite_arcs() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        n, m = int(rng.integers(1, 6)), int(rng.integers(0, 30))
        graph = Graph.from_edges(*rng.integers(0, n, (2, m)), num_vertices=n)
        s, t, _ = graph.edges()
        found = graph.edge_array("edge.reverse")
        arcs = np.flatnonzero(found < m)
        assert (s[found[arcs]] == t[arcs]).all()
        assert (t[found[arcs]] == s[arcs]).all()
        assert (found[found[arcs]] == arcs).all()
        count = np.zeros((n, n), int)
        np.add.at(count, (s, t), 1)
        assert arcs.size == np.minimum(count, count.T).sum()
