"""Searches that end early, or are guided: targets of sssp, A*, against distances that NetworkX finds."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_algorithms_differential import arcs_of, graphs

import vgraph as vg

A = vg.algorithms
HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 3}])
EACH: list[dict[str, Any]] = [{"device": "python"}, {"threads": 1}, {"threads": 3}, {"checked": True}]
DTYPES = ("int32", "float64")


def digraph(graph: vg.Graph) -> nx.MultiDiGraph:
    """All arcs, with their weights."""
    g = nx.MultiDiGraph()
    g.add_nodes_from(range(graph.num_vertices))
    g.add_weighted_edges_from(zip(*(x.tolist() for x in arcs_of(graph)), strict=True))
    return g


def distances(g: nx.MultiDiGraph, source: int, weight: str | None = "weight") -> dict[int, float]:
    """Of all vertices, those that are not reached infinitely far."""
    return dict.fromkeys(g, np.inf) | nx.single_source_dijkstra_path_length(
        g, source, weight=weight or (lambda *_: 1)
    )


@settings(max_examples=10)
@given(graphs(dtypes=DTYPES), st.sets(st.integers(0, 13), max_size=3), HOW)
def test_targets(graph: vg.Graph, chosen: set[int], how: Any) -> None:
    n = graph.num_vertices
    targets = sorted({v % n for v in chosen})
    found = vg.run(A.sssp, graph, source=n // 2, targets=targets, **how)
    vg.verify(found)
    dist = np.where(found.dist == vg.run(A.sssp, graph, source=n // 2).dist, found.dist, np.inf)
    dist[dist == np.iinfo(np.int32).max] = np.inf
    want = distances(digraph(graph), n // 2)
    horizon = max((want[v] for v in targets), default=0)
    for v in range(n):
        assert dist[v] == want[v] or (np.isinf(dist[v]) and want[v] > horizon)


@settings(max_examples=10)
@given(graphs(dtypes=DTYPES), st.sampled_from([None, 0.0, 0.5, 1.0]), st.booleans(), HOW)
def test_a_star(graph: vg.Graph, share: float | None, weighted: bool, how: Any) -> None:
    n = graph.num_vertices
    source, target = n // 2, n - 1
    g, weight = digraph(graph), "weight" if weighted else None
    left = distances(g.reverse(), target, weight)
    bound = None if share is None else np.array([share * left[v] if share else 0.0 for v in range(n)])
    given_weight = {"weight": "weight"} if weighted else {}
    found = vg.run(A.a_star, graph, source=source, target=target, heuristic=bound, **given_weight, **how)
    assert found.length == left[source]
    vg.verify(found)
    again = vg.run(A.a_star, graph, source=source, target=target, **given_weight)
    assert again.path.size == found.path.size  # of the shortest ones, of the fewest arcs
    assert found.path.size == 0 or nx.is_path(g, found.path.tolist())


@pytest.mark.parametrize("how", EACH)
def test_paths_along_arcs_that_add_nothing(how: dict[str, Any]) -> None:
    """A circle of weight 0 on the way, loops, parallel arcs; source and target the same; no way."""
    ends = [0, 1, 2, 3, 1, 3, 3, 0, 5], [1, 2, 3, 1, 1, 4, 4, 4, 0]
    graph = vg.Graph.from_edges(*ends, weight=[0.0, 0, 0, 0, 0, 2, 1.5, 3, 0])

    def run(source: int, target: int, **given: Any) -> Any:
        found = vg.run(A.a_star, graph, source=source, target=target, **how, **given)
        vg.verify(found)
        return found.path.tolist(), float(found.length)

    assert run(0, 4, weight="weight") == ([0, 1, 2, 3, 4], 1.5)
    assert run(0, 4, weight=np.full(9, 0.5)) == ([0, 4], 0.5)
    assert run(0, 4) == ([0, 4], 1)
    assert run(2, 2) == ([2], 0)
    assert run(4, 0, weight="weight") == ([], np.inf)
    assert (
        vg.run(A.a_star, graph, source=0, target=4, heuristic=[np.inf, 0, 0, 0, 0, 0], **how).path.size == 0
    )
    avoided = vg.run(
        A.a_star, graph, source=0, target=4, weight="weight", heuristic=[0, 0, 0, np.inf, 0, 0], **how
    )
    assert avoided.path.tolist() == [0, 4]
    assert run(0, 4, heuristic=[-1.0, -2, -3, -4, 0, 0])[0] == [0, 4]
    targets = {"targets": np.array([4, 4]), **how}
    found = vg.run(A.sssp, graph, source=0, **targets)
    assert found.dist.tolist() == [0, 0, 0, 0, 1.5, np.inf]
    assert found.parent.tolist() == [0, 0, 1, 2, 3, -1]
    vg.verify(found)
    alone = vg.Graph.from_edges([], [], num_vertices=1, weight=np.zeros(0))
    assert vg.run(A.sssp, alone, source=0, targets=[0], **how).dist.tolist() == [0]
    assert vg.run(A.a_star, alone, source=0, target=0, **how).path.tolist() == [0]


@pytest.mark.parametrize("seed", range(6))
def test_searches_that_go_farther_step_by_step(seed: int) -> None:
    """Weights from 1 to 16,384: what is found first is not the shortest way, and not all is near."""
    rng = np.random.default_rng(seed)
    ends, weight = rng.integers(0, 60, (2, 240)), 4 ** rng.integers(0, 8, 240)
    weight[ends[0] == 0] = 1
    graph = vg.Graph.from_edges(*ends, num_vertices=60, weight=weight)
    g = digraph(graph)
    want, left = distances(g, 0), distances(g.reverse(), 59)
    near = sorted((v for v in g if want[v] < np.inf), key=lambda v: want[v])[5]
    found = vg.run(A.sssp, graph, source=0, targets=[near])
    vg.verify(found)
    dist = np.where(found.dist == np.iinfo(found.dist.dtype).max, np.inf, found.dist)
    assert all(dist[v] == want[v] or dist[v] == np.inf for v in g)
    assert vg.run(A.sssp, graph, source=0, targets=[near, 59]).dist[[near, 59]].tolist() == [
        want[near],
        want[59],
    ]
    for bound in (None, np.array([left[v] if left[v] < np.inf else 0 for v in g]) * rng.random(60)):
        guided = vg.run(A.a_star, graph, source=0, target=59, heuristic=bound, weight="weight")
        assert guided.length == want[59]
        vg.verify(guided)


def test_searches_end_early() -> None:
    """Of a long path only the first part is looked at."""
    n = 5000
    graph = vg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False, weight=np.ones(n - 1))
    found = vg.run(A.sssp, graph, source=0, targets=[100])
    assert 100 < np.isfinite(found.dist).sum() < 200
    vg.verify(found)
    left = np.abs(np.arange(n) - 1100.0)
    guided = vg.run(A.a_star, graph, source=1000, target=1100, heuristic=left, weight="weight")
    assert guided.length == 100


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_refused(device: str) -> None:
    ends = [0, 1], [1, 2]
    for weight, words in (
        ([1.0, np.nan], "not finite"),
        ([1, -1], "negative"),
        ([1e308, 1e308], "may add up"),
    ):
        graph = vg.Graph.from_edges(*ends, weight=weight)
        with pytest.raises(vg.ParameterError, match=words):
            vg.run(A.a_star, graph, source=0, target=2, weight="weight", device=device)
        with pytest.raises(vg.ParameterError, match=words):
            vg.run(A.sssp, graph, source=0, targets=[2], device=device)
    graph = vg.Graph.from_edges(*ends, weight=[1, 1])
    with pytest.raises(vg.ParameterError, match="a bound is NaN"):
        vg.run(A.a_star, graph, source=0, target=2, heuristic=[0, np.nan, 0], device=device)
    for targets in ([3], [-1]):
        with pytest.raises(vg.ParameterError, match="targets"):
            vg.run(A.sssp, graph, source=0, targets=targets, device=device)
    with pytest.raises(vg.ParameterError, match="target"):
        vg.run(A.a_star, graph, source=0, target=3, device=device)
    for wrong in ([0, 2, 1], [0, 1], [1, 2], []):
        found = vg.run(A.a_star, graph, source=0, target=2)
        found._values["path"] = np.array(wrong, np.int64)
        with pytest.raises(vg.VerificationError):
            vg.verify(found)
