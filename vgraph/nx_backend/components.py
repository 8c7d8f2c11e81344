"""Components: connected, weakly and strongly connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.common import A, converted, members, need_direction, no_direction
from vgraph.nx_backend.convert import NxGraph


def _component(graph: NxGraph) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = vg.run(A.connected_components, graph.graph).component
    return found


def connected_components(G: Any) -> Iterator[set[Any]]:
    """The sets of nodes that are joined by paths."""
    graph = converted(G)
    no_direction(graph)
    return members(graph, _component(graph))


def weakly_connected_components(G: Any) -> Iterator[set[Any]]:
    """The same in a directed graph, the direction of edges ignored."""
    graph = converted(G)
    need_direction(graph)
    return members(graph, _component(graph))


def strongly_connected_components(G: Any) -> Iterator[set[Any]]:
    """The sets of nodes of a directed graph that are joined by paths both ways."""
    graph = converted(G)
    need_direction(graph)
    return members(graph, _strong(graph))


def _strong(graph: NxGraph) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = vg.run(A.strongly_connected_components, graph.graph).component
    return found


def number_connected_components(G: Any) -> int:
    """How many there are."""
    graph = converted(G)
    no_direction(graph)
    return int(np.unique(_component(graph)).size)


def number_weakly_connected_components(G: Any) -> int:
    """How many there are."""
    graph = converted(G)
    need_direction(graph)
    return int(np.unique(_component(graph)).size)


def number_strongly_connected_components(G: Any) -> int:
    """How many there are."""
    graph = converted(G)
    need_direction(graph)
    return int(np.unique(_strong(graph)).size)


def is_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    graph = converted(G)
    no_direction(graph)
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_component(graph) == 0).all())


def is_weakly_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    graph = converted(G)
    need_direction(graph)
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_component(graph) == 0).all())


def is_strongly_connected(G: Any) -> bool:
    """Whether there is exactly one."""
    graph = converted(G)
    need_direction(graph)
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_strong(graph) == 0).all())


def node_connected_component(G: Any, n: Any) -> set[Any]:
    """The component that `n` is in."""
    graph = converted(G)
    no_direction(graph)
    component = _component(graph)
    return {graph.nodes[v] for v in np.flatnonzero(component == component[graph.index[n]]).tolist()}
