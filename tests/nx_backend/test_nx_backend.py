"""The NetworkX backend: every function beside NetworkX's own; what NetworkX asks of a backend."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import networkx as nx
import numpy as np
import pytest

import vgraph.nx_backend as backend
from vgraph.nx_backend.info import FUNCTIONS, get_info

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def make(kind: type, seed: int, *, loops: bool = False, n: int = 30, m: int = 70) -> nx.Graph:
    """A random graph whose nodes are words, with positive weights on most edges."""
    rng = np.random.default_rng(seed)
    names = [f"node {k}" for k in rng.permutation(n)]
    graph = kind()
    graph.add_nodes_from(names)
    for a, b in rng.integers(0, n, (m, 2)).tolist():
        if loops or a != b:
            graph.add_edge(names[a], names[b])
    for *_, data in graph.edges(data=True):
        if rng.random() < 0.8:
            data["weight"] = int(rng.integers(1, 9))
    return graph


def same(name: str, graph: nx.Graph, *args: object, **kwargs: object) -> None:
    """The function gives what NetworkX's own gives, types and all."""
    assert backend.can_run(name, (graph, *args), kwargs) is True
    mine = getattr(backend, name)(graph, *args, **kwargs)
    theirs = getattr(nx, name)(graph, *args, **kwargs)
    if isinstance(theirs, dict):
        assert all(type(x) in (int, float) for x in mine.values())  # no scalars of NumPy's
        assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-7, nan_ok=True)
    elif isinstance(theirs, float):
        assert mine == pytest.approx(theirs)
    elif isinstance(theirs, (bool, int, set)):
        assert mine == theirs
    else:
        assert Counter(map(frozenset, mine)) == Counter(map(frozenset, theirs))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_paths(kind: type, seed: int) -> None:
    graph = make(kind, seed, loops=True)
    source, target = "node 3", "node 7"
    same("single_source_shortest_path_length", graph, source)
    same("single_source_shortest_path_length", graph, source, cutoff=2)
    same("single_source_dijkstra_path_length", graph, source)
    same("single_source_dijkstra_path_length", graph, source, cutoff=4, weight=None)
    same("single_source_bellman_ford_path_length", graph, source)
    same("descendants", graph, source)
    same("bfs_layers", graph, source)
    same("has_path", graph, source, target)
    for name in ("dijkstra_path_length", "bellman_ford_path_length"):
        if nx.has_path(graph, source, target):
            same(name, graph, source, target)
        else:
            with pytest.raises(nx.NetworkXNoPath):
                getattr(backend, name)(graph, source, target)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_components(kind: type, seed: int) -> None:
    graph = make(kind, seed, loops=True, m=25)
    directed = graph.is_directed()
    prefix = "weakly_" if directed else ""
    same(f"{prefix}connected_components", graph)
    same(f"number_{prefix}connected_components", graph)
    same(f"is_{prefix}connected", graph)
    if not directed:
        same("node_connected_component", graph, "node 5")
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.weakly_connected_components(graph)
    else:
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.connected_components(graph)
    with pytest.raises(nx.NetworkXPointlessConcept):
        getattr(backend, f"is_{prefix}connected")(kind())


@pytest.mark.parametrize("kind", KINDS)
def test_centrality(kind: type) -> None:
    graph = make(kind, 1, loops=True)
    same("pagerank", graph, weight=None, tol=1e-10)
    same("pagerank", graph, weight=None, personalization={"node 1": 2.0, "node 4": 1.0}, tol=1e-10)
    same("betweenness_centrality", graph)
    same("betweenness_centrality", graph, normalized=False, endpoints=True)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(graph, weight=None, max_iter=1)
    assert backend.pagerank(kind()) == {}


@pytest.mark.parametrize("loops", [False, True])
def test_structure(loops: bool) -> None:
    graph = make(nx.Graph, 2, loops=loops, n=20, m=90)
    some = ["node 1", "node 9", "no such node"]
    same("triangles", graph)
    same("triangles", graph, some)
    assert backend.triangles(graph, "node 1") == nx.triangles(graph, "node 1")
    same("clustering", graph)
    same("clustering", graph, some)
    same("average_clustering", graph)
    same("average_clustering", graph, count_zeros=False)
    same("transitivity", graph)
    if loops and nx.number_of_selfloops(graph):
        with pytest.raises(nx.NetworkXNotImplemented):
            backend.core_number(graph)
    else:
        same("core_number", graph)


def test_missing_nodes_and_negative_weights() -> None:
    graph = make(nx.Graph, 0)
    for name in ("single_source_shortest_path_length", "single_source_dijkstra_path_length", "has_path"):
        with pytest.raises(nx.NodeNotFound):
            getattr(backend, name)(graph, "nowhere", *(["node 1"] if name == "has_path" else []))
    graph.add_edge("node 1", "node 2", weight=-1)
    with pytest.raises(ValueError, match="negative weights"):
        backend.single_source_dijkstra_path_length(graph, "node 1")
    with pytest.raises(nx.NetworkXUnbounded):
        backend.single_source_bellman_ford_path_length(graph, "node 1")


def test_what_is_not_supported_says_why() -> None:
    graph, directed = make(nx.Graph, 0), make(nx.DiGraph, 0)
    assert "function" in backend.can_run("dijkstra_path_length", (graph, "a", "b", lambda u, v, d: 1), {})
    assert "directed" in backend.can_run("clustering", (directed,), {})
    assert "weights" in backend.can_run("clustering", (graph,), {"weight": "weight"})
    with pytest.raises(NotImplementedError, match="above 0"):
        backend.betweenness_centrality(nx.Graph([(0, 1, {"weight": 0})]), weight="weight")
    lost = nx.Graph([(0, 1, {"weight": 1e20}), (1, 2, {"weight": 1.0})])
    with pytest.raises(NotImplementedError, match="rounding"):
        backend.betweenness_centrality(lost, weight="weight")
    words = nx.Graph([("a", "b", {"weight": "heavy"})])
    with pytest.raises(NotImplementedError, match="not a number"):
        backend.single_source_dijkstra_path_length(words, "a")
    with pytest.raises(AttributeError):
        backend.minimum_weight_full_matching


def test_graphs_come_back() -> None:
    for kind in KINDS:
        graph = make(kind, 4, loops=True)
        found = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
        again = backend.convert_to_nx(found)
        assert type(again) is kind
        assert list(again) == list(graph)
        assert sorted(again.edges()) == sorted(graph.edges())
        assert again.size(weight="weight") == graph.size(weight="weight")
        assert backend.convert_to_nx(3) == 3


def test_information_needs_no_networkx() -> None:
    info = get_info()
    assert info["functions"].keys() == FUNCTIONS.keys()
    assert all(callable(getattr(backend, name)) for name in FUNCTIONS)
    code = "import sys, vgraph.nx_backend.info as i; i.get_info(); assert 'networkx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_calls_are_counted() -> None:
    before = backend.calls["transitivity"]
    backend.transitivity(make(nx.Graph, 0))
    assert backend.calls["transitivity"] == before + 1


def test_the_small_are_left_to_networkx() -> None:
    assert "fewer than" in str(backend.should_run("pagerank", (make(nx.Graph, 0, m=10),), {}))
    assert backend.should_run("pagerank", (make(nx.Graph, 0, n=300, m=3000),), {}) is True


def installed() -> bool:
    from importlib.metadata import entry_points

    return any(e.name == "vgraph" for e in entry_points(group="networkx.backends"))


needs_installation = pytest.mark.skipif(
    not installed(), reason="vgraph is not installed: NetworkX finds backends by entry points"
)


@needs_installation
def test_networkx_keeps_the_converted_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """NetworkX calls the backend by name, keeps the conversion until the graph changes, and says what is missing."""
    made: list[object] = []
    original = backend.convert_from_nx
    monkeypatch.setattr(backend, "convert_from_nx", lambda *a, **k: made.append(a) or original(*a, **k))
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    graph = make(nx.Graph, 0)
    expected = nx.transitivity(graph)
    for _ in range(2):
        assert nx.transitivity(graph, backend="vgraph") == pytest.approx(expected)
    assert len(made) == 1
    graph.add_edge("node 1", "a new one")
    assert nx.number_connected_components(graph, backend="vgraph") == nx.number_connected_components(graph)
    assert len(made) == 2
    with pytest.raises(NotImplementedError, match="vgraph"):
        nx.clustering(graph, weight="weight", backend="vgraph")


@needs_installation
def test_networkx_chooses_the_backend_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nx.config.backend_priority, "algos", ["vgraph"])
    small, large = make(nx.Graph, 0), make(nx.Graph, 0, n=300, m=3000)
    before = backend.calls["core_number"]
    assert nx.core_number(small) == nx.core_number.orig_func(small)
    assert backend.calls["core_number"] == before  # too small
    assert nx.core_number(large) == nx.core_number.orig_func(large)
    assert backend.calls["core_number"] == before + 1
    weighted = nx.clustering(large, weight="weight")  # not supported: NetworkX's own answer
    assert weighted == nx.clustering.orig_func(large, weight="weight")


@pytest.mark.slow
@needs_installation
@pytest.mark.parametrize("everything", [False, True], ids=["implemented", "all with fallback"])
def test_networkx_own_suite(everything: bool) -> None:
    """NetworkX's tests: they pass, or need what is not implemented; and calls really reach vgraph."""
    command = [sys.executable, "-m", "vgraph.nx_backend", *(["--all"] if everything else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    counts = re.search(r"vgraph: (\d+) calls .* (\d+) of them with such calls", done.stdout)
    assert counts is not None
    assert int(counts[1]) > 450
    assert int(counts[2]) > 230


def test_labels_of_any_kind() -> None:
    """Tuples, None's neighbors, strings and numbers in one graph; equal numbers of different types are one node."""
    graph = nx.Graph([((1, 2), "b"), ("b", frozenset({3})), (frozenset({3}), 4.5), (7, 7.0), (True, 1)])
    same("connected_components", graph)
    same("single_source_shortest_path_length", graph, (1, 2))
    assert set(backend.core_number(nx.Graph([((1, 2), "b")]))) == {(1, 2), "b"}
    with pytest.raises(nx.NodeNotFound):
        backend.single_source_shortest_path_length(graph, [1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_samples(kind: type) -> None:
    graph = make(kind, 3)
    for normalized in (True, False):
        for endpoints in (True, False):
            options = {"normalized": normalized, "endpoints": endpoints, "seed": 5}
            same("betweenness_centrality", graph, k=7, **options)
            same("betweenness_centrality", graph, k=1, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_betweenness_of_edges(kind: type) -> None:
    graph = make(kind, 3, loops=True)
    for normalized in (True, False):
        same("edge_betweenness_centrality", graph, normalized=normalized)
        same("edge_betweenness_centrality", graph, k=7, normalized=normalized, seed=5)
    with pytest.raises(ZeroDivisionError):
        backend.edge_betweenness_centrality(graph, k=0)
    with pytest.raises(ValueError, match="larger than population"):
        backend.edge_betweenness_centrality(kind(), k=1)
    lonely = kind([("a", "a")])
    for single in (kind(), lonely):
        same("edge_betweenness_centrality", single)
        same("edge_betweenness_centrality", single, k=0)
    assert "weights" in backend.can_run("edge_betweenness_centrality", (graph,), {"weight": "weight"})


@pytest.mark.parametrize("kind", KINDS)
def test_betweenness_of_weights_and_subsets(kind: type) -> None:
    graph = make(kind, 7, loops=True)
    some, others = ["node 3", "node 8", "node 8"], ["node 1", "node 3", "node 9", "node 9", "nowhere"]
    for weight in (None, "weight", "no such attribute"):
        same("betweenness_centrality", graph, weight=weight)
        same("betweenness_centrality", graph, normalized=False, endpoints=True, weight=weight)
        same("betweenness_centrality", graph, k=7, seed=2, weight=weight)
        same("betweenness_centrality_subset", graph, some, others, weight=weight)
        same("betweenness_centrality_subset", graph, graph, graph, normalized=True, weight=weight)
    with pytest.raises(KeyError):
        backend.betweenness_centrality_subset(graph, ["nowhere"], others)
    assert backend.betweenness_centrality_subset(kind(), [], []) == {}
    assert "function" in backend.can_run(
        "betweenness_centrality_subset", (graph, some, others), {"weight": len}
    )


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_core_numbers(kind: type) -> None:
    same("core_number", make(kind, 6, m=160))


@pytest.mark.parametrize("kind", KINDS)
def test_the_other_way_round(kind: type) -> None:
    graph = make(kind, 2, m=45)
    same("ancestors", graph, "node 4")
    same("single_target_shortest_path_length", graph, "node 4")
    same("single_target_shortest_path_length", graph, "node 4", cutoff=2)
    same("shortest_path_length", graph, target="node 4")
    same("shortest_path_length", graph, "node 4")
    for method in ("dijkstra", "bellman-ford"):
        same("shortest_path_length", graph, "node 4", weight="weight", method=method)
    for target in ("node 7", "node 8"):
        if nx.has_path(graph, "node 4", target):
            for weight in (None, "weight"):
                same("shortest_path_length", graph, "node 4", target, weight)
        else:
            with pytest.raises(nx.NetworkXNoPath):
                backend.shortest_path_length(graph, "node 4", target)
    assert "all pairs" in backend.can_run("shortest_path_length", (graph,), {})
    with pytest.raises(ValueError, match="method"):
        backend.shortest_path_length(graph, "node 4", method="guess")


def test_classes_with_methods_of_their_own() -> None:
    class Plain(nx.Graph):
        """Only a name."""

    class Backwards(nx.DiGraph):
        """Reads another adjacency than it keeps."""

        def neighbors(self, n: object) -> object:
            return self.predecessors(n)

    converted = backend.convert_from_nx(Plain([(0, 1)]))
    assert backend.can_run("core_number", (converted,), {}) is True
    assert backend.core_number(converted) == {0: 1, 1: 1}
    same("core_number", Plain([(0, 1), (1, 2), (0, 2)]))
    assert "overrides neighbors" in backend.can_run("descendants", (Backwards([(0, 1)]), 0), {})
    with pytest.raises(NotImplementedError, match="overrides"):
        backend.descendants(Backwards([(0, 1)]), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_views(kind: type) -> None:
    """Subgraphs and reversed graphs are converted as what they show."""
    graph = make(kind, 5, loops=True)
    part = graph.subgraph([f"node {k}" for k in range(20)])
    same("single_source_dijkstra_path_length", part, "node 3")
    if graph.is_directed():
        same("descendants", graph.reverse(copy=False), "node 3")
    edges = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    names = zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)
    assert [(edges.nodes[a], edges.nodes[b]) for a, b in names] == [e[:2] for e in graph.edges()]
    assert edges.attributes["weight"].tolist() == [w for *_, w in graph.edges(data="weight", default=1)]


def test_weights_whose_sums_do_not_fit() -> None:
    graph = nx.Graph([(0, 1, {"weight": 2**62}), (1, 2, {"weight": 2**62})])
    with pytest.raises(NotImplementedError, match="64 bits"):
        backend.single_source_dijkstra_path_length(graph, 0)
