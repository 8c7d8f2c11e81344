"""What NetworkX's functions have in common here: arguments in, results by node."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend.convert import NxGraph, convert_from_nx

A = vg.algorithms


def converted(graph: Any, *attributes: Any, refuses: str = "", everything: bool = False) -> NxGraph:
    """The graph with the edge attributes that are named (1 where an edge has it not), or with all that it carries.

    `refuses`: the kinds of graphs for which NetworkX has no such function, as of `refuse`.
    """
    found = convert_from_nx(
        graph,
        edge_attrs={name: 1 for name in attributes if isinstance(name, str)},
        preserve_edge_attrs=everything,
        preserve_node_attrs=everything,
    )
    refuse(found, refuses)
    return found


def refuse(graph: NxGraph, kinds: str) -> None:
    """Raise NetworkXNotImplemented for a graph of one of these kinds: `directed`, `undirected`, `multigraph`."""
    directed, multigraph = graph.is_directed(), graph.is_multigraph()
    own = {"directed": directed, "undirected": not directed, "multigraph": multigraph}
    for kind in kinds.split():
        if own[kind]:
            raise nx.NetworkXNotImplemented(f"not implemented for {kind} type")


def vertex(graph: NxGraph, node: Any, what: str = "Node") -> int:
    """The number of a node. Raises NodeNotFound."""
    if node not in graph:
        raise nx.NodeNotFound(f"{what} {node} is not in G")
    return graph.index[node]


FEW = 32
"""Nodes that are searched from one by one; where more are asked for, it is done from all, 64 at a time."""


def asked(graph: NxGraph, nodes: Any) -> list[Any]:
    """The nodes of what NetworkX calls a bunch of nodes: nothing for all, one, or some of which others are left out."""
    if nodes is None:
        return graph.nodes
    if nodes in graph:
        return [nodes]
    try:
        return [node for node in nodes if node in graph]
    except TypeError:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None


def by_node(graph: NxGraph, values: Any) -> dict[Any, Any]:
    """Values of vertices by their nodes, as numbers of Python's."""
    return dict(zip(graph.nodes, np.asarray(values).tolist(), strict=True))


def runs(labels: Any) -> Iterator[slice]:
    """Where equal labels stand beside each other; labels are not negative."""
    bounds = [*np.flatnonzero(np.diff(labels, prepend=-1)).tolist(), len(labels)]
    return itertools.starmap(slice, itertools.pairwise(bounds))


def members(graph: NxGraph, component: Any) -> Iterator[set[Any]]:
    """The sets of equally labelled nodes, by their first node."""
    order = np.argsort(component, kind="stable")
    nodes = [graph.nodes[v] for v in order.tolist()]
    return (set(nodes[run]) for run in runs(component[order]))


def levels(
    graph: NxGraph, source: Any, *, reverse: bool = False, cutoff: float | None = None
) -> np.ndarray[Any, Any]:
    """Hops from a node to each, or to it; -1 where there is no way, or none of at most `cutoff` hops."""
    along = graph.reverse if reverse else graph.graph
    number = vertex(graph, source, "Source")
    depth = None if cutoff is None or cutoff >= len(graph) else max(0, int(cutoff))
    found: np.ndarray[Any, Any] = vg.run(A.bfs, along, source=number, max_depth=depth).level
    return found


def no_self_loops(graph: NxGraph) -> None:
    """Raise NetworkXNotImplemented for a graph with self-loops, in NetworkX's words."""
    if (graph.sources == graph.targets).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
