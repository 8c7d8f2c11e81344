"""The NetworkX backend beyond paths and components: each function beside NetworkX's own."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.community.quality import NotAPartition
from test_nx_backend import KINDS, make, needs_installation, same

import vgraph.nx_backend as backend

SIMPLE = (nx.Graph, nx.DiGraph)


def weighted(kind: type, seed: int, **how: object) -> nx.Graph:
    """With weights that are fractions, on most edges."""
    graph = make(kind, seed, **how)
    rng = np.random.default_rng(seed + 100)
    for *_, data in graph.edges(data=True):
        if "weight" in data:
            data["weight"] = float(rng.integers(1, 30)) / 4
    return graph


def connected(kind: type, seed: int) -> nx.Graph:
    """A random graph with a circle through all nodes."""
    graph = make(kind, seed, n=40, m=60)
    nx.add_cycle(graph, list(graph))
    return graph


def whole(graph: nx.Graph) -> tuple[object, ...]:
    """All that a graph is."""
    return graph.graph, dict(graph.nodes(data=True)), graph.adj


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_strong_components(kind: type, seed: int) -> None:
    graph = make(kind, seed, loops=True, m=45)
    same("strongly_connected_components", graph)
    same("number_strongly_connected_components", graph)
    same("is_strongly_connected", graph)
    same("is_strongly_connected", connected(kind, seed))
    assert list(backend.strongly_connected_components(kind())) == []
    with pytest.raises(nx.NetworkXPointlessConcept):
        backend.is_strongly_connected(kind())
    for name in (
        "strongly_connected_components",
        "number_strongly_connected_components",
        "is_strongly_connected",
    ):
        with pytest.raises(nx.NetworkXNotImplemented):
            getattr(backend, name)(nx.Graph(graph))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_biconnected_components(kind: type, seed: int) -> None:
    graph = make(kind, seed, m=45)
    for name in ("biconnected_components", "is_biconnected", "bridges", "has_bridges"):
        same(name, graph)
        same(name, connected(kind, seed))
    same("bridges", graph, root="node 3")
    same("has_bridges", graph, root="node 3")
    assert set(backend.articulation_points(graph)) == set(nx.articulation_points(graph))
    mine, theirs = (
        {frozenset(map(frozenset, part)) for part in where.biconnected_component_edges(graph)}
        for where in (backend, nx)
    )
    assert mine == theirs
    assert list(backend.biconnected_components(kind())) == []
    assert not backend.is_biconnected(kind())
    with pytest.raises(nx.NodeNotFound):
        backend.has_bridges(graph, root="nowhere")
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.is_biconnected(nx.DiGraph(graph))


@pytest.mark.parametrize("kind", KINDS)
def test_weighted_pagerank(kind: type) -> None:
    graph = weighted(kind, 1, loops=True)
    some = {"node 1": 2.0, "node 4": 1.0, "nowhere": 3.0}
    every = {node: 1.0 + k for k, node in enumerate(graph)}
    close = {"tol": 1e-12, "max_iter": 500}
    same("pagerank", graph, **close)
    same("pagerank", graph, alpha=0.5, personalization=some, **close)
    same("pagerank", graph, dangling=some, **close)
    same("pagerank", graph, nstart=every, weight=None, dangling=every, **close)
    same("pagerank", graph, nstart=every)  # where it ends depends on where it starts
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(graph, max_iter=2)
    with pytest.raises(ZeroDivisionError):
        backend.pagerank(graph, personalization={"nowhere": 1})


def test_pagerank_of_weights_that_are_zero() -> None:
    graph = nx.DiGraph(
        [(0, 1, {"weight": 0}), (1, 2, {"weight": 2.5}), (2, 0, {"weight": 1}), (0, 2, {"weight": 0})]
    )
    same("pagerank", graph, tol=1e-12, max_iter=1000)
    graph[1][2]["weight"] = -0.1  # no part of a whole, but NetworkX takes it
    same("pagerank", graph, tol=1e-12, max_iter=1000)


@pytest.mark.parametrize(
    ("name", "given", "weights"),
    [
        ("single_source_dijkstra_path_length", (0,), [math.inf, math.nan, 1e308]),
        ("dijkstra_path_length", (0, 2), [math.inf, math.nan, 1e308]),
        ("single_source_bellman_ford_path_length", (0,), [math.inf, math.nan, 1e308]),
        ("closeness_centrality", (None, "weight"), [math.inf, math.nan, 1e308, -1.0]),
        ("betweenness_centrality", (None, True, "weight"), [math.inf, math.nan, 1e308, -1.0, 0.0]),
        ("hits", (), [math.inf, math.nan, -1.0]),
        ("community.modularity", ([{0, 1}, {2}],), [math.inf, math.nan, -1.0]),
        ("community.leiden_communities", (), [math.inf, math.nan, -1.0]),
        ("community.louvain_communities", (), [math.inf, math.nan, -1.0]),
    ],
)
def test_numbers_that_are_left_to_networkx(name: str, given: tuple[Any, ...], weights: list[float]) -> None:
    for weight in weights:
        graph = nx.Graph([(0, 1, {"weight": 1.0}), (1, 2, {"weight": weight})])
        with pytest.raises(NotImplementedError, match="weight"):
            getattr(backend, name.rpartition(".")[2])(graph, *given)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_as_many_rounds_as_networkx_needs(kind: type) -> None:
    """The first number of rounds with which NetworkX has converged is enough here, and no smaller one."""
    graph = weighted(kind, 5)
    for enough in range(1, 200):
        try:
            nx.pagerank(graph, tol=1e-5, max_iter=enough)
            break
        except nx.PowerIterationFailedConvergence:
            with pytest.raises(nx.PowerIterationFailedConvergence):
                backend.pagerank(graph, tol=1e-5, max_iter=enough)
    backend.pagerank(graph, tol=1e-5, max_iter=enough)


@pytest.mark.parametrize("kind", SIMPLE)
def test_katz(kind: type) -> None:
    graph = weighted(kind, 2, loops=True)
    every = {node: 1.0 + k % 3 for k, node in enumerate(graph)}
    same("katz_centrality", graph, 0.05)
    same("katz_centrality", graph, 0.05, 2.5, normalized=False)
    same("katz_centrality", graph, 0.01, every, weight="weight", tol=1e-9)
    same("katz_centrality", graph, 0.01, nstart=every)
    same("katz_centrality", graph, 0.01, weight="weight", normalized=False)
    same("katz_centrality", graph, 0.01, np.float32(2), nstart=every, weight="weight")
    with pytest.raises(NotImplementedError, match="not finite"):
        backend.katz_centrality(kind([(0, 1, {"weight": math.inf})]), weight="weight")
    assert backend.katz_centrality(kind()) == {}
    for options in ({"max_iter": 1}, {"tol": 0}, {"max_iter": 1, "weight": "weight"}):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            backend.katz_centrality(graph, 0.01, **options)
    with pytest.raises(nx.NetworkXError, match="every node"):
        backend.katz_centrality(graph, beta={"node 1": 2})
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.katz_centrality(nx.MultiGraph(graph))


@pytest.mark.parametrize("kind", SIMPLE)
def test_eigenvector(kind: type) -> None:
    graph = weighted(kind, 3, loops=True, m=200)
    every = {node: 1.0 + k % 3 for k, node in enumerate(graph)}
    same("eigenvector_centrality", graph)
    same("eigenvector_centrality", graph, weight="weight")
    same("eigenvector_centrality", graph, max_iter=300, tol=1e-10, nstart=every)
    same("eigenvector_centrality", graph, max_iter=900, weight="weight", nstart=every)
    same("eigenvector_centrality", kind([(0, 0)]))
    for options in ({}, {"weight": "weight"}, {"nstart": every}):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            backend.eigenvector_centrality(graph, max_iter=1, **options)
    with pytest.raises(nx.NetworkXPointlessConcept):
        backend.eigenvector_centrality(kind())
    with pytest.raises(nx.NetworkXError, match="all zero"):
        backend.eigenvector_centrality(graph, nstart=dict.fromkeys(graph, 0))
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.eigenvector_centrality(nx.MultiGraph(graph))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [True, False])
def test_hits(kind: type, weights: bool) -> None:
    pytest.importorskip("scipy")
    graph = weighted(kind, 4, loops=True, m=150)
    if not weights:
        for *_, data in graph.edges(data=True):
            data.clear()
    start = {node: 1.0 + k % 2 for k, node in enumerate(graph)}
    for options in ({}, {"nstart": start}, {"tol": 1e-12}):
        assert backend.can_run("hits", (graph,), options) is True
        for mine, theirs in zip(backend.hits(graph, **options), nx.hits(graph, **options), strict=True):
            assert mine == pytest.approx(theirs, abs=1e-6)
            assert sum(mine.values()) == pytest.approx(1)
    hubs, authorities = backend.hits(graph, normalized=False)
    their_hubs, their_authorities = nx.hits(graph, normalized=False)
    sign = math.copysign(1, sum(their_authorities.values()))  # an eigenvector's sign is arbitrary
    assert hubs == pytest.approx({n: sign * x for n, x in their_hubs.items()}, abs=1e-6)
    assert authorities == pytest.approx({n: sign * x for n, x in their_authorities.items()}, abs=1e-6)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.hits(nx.path_graph(50), max_iter=1)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.hits(graph, max_iter=0)
    assert backend.hits(kind()) == ({}, {})
    nothing = nx.empty_graph(2, kind)
    for options in ({}, {"nstart": {0: 1, 1: 1}}):
        assert backend.hits(nothing, **options) == ({0: 0, 1: 0}, {0: 0, 1: 0})
    assert "positive" in backend.can_run("hits", (graph,), {"nstart": {"node 1": 1}})
    with pytest.raises(NotImplementedError, match="negative"):
        backend.hits(kind([(0, 1, {"weight": -1})] if kind in SIMPLE else [(0, 1, 0, {"weight": -1})]))


@pytest.mark.parametrize("kind", KINDS)
def test_distances(kind: type) -> None:
    graph = make(kind, 5, loops=True)
    same("closeness_centrality", graph)
    same("closeness_centrality", graph, wf_improved=False)
    for node in graph:
        same("closeness_centrality", graph, node)
    with pytest.raises(nx.NodeNotFound):
        backend.closeness_centrality(graph, "nowhere")
    same("descendants_at_distance", graph, "node 3", 2)
    same("bfs_layers", graph, ["node 3", "node 9", "node 3"])
    assert list(backend.bfs_layers(graph, [])) == []
    with pytest.raises(nx.NetworkXError):
        backend.bfs_layers(graph, ["node 3", "nowhere"])
    for name in ("eccentricity", "diameter", "radius", "center", "periphery"):
        for bad in (make(kind, 5, m=20), nx.disjoint_union(connected(kind, 1), connected(kind, 2))):
            with pytest.raises(nx.NetworkXError, match="infinite path length"):
                getattr(backend, name)(bad)
        assert "weight" in backend.can_run(name, (graph,), {"weight": "weight"})
    for node in (None, "node 3", "node 8"):
        same("closeness_centrality", graph, node, "weight")
        same("closeness_centrality", graph, node, "weight", wf_improved=False)
        same("closeness_centrality", graph, node, "no such attribute")
    with pytest.raises(nx.NodeNotFound):
        backend.closeness_centrality(graph, "nowhere", "weight")
    assert "function" in backend.can_run("closeness_centrality", (graph,), {"distance": len})
    below = kind()
    below.add_edge(0, 1, weight=-1)
    with pytest.raises(NotImplementedError, match="negative"):
        backend.closeness_centrality(below, distance="weight")


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_topological_order(kind: type) -> None:
    graph = make(kind, 5)
    numbers = {node: number for number, node in enumerate(graph)}
    graph.remove_edges_from([e for e in graph.edges if numbers[e[0]] <= numbers[e[1]]])
    mine = list(backend.topological_generations(graph))
    assert list(map(set, mine)) == list(map(set, nx.topological_generations(graph)))
    assert list(backend.topological_sort(graph)) == [node for generation in mine for node in generation]
    assert backend.is_directed_acyclic_graph(graph) is True
    assert "conversion" in str(backend.should_run("topological_sort", (graph,), {}))
    assert list(backend.topological_sort(kind())) == []
    graph.add_edge("node 3", "node 3")
    for name in ("topological_generations", "topological_sort"):
        with pytest.raises(nx.NetworkXUnfeasible, match="cycle"):
            list(getattr(backend, name)(graph))
        with pytest.raises(nx.NetworkXError, match="undirected"):
            list(getattr(backend, name)(nx.Graph(graph)))
    assert backend.is_directed_acyclic_graph(graph) is False
    assert backend.is_directed_acyclic_graph(nx.Graph()) is False


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_longest_paths_and_reductions(kind: type) -> None:
    graph = weighted(kind, 5)
    numbers = {node: number for number, node in enumerate(graph)}
    graph.remove_edges_from([e for e in graph.edges if numbers[e[0]] <= numbers[e[1]]])
    for weight in ("weight", "no such attribute", None):
        same("dag_longest_path_length", graph, weight)
        assert nx.is_path(graph, backend.dag_longest_path(graph, weight))
    whole_numbers = make(kind, 6)
    whole_numbers.remove_edges_from([e for e in whole_numbers.edges if e[0] <= e[1]])
    same("dag_longest_path_length", whole_numbers)
    assert backend.dag_longest_path(kind()) == []
    mine, theirs = backend.transitive_reduction(graph), nx.transitive_reduction(graph)
    assert (list(mine), set(mine.edges), type(mine)) == (list(theirs), set(theirs.edges), nx.DiGraph)
    graph.add_edge("node 3", "node 3")
    for name, error in (("dag_longest_path", "cycle"), ("transitive_reduction", "Acyclic")):
        with pytest.raises(nx.NetworkXException, match=error):
            getattr(backend, name)(graph)
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.dag_longest_path(nx.Graph(graph))
    assert "default_weight" in backend.can_run("dag_longest_path", (graph,), {"default_weight": 2})
    assert "topo_order" in backend.can_run("dag_longest_path", (graph,), {"topo_order": []})


@pytest.mark.parametrize("kind", KINDS)
def test_harmonic_centrality(kind: type) -> None:
    graph = make(kind, 5, loops=True, m=40)
    for nodes in (None, "node 3", ["node 3", "nowhere", "node 5", "node 5"], list(graph)):
        same("harmonic_centrality", graph, nodes)
    same(
        "harmonic_centrality", make(kind, 1, n=60), [f"node {k}" for k in range(40)]
    )  # too many to search one by one
    assert backend.harmonic_centrality(kind()) == {}
    with pytest.raises(nx.NetworkXError, match="not in the graph"):
        backend.harmonic_centrality(graph, 17)
    for more in ("distance", "sources"):
        assert more in backend.can_run("harmonic_centrality", (graph,), {more: "weight"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_eccentricities(kind: type, seed: int) -> None:
    graph = connected(kind, seed)
    same("eccentricity", graph)
    same("eccentricity", graph, "node 3")
    same("eccentricity", graph, ["node 3", "node 5", "node 3", "nowhere"])
    same("eccentricity", graph, list(graph)[:35])
    with pytest.raises(nx.NetworkXError, match="not in the graph"):
        backend.eccentricity(graph, 17)
    known = nx.eccentricity(graph)
    for name in ("diameter", "radius"):
        same(name, graph)
        same(name, graph, usebounds=True)
        same(name, graph, known)
    for name in ("center", "periphery"):
        assert set(getattr(backend, name)(graph)) == set(getattr(nx, name)(graph))
        assert set(getattr(backend, name)(graph, known)) == set(getattr(nx, name)(graph, known))
    assert backend.eccentricity(kind()) == {}
    assert backend.eccentricity(nx.empty_graph(1, kind)) == {0: 0}
    with pytest.raises(ValueError, match="empty"):
        backend.diameter(kind())


@pytest.mark.parametrize("kind", KINDS)
def test_degrees(kind: type) -> None:
    graph = make(kind, 6, loops=True)
    assert backend.degree_centrality(graph) == nx.degree_centrality(graph)
    assert backend.degree_centrality(nx.empty_graph(1, kind)) == {0: 1}
    for name in ("in_degree_centrality", "out_degree_centrality"):
        if graph.is_directed():
            assert getattr(backend, name)(graph) == getattr(nx, name)(graph)
        else:
            with pytest.raises(nx.NetworkXNotImplemented):
                getattr(backend, name)(graph)
    assert "conversion" in str(backend.should_run("degree_centrality", (graph,), {}))


@pytest.mark.parametrize("kind", KINDS)
def test_censuses_and_correlations(kind: type) -> None:
    graph = make(kind, 7, loops=True, m=100)
    plain = make(kind, 7, m=100)
    for k, node in enumerate(graph):
        graph.nodes[node]["size"] = (7 * k) % 5 / 2
    same("degree_assortativity_coefficient", graph)
    same("numeric_assortativity_coefficient", graph, "size")
    with pytest.raises(KeyError):
        backend.numeric_assortativity_coefficient(graph, "height")
    for more in ({"weight": "weight"}, {"nodes": ["node 1"]}):
        assert "not supported" in backend.can_run("degree_assortativity_coefficient", (graph,), more)
    if graph.is_directed():
        same("triadic_census", plain)
        assert "x not" in backend.can_run("degree_assortativity_coefficient", (graph,), {"x": "in"})
        assert "nodelist" in backend.can_run("triadic_census", (graph,), {"nodelist": ["node 1"]})
        assert "directed" in backend.can_run("square_clustering", (graph,), {})
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.rich_club_coefficient(graph, normalized=False)
        return
    for nodes in (None, "node 3", ["node 3", "node 5", "nowhere"]):
        same("square_clustering", graph, nodes)
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.triadic_census(graph)
    assert "normalized" in backend.can_run("rich_club_coefficient", (graph,), {})
    clique, size = backend.max_weight_clique(graph, None)
    assert size == len(clique) == nx.max_weight_clique(graph, None)[1]
    assert all(graph.has_edge(u, v) for u in clique for v in clique if u != v)
    assert "weights" in backend.can_run("max_weight_clique", (graph,), {})
    if graph.is_multigraph():
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.rich_club_coefficient(plain, normalized=False)
    else:
        same("rich_club_coefficient", plain, normalized=False)
        with pytest.raises(Exception, match="self loops"):
            backend.rich_club_coefficient(graph, normalized=False)


@pytest.mark.parametrize("seed", range(3))
def test_trusses_and_cores_are_graphs(seed: int) -> None:
    graph = make(nx.Graph, seed, n=20, m=90)
    graph.graph["name"] = "with attributes"
    for k, node in enumerate(graph):
        graph.nodes[node]["number"] = k
    for k in range(1, 7):
        assert whole(backend.k_truss(graph, k)) == whole(nx.k_truss(graph, k))
    for k in (None, 2, 4, 50):
        assert whole(backend.k_core(graph, k)) == whole(nx.k_core(graph, k))
    cores = nx.core_number(graph)
    assert whole(backend.k_core(graph, 3, cores)) == whole(nx.k_core(graph, 3, cores))
    directed = make(nx.DiGraph, seed, n=20, m=90)
    assert whole(backend.k_core(directed)) == whole(nx.k_core(directed))
    graph.add_edge("node 1", "node 1")
    for name in ("k_core", "k_truss"):
        with pytest.raises(nx.NetworkXNotImplemented, match="self loops"):
            getattr(backend, name)(graph, 3)
        with pytest.raises(nx.NetworkXNotImplemented):
            getattr(backend, name)(nx.MultiGraph(graph), 3)
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.k_truss(directed, 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_colors_are_those_of_networkx(kind: type, seed: int) -> None:
    graph = make(kind, seed, loops=seed % 2 == 0, m=120)
    assert backend.greedy_color(graph) == nx.greedy_color(graph)
    import random

    random.seed(seed)
    mine = backend.greedy_color(graph, "random_sequential")
    random.seed(seed)
    assert mine == nx.greedy_color(graph, "random_sequential")
    assert list(mine) != list(graph)
    assert backend.greedy_color(kind()) == {}
    with pytest.raises(nx.NetworkXError, match="not valid"):
        backend.greedy_color(graph, "no such strategy")
    assert "strategies" in backend.can_run("greedy_color", (graph,), {"strategy": "DSATUR"})
    assert "strategies" in backend.can_run("greedy_color", (graph, lambda g, c: list(g)), {})
    assert "interchange" in backend.can_run("greedy_color", (graph,), {"interchange": True})
    assert "directed" in backend.can_run("greedy_color", (nx.DiGraph(graph),), {})


def test_colors_that_wait_for_each_other_in_a_long_row(monkeypatch: pytest.MonkeyPatch) -> None:
    from vgraph.nx_backend import structure

    monkeypatch.setattr(structure, "MOST_ROUNDS", 50)
    assert backend.greedy_color(nx.path_graph(45)) == nx.greedy_color(nx.path_graph(45))
    with pytest.raises(NotImplementedError, match="in a row"):
        backend.greedy_color(nx.path_graph(70))


@pytest.mark.parametrize("seed", range(4))
def test_matchings(seed: int) -> None:
    graph = make(nx.Graph, seed, loops=True)
    found = backend.maximal_matching(graph)
    assert nx.is_maximal_matching(graph, found)
    assert found <= set(graph.edges())
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.maximal_matching(nx.DiGraph(graph))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("which", ["minimum", "maximum"])
def test_spanning_trees_are_kruskals(kind: type, seed: int, which: str) -> None:
    """Weights are often equal: the same edges in the same order, with the very data of the graph."""
    graph = make(kind, seed, loops=True, m=60)
    graph.graph["name"] = "forest"
    graph.nodes["node 1"]["color"] = "red"
    edges, tree = f"{which}_spanning_edges", f"{which}_spanning_tree"
    for keys in (True, False):
        for data in (True, False):
            for weight in ("weight", "no such attribute"):
                options = {"keys": keys, "data": data, "weight": weight}
                assert backend.can_run(edges, (graph,), options) is True
                assert list(getattr(backend, edges)(graph, **options)) == list(
                    getattr(nx, edges)(graph, **options)
                )
    assert whole(getattr(backend, tree)(graph)) == whole(getattr(nx, tree)(graph))
    total = getattr(nx, tree)(graph).size(weight="weight")
    for algorithm in ("prim", "boruvka")[: 1 if graph.is_multigraph() else 2]:
        found = getattr(backend, tree)(graph, algorithm=algorithm)
        assert nx.is_forest(found)
        assert found.size(weight="weight") == total
    assert whole(getattr(backend, tree)(kind())) == whole(kind())


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_spanning_trees_of_odd_graphs(kind: type) -> None:
    graph = weighted(kind, 3, m=60)
    graph.add_edge("node 1", "a new one", weight=math.nan)
    graph.add_edge("node 1", "another", weight=-math.inf)
    found = backend.minimum_spanning_edges(graph)
    with pytest.raises(ValueError, match="NaN"):
        list(found)
    options = {"ignore_nan": True}
    assert list(backend.minimum_spanning_edges(graph, **options)) == list(
        nx.minimum_spanning_edges(graph, **options)
    )
    with pytest.raises(ValueError, match="valid choice"):
        backend.minimum_spanning_tree(graph, algorithm="guess")
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.minimum_spanning_edges(nx.DiGraph(graph))
    if graph.is_multigraph():
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.minimum_spanning_tree(graph, algorithm="boruvka")


@pytest.mark.parametrize("seed", range(3))
def test_links(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from vgraph.nx_backend import links

    graph = make(nx.Graph, seed, loops=True)
    pairs = [("node 1", "node 2"), ("node 3", "node 3"), ("node 4", "node 2"), ("node 2", "node 4")]
    nodes = {"node 3": 0}
    graph.add_edge("node 3", "node 4")
    for node in list(graph["node 3"]):
        graph.add_edge(node, "node 4")  # no neighbor of degree 1
    for name in ("jaccard_coefficient", "adamic_adar_index", "resource_allocation_index"):
        mine, theirs = getattr(backend, name), getattr(nx, name)
        assert list(mine(graph, pairs)) == [(u, v, pytest.approx(p)) for u, v, p in theirs(graph, pairs)]
        assert list(mine(graph, [])) == []
        every = {frozenset(e[:2]): e[2] for e in theirs(graph)}
        for size in (7, 1 << 18):
            monkeypatch.setattr(links, "PAIRS", size)
            found = list(mine(graph))
            assert len(found) == len(every)
            assert {frozenset(e[:2]): e[2] for e in found} == pytest.approx(every)
        with pytest.raises(nx.NodeNotFound):
            mine(graph, [("node 1", "nowhere")])
        for kind in (nx.DiGraph, nx.MultiGraph):
            with pytest.raises(nx.NetworkXNotImplemented):
                mine(kind(graph))
        assert list(mine(nx.Graph())) == []
    assert nodes.keys() <= set(graph)


@pytest.mark.parametrize("kind", KINDS)
def test_simrank(kind: type) -> None:
    graph = weighted(kind, 3, loops=True)
    mine = backend.simrank_similarity(graph)
    theirs = nx.simrank_similarity(graph)
    for node in graph:
        assert mine[node] == pytest.approx(theirs[node])
    chosen = {"importance_factor": 0.5, "tolerance": 1e-6}
    one = backend.simrank_similarity(graph, "node 3", **chosen)
    assert one == pytest.approx(nx.simrank_similarity(graph, "node 3", **chosen))
    assert backend.simrank_similarity(graph, "node 3", "node 5", **chosen) == one["node 5"]
    with pytest.raises(nx.ExceededMaxIterations):
        backend.simrank_similarity(graph, max_iterations=1)
    for ends in (("nowhere", None), ("node 3", "nowhere")):
        with pytest.raises(nx.NodeNotFound, match="node nowhere not in G"):
            backend.simrank_similarity(graph, *ends)


def test_a_node_with_itself_and_a_neighbor_without_others() -> None:
    graph = nx.Graph([(0, 1), (0, 2), (2, 3)])
    for function in (backend.adamic_adar_index, nx.adamic_adar_index):
        assert len(list(function(graph, [(0, 3), (2, 1)]))) == 2
        with pytest.raises(ZeroDivisionError):
            list(function(graph, [(0, 0)]))


@pytest.mark.parametrize("kind", KINDS)
def test_modularity(kind: type) -> None:
    graph = weighted(kind, 7, loops=True)
    nodes = list(graph)
    parts = [set(nodes[:10]), set(), nodes[10:25], frozenset(nodes[25:])]
    for options in ({}, {"weight": None}, {"resolution": 2.5}, {"weight": "no such attribute"}):
        mine = backend.modularity(graph, iter(parts), **options)
        assert mine == pytest.approx(nx.community.modularity(graph, parts, **options))
    for bad in (parts[:2], [*parts, {nodes[0]}], [*parts, {"nowhere"}], [set(nodes[:29]), {"nowhere"}]):
        with pytest.raises(NotAPartition):
            backend.modularity(graph, bad)
    with pytest.raises(ZeroDivisionError):
        backend.modularity(nx.empty_graph(2, kind), [{0}, {1}])
    with pytest.raises(NotImplementedError, match="negative"):
        backend.modularity(kind([(0, 1, {"weight": -1})]), [{0}, {1}])


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_louvain_communities(kind: type) -> None:
    graph = weighted(kind, 8, loops=True)
    for options in (
        {},
        {"weight": None},
        {"resolution": 2.5},
        {"max_level": 1},
        {"threshold": 0.01, "seed": 3},
    ):
        mine = backend.louvain_communities(graph, **options)
        assert nx.community.is_partition(graph, mine)
        measured = {k: v for k, v in options.items() if k in ("weight", "resolution")}
        theirs = nx.community.louvain_communities(graph, **{"seed": 1, **options})
        q = [nx.community.modularity(graph, parts, **measured) for parts in (mine, theirs)]
        assert q[0] >= 0.9 * q[1]
    assert backend.louvain_communities(graph) == backend.louvain_communities(graph, seed=5)
    assert backend.louvain_communities(nx.empty_graph(3, kind)) == [{0}, {1}, {2}]
    assert backend.louvain_communities(kind()) == []
    for level in (0, -1):
        with pytest.raises(ValueError, match="positive integer"):
            backend.louvain_communities(graph, max_level=level)
    with pytest.raises(NotImplementedError, match="negative"):
        backend.louvain_communities(kind([(0, 1, {"weight": -1})]))
    with pytest.raises(ZeroDivisionError):
        backend.louvain_communities(kind([(0, 1, {"weight": 0})]))
    assert backend.can_run("louvain_communities", (graph,), {}) is True
    assert "resolution" in str(backend.can_run("louvain_communities", (graph,), {"resolution": -1}))


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_leiden_communities(kind: type) -> None:
    """NetworkX has no such function of its own."""
    graph = weighted(kind, 8, loops=True)
    for options in ({}, {"weight": None}, {"resolution": 2.5}):
        mine = backend.leiden_communities(graph, **options)
        theirs = nx.community.louvain_communities(graph, seed=1, **options)
        q = [nx.community.modularity(graph, parts, **options) for parts in (mine, theirs)]
        assert q[0] >= 0.85 * q[1]
        assert all(nx.is_connected(graph.subgraph(part).to_undirected()) for part in mine)
    assert backend.leiden_communities(graph) == backend.leiden_communities(graph, seed=5)
    assert len(backend.leiden_communities(graph, max_level=1)) > 1
    with pytest.raises(ValueError, match="positive integer"):
        backend.leiden_communities(graph, max_level=0)


@needs_installation
def test_networkx_calls_what_returns_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, or as one of its generators; the conversion with all attributes then serves for other calls, too."""
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    graph = weighted(nx.Graph, 9, n=300, m=3000)
    tree, ranks = nx.minimum_spanning_tree.orig_func(graph), nx.pagerank.orig_func(graph)
    assert whole(nx.minimum_spanning_tree(graph, backend="vgraph")) == whole(tree)
    assert nx.pagerank(graph, backend="vgraph") == pytest.approx(ranks)
    assert len(graph.__networkx_cache__["backends"]["vgraph"]) == 1
    monkeypatch.setattr(nx.config.backend_priority, "generators", ["vgraph"])
    before = backend.calls["k_truss"]
    assert whole(nx.k_truss(graph, 4)) == whole(nx.k_truss.orig_func(graph, 4))
    assert backend.calls["k_truss"] == before + 1


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_of_a_graph_that_was_converted_with_all_of_them(kind: type) -> None:
    """NetworkX hands on a conversion that has more than is needed."""
    graph = weighted(kind, 8)
    graph.nodes["node 1"]["word"] = graph.graph["word"] = "kept"
    everything = backend.convert_from_nx(graph, preserve_edge_attrs=True, preserve_node_attrs=True)
    assert backend.pagerank(everything) == backend.pagerank(graph)
    assert backend.pagerank(everything) != backend.pagerank(graph, weight=None)
    source = "node 3"
    paths = backend.single_source_dijkstra_path_length
    assert paths(everything, source) == paths(graph, source)
    assert whole(backend.convert_to_nx(everything)) == whole(graph)


@pytest.mark.parametrize("kind", KINDS)
def test_guided_paths(kind: type) -> None:
    graph = weighted(kind, 5, m=90)
    nodes = list(graph)
    for weight in ("weight", "no such attribute", None):
        left = nx.single_source_dijkstra_path_length(
            graph.reverse() if graph.is_directed() else graph, nodes[7], weight=weight
        )
        for heuristic in (None, lambda u, _, left=left: left.get(u, 99.0) / 2):
            for source in nodes[:9]:
                given = (graph, source, nodes[7], heuristic, weight)
                if source not in left:
                    with pytest.raises(nx.NetworkXNoPath):
                        backend.astar_path(*given)
                    continue
                path = backend.astar_path(*given)
                assert (path[0], path[-1]) == (source, nodes[7])
                assert nx.is_path(graph, path)
                same("astar_path_length", *given)
    for name in ("astar_path", "astar_path_length"):
        with pytest.raises(nx.NodeNotFound):
            getattr(backend, name)(graph, "nowhere", nodes[0])
        assert "cutoff" in backend.can_run(name, (graph, nodes[0], nodes[1]), {"cutoff": 3})
        assert "function" in backend.can_run(name, (graph, nodes[0], nodes[1]), {"weight": len})


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_all_pairs(kind: type) -> None:
    graph = weighted(kind, 5, m=50)
    for cutoff in (None, 2):
        hops = dict(backend.all_pairs_shortest_path_length(graph, cutoff))
        assert hops == {u: dict(found) for u, found in nx.all_pairs_shortest_path_length(graph, cutoff)}
        for weight in ("weight", None):
            mine = dict(backend.all_pairs_dijkstra_path_length(graph, cutoff, weight))
            assert mine == dict(nx.all_pairs_dijkstra_path_length(graph, cutoff, weight))
            assert all(list(found.values()) == sorted(found.values()) for found in mine.values())
    assert list(backend.all_pairs_shortest_path_length(kind())) == []
    assert "function" in backend.can_run("all_pairs_dijkstra_path_length", (graph,), {"weight": len})


@pytest.mark.parametrize("kind", SIMPLE)
def test_simple_paths_in_order(kind: type) -> None:
    graph = weighted(kind, 5, n=9, m=14)
    nodes = list(graph)
    for weight in ("weight", None):
        for target in nodes[1:4]:
            mine, theirs = (
                where.shortest_simple_paths(graph, nodes[0], target, weight) for where in (backend, nx)
            )
            try:
                found, expected = list(mine), list(theirs)
            except nx.NetworkXNoPath:
                with pytest.raises(nx.NetworkXNoPath):
                    list(backend.shortest_simple_paths(graph, nodes[0], target, weight))
                continue
            assert sorted(found) == sorted(expected)
            of = (
                len
                if weight is None
                else lambda path: sum(graph.edges[e].get("weight", 1) for e in pairwise(path))
            )
            assert list(map(of, found)) == sorted(map(of, expected))
    with pytest.raises(nx.NodeNotFound):
        backend.shortest_simple_paths(graph, nodes[0], "nowhere")
    with pytest.raises(nx.NetworkXNotImplemented):
        backend.shortest_simple_paths(nx.MultiGraph(graph), nodes[0], nodes[1])
    assert "function" in backend.can_run("shortest_simple_paths", (graph, nodes[0], nodes[1], len), {})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SIMPLE)
def test_flows(kind: type, seed: int) -> None:
    graph = make(kind, seed, loops=True)
    s, t = list(graph)[:2]
    same("maximum_flow_value", graph, s, t, capacity="weight")
    same("minimum_cut_value", graph, s, t, "weight")
    assert backend.minimum_cut(graph, s, t, "weight") == nx.minimum_cut(graph, s, t, "weight")
    value, flows = backend.maximum_flow(graph, s, t, capacity="weight")
    assert {u: set(row) for u, row in flows.items()} == {u: set(row) for u, row in graph.adj.items()}
    for u, v, data in graph.edges(data=True):
        assert 0 <= flows[u][v] <= data.get("weight", math.inf)
        assert graph.is_directed() or 0 <= flows[v][u] <= data.get("weight", math.inf)
    into = {v: sum(row.get(v, 0) for row in flows.values()) for v in graph}
    left = {v: into[v] - sum(flows[v].values()) for v in graph}
    assert left == {v: {s: -value, t: value}.get(v, 0) for v in graph}
    fractions = weighted(kind, seed)
    assert backend.maximum_flow_value(fractions, s, t, "weight") == nx.maximum_flow_value(
        fractions, s, t, "weight"
    )


def test_flows_that_are_none() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    wide = nx.DiGraph([("a", "b", {"capacity": 2}), ("b", "c")])
    same("maximum_flow_value", wide, "a", "c")
    negative = nx.DiGraph([("a", "b", {"capacity": -2}), ("b", "c", {"capacity": 1})])
    same("maximum_flow_value", negative, "a", "c")
    assert "flow_func" in backend.can_run("maximum_flow", (wide, "a", "c"), {"flow_func": len})
    for given, error in (
        ((graph, "a", "c"), nx.NetworkXUnbounded),
        ((graph, "a", "a"), nx.NetworkXError),
        ((graph, "a", "d"), nx.NetworkXError),
        ((nx.MultiDiGraph(graph), "a", "c"), nx.NetworkXError),
    ):
        for function in (backend.minimum_cut, nx.minimum_cut):
            with pytest.raises(error):
                function(*given)


def test_a_flow_of_large_integers_where_one_has_no_capacity() -> None:
    """Infinity makes floats of all: what does not fit is NetworkX's."""
    graph = nx.DiGraph([("a", "b")])
    graph.add_edge("b", "c", capacity=3)
    graph.add_edge("a", "c", capacity=2**50)
    same("maximum_flow_value", graph, "a", "c")
    for large in (2**53, 2**62):
        graph.add_edge("a", "c", capacity=large)
        with pytest.raises(NotImplementedError, match="a float64 does not hold"):
            backend.maximum_flow_value(graph, "a", "c")


def test_a_flow_of_floats_that_saturates_what_is_bounded() -> None:
    """The rest has no capacity, and sums are rounded."""
    graph = nx.DiGraph()
    for i, limit in enumerate(np.random.default_rng(37).random(50)):
        graph.add_edge("s", i, capacity=float(limit))
        graph.add_edge(i, "t")
    value = nx.maximum_flow_value(graph, "s", "t", backend="vgraph")
    assert value == pytest.approx(nx.maximum_flow_value(graph, "s", "t"))
    endless = nx.DiGraph([("s", "t")])
    endless.add_edge("a", "b", capacity=10**17)
    with pytest.raises(nx.NetworkXUnbounded):
        nx.maximum_flow_value(endless, "s", "t", backend="vgraph")
