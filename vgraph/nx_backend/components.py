"""Components: connected, weakly and strongly connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.common import A, converted, members, runs, vertex
from vgraph.nx_backend.convert import NxGraph

Labelled = tuple[NxGraph, "np.ndarray[Any, Any]"]


def _joined(G: Any, refuses: str) -> Labelled:
    """The graph, and the first node of each one's component by number; the direction of edges is ignored."""
    graph = converted(G, refuses=refuses)
    return graph, vg.run(A.connected_components, graph.graph).component


def _strong(G: Any) -> Labelled:
    """The same of components that are joined by paths both ways."""
    graph = converted(G, refuses="undirected")
    return graph, vg.run(A.strongly_connected_components, graph.graph).component


def _is_one(graph: NxGraph, component: np.ndarray[Any, Any]) -> bool:
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((component == 0).all())


def connected_components(G: Any) -> Iterator[set[Any]]:
    """The sets of nodes that are joined by paths."""
    return members(*_joined(G, "directed"))


def weakly_connected_components(G: Any) -> Iterator[set[Any]]:
    """The same in a directed graph, the direction of edges ignored."""
    return members(*_joined(G, "undirected"))


def strongly_connected_components(G: Any) -> Iterator[set[Any]]:
    """The sets of nodes of a directed graph that are joined by paths both ways."""
    return members(*_strong(G))


def number_connected_components(G: Any) -> int:
    """How many there are."""
    return int(np.unique(_joined(G, "directed")[1]).size)


def number_weakly_connected_components(G: Any) -> int:
    """How many there are."""
    return int(np.unique(_joined(G, "undirected")[1]).size)


def number_strongly_connected_components(G: Any) -> int:
    """How many there are."""
    return int(np.unique(_strong(G)[1]).size)


def is_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    return _is_one(*_joined(G, "directed"))


def is_weakly_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    return _is_one(*_joined(G, "undirected"))


def is_strongly_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    return _is_one(*_strong(G))


def node_connected_component(G: Any, n: Any) -> set[Any]:
    """The component that `n` is in."""
    graph, component = _joined(G, "directed")
    return {graph.nodes[v] for v in np.flatnonzero(component == component[graph.index[n]]).tolist()}


def _blocks(G: Any) -> tuple[NxGraph, Any]:
    graph = converted(G, refuses="directed")
    return graph, vg.run(A.biconnected_components, graph.graph)


def _edges_of_blocks(graph: NxGraph, found: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """The ends of every edge between two nodes, once, and its biconnected component."""
    low, high = np.minimum(graph.sources, graph.targets), np.maximum(graph.sources, graph.targets)
    apart = low != high
    low, high = low[apart], high[apart]
    if graph.is_multigraph():
        low, high = np.divmod(np.unique(low.astype(np.int64) * len(graph) + high), len(graph))
    return low, high, np.where(found.parent[low] == high, found.component[low], found.component[high])


def biconnected_component_edges(G: Any) -> Iterator[list[tuple[Any, Any]]]:
    """The edges of each biconnected component; self-loops are in none."""
    graph, found = _blocks(G)
    low, high, component = _edges_of_blocks(graph, found)
    order = np.argsort(component, kind="stable")
    left, right = ([graph.nodes[v] for v in ends[order].tolist()] for ends in (low, high))
    return (list(zip(left[run], right[run], strict=True)) for run in runs(component[order]))


def biconnected_components(G: Any) -> Iterator[set[Any]]:
    """The nodes of each biconnected component."""
    graph, found = _blocks(G)
    n, (low, high, component) = max(1, len(graph)), _edges_of_blocks(graph, found)
    pairs = np.unique(np.r_[component, component].astype(np.int64) * n + np.r_[low, high])
    nodes = [graph.nodes[v] for v in (pairs % n).tolist()]
    return (set(nodes[run]) for run in runs(pairs // n))


def is_biconnected(G: Any) -> bool:
    """Whether there is one biconnected component, with all nodes."""
    graph, found = _blocks(G)
    inside = found.parent >= 0
    return bool(len(graph) > 1 and inside[1:].all() and np.unique(found.component[inside]).size == 1)


def articulation_points(G: Any) -> Iterator[Any]:
    """Nodes without which more connected components were left."""
    graph, found = _blocks(G)
    return (graph.nodes[v] for v in np.flatnonzero(found.articulation).tolist())


def _bridges(G: Any, root: Any) -> list[tuple[Any, Any]]:
    graph, found = _blocks(G)
    bridge = found.bridge
    if root is not None:
        component = _joined(graph, "")[1]
        bridge = bridge & (component == component[vertex(graph, root)])
    ends = ((v, int(found.parent[v])) for v in np.flatnonzero(bridge).tolist())
    return [(graph.nodes[u], graph.nodes[v]) for u, v in sorted((min(e), max(e)) for e in ends)]


def bridges(G: Any, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """Edges that lie on no circle; with a root, those of its component."""
    return iter(_bridges(G, root))


def has_bridges(G: Any, root: Any = None) -> bool:
    """Whether there are such."""
    return bool(_bridges(G, root))
