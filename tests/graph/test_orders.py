"""Graphs in another order of vertices: the same arcs under other names."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph.relabel import ORDERS


def grid(side: int, seed: int, *, directed: bool) -> vg.Graph:
    """A grid whose vertices are numbered at random, with one vertex apart."""
    ids = np.random.default_rng(seed).permutation(side * side + 1)[: side * side].reshape(side, side)
    src = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    dst = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return vg.Graph.from_edges(
        src, dst, num_vertices=side * side + 1, directed=directed, weight=np.arange(src.size)
    )


def farthest(graph: vg.Graph) -> int:
    """The largest difference of the numbers of two neighbors."""
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return int(abs(sources - graph.out.column_indices.astype(int)).max())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("by", ORDERS)
def test_arcs_and_their_weights_stay(by, directed):
    graph = grid(7, 3, directed=directed)
    found, old_of_new, new_of_old = graph.relabelled(by)
    np.testing.assert_array_equal(new_of_old[old_of_new], np.arange(graph.num_vertices))
    want = {(int(u), int(v)): int(w) for u, v, w in zip(*arcs(graph), strict=True)}
    got = {(int(old_of_new[u]), int(old_of_new[v])): int(w) for u, v, w in zip(*arcs(found), strict=True)}
    assert got == want
    dist = vg.run(vg.algorithms.sssp, graph, source=0, relabel=by).dist
    np.testing.assert_array_equal(dist, vg.run(vg.algorithms.sssp, graph, source=0).dist)


def arcs(graph: vg.Graph) -> tuple[np.ndarray, ...]:
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return sources, graph.out.column_indices, graph.edge_properties["weight"]


@pytest.mark.parametrize("directed", [False, True])
def test_reverse_cuthill_mckee_brings_neighbors_near(directed):
    graph = grid(20, 5, directed=directed)
    assert farthest(graph) > 300
    assert farthest(graph.relabelled("rcm").graph) <= 21


def inside(graph: vg.Graph, size: int) -> float:
    """Which part of the arcs stays in one range of `size` ids."""
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return float((sources // size == graph.out.column_indices // size).mean())


@pytest.mark.parametrize("directed", [False, True])
def test_ranges_of_ids_are_clusters(directed):
    graph = grid(64, 5, directed=directed)
    assert inside(graph, 64) < 0.05
    found = graph.relabelled("clusters").graph
    for size, least in ((16, 0.35), (64, 0.6), (256, 0.8)):  # of squares 0.75, 0.875, 0.94
        assert inside(found, size) > least


def test_clusters_of_a_graph_in_pieces():
    graph = vg.Graph.from_edges(range(0, 400, 2), range(1, 400, 2), num_vertices=500, directed=False)
    old_of_new = graph.relabelled("clusters").old_of_new
    assert sorted(old_of_new.tolist()) == list(range(500))


@pytest.mark.parametrize("by", ORDERS)
def test_graphs_without_arcs_are_reordered_too(by):
    for n in (0, 4):
        graph = vg.Graph.from_edges([], [], num_vertices=n)
        assert sorted(graph.relabelled(by).old_of_new.tolist()) == list(range(n))
    with pytest.raises(vg.GraphError, match="'degree', 'rcm', 'clusters'"):
        graph.relabelled("hilbert")
