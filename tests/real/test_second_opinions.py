"""Second opinions on larger graphs from libraries that need not be there: `pytest -m slow`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

pytestmark = pytest.mark.slow
A = vg.algorithms


def graph_of(directed: bool) -> vg.Graph:
    """A few thousand vertices, degrees by a power law, without parallel arcs and self-loops."""
    rng = np.random.default_rng(11)
    chance = 1 / np.arange(1, 3001)
    s, t = rng.choice(3000, (2, 12000), p=chance / chance.sum())
    return vg.Graph.from_edges(
        s, t, num_vertices=3000, directed=directed, self_loops=False, multi_edges=False
    )


def networkit_graph(graph: vg.Graph) -> Any:
    nk = pytest.importorskip("networkit", reason="NetworKit is not installed")
    s, t, _ = graph.edges()
    g = nk.Graph(graph.num_vertices, directed=graph.directed)
    for u, v in zip(s.tolist(), t.tolist(), strict=True):
        g.addEdge(u, v)
    return nk, g


def igraph_graph(graph: vg.Graph) -> Any:
    ig = pytest.importorskip("igraph", reason="igraph is not installed")
    s, t, _ = graph.edges()
    return ig.Graph(
        graph.num_vertices, list(zip(s.tolist(), t.tolist(), strict=True)), directed=graph.directed
    )


def test_networkit_agrees_on_undirected_graphs() -> None:
    graph = graph_of(False)
    nk, g = networkit_graph(graph)
    core = nk.centrality.CoreDecomposition(g).run().scores()
    assert vg.run(A.k_core, graph).core.tolist() == core
    lcc = nk.centrality.LocalClusteringCoefficient(g).run().scores()
    np.testing.assert_allclose(vg.run(A.local_clustering, graph).lcc, lcc, rtol=1e-12)
    between = nk.centrality.Betweenness(g).run().scores()
    found = vg.run(A.betweenness, graph, normalized=False).centrality
    # NetworKit counts each pair of an undirected graph twice.
    np.testing.assert_allclose(2 * found, between, rtol=1e-9, atol=1e-9)
    ecc = vg.run(A.eccentricity, graph).eccentricity
    some = (0, 7, 1500, 2999)
    assert [int(ecc[v]) for v in some] == [nk.distance.Eccentricity.getValue(g, v)[1] for v in some]


@pytest.mark.parametrize("directed", [True, False])
def test_igraph_agrees(directed: bool) -> None:
    graph = graph_of(directed)
    g = igraph_graph(graph)
    between = g.betweenness(directed=directed)
    found = vg.run(A.betweenness, graph, normalized=False).centrality
    np.testing.assert_allclose(found, between, rtol=1e-9, atol=1e-9)
    kept = vg.run(A.triangle_count, graph).total
    simple = g.as_undirected().simplify()
    assert kept == len(simple.cliques(3, 3))
    if not directed:
        lcc = np.array(g.transitivity_local_undirected(mode="zero"))
        np.testing.assert_allclose(vg.run(A.local_clustering, graph).lcc, lcc, rtol=1e-12)
        assert vg.run(A.k_core, graph).core.tolist() == g.coreness()


def test_scipy_agrees_on_linear_equations() -> None:
    from library import positive_definite
    from scipy.sparse.linalg import spsolve

    graph = positive_definite(graph_of(False))
    b = np.random.default_rng(2).random(graph.num_vertices)
    x = vg.run(A.conjugate_gradient, graph, b=b, tolerance=1e-12).x
    np.testing.assert_allclose(x, spsolve(graph.to_scipy().tocsc(), b), rtol=1e-8)


@pytest.mark.parametrize("directed", [True, False])
def test_scipy_agrees_on_distances_from_everywhere(directed: bool) -> None:
    from scipy.sparse.csgraph import shortest_path

    graph = graph_of(directed)
    hops = shortest_path(graph.to_scipy(), unweighted=True)
    finite = np.where(np.isinf(hops), 0, hops)
    found = vg.run(A.eccentricity, graph)
    assert found.eccentricity.tolist() == finite.max(axis=1).tolist()
    assert found.reached.tolist() == np.isfinite(hops).sum(axis=1).tolist()
    total, reached = finite.sum(axis=0), np.isfinite(hops).sum(axis=0) - 1
    expected = np.divide(reached, total, out=np.zeros(total.size), where=total > 0) * reached / 2999
    np.testing.assert_allclose(vg.run(A.closeness, graph).centrality, expected, rtol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
def test_verifiers_agree_on_larger_graphs(directed: bool) -> None:
    graph = graph_of(directed)
    rng = np.random.default_rng(3)
    weighted = graph.with_edge_property("weight", rng.integers(1, 99, graph.num_arcs)) if directed else graph
    for name in ("bfs", "path_counts", "multi_source_bfs"):
        given = {"sources": [5, 6]} if name == "multi_source_bfs" else {"source": 5}
        vg.verify(vg.run(getattr(A, name), graph, **given))
    for name in (
        "connected_components",
        "triangle_count",
        "local_clustering",
        "maximal_matching",
        "pagerank",
    ):
        vg.verify(vg.run(getattr(A, name), graph))
    if directed:
        for name in ("sssp", "bellman_ford", "widest_path"):
            vg.verify(vg.run(getattr(A, name), weighted, source=5))
