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


def test_igraph_finds_the_same_cycles() -> None:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(40):
        graph = vg.Graph.from_edges(*rng.integers(0, 30, (2, 22)), num_vertices=30)
        g = igraph_graph(graph)
        try:
            order = vg.run(A.topological_order, graph).order
        except vg.AlgorithmError:
            order = None
        assert (order is not None) == g.is_dag()
        found.append(g.is_dag())
    assert {True, False} == set(found)


@pytest.mark.parametrize("directed", [True, False])
def test_igraph_agrees(directed: bool) -> None:
    graph = graph_of(directed)
    g = igraph_graph(graph)
    between = g.betweenness(directed=directed)
    found = vg.run(A.betweenness, graph, normalized=False).centrality
    np.testing.assert_allclose(found, between, rtol=1e-9, atol=1e-9)
    for normalized in (True, False):
        near = g.harmonic_centrality(mode="in", normalized=normalized)
        found = vg.run(A.harmonic_centrality, graph, normalized=normalized).centrality
        np.testing.assert_allclose(found, near, rtol=1e-12)
    weight = np.random.default_rng(12).integers(1, 5, graph.num_edges)
    heavy = vg.Graph.from_edges(
        *graph.edges()[:2], num_vertices=graph.num_vertices, directed=directed, weight=weight
    )
    lengths = heavy.edges()[2]["weight"].tolist()
    between = g.betweenness(directed=directed, weights=lengths)
    found = vg.run(A.weighted_betweenness, heavy, normalized=False).centrality
    np.testing.assert_allclose(found, between, rtol=1e-9, atol=1e-9)
    along = vg.run(A.edge_betweenness, heavy, normalized=False).centrality  # heavy's edges are g's, in order
    np.testing.assert_allclose(along, g.edge_betweenness(directed=directed), rtol=1e-9, atol=1e-9)
    kept = vg.run(A.triangle_count, graph).total
    simple = g.as_undirected().simplify()
    assert kept == len(simple.cliques(3, 3))
    assert vg.run(A.maximum_clique, graph).size == simple.clique_number()
    assert vg.run(A.clique_count, graph, size=4).total == len(simple.cliques(4, 4))
    for mode in ("all", "in", "out"):
        assert vg.run(A.k_core, graph, mode=mode).core.tolist() == g.coreness(mode=mode)
    along = vg.run(A.assortativity, graph).assortativity
    assert along == pytest.approx(g.assortativity_degree(directed=directed), rel=1e-9)
    value = np.random.default_rng(13).random(graph.num_vertices)
    along = vg.run(A.assortativity, graph, value=value).assortativity
    assert along == pytest.approx(g.assortativity(value.tolist(), directed=directed), rel=1e-9)
    if directed:
        census = vg.run(A.triad_census, graph)
        assert [getattr(census, name) for name in census.names] == list(g.triad_census())
    if not directed:
        lcc = np.array(g.transitivity_local_undirected(mode="zero"))
        np.testing.assert_allclose(vg.run(A.local_clustering, graph).lcc, lcc, rtol=1e-12)


def test_scipy_agrees_on_linear_equations() -> None:
    from library_arguments import positive_definite
    from scipy.sparse.linalg import spsolve

    graph = positive_definite(graph_of(False))
    b = np.random.default_rng(2).random(graph.num_vertices)
    x = vg.run(A.conjugate_gradient, graph, b=b, tolerance=1e-12).x
    np.testing.assert_allclose(x, spsolve(graph.to_scipy().tocsc(), b), rtol=1e-8)


def shares(values: Any) -> Any:
    """Scaled to the sum 1; libraries differ in that."""
    return np.asarray(values) / np.sum(values)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # igraph's, of graphs that are not connected
@pytest.mark.parametrize("directed", [True, False])
def test_igraph_agrees_on_eigenvectors(directed: bool) -> None:
    graph = graph_of(directed)
    g = igraph_graph(graph)
    found = vg.run(A.hits, graph, tolerance=1e-12, max_rounds=2000)
    np.testing.assert_allclose(found.hub, shares(g.hub_score()), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.authority, shares(g.authority_score()), rtol=1e-6, atol=1e-12)
    if not directed:
        found = vg.run(A.eigenvector, graph, tolerance=1e-13, max_rounds=5000)
        theirs = g.eigenvector_centrality(scale=True)
        np.testing.assert_allclose(shares(found.centrality), shares(theirs), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("directed", [True, False])
def test_scipy_agrees_on_katz(directed: bool) -> None:
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import spsolve

    graph = graph_of(directed)
    n = graph.num_vertices
    theirs = spsolve((eye_array(n) - 0.003 * graph.to_scipy().T).tocsc(), np.full(n, 0.5))
    found = vg.run(A.katz, graph, alpha=0.003, beta=0.5, tolerance=1e-14, normalized=False)
    np.testing.assert_allclose(found.centrality, theirs, rtol=1e-9)


@pytest.mark.parametrize("directed", [True, False])
def test_igraph_agrees_on_pagerank_and_walks(directed: bool) -> None:
    graph = graph_of(directed)
    theirs = np.array(igraph_graph(graph).personalized_pagerank(reset_vertices=[7], directed=directed))
    home = np.zeros(graph.num_vertices)
    home[7] = 1
    found = vg.run(A.pagerank, graph, personalization=home, tolerance=1e-13, max_rounds=500).rank
    np.testing.assert_allclose(found, theirs, rtol=1e-6, atol=1e-10)
    walks = 200_000
    walked = vg.run(A.random_walks, graph, source=7, walks=walks).rank
    if not directed:  # where there is no way on igraph's surfer jumps home, too, but counts it otherwise
        assert (np.abs(walked - theirs) <= 6 * np.sqrt(theirs / walks) + 1e-5).all()


def test_igraph_agrees_on_pairs_of_vertices() -> None:
    graph = graph_of(False)
    g = igraph_graph(graph)
    rng = np.random.default_rng(4)
    left, right = (ends[:400] for ends in rng.integers(0, 300, (2, 500)))
    jaccard = g.similarity_jaccard(pairs=list(zip(left.tolist(), right.tolist(), strict=True)), loops=False)
    np.testing.assert_allclose(vg.run(A.jaccard, graph, left=left, right=right).score, jaccard, rtol=1e-12)
    dice = g.similarity_dice(pairs=list(zip(left.tolist(), right.tolist(), strict=True)), loops=False)
    np.testing.assert_allclose(vg.run(A.sorensen, graph, left=left, right=right).score, dice, rtol=1e-12)
    adar = np.array(g.similarity_inverse_log_weighted(vertices=list(range(300))))[left, right]
    apart = left != right
    found = vg.run(A.adamic_adar, graph, left=left, right=right).score
    np.testing.assert_allclose(found[apart], adar[apart], rtol=1e-9)


def test_igraph_agrees_on_biconnected_components() -> None:
    graph = graph_of(False)
    g = igraph_graph(graph)
    found = vg.run(A.biconnected_components, graph)
    theirs, points = g.biconnected_components(return_articulation_points=True)
    assert np.flatnonzero(found.articulation).tolist() == sorted(points)
    assert np.unique(found.component[found.component >= 0]).size == len(theirs)
    bridges = {frozenset(g.es[e].tuple) for e in g.bridges()}
    assert {frozenset((v, found.parent[v])) for v in np.flatnonzero(found.bridge)} == bridges


@pytest.mark.parametrize("directed", [True, False])
def test_igraph_agrees_on_what_is_connected(directed: bool) -> None:
    graph = graph_of(directed)
    g = igraph_graph(graph)
    for name, mode in (("connected_components", "weak"), ("strongly_connected_components", "strong")):
        theirs = np.array(g.connected_components(mode=mode).membership)
        mine = vg.run(getattr(A, name), graph).component
        assert np.unique(np.stack([mine, theirs]), axis=1).shape[1] == np.unique(mine).size
        assert np.unique(mine).size == np.unique(theirs).size
    if not directed:
        giant = vg.run(A.connected_components, graph).component == 0
        assert giant.sum() > 1000
        found = vg.run(A.diameter, graph, source=0)
        assert found.lower == found.upper == g.induced_subgraph(np.flatnonzero(giant).tolist()).diameter()


def test_igraph_agrees_on_spanning_forests_and_widest_paths() -> None:
    graph = graph_of(False)
    weight = np.random.default_rng(5).integers(1, 60, graph.num_arcs)
    s, t, _ = graph.edges()
    graph = vg.Graph.from_edges(s, t, num_vertices=3000, directed=False, weight=weight[: s.size])
    g = igraph_graph(graph)
    s, t, properties = graph.edges()
    g.es["weight"] = properties["weight"].tolist()
    found = vg.run(A.minimum_spanning_forest, graph)
    assert found.weight == sum(g.spanning_tree(weights="weight").es["weight"])
    heaviest = g.spanning_tree(weights=[-w for w in g.es["weight"]])  # its paths are the widest
    width = vg.run(A.widest_path, graph, source=0).width
    reached = heaviest.subcomponent(0)
    for v, path in zip(reached, heaviest.get_shortest_paths(0, reached, output="epath"), strict=True):
        assert v == 0 or width[v] == min(heaviest.es[e]["weight"] for e in path)


def test_igraph_agrees_on_trusses_and_sets() -> None:
    graph = graph_of(False)
    g = igraph_graph(graph)
    nx = pytest.importorskip("networkx", reason="NetworkX is not installed")
    s, t, _ = graph.edges()
    truss = vg.run(A.k_truss, graph).truss
    for k in (3, 5, 8):
        theirs = {frozenset(e) for e in nx.k_truss(g.to_networkx(), k).edges}
        assert {
            frozenset(e) for e in zip(s[truss >= k].tolist(), t[truss >= k].tolist(), strict=True)
        } == theirs
    member = np.flatnonzero(vg.run(A.maximal_independent_set, graph).member).tolist()
    assert g.induced_subgraph(member).ecount() == 0
    assert len(set(member).union(*g.neighborhood(member))) == 3000
    mate = vg.run(A.maximal_matching, graph).mate
    single = np.flatnonzero(mate < 0).tolist()
    assert g.induced_subgraph(single).ecount() == 0
    assert all(
        g.are_adjacent(v, int(mate[v])) and mate[mate[v]] == v for v in np.flatnonzero(mate >= 0).tolist()
    )
    color = vg.run(A.coloring, graph).color
    assert (color[s] != color[t]).all()
    label = vg.run(A.label_propagation, graph).label
    found = vg.run(A.modularity, graph, community=label).modularity
    assert found == pytest.approx(g.modularity(np.unique(label, return_inverse=True)[1].tolist()))


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
