"""The wider library against NetworkX and SciPy, with the conventions that it follows, on graphs of every shape."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from library_arguments import positive_definite
from test_algorithms_differential import arcs_of, graphs, make

import vgraph as vg

A = vg.algorithms
quick = settings(max_examples=12)
HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 2}])


def simple(graph: vg.Graph) -> Any:
    """The NetworkX graph, parallel arcs once."""
    g = nx.DiGraph() if graph.directed else nx.Graph()
    g.add_nodes_from(range(graph.num_vertices))
    g.add_edges_from(zip(*(x.tolist() for x in arcs_of(graph)[:2]), strict=True))
    return g


def alone(graph: vg.Graph) -> vg.Graph:
    """The graph with each arc once, for what counts parallel arcs and NetworkX does not."""
    s, t, more = graph.edges()
    n = graph.num_vertices
    return vg.Graph.from_edges(s, t, num_vertices=n, directed=graph.directed, multi_edges=False, **more)


def same(found: Any, by_node: Any, rtol: float = 1e-10) -> None:
    expected = np.array([by_node[v] for v in range(len(found))], float)
    np.testing.assert_allclose(np.asarray(found, float), expected, rtol=rtol, atol=1e-12)


@quick
@given(graphs(), st.sets(st.integers(0, 13), max_size=3), st.sampled_from([None, 0, 1, 2]), HOW)
def test_several_sources(graph: vg.Graph, chosen: set[int], depth: int | None, how: Any) -> None:
    sources = sorted({s % graph.num_vertices for s in chosen})
    found = vg.run(A.multi_source_bfs, graph, sources=sources, max_depth=depth, **how)
    want = {v: -1 for v in range(graph.num_vertices)}
    if sources:
        layers = enumerate(nx.bfs_layers(simple(graph), sources))
        want |= {v: k for k, layer in layers for v in layer if depth is None or k <= depth}
    same(found.level, want)
    vg.verify(found)


@quick
@given(graphs(), st.integers(0, 13), st.sampled_from([None, 0, 1, 3]), HOW)
def test_depths(graph: vg.Graph, chosen: int, depth: int | None, how: Any) -> None:
    source = chosen % graph.num_vertices
    found = vg.run(A.bfs, graph, source=source, max_depth=depth, **how)
    want = nx.single_source_shortest_path_length(simple(graph), source, cutoff=depth)
    same(found.level, dict.fromkeys(range(graph.num_vertices), -1) | dict(want))
    vg.verify(found)


@quick
@given(graphs(), HOW)
def test_path_counts(graph: vg.Graph, how: Any) -> None:
    g = simple(graph)
    for dtype in (vg.float64, vg.int32):
        found = vg.run(A.path_counts, graph, source=0, dtype=dtype, **how)
        want = {v: len(list(nx.all_shortest_paths(g, 0, v))) if nx.has_path(g, 0, v) else 0 for v in g}
        same(found.paths, want)
        vg.verify(found)


@quick
@given(graphs(dtypes=("int32", "float64")), HOW)
def test_widest_path(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.widest_path, graph, source=0, **how)
    s, t, w = arcs_of(graph)
    width = np.full(graph.num_vertices, -np.inf)
    width[0] = np.inf
    for _ in range(graph.num_vertices):
        np.maximum.at(width, t, np.minimum(width[s], w))
    if found.width.dtype.kind == "i":
        limits = np.iinfo(found.width.dtype)
        width = np.clip(width, limits.min, limits.max)
    assert found.width.astype(float).tolist() == width.tolist()
    vg.verify(found)


@quick
@given(graphs(), st.none() | st.sets(st.integers(0, 13), max_size=3), st.booleans(), HOW)
def test_closeness(graph: vg.Graph, chosen: set[int] | None, improved: bool, how: Any) -> None:
    n = graph.num_vertices
    asked = list(range(n)) if chosen is None else sorted({v % n for v in chosen})
    found = vg.run(
        A.closeness, graph, vertices=None if chosen is None else asked, wf_improved=improved, **how
    )
    want = nx.closeness_centrality(simple(graph), wf_improved=improved)
    same(found.centrality, {v: want[v] if v in asked else 0 for v in want})
    vg.verify(found)


@quick
@given(graphs(), st.booleans(), HOW)
def test_harmonic_centrality(graph: vg.Graph, normalized: bool, how: Any) -> None:
    found = vg.run(A.harmonic_centrality, graph, normalized=normalized, **how)
    others = max(1, graph.num_vertices - 1) if normalized else 1
    same(found.centrality * others, nx.harmonic_centrality(simple(graph)))
    vg.verify(found)


@quick
@given(graphs(), HOW)
def test_eccentricity(graph: vg.Graph, how: Any) -> None:
    found, g = vg.run(A.eccentricity, graph, **how), simple(graph)
    hops = {v: nx.single_source_shortest_path_length(g, v) for v in g}
    same(found.eccentricity, {v: max(hops[v].values()) for v in g})
    same(found.reached, {v: len(hops[v]) for v in g})


@quick
@example(make("two parts", 10, 127463, False, False, "int32"), 27, {"device": "python"})
@example(make("two parts", 10, 127463, False, False, "int32"), 27, {"threads": 1})
@given(graphs(), st.integers(1, 50), HOW)
def test_diameter(graph: vg.Graph, searches: int, how: Any) -> None:
    if graph.directed:
        with pytest.raises(vg.ParameterError, match="undirected"):
            vg.run(A.diameter, graph)
        return
    source = searches % graph.num_vertices
    found, g = vg.run(A.diameter, graph, source=source, max_searches=searches, **how), simple(graph)
    hops = dict(nx.all_pairs_shortest_path_length(g))
    right = max(max(hops[v].values()) for v in hops[source])
    assert found.lower <= right <= found.upper
    assert found.lower == max(hops[int(found.end)].values())
    assert searches < 20 or found.lower == found.upper


@quick
@given(graphs(least=2), HOW)
def test_degree_centrality(graph: vg.Graph, how: Any) -> None:
    graph = alone(graph)
    found, g = vg.run(A.degree_centrality, graph, **how), simple(graph)
    same(found.centrality, nx.degree_centrality(g))
    if graph.directed:
        same(found.in_centrality, nx.in_degree_centrality(g))
        same(found.out_centrality, nx.out_degree_centrality(g))


@pytest.mark.parametrize("loops", [False, True])
def test_degree_centrality_looks_at_arcs_for_loops_only(loops: bool) -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 2 if loops else 0], directed=False)
    found = vg.run(A.degree_centrality, graph)
    assert found.centrality.tolist() == ([0.5, 1, 1.5] if loops else [1, 1, 1])
    assert [r.label for r in found.trace] == ["measure", "add_loops"][: 1 + loops]


@quick
@given(graphs(), st.booleans(), HOW)
def test_katz_and_eigenvector(graph: vg.Graph, normalized: bool, how: Any) -> None:
    graph = alone(graph)
    g = simple(graph)
    found = vg.run(A.katz, graph, alpha=0.03, beta=0.5, normalized=normalized, **how)
    same(found.centrality, nx.katz_centrality(g, alpha=0.03, beta=0.5, normalized=normalized))
    try:
        want = nx.eigenvector_centrality(g)
    except nx.PowerIterationFailedConvergence:
        with pytest.raises(vg.AlgorithmError, match="not converged"):
            vg.run(A.eigenvector, graph, **how)
        return
    same(vg.run(A.eigenvector, graph, **how).centrality, want)


@quick
@given(graphs(dtypes=("int32", "float64")), st.sampled_from([None, "weight", "length"]), HOW)
def test_weights_and_starts(graph: vg.Graph, name: str | None, how: Any) -> None:
    """As NetworkX has them, which knows one weight for each edge; `length` is another name of weights."""
    graph = alone(graph)
    n = graph.num_vertices
    s, t, properties = graph.edges()
    weight = np.abs(properties["weight"].astype(float)) % 8 + 0.25
    ends = {"num_vertices": n, "directed": graph.directed}
    graph = vg.Graph.from_edges(s, t, **ends, weight=weight, length=np.sqrt(weight))
    g = simple(graph)
    for u, v, w, length in zip(
        s.tolist(), t.tolist(), weight.tolist(), np.sqrt(weight).tolist(), strict=True
    ):
        g[u][v].update(weight=w, length=length)
    start = np.random.default_rng(n).random(n) + 0.1
    by_node = dict(enumerate(start))
    found = vg.run(A.pagerank, graph, weight=name, tolerance=1e-14, max_rounds=999, **how)
    same(found.rank, nx.pagerank(g, weight=name, tol=1e-15, max_iter=2000), rtol=1e-8)
    vg.verify(found)
    alpha = 0.5 / max(1.0, graph.in_degree.max() * 9)
    which = {"alpha": alpha, "weight": name, "normalized": n % 2 == 0}
    found = vg.run(A.katz, graph, betas=start, start=start, tolerance=1e-13, **which, **how)
    same(found.centrality, nx.katz_centrality(g, beta=by_node, tol=1e-13, **which), rtol=1e-8)
    vg.verify(found)
    try:
        want = nx.eigenvector_centrality(g, 3000, weight=name, nstart=by_node)
    except nx.PowerIterationFailedConvergence:
        return
    shift = 1 / graph.edge_properties[name].max(initial=1e-9) if name is not None else 1.0  # 1, as NetworkX
    found = vg.run(A.eigenvector, graph, max_rounds=3000, weight=name, start=start, shift=shift, **how)
    same(found.centrality, want)
    vg.verify(found)
    vg.verify(vg.run(A.hits, graph, weight=name, start=start, max_rounds=7, **how))


def test_weighted_hits_are_networkxs() -> None:
    rng = np.random.default_rng(9)
    graph = alone(vg.Graph.from_edges(*rng.integers(0, 30, (2, 200)), num_vertices=30, far=rng.random(200)))
    s, t, properties = graph.edges()
    g = nx.DiGraph()
    g.add_nodes_from(range(30))
    g.add_weighted_edges_from(zip(s.tolist(), t.tolist(), properties["far"].tolist(), strict=True))
    hubs, authorities = nx.hits(g)
    for start in (None, rng.random(30) + 1):
        found = vg.run(A.hits, graph, weight="far", start=start, max_rounds=5000, tolerance=1e-14)
        same(found.hub, hubs, rtol=1e-7)
        same(found.authority, authorities, rtol=1e-7)
        vg.verify(found)


@quick
@given(graphs(), HOW)
def test_local_clustering(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.local_clustering, graph, **how)
    if not graph.directed:
        same(found.lcc, nx.clustering(simple(graph)))
    vg.verify(found)


def test_edges_in_no_triangle_take_none_along() -> None:
    ring = np.arange(8)
    graph = vg.Graph.from_edges(np.r_[ring, 0], np.r_[(ring + 1) % 8, 2], directed=False)
    found = vg.run(A.k_truss, graph)
    assert sorted(found.truss) == [2] * 6 + [3] * 3
    assert sum(r.frontier for r in found.trace if r.label == "peel") == 3


def test_trusses_of_wide_ids() -> None:
    ids = np.array([0, 0, 1, 2], np.uint64), np.array([1, 2, 2, 3], np.uint64)
    graph = vg.Graph.from_edges(*ids, directed=False, id_bits=64)
    assert vg.run(A.k_truss, graph).truss.tolist() == [3, 3, 3, 2]


def test_local_clustering_of_short_lists_makes_no_other_graph() -> None:
    ring = np.arange(8)
    graph = vg.Graph.from_edges(np.r_[ring, 0], np.r_[(ring + 1) % 8, 2], directed=False)
    assert vg.run(A.local_clustering, graph).lcc.tolist() == [1 / 3, 1, 1 / 3, 0, 0, 0, 0, 0]
    assert not graph.topology.has("oriented")
    twice = vg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 2], directed=False)
    assert vg.run(A.local_clustering, twice).lcc.tolist() == [1, 1, 1]
    assert twice.topology.has("oriented")


@quick
@given(graphs(), HOW)
def test_k_truss(graph: vg.Graph, how: Any) -> None:
    if graph.directed:
        with pytest.raises(vg.ParameterError, match="undirected"):
            vg.run(A.k_truss, graph)
        return
    truss, g = vg.run(A.k_truss, graph, **how).truss, simple(graph)
    s, t, _ = graph.edges()
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    assert (truss[s == t] == 2).all()
    for k in range(2, int(truss.max(initial=2)) + 2):
        want = {tuple(sorted(e)) for e in nx.k_truss(g, k).edges}
        keep = (truss >= k) & (s != t)
        assert set(zip(s[keep].tolist(), t[keep].tolist(), strict=True)) == want


@quick
@given(graphs(), HOW)
def test_maximal_matching(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.maximal_matching, graph, **how)
    vg.verify(found)
    np.testing.assert_array_equal(found.mate, vg.run(A.maximal_matching, graph, threads=3).mate)


@pytest.mark.parametrize("directed", [True, False])
def test_weighted_matching(directed: bool) -> None:
    for n, m, seed in ((1, 2, 0), (2, 5, 1), (12, 20, 2), (12, 40, 3), (30, 60, 4)):
        rng = np.random.default_rng(seed)
        weight = rng.integers(-1, 5, m) / 2  # equal ones, and such that are worth nothing
        graph = vg.Graph.from_edges(
            *rng.integers(0, n, (2, m)), num_vertices=n, directed=directed, weight=weight
        )
        found = vg.run(A.weighted_matching, graph, threads=2)
        vg.verify(found)
        assert (found.mate == vg.run(A.weighted_matching, graph, device="python").mate).all()
        g = nx.Graph()
        for u, v, w in zip(*(x.tolist() for x in arcs_of(graph)), strict=True):
            if u != v and w > max(0, g.get_edge_data(u, v, {"weight": 0})["weight"]):
                g.add_edge(u, v, weight=w)
        best = sum(g.edges[e]["weight"] for e in nx.max_weight_matching(g))
        taken = sum(g.edges[e]["weight"] for e in enumerate(found.mate.tolist()) if e[0] < e[1])
        assert best / 2 <= taken <= best
    if directed:
        wide = vg.Graph.from_edges([0, 1], [1, 2], id_bits=64, weight=[1, 2])
        assert vg.run(A.weighted_matching, wide).mate.tolist() == [-1, 2, 1]


@quick
@given(graphs(least=2), st.integers(0, 99), HOW)
def test_links(graph: vg.Graph, seed: int, how: Any) -> None:
    n = graph.num_vertices
    left, right = np.random.default_rng(seed).integers(0, n, (2, 20))
    left, right = left[left != right], right[left != right]
    pairs = {"left": left, "right": right}
    if graph.directed:
        for algorithm in (A.jaccard, A.adamic_adar, A.overlap, A.resource_allocation):
            with pytest.raises(vg.ParameterError, match="undirected"):
                vg.run(algorithm, graph, **pairs)
        return
    g = simple(graph)
    given_pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    for algorithm, theirs in (
        (A.jaccard, nx.jaccard_coefficient),
        (A.adamic_adar, nx.adamic_adar_index),
        (A.resource_allocation, nx.resource_allocation_index),
    ):
        same(vg.run(algorithm, graph, **pairs, **how).score, [x[2] for x in theirs(g, given_pairs)])
    degree = np.array([len(g[v]) for v in range(n)])
    a, b, found = degree[left], degree[right], {}
    common = np.array([len(set(nx.common_neighbors(g, u, v))) for u, v in given_pairs], float)
    for name in ("overlap", "sorensen", "cosine"):
        found[name] = vg.run(getattr(A, name), graph, **pairs, **how).score
    same(found["overlap"] * np.minimum(a, b), common)
    same(found["sorensen"] * (a + b) / 2, common)
    same(found["cosine"] * np.sqrt(a * b), common)


@quick
@given(graphs(dtypes=("int32", "float64")), st.sampled_from([1.0, 0.5]), HOW)
def test_modularity(graph: vg.Graph, resolution: float, how: Any) -> None:
    n = graph.num_vertices
    community = np.random.default_rng(n).integers(0, n, n)
    found = vg.run(A.modularity, graph, community=community, resolution=resolution, **how).modularity
    s, t, properties = graph.edges()
    g = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    g.add_nodes_from(range(n))
    g.add_weighted_edges_from(zip(s.tolist(), t.tolist(), properties["weight"].tolist(), strict=True))
    parts = [set(np.flatnonzero(community == c).tolist()) for c in np.unique(community)]
    want = nx.community.modularity(g, parts, resolution=resolution) if properties["weight"].any() else 0.0
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12)


@quick
@given(graphs(dtypes=("int32", "float64")), HOW)
def test_linear_algebra(graph: vg.Graph, how: Any) -> None:
    x = np.random.default_rng(1).random(graph.num_vertices)
    for transposed in (None, vg.bool_):
        vg.verify(vg.run(A.spmv, graph, x=x, transposed=transposed, **how))
    definite = positive_definite(graph)
    vg.verify(vg.run(A.conjugate_gradient, definite, b=x, **how))


@pytest.mark.parametrize("directed", [True, False])
def test_a_sparse_matrix_times_a_dense_one(directed: bool) -> None:
    rng = np.random.default_rng(3)
    for n, m in ((0, 0), (1, 2), (15, 40)):
        weight = rng.integers(-5, 5, m) / 4
        ends = rng.integers(0, max(n, 1), (2, m))
        graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, weight=weight)
        dense, matrix = rng.integers(-8, 8, (n, 3)), graph.to_scipy()
        for transposed, want in ((None, matrix @ dense), (vg.bool_, matrix.T @ dense)):
            for how in ({"device": "python"}, {"threads": 1}, {"threads": 2}):
                found = vg.run(A.spmm, graph, dense=dense, transposed=transposed, **how)
                np.testing.assert_array_equal(found.product, want)
            vg.verify(found)
    for wrong in (np.ones((15, 0)), np.ones((14, 2)), np.full((15, 1), np.inf)):
        with pytest.raises(vg.ParameterError, match="dense"):
            vg.run(A.spmm, graph, dense=wrong)


@pytest.mark.parametrize("directed", [True, False])
def test_walks_end_where_pagerank_says(directed: bool) -> None:
    rng = np.random.default_rng(5)
    graph = vg.Graph.from_edges(*rng.integers(0, 50, (2, 150)), num_vertices=50, directed=directed)
    home = np.eye(50)[3]
    exact = vg.run(A.pagerank, graph, personalization=home, tolerance=1e-14, max_rounds=999).rank
    walks = 400_000
    for seed in (0, 1):
        rank = vg.run(A.random_walks, graph, source=3, walks=walks, seed=seed).rank
        assert abs(rank.sum() - 1) < 1e-12
        assert (np.abs(rank - exact) <= 5 * np.sqrt(exact / walks) + 1e-6).all()
        assert (rank[exact == 0] == 0).all()
    some = [vg.run(A.random_walks, graph, source=3, walks=99, **how).rank for how in (
        {"threads": 1}, {"threads": 3}, {"device": "python"})]  # fmt: skip
    assert (some[0] == some[1]).all()
    assert (some[0] == some[2]).all()


def test_personalised_pagerank_is_networkxs() -> None:
    rng = np.random.default_rng(6)
    graph = alone(vg.Graph.from_edges(*rng.integers(0, 30, (2, 60)), num_vertices=30, weight=np.ones(60)))
    home = rng.integers(0, 3, 30).astype(float)
    rank = vg.run(A.pagerank, graph, personalization=home, tolerance=1e-14, max_rounds=999).rank
    wish = {v: home[v] for v in range(30)}
    same(rank, nx.pagerank(simple(graph), personalization=wish, tol=1e-15, max_iter=999), rtol=1e-9)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_refused_or_fails(device: str) -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    for algorithm, given_wrong in (
        (A.bfs, {"source": 0, "max_depth": -1}),
        (A.multi_source_bfs, {"max_depth": -1}),
        (A.widest_path, {"source": 0}),
        (A.katz, {"tolerance": 0.0}),
        (A.eigenvector, {"tolerance": -1.0}),
        (A.diameter, {"max_searches": 0}),
        (A.random_walks, {"source": 0, "walks": 0}),
        (A.random_walks, {"source": 0, "damping": 1.0}),
        (A.modularity, {"community": np.array([0, 1, 3])}),
        (A.jaccard, {"left": [0], "right": [1, 2]}),
        (A.jaccard, {"left": [0], "right": [3]}),
        (A.adamic_adar, {"left": np.array([0.5]), "right": np.array([1])}),
    ):
        with pytest.raises(vg.ParameterError):
            vg.run(algorithm, graph, device=device, **given_wrong)
    odd = graph
    for name, values in (("negative", [1, -1, 1]), ("endless", [1, np.inf, 1]), ("unknown", [1, np.nan, 1])):
        odd = vg.Graph.from_edges(*odd.edges()[:2], directed=False, **odd.edges()[2], **{name: values})
    below, endless, missing = "is negative", "not finite", "no such edge property; it has: negative"
    for algorithm in (A.pagerank, A.hits, A.katz, A.eigenvector):
        for name, message in (("endless", endless), ("unknown", endless), ("weight", missing)):
            with pytest.raises(vg.ParameterError, match=message):
                vg.run(algorithm, odd, weight=name, device=device)
    for algorithm, given_wrong, message in (
        (A.pagerank, {"weight": "negative"}, below),
        (A.hits, {"weight": "negative"}, below),
        (A.hits, {"start": np.array([1.0, 1.0, -1.0])}, "start: a value is negative"),
        (A.hits, {"start": np.array([1.0, 1.0, np.nan])}, endless),
        (A.katz, {"start": np.array([1.0, 1.0, np.nan])}, endless),
        (A.katz, {"betas": np.array([1.0, 1.0, np.inf])}, endless),
        (A.eigenvector, {"start": np.array([1.0, 1.0, np.inf])}, endless),
        (A.eigenvector, {"start": np.zeros(3)}, "all zero"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(algorithm, odd, device=device, **given_wrong)
    with pytest.raises(vg.AlgorithmError, match="not converged"):
        vg.run(A.katz, graph, alpha=0.9, max_rounds=50, device=device)
    with pytest.raises(vg.AlgorithmError, match="not positive definite"):
        vg.run(A.conjugate_gradient, graph, b=np.array([1.0, -1.0, 0.0]), device=device)
    with pytest.raises(vg.ParameterError, match="directed=False"):
        vg.run(A.conjugate_gradient, vg.Graph.from_edges([0], [1]), b=np.ones(2), device=device)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n", [0, 1])
def test_graphs_without_arcs(n: int, directed: bool) -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=n, directed=directed)
    none = np.zeros(0, int)
    for how in ({"device": "python"}, {}):
        assert vg.run(A.closeness, graph, **how).centrality.tolist() == [0] * n
        assert vg.run(A.harmonic_centrality, graph, normalized=True, **how).centrality.tolist() == [0] * n
        assert vg.run(A.eccentricity, graph, **how).eccentricity.tolist() == [0] * n
        assert vg.run(A.degree_centrality, graph, **how).centrality.tolist() == [1] * n
        assert vg.run(A.katz, graph, **how).centrality.tolist() == [1] * n
        assert vg.run(A.eigenvector, graph, **how).centrality.tolist() == [1] * n
        assert vg.run(A.local_clustering, graph, **how).lcc.tolist() == [0] * n
        assert vg.run(A.maximal_matching, graph, **how).mate.tolist() == [-1] * n
        assert vg.run(A.weighted_matching, graph, weight=1, **how).mate.tolist() == [-1] * n
        assert vg.run(A.modularity, graph, community=np.zeros(n, int), **how).modularity == 0
        assert vg.run(A.spmv, graph, x=np.ones(n), **how).product.tolist() == [0] * n
        if not directed:
            assert vg.run(A.k_truss, graph, **how).truss.size == 0
            assert vg.run(A.jaccard, graph, left=none, right=none, **how).score.size == 0
            assert vg.run(A.conjugate_gradient, graph, b=np.zeros(n), **how).x.tolist() == [0] * n
