"""Heaviest matchings of graphs of two sides, beside NetworkX, on every device."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms


def made(left: int, right: int, m: int, directed: bool) -> vg.Graph:
    """Sides in any order and direction, parallel edges, and such that are worth nothing."""
    rng = np.random.default_rng(m)
    name = rng.permutation(left + right)
    ends = np.stack([name[rng.integers(0, max(left, 1), m)], name[left + rng.integers(0, max(right, 1), m)]])
    turned = np.where(rng.random(m) < 0.5, ends, ends[::-1])
    weight = rng.integers(-2, 12, m)
    return vg.Graph.from_edges(*turned, num_vertices=left + right, directed=directed, weight=weight)


@pytest.mark.parametrize("directed", [True, False])
def test_heaviest_matchings(directed: bool) -> None:
    for left, right, m in ((0, 0, 0), (1, 0, 0), (1, 1, 2), (3, 2, 6), (9, 14, 40), (25, 25, 200)):
        graph = made(left, right, m, directed) if right else vg.Graph.from_edges([], [], num_vertices=left)
        if not m:
            graph = graph.with_edge_property("weight", np.zeros(0, np.int64))
        found = vg.run(A.bipartite_matching, graph, weight="weight", threads=2)
        vg.verify(found)
        if left + right < 30:
            again = vg.run(A.bipartite_matching, graph, weight="weight", device="python")
            np.testing.assert_array_equal(found.mate, again.mate)
        g = nx.Graph()
        for u, v, w in zip(
            *(x.tolist() for x in (*graph.edges()[:2], graph.edges()[2]["weight"])), strict=True
        ):
            if w > max(0, g.get_edge_data(u, v, {"weight": 0})["weight"]):
                g.add_edge(u, v, weight=w)
        best = sum(g.edges[e]["weight"] for e in nx.max_weight_matching(g))
        assert best == sum(g.edges[e]["weight"] for e in enumerate(found.mate.tolist()) if e[0] < e[1])
        most = vg.run(A.bipartite_matching, graph)
        vg.verify(most)
        every = nx.Graph(zip(*(x.tolist() for x in graph.edges()[:2]), strict=True))
        assert (most.mate >= 0).sum() == 2 * len(nx.max_weight_matching(every, maxcardinality=True))


def test_most_edges() -> None:
    """Without weights: loops and parallel edges, sides of any size, and few edges, so that paths are long."""
    for left, right, m in ((1, 40, 90), (40, 3, 60), (30, 30, 36), (60, 60, 110), (95, 80, 199)):
        directed = m % 4 == 0
        given = made(left, right, m, directed)
        s, t, _ = given.edges()
        loops = np.arange(0, left + right, 7)
        graph = vg.Graph.from_edges(
            np.r_[s, loops], np.r_[t, loops], num_vertices=left + right, directed=directed
        )
        found = vg.run(A.bipartite_matching, graph, threads=2)
        vg.verify(found)
        for how in (
            {"device": "python"},
            {"schedule": vg.Schedule().at("reach", direction=vg.PULL)},
            {"threads": 1},
        ):
            np.testing.assert_array_equal(found.mate, vg.run(A.bipartite_matching, graph, **how).mate)


def test_a_path_is_turned_as_a_whole() -> None:
    """Greedy pairs leave the ends of long paths free, and one phase more pairs them."""
    n = 50
    # 0 - n, n - 1 and so on: vertex i of the left knows i and i + 1 of the right; the last one knows the last only
    u = np.r_[np.arange(n), np.arange(n - 1)]
    graph = vg.Graph.from_edges(u, np.r_[n + np.arange(n), n + 1 + np.arange(n - 1)], directed=False)
    found = vg.run(A.bipartite_matching, graph)
    assert found.mate.tolist() == [*range(n, 2 * n), *range(n)]
    vg.verify(found)
    found.mate[[3, n + 3]] = -1
    with pytest.raises(vg.VerificationError, match="there are 49 edges, and there could be 50"):
        vg.verify(found)


def test_what_is_refused_and_found_to_be_wrong() -> None:
    triangle = vg.Graph.from_edges([1, 2, 3], [2, 3, 1])
    pair = vg.Graph.from_edges([0], [1], half=[0.5], huge=[2**58])
    for graph, weight, message in (
        (triangle, 1, "a cycle of odd length is connected with vertex 1"),
        (pair, "half", "half"),
        (pair, "huge", "reach 2\\*\\*60"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(A.bipartite_matching, graph, weight=weight)
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, weight=[2, 3, 2])
    found = vg.run(A.bipartite_matching, path, weight="weight")
    assert found.mate.tolist() == [1, 0, 3, 2]
    found.mate[:] = [-1, 2, 1, -1]
    with pytest.raises(vg.VerificationError, match="the edges weigh 3, and could weigh 4"):
        vg.verify(found)
    found.mate[:] = [3, 2, 1, 0]
    with pytest.raises(vg.VerificationError, match="vertex 0: there is no edge to its mate 3"):
        vg.verify(found)
