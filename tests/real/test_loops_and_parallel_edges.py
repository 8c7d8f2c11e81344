"""Self-loops, parallel edges and neighbors of degree 1: the rules that the docs state, beside other libraries'."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import vgraph as vg

igraph = pytest.importorskip("igraph")
A = vg.algorithms
TAIL = [(0, 1), (1, 2), (2, 0), (2, 3)]
"""A triangle with a tail."""
PAIRS = [(0, 1), (0, 3), (1, 3), (0, 0), (2, 3), (0, 2), (3, 3)]


def graphs(edges: list[tuple[int, int]], directed: bool = False, n: int = 4) -> tuple[vg.Graph, Any, Any]:
    """vgraph's, igraph's, NetworkX's."""
    ends = np.array(edges).T
    other = nx.MultiDiGraph if directed else nx.MultiGraph
    theirs = other(edges)
    theirs.add_nodes_from(range(n))
    mine = vg.Graph.from_edges(*ends, num_vertices=n, directed=directed)
    return mine, igraph.Graph(n=n, edges=edges, directed=directed), theirs


def test_core_numbers() -> None:
    for more, core, of_igraph in (
        ([(3, 3)], [2, 2, 2, 1], [2, 2, 2, 2]),  # igraph counts a loop twice
        ([(3, 3), (3, 3)], [2, 2, 2, 1], [2, 2, 2, 4]),
        ([(2, 3)], [2, 2, 2, 2], [2, 2, 2, 2]),
    ):
        mine, i, theirs = graphs(TAIL + more)
        assert vg.run(A.k_core, mine).core.tolist() == core
        assert i.coreness() == of_igraph
        with pytest.raises(nx.NetworkXNotImplemented):
            nx.core_number(theirs)
    with pytest.raises(nx.NetworkXNotImplemented, match="self loops"):
        nx.core_number(nx.Graph([*TAIL, (3, 3)]))


def scores(algorithm: vg.AlgorithmDef, graph: vg.Graph) -> list[float]:
    left, right = np.array(PAIRS).T
    return np.round(vg.run(algorithm, graph, left=left, right=right).score, 3).tolist()


def test_jaccard() -> None:
    for more in ([], [(0, 0)], [(0, 1), (0, 1)], [(2, 2), (3, 3)]):
        mine, i, theirs = graphs(TAIL + more)
        found = scores(A.jaccard, mine)
        want = [p for _, _, p in nx.jaccard_coefficient(nx.Graph(theirs), PAIRS)]
        np.testing.assert_allclose(found, want, atol=1e-3)
        plain, without, _ = graphs(TAIL)  # igraph looks at no loops
        np.testing.assert_allclose(i.similarity_jaccard(pairs=PAIRS), without.similarity_jaccard(pairs=PAIRS))
        loops = any(a == b for a, b in more)
        assert (found == scores(A.jaccard, plain)) == (not loops)
    _, i, _ = graphs(TAIL)
    assert i.similarity_jaccard(pairs=[(0, 1)], loops=True) == [1.0]  # all vertices are their own neighbors


def test_adamic_adar() -> None:
    for more in ([], [(2, 2)], [(0, 0)], [(0, 2)]):
        mine, _, theirs = graphs(TAIL + more)
        simple = nx.Graph(theirs)
        found = scores(A.adamic_adar, mine)
        np.testing.assert_allclose(found, [p for _, _, p in nx.adamic_adar_index(simple, PAIRS)], atol=1e-3)
    _, i, _ = graphs([*TAIL, (0, 2)])
    assert np.isclose(
        i.similarity_inverse_log_weighted()[1][3], 1 / np.log(4)
    )  # 2 has 4 edges, two of them parallel
    assert np.isclose(scores(A.adamic_adar, graphs([*TAIL, (0, 2)])[0])[2], 1 / np.log(3), atol=1e-3)
    _, i, _ = graphs([*TAIL, (2, 2)])
    assert np.isclose(
        i.similarity_inverse_log_weighted()[2][3], 2 / np.log(5)
    )  # 2 itself, by both ends of its loop


def test_adamic_adar_of_neighbors_of_degree_1() -> None:
    """They can be in common only where a vertex is paired with itself."""
    path = [(0, 1), (1, 2), (2, 3)]
    mine, _, theirs = graphs(path)
    assert scores(A.adamic_adar, mine)[3] == round(1 / np.log(2), 3)  # of 0: its neighbor 1
    left = right = np.array([1])
    assert vg.run(A.adamic_adar, mine, left=left, right=right).score[0] == 1 / np.log(2)  # 2, without 0
    with pytest.raises(ZeroDivisionError):
        list(nx.adamic_adar_index(nx.Graph(theirs), [(1, 1)]))


@pytest.mark.parametrize("directed", [True, False])
def test_hubs(directed: bool) -> None:
    edges = [(0, 1), (0, 2), (1, 2), (3, 2)]
    for more in ([], [(0, 1)], [(3, 3)]):
        mine, i, theirs = graphs(edges + more, directed)
        hub = vg.run(A.hits, mine, max_rounds=3000).hub
        other = nx.hits(theirs)[0]
        np.testing.assert_allclose(hub, [other[v] for v in range(4)], atol=1e-6)
        # Of an undirected graph igraph says that hubs are its eigenvector, and warns.
        of_igraph = np.array(i.hub_score() if directed else i.eigenvector_centrality())
        of_igraph /= of_igraph.sum()
        twice = more == [(3, 3)] and not directed  # igraph counts a loop of an undirected graph twice
        assert np.allclose(hub, of_igraph, atol=1e-6) != twice


def label_of_last(graph: vg.Graph) -> int:
    return int(vg.run(A.label_propagation, graph, max_rounds=1).label[-1])


def test_labels() -> None:
    """What the last vertex takes, when all have labels of their own."""

    def of(edges: list[tuple[int, int]], directed: bool) -> int:
        return label_of_last(vg.Graph.from_edges(*np.array(edges).T, num_vertices=5, directed=directed))

    for directed in (True, False):
        assert of([(4, 0), (4, 1), (4, 2)], directed) == 0
        assert of([(4, 0), (4, 1), (4, 1), (4, 2)], directed) == 1  # parallel edges count each
    assert of([(4, 0), (4, 2), (2, 4)], True) == 2  # an arc each way counts twice
    assert (
        of([(4, 0), (4, 4)], False) == 0
    )  # a loop counts for the own label: once, which is no more than 0 does
    assert of([(4, 0), (4, 4)], True) == 4  # ... or twice


def test_labels_of_others() -> None:
    """igraph counts parallel edges each, NetworkX does so with weights alone."""
    for copies, takes in ((1, 1), (3, 0)):
        edges = [(4, 0)] * copies + [(4, 1), (4, 2)]
        _, i, theirs = graphs(edges, n=5)
        found = i.community_label_propagation(initial=[0, 1, 1, 2, 3], fixed=[True] * 4 + [False]).membership
        assert found[4] == found[takes]
    counted = nx.algorithms.community.label_propagation._most_frequent_labels
    assert counted(4, {0: "a", 1: "b", 2: "b", 3: "c", 4: "d"}, theirs) == {"b"}


@pytest.mark.parametrize("directed", [False, True])
def test_edge_betweenness(directed: bool) -> None:
    """Parallel edges make paths of their own, as in igraph; NetworkX divides what one in their place is worth."""
    mine, i, theirs = graphs([(3, 2), *TAIL, (1, 2), (0, 3), (0, 0), (0, 0)], directed)
    found = vg.run(A.edge_betweenness, mine, normalized=False).centrality
    np.testing.assert_allclose(found, i.edge_betweenness(directed=directed))
    of_networkx = [
        nx.edge_betweenness_centrality(theirs, normalized=False, backend=b) for b in ("networkx", "vgraph")
    ]
    assert of_networkx[0] == pytest.approx(of_networkx[1])
    assert sorted(found) != pytest.approx(sorted(of_networkx[0].values()))
