"""Similarities of all pairs of vertices, beside NetworkX and NumPy, on every device."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms


def made(directed: bool, n: int, m: int) -> vg.Graph:
    """With self-loops, parallel edges and arcs that weigh nothing."""
    rng = np.random.default_rng(n)
    ends = rng.integers(0, max(n, 1), (2, m))
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, weight=rng.integers(0, 4, m))


GRAPHS = [made(directed, n, m) for directed in (True, False) for n, m in ((0, 0), (1, 0), (1, 2), (7, 16))]


@pytest.mark.parametrize("graph", GRAPHS)
def test_simrank(graph: vg.Graph) -> None:
    found = vg.run(A.simrank, graph, weight="weight", threads=2)
    rows = nx.simrank_similarity(graph.to_networkx())
    want = np.array([list(row.values()) for row in rows.values()]).reshape(found.similarity.shape)
    np.testing.assert_allclose(found.similarity, want, rtol=1e-12)
    vg.verify(found)
    few = [vg.run(A.simrank, graph, max_rounds=4, device=device) for device in ("cpu", "python")]
    np.testing.assert_allclose(*(result.similarity for result in few), rtol=1e-12)


def test_what_simrank_tells_and_refuses() -> None:
    graph = GRAPHS[-1]
    short = vg.run(A.simrank, graph, max_rounds=2)
    assert not short.converged
    vg.verify(short)
    wrong = short.similarity
    wrong[3, 5] += 1e-6
    with pytest.raises(vg.VerificationError, match="vertex 3: similarity to 5 is"):
        vg.verify(short)
    for given in ({"importance": 1.1}, {"tolerance": np.nan}, {"weight": -1}, {"weight": "height"}):
        with pytest.raises(vg.ParameterError):
            vg.run(A.simrank, graph, **given)


@pytest.mark.parametrize("measure", ["jaccard", "resource_allocation"])
def test_the_most_similar(measure: str) -> None:
    for graph in GRAPHS:
        if graph.directed:
            with pytest.raises(vg.ParameterError, match="undirected"):
                vg.run(A.most_similar, graph)
            continue
        n, k = graph.num_vertices, 3
        left, right = np.divmod(np.arange(n * n), n)
        apart = left != right
        every = vg.run(getattr(A, measure), graph, left=left[apart], right=right[apart]).score
        want = -np.sort(-every.reshape(n, max(n - 1, 0)))[:, :k]
        found = vg.run(A.most_similar, graph, k=k, measure=measure, threads=2)
        np.testing.assert_allclose(found.score[:, : want.shape[1]], want, rtol=1e-12)
        vg.verify(found)
        again = vg.run(A.most_similar, graph, k=k, measure=measure, device="python")
        np.testing.assert_array_equal(found.similar, again.similar)
        np.testing.assert_array_equal(found.score, again.score)


def test_what_most_similar_tells_and_refuses() -> None:
    square = vg.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 0, 4], directed=False)
    found = vg.run(A.most_similar, square, k=2)
    assert found.similar.tolist() == [[2, -1], [3, -1], [0, -1], [1, -1], [-1, -1]]
    for name, at, value, message in (
        ("score", (1, 0), 0.5, "vertex 1: score is"),
        ("similar", (2, 0), 3, "pair 2, vertices 2 and 3: score is"),
        ("similar", (0, 0), -1, "vertex 0: similar is"),
    ):
        values = getattr(found, name)
        right, values[at] = values[at], value
        with pytest.raises(vg.VerificationError, match=message):
            vg.verify(found)
        values[at] = right
    for given in ({"k": 0}, {"measure": "simrank"}):
        with pytest.raises(vg.ParameterError, match="most_similar"):
            vg.run(A.most_similar, square, **given)
