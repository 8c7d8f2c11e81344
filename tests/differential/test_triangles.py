"""Triangles against NetworkX, which ignores self-loops; directions and parallel edges are ignored here."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from test_algorithms_differential import arcs_of, graphs, larger

import vgraph as vg
from vgraph.runtime import policy
from vgraph.runtime.policy import worth_orienting


def expected(graph: vg.Graph) -> np.ndarray:
    g = nx.Graph(list(zip(*(x.tolist() for x in arcs_of(graph)[:2]), strict=True)))
    g.add_nodes_from(range(graph.num_vertices))
    return np.array([t for _, t in sorted(nx.triangles(g).items())], np.int64)


def agrees(graph: vg.Graph, **how: object) -> None:
    result = vg.run(vg.algorithms.triangle_count, graph, **how)
    assert result.triangles.dtype == np.int64
    np.testing.assert_array_equal(result.triangles, expected(graph))
    assert result.total == result.triangles.sum() // 3


@settings(max_examples=30)
@given(graphs(least=0))
def test_small_graphs(graph: vg.Graph) -> None:
    for threads in (1, 2, 3):
        agrees(graph, threads=threads)
    agrees(graph, device="python")


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs(directed: bool, threads: int) -> None:
    agrees(larger(5, directed, "int32"), threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_hubs(threads: int) -> None:
    """Degrees as skewed as this are worth an orientation by degree."""
    rng = np.random.default_rng(1)
    ends = (rng.random((2, 20_000)) ** 4 * 400).astype(int)
    graph = vg.Graph.from_edges(
        *ends, num_vertices=400, directed=False, multi_edges=False, weight=ends[0] * 0
    )
    agrees(graph, threads=threads)
    assert worth_orienting(graph)


@pytest.mark.parametrize("threads", [1, 2])
def test_long_lists_of_hubs_are_compared_by_bitmaps(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unasked, where triangles are counted, at vertices too; not where lists are short or lead anywhere."""
    monkeypatch.setattr(policy, "LARGE", 1 << 12)
    rng = np.random.default_rng(4)
    ends = (rng.random((2, 40_000)) ** 3 * 600).astype(int)
    graph = vg.Graph.from_edges(
        *ends, num_vertices=600, directed=False, multi_edges=False, weight=ends[0] * 0
    )
    agrees(graph, threads=threads)
    assert "hubs=16384" in str(vg.explain(vg.algorithms.triangle_count, graph, threads=threads).schedule)
    lcc = vg.run(vg.algorithms.local_clustering, graph, threads=threads)
    assert "hubs=16384" in str(lcc.schedule)
    vg.verify(lcc, graph)
    monkeypatch.setattr(policy, "HUBS", 200)
    for power, worth in ((3, True), (1, False)):
        ends = (rng.random((2, 40_000)) ** power * 600).astype(int)
        for directed in (True, False):
            asked = vg.Graph.from_edges(*ends, num_vertices=600, directed=directed)
            assert policy.worth_bitmaps(asked) == worth
    for few, share in ((10_000, policy.HUB_SHARE), (policy.LONG_LISTS, 1.1)):
        monkeypatch.setattr(policy, "LONG_LISTS", few)
        monkeypatch.setattr(policy, "HUB_SHARE", share)
        other = vg.Graph.from_edges(*ends, num_vertices=600, directed=False, multi_edges=False)
        assert "hubs" not in str(vg.run(vg.algorithms.triangle_count, other, threads=threads).schedule)
