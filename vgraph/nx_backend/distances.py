"""The farthest nodes: eccentricity, diameter, radius, center, periphery."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.common import FEW, A, asked, by_node, converted, levels
from vgraph.nx_backend.convert import NxGraph


def _infinite(graph: NxGraph) -> nx.NetworkXError:
    kind = "digraph is not strongly connected" if graph.is_directed() else "graph is not connected"
    return nx.NetworkXError(f"Found infinite path length because the {kind}")


def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: str | None = None) -> Any:
    """The greatest distance from each node, from one, or from some."""
    graph = converted(G)
    nodes = asked(graph, v)
    if v is not None and len(nodes) <= FEW:
        found = {node: _farthest(graph, node) for node in nodes}
    else:
        every = _all(graph)
        found = {node: every[node] for node in nodes}
    return found[v] if v is not None and v in graph else found


def _farthest(graph: NxGraph, node: Any) -> int:
    level = levels(graph, node)
    if (level < 0).any():
        raise _infinite(graph)
    return int(level.max())


def _all(graph: NxGraph) -> dict[Any, int]:
    if not len(graph):
        return {}
    _farthest(graph, graph.nodes[0])  # one search finds most graphs that are not connected
    result = vg.run(A.eccentricity, graph.graph)
    if (result.reached < len(graph)).any():
        raise _infinite(graph)
    return by_node(graph, result.eccentricity)


def _known(graph: NxGraph, e: Any) -> dict[Any, Any]:
    found = _all(graph) if e is None else e
    return dict(found)


def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """The greatest eccentricity."""
    graph = converted(G)
    if e is None and not graph.is_directed() and len(graph):
        _farthest(graph, graph.nodes[0])
        start = int(np.argmax(graph.graph.out_degree))
        searches = max(FEW, len(graph) // 64)  # more of them take longer than the eccentricities of all
        found = vg.run(A.diameter, graph.graph, source=start, max_searches=searches)
        if found.lower == found.upper:
            return int(found.lower)
    return max(_known(graph, e).values())


def radius(G: Any, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """The least eccentricity."""
    return min(_known(converted(G), e).values())


def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: str | None = None) -> list[Any]:
    """The nodes whose eccentricity is the diameter."""
    found = _known(converted(G), e)
    most = max(found.values())
    return [node for node, distance in found.items() if distance == most]


def center(G: Any, e: Any = None, usebounds: bool = False, weight: str | None = None) -> list[Any]:
    """The nodes whose eccentricity is the radius."""
    found = _known(converted(G), e)
    least = min(found.values())
    return [node for node, distance in found.items() if distance == least]
