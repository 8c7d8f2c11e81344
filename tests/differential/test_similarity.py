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
