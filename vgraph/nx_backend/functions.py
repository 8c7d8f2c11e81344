"""NetworkX's functions on vgraph's algorithms: NetworkX's arguments, results and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.convert import NxGraph, convert_from_nx

A = vg.algorithms


def _converted(graph: Any, **attributes: Any) -> NxGraph:
    return convert_from_nx(graph, edge_attrs=attributes)


def _vertex(graph: NxGraph, node: Any, what: str = "Node") -> int:
    if node not in graph:
        raise nx.NodeNotFound(f"{what} {node} is not in G")
    return graph.index[node]


def _by_node(graph: NxGraph, values: Any) -> dict[Any, Any]:
    return dict(zip(graph.nodes, np.asarray(values).tolist(), strict=True))


def _members(graph: NxGraph, component: Any) -> Iterator[set[Any]]:
    """The sets of equally labelled nodes, by their first node."""
    order = np.argsort(component, kind="stable")
    starts = np.flatnonzero(np.diff(component[order], prepend=-1))
    for part in np.split(order, starts[1:]) if order.size else ():
        yield {graph.nodes[v] for v in part.tolist()}


# --- traversal ------------------------------------------------------------------------------------------------


def _levels(graph: NxGraph, source: Any, *, reverse: bool = False) -> np.ndarray[Any, Any]:
    along = graph.reverse if reverse else graph.graph
    found: np.ndarray[Any, Any] = vg.run(A.bfs, along, source=_vertex(graph, source, "Source")).level
    return found


def _nearest_first(
    graph: NxGraph, distance: np.ndarray[Any, Any], reached: np.ndarray[Any, Any]
) -> dict[Any, Any]:
    order = np.flatnonzero(reached)
    order = order[np.argsort(distance[order], kind="stable")]
    return {graph.nodes[v]: d for v, d in zip(order.tolist(), distance[order].tolist(), strict=True)}


def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops from `source`, nearest first."""
    graph = _converted(G)
    return _within(graph, _levels(graph, source), cutoff)


def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops to `target`, nearest first."""
    graph = _converted(G)
    if target not in graph:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _within(graph, _levels(graph, target, reverse=True), cutoff)


def _within(graph: NxGraph, level: np.ndarray[Any, Any], cutoff: float | None) -> dict[Any, int]:
    reached = level >= 0
    if cutoff is not None:
        reached &= level <= cutoff
    return _nearest_first(graph, level, reached)


def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    """The nodes of each distance from a single source."""
    graph = _converted(G)
    given = [sources] if sources in graph else list(sources)
    for node in given:
        if node not in graph:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    if len(set(given)) != 1:
        raise NotImplementedError("bfs_layers takes one source")
    level = _levels(graph, given[0])
    return _layers(graph, level)


def _layers(graph: NxGraph, level: np.ndarray[Any, Any]) -> Iterator[list[Any]]:
    for depth in range(int(level.max()) + 1):
        yield [graph.nodes[v] for v in np.flatnonzero(level == depth).tolist()]


def descendants(G: Any, source: Any) -> set[Any]:
    """The nodes that can be reached from `source`, without itself."""
    graph = _converted(G)
    if source not in graph:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    reached = _levels(graph, source) > 0
    return {graph.nodes[v] for v in np.flatnonzero(reached).tolist()}


def ancestors(G: Any, source: Any) -> set[Any]:
    """The nodes from which `source` can be reached, without itself."""
    graph = _converted(G)
    if source not in graph:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    reached = _levels(graph, source, reverse=True) > 0
    return {graph.nodes[v] for v in np.flatnonzero(reached).tolist()}


def has_path(G: Any, source: Any, target: Any) -> bool:
    """Whether `target` can be reached from `source`."""
    graph = _converted(G)
    for node, what in ((source, "Source"), (target, "Target")):
        if node not in graph:
            raise nx.NodeNotFound(f"{what} {node} is not in G")
    return bool(_levels(graph, source)[graph.index[target]] >= 0)


# --- shortest paths -------------------------------------------------------------------------------------------


def _distances(
    graph: NxGraph, source: Any, weight: str | None, algorithm: vg.decorators.AlgorithmDef
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Lengths of shortest paths, and which nodes have one."""
    weighted = graph.weighted(weight)
    dist = vg.run(algorithm, weighted, source=graph.index[source]).dist
    limit = np.inf if dist.dtype.kind == "f" else np.iinfo(dist.dtype).max
    return dist, dist != limit


def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from `source`, nearest first; weights must not be negative."""
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    try:
        dist, reached = _distances(graph, source, weight, A.sssp)
    except vg.ParameterError as error:
        raise ValueError(f"Contradictory paths found: negative weights? ({error})") from None
    if cutoff is not None:
        reached &= dist <= cutoff
    return _nearest_first(graph, dist, reached)


def dijkstra_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """The length of a shortest path."""
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    found = single_source_dijkstra_path_length(graph, source, weight=weight)
    if target not in found:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found[target]


def single_source_bellman_ford_path_length(
    G: Any, source: Any, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from `source`; weights may be negative."""
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    try:
        dist, reached = _distances(graph, source, weight, A.bellman_ford)
    except vg.AlgorithmError:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from None
    return _nearest_first(graph, dist, reached)


def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """The length of a shortest path; weights may be negative."""
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    found = single_source_bellman_ford_path_length(graph, source, weight)
    if target not in found:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return found[target]


def shortest_path_length(
    G: Any, source: Any = None, target: Any = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    """The length of a shortest path, or of those from `source` or to `target` by node."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    if target is None:
        if weight is None:
            return single_source_shortest_path_length(graph, source)
        if method == "dijkstra":
            return single_source_dijkstra_path_length(graph, source, weight=weight)
        return single_source_bellman_ford_path_length(graph, source, weight=weight)
    if source is None:
        return single_target_shortest_path_length(graph, target)
    if weight is None:
        for node, what in ((source, "Source"), (target, "Target")):
            if node not in graph:
                raise nx.NodeNotFound(f"{what} {node} is not in G")
        level = int(_levels(graph, source)[graph.index[target]])
        if level < 0:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return level
    if method == "dijkstra":
        return dijkstra_path_length(graph, source, target, weight)
    return bellman_ford_path_length(graph, source, target, weight)


# --- components -----------------------------------------------------------------------------------------------


def _no_direction(graph: NxGraph) -> None:
    if graph.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")


def _need_direction(graph: NxGraph) -> None:
    if not graph.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for undirected type")


def _component(graph: NxGraph) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = vg.run(A.connected_components, graph.graph).component
    return found


def connected_components(G: Any) -> Iterator[set[Any]]:
    """The sets of nodes that are joined by paths."""
    graph = _converted(G)
    _no_direction(graph)
    return _members(graph, _component(graph))


def weakly_connected_components(G: Any) -> Iterator[set[Any]]:
    """The same in a directed graph, the direction of edges ignored."""
    graph = _converted(G)
    _need_direction(graph)
    return _members(graph, _component(graph))


def number_connected_components(G: Any) -> int:
    """How many there are."""
    graph = _converted(G)
    _no_direction(graph)
    return int(np.unique(_component(graph)).size)


def number_weakly_connected_components(G: Any) -> int:
    """How many there are."""
    graph = _converted(G)
    _need_direction(graph)
    return int(np.unique(_component(graph)).size)


def is_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    graph = _converted(G)
    _no_direction(graph)
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_component(graph) == 0).all())


def is_weakly_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    graph = _converted(G)
    _need_direction(graph)
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_component(graph) == 0).all())


def node_connected_component(G: Any, n: Any) -> set[Any]:
    """The component that `n` is in."""
    graph = _converted(G)
    _no_direction(graph)
    component = _component(graph)
    return {graph.nodes[v] for v in np.flatnonzero(component == component[graph.index[n]]).tolist()}


# --- centrality -----------------------------------------------------------------------------------------------


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, float] | None = None,
) -> dict[Any, float]:
    """PageRank; parallel edges count each."""
    graph = _converted(G, **({weight: 1} if isinstance(weight, str) else {}))
    size = len(graph)
    if not size:
        return {}
    values = graph.attributes.get(weight) if weight is not None else None
    if values is not None and values.size and not (values == values[0]).all():
        raise NotImplementedError("pagerank with edge weights that differ")
    preferred = None
    if personalization is not None:
        preferred = np.array([personalization.get(node, 0) for node in graph.nodes], float)
        if preferred.sum() == 0:
            raise ZeroDivisionError
    result = vg.run(
        A.pagerank,
        graph.graph,
        damping=float(alpha),
        tolerance=float(size * tol),
        max_rounds=int(max_iter) + 1,
        personalization=preferred,
    )
    if result.stats.rounds > max_iter:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return _by_node(graph, result.rank)


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """The share of shortest paths that lead through each node, from all nodes or `k` chosen at random."""
    graph = _converted(G)
    if not len(graph):
        return {}
    if k is not None and k != len(graph):
        return _sampled_betweenness(graph, k, bool(normalized), bool(endpoints), seed)
    result = vg.run(A.betweenness, graph.graph, normalized=bool(normalized), endpoints=bool(endpoints))
    return _by_node(graph, result.centrality)


def _sampled_betweenness(
    graph: NxGraph, k: int, normalized: bool, endpoints: bool, seed: Any
) -> dict[Any, float]:
    """From `k` sources only, scaled up as NetworkX does: a source is no inner node of its own paths."""
    chosen = nx.utils.create_py_random_state(seed).sample(graph.nodes, k)
    sources = np.array([graph.index[node] for node in chosen], np.int64)
    run = vg.run(A.betweenness, graph.graph, sources=sources, normalized=False, endpoints=endpoints)
    total = run.centrality if graph.is_directed() else 2 * run.centrality
    others = len(graph) - (not endpoints)
    if others < 2:
        return _by_node(graph, total)
    if not k:
        raise ZeroDivisionError("betweenness from no sources")
    counted = np.full(len(graph), float(k))
    if not endpoints:
        counted[sources] = k - 1 if k > 1 else np.nan  # one source alone says nothing about itself
    pairs = others - 1 if normalized else (1 if graph.is_directed() else 2) / others
    return _by_node(graph, total / (counted * pairs))


# --- structure ------------------------------------------------------------------------------------------------


def _triangles(graph: NxGraph) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Triangles at each node, and how many different neighbors it has, itself left out."""
    _no_direction(graph)
    count: np.ndarray[Any, Any] = vg.run(A.triangle_count, graph.simple).triangles
    return count, graph.simple.out_degree


def _asked(graph: NxGraph, nodes: Any) -> list[int]:
    """The vertices of `nodes`, an iterable of nodes; those that are not in the graph are left out, as in NetworkX."""
    if nodes is None:
        return list(range(len(graph)))
    return [graph.index[node] for node in nodes if node in graph]


def triangles(G: Any, nodes: Any = None) -> Any:
    """Triangles at each node, or at one."""
    graph = _converted(G)
    count = _triangles(graph)[0].tolist()
    if nodes is not None and nodes in graph:
        return count[graph.index[nodes]]
    return {graph.nodes[v]: count[v] for v in _asked(graph, nodes)}


def _clustering(graph: NxGraph) -> list[float]:
    count, degree = _triangles(graph)
    pairs = degree.astype(np.int64) * (degree.astype(np.int64) - 1)
    share = 2.0 * count / np.maximum(pairs, 1)
    return [0 if c == 0 else s for c, s in zip(count.tolist(), share.tolist(), strict=True)]


def clustering(G: Any, nodes: Any = None, weight: str | None = None) -> Any:
    """The share of pairs of neighbors that are neighbors."""
    graph = _converted(G)
    found = _clustering(graph)
    if nodes is not None and nodes in graph:
        return found[graph.index[nodes]]
    return {graph.nodes[v]: found[v] for v in _asked(graph, nodes)}


def average_clustering(
    G: Any, nodes: Any = None, weight: str | None = None, count_zeros: bool = True
) -> float:
    """The mean of `clustering`."""
    graph = _converted(G)
    found = _clustering(graph)
    values = [found[v] for v in _asked(graph, nodes)]
    if not count_zeros:
        values = [v for v in values if abs(v) > 0]
    return sum(values) / len(values)


def transitivity(G: Any) -> float:
    """The share of pairs of edges with a common end that are sides of a triangle."""
    graph = _converted(G)
    count, degree = _triangles(graph)
    pairs = int((degree.astype(np.int64) * (degree.astype(np.int64) - 1)).sum())
    return 0 if not count.any() else 2 * int(count.sum()) / pairs


def core_number(G: Any) -> dict[Any, int]:
    """The largest k such that the node is in a subgraph of least degree k."""
    graph = _converted(G)
    if (graph.sources == graph.targets).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return _by_node(graph, vg.run(A.k_core, graph.undirected).core)
