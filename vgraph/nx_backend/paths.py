"""Traversal and lengths of shortest paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.algorithms.k_shortest_paths import paths_in_order
from vgraph.nx_backend.common import A, converted, levels, refuse, runs, vertex
from vgraph.nx_backend.convert import NxGraph

Array = np.ndarray[Any, Any]

# --- traversal ------------------------------------------------------------------------------------------------


def _nearest_first(
    graph: NxGraph, distance: Array, reached: Array, cutoff: float | None = None
) -> dict[Any, Any]:
    order = np.flatnonzero(reached if cutoff is None else reached & (distance <= cutoff))
    order = order[np.argsort(distance[order], kind="stable")]
    return {graph.nodes[v]: d for v, d in zip(order.tolist(), distance[order].tolist(), strict=True)}


def single_source_shortest_path_length(G: Any, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops from `source`, nearest first."""
    graph = converted(G)
    level = levels(graph, source, cutoff=cutoff)
    return _nearest_first(graph, level, level >= 0, cutoff)


def single_target_shortest_path_length(G: Any, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    """Hops to `target`, nearest first."""
    graph = converted(G)
    vertex(graph, target, "Target")
    level = levels(graph, target, reverse=True, cutoff=cutoff)
    return _nearest_first(graph, level, level >= 0, cutoff)


def _need(graph: NxGraph, *nodes: Any) -> None:
    """Raise NetworkXError for what is no node."""
    for node in nodes:
        if node not in graph:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")


def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    """The nodes of each distance from the nearest source, those of distance 0 as they are given."""
    graph = converted(G)
    given = [sources] if sources in graph else list(dict.fromkeys(sources))
    _need(graph, *given)
    if not given:
        return iter(())
    numbers = [graph.index[node] for node in given]
    level = vg.run(A.multi_source_bfs, graph.graph, sources=numbers).level
    deeper = (
        [graph.nodes[v] for v in np.flatnonzero(level == d).tolist()] for d in range(1, level.max() + 1)
    )
    return chain([given], deeper)


def descendants_at_distance(G: Any, source: Any, distance: Any) -> set[Any]:
    """The nodes to which the shortest path from `source` has `distance` edges."""
    graph = converted(G)
    _need(graph, source)
    level = levels(graph, source, cutoff=distance)
    return {graph.nodes[v] for v in np.flatnonzero(level == distance).tolist()}


def descendants(G: Any, source: Any) -> set[Any]:
    """The nodes that can be reached from `source`, without itself."""
    graph = converted(G)
    _need(graph, source)
    reached = levels(graph, source) > 0
    return {graph.nodes[v] for v in np.flatnonzero(reached).tolist()}


def ancestors(G: Any, source: Any) -> set[Any]:
    """The nodes from which `source` can be reached, without itself."""
    graph = converted(G)
    _need(graph, source)
    reached = levels(graph, source, reverse=True) > 0
    return {graph.nodes[v] for v in np.flatnonzero(reached).tolist()}


def has_path(G: Any, source: Any, target: Any) -> bool:
    """Whether `target` can be reached from `source`."""
    graph = converted(G)
    return _hops(graph, source, target) >= 0


def _hops(graph: NxGraph, source: Any, target: Any) -> int:
    """Hops from a node to another; -1 where there is no way."""
    vertex(graph, source, "Source")
    end = vertex(graph, target, "Target")
    return int(levels(graph, source)[end])


def topological_generations(G: Any) -> Iterator[list[Any]]:
    """The nodes by the most edges of any path that ends there."""
    graph = converted(G)
    if not graph.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    try:
        found = vg.run(A.topological_order, graph.graph)
    except vg.AlgorithmError:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from None
    order = found.order
    for run in runs(found.level[order]):
        yield [graph.nodes[v] for v in order[run].tolist()]


def topological_sort(G: Any) -> Iterator[Any]:
    """The nodes, each before those to which it has edges."""
    return chain.from_iterable(topological_generations(G))


def is_directed_acyclic_graph(G: Any) -> bool:
    """Whether there is such an order."""
    graph = converted(G)
    try:
        return graph.is_directed() and all(topological_generations(graph))
    except nx.NetworkXUnfeasible:
        return False


def transitive_reduction(G: Any) -> Any:
    """A graph of those edges without which some node no longer leads to another."""
    graph = converted(G)
    try:
        needed = vg.run(A.transitive_reduction, graph.graph).needed
    except (vg.AlgorithmError, vg.ParameterError):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction") from None
    found = nx.DiGraph()
    found.add_nodes_from(graph.nodes)
    found.add_edges_from(graph.edge(i, key=False) for i in np.flatnonzero(needed).tolist())
    return found


def dag_longest_path(
    G: Any, weight: str | None = "weight", default_weight: float = 1, topo_order: Any = None
) -> list[Any]:
    """The nodes of a longest path."""
    graph = converted(G, weight)
    return [graph.nodes[v] for v in _longest(graph, weight).path.tolist()]


def dag_longest_path_length(G: Any, weight: str | None = "weight", default_weight: float = 1) -> Any:
    """The length of a longest path."""
    graph = converted(G, weight)
    values, length = graph.attribute(weight), float(_longest(graph, weight).length)
    if values is not None and values.dtype.kind == "f":
        return length
    if length >= 2.0**53:
        raise NotImplementedError("the length of the path is an integer that a float64 does not hold")
    return int(length)


def _longest(graph: NxGraph, weight: str | None) -> vg.Result:
    refuse(graph, "undirected")
    try:
        return vg.run(A.longest_path, graph.summed(weight), weight="weight")
    except vg.AlgorithmError:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from None


# --- shortest paths -------------------------------------------------------------------------------------------


def _distances(
    graph: NxGraph, source: Any, weight: str | None, algorithm: vg.decorators.AlgorithmDef, **more: Any
) -> tuple[Array, Array]:
    """Lengths of shortest paths, and which nodes have one. Raises NodeNotFound, ValueError for negative weights."""
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    values = graph.attribute(weight)
    if algorithm is A.sssp and values is not None and (values < 0).any():
        raise ValueError("Contradictory paths found: negative weights?")
    dist = vg.run(algorithm, graph.weighted(weight), source=graph.index[source], **more).dist
    limit = np.inf if dist.dtype.kind == "f" else np.iinfo(dist.dtype).max
    return dist, dist != limit


def single_source_dijkstra_path_length(
    G: Any, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from `source`, nearest first; weights must not be negative."""
    graph = converted(G, weight)
    dist, reached = _distances(graph, source, weight, A.sssp)
    return _nearest_first(graph, dist, reached, cutoff)


def dijkstra_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """The length of a shortest path."""
    graph = converted(G, weight)
    if source == target and source in graph:
        return 0
    number = graph.index[target] if target in graph else None
    dist, reached = _distances(graph, source, weight, A.sssp, targets=[] if number is None else [number])
    if number is None or not reached[number]:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return dist[number].item()


def astar_path(
    G: Any,
    source: Any,
    target: Any,
    heuristic: Callable[[Any, Any], float] | None = None,
    weight: str | None = "weight",
    *,
    cutoff: float | None = None,
) -> list[Any]:
    """The nodes of a shortest path."""
    graph = converted(G, weight)
    found = vg.run(
        A.a_star,
        graph.weighted(weight),
        source=vertex(graph, source, "Source"),
        target=vertex(graph, target, "Target"),
        heuristic=None if heuristic is None else np.array([heuristic(node, target) for node in graph], float),
        weight="weight",
    )
    if not found.path.size:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return [graph.nodes[v] for v in found.path.tolist()]


def astar_path_length(
    G: Any,
    source: Any,
    target: Any,
    heuristic: Callable[[Any, Any], float] | None = None,
    weight: str | None = "weight",
    *,
    cutoff: float | None = None,
) -> Any:
    """The length of a shortest path."""
    graph = converted(G, weight)
    if source not in graph or target not in graph:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    along = graph.weighted(weight)
    out, values = along.out, along.edge_properties["weight"]
    total = 0  # in the type of the weights; of parallel arcs the least
    path = [graph.index[node] for node in astar_path(graph, source, target, heuristic, weight)]
    for u, v in pairwise(path):
        arcs = slice(*out.row_offsets[u : u + 2].tolist())
        total += values[arcs][out.column_indices[arcs] == v].min().item()
    return total


def all_pairs_shortest_path_length(
    G: Any, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Each node with hops from it to others, nearest first."""
    graph = converted(G)
    return _pairs(graph, A.all_pairs_shortest_paths(graph.graph), cutoff)


def all_pairs_dijkstra_path_length(
    G: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Each node with lengths of shortest paths from it to others, nearest first."""
    graph = converted(G, weight)
    return _pairs(graph, A.all_pairs_shortest_paths(graph.weighted(weight), weighted=True), cutoff)


def _pairs(
    graph: NxGraph, blocks: Iterator[Any], cutoff: float | None
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    for sources, distances in blocks:
        far = np.inf if distances.dtype.kind == "f" else np.iinfo(distances.dtype).max
        for source, row in zip(sources.tolist(), distances, strict=True):
            yield graph.nodes[source], _nearest_first(graph, row, (row >= 0) & (row != far), cutoff)


def shortest_simple_paths(G: Any, source: Any, target: Any, weight: str | None = None) -> Iterator[list[Any]]:
    """The simple paths between two nodes, the shortest first."""
    graph = converted(G, weight, refuses="multigraph")
    for node, what in ((source, "source"), (target, "target")):
        if node not in graph:
            raise nx.NodeNotFound(f"{what} node {node} not in graph")
    ends = graph.index[source], graph.index[target]
    along = graph.graph if weight is None else graph.weighted(weight)
    found = paths_in_order(along, *ends, 1 if weight is None else "weight")

    def named() -> Iterator[list[Any]]:
        none = True
        for path in found:
            none = False
            yield [graph.nodes[v] for v in path.vertices.tolist()]
        if none:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")

    return named()


def single_source_bellman_ford_path_length(
    G: Any, source: Any, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from `source`; weights may be negative."""
    graph = converted(G, weight)
    try:
        dist, reached = _distances(graph, source, weight, A.bellman_ford)
    except vg.AlgorithmError:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from None
    return _nearest_first(graph, dist, reached)


def bellman_ford_path_length(G: Any, source: Any, target: Any, weight: str | None = "weight") -> Any:
    """The length of a shortest path; weights may be negative."""
    graph = converted(G, weight)
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
    graph = converted(G, weight)
    if target is None:
        if weight is None:
            return single_source_shortest_path_length(graph, source)
        if method == "dijkstra":
            return single_source_dijkstra_path_length(graph, source, weight=weight)
        return single_source_bellman_ford_path_length(graph, source, weight=weight)
    if source is None:
        return single_target_shortest_path_length(graph, target)
    if weight is None:
        level = _hops(graph, source, target)
        if level < 0:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return level
    if method == "dijkstra":
        return dijkstra_path_length(graph, source, target, weight)
    return bellman_ford_path_length(graph, source, target, weight)
