"""Core numbers by peeling in buckets (Batagelj and Zaversnik 2003; Dhulipala et al. 2017, Julienne)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def count(v):
    """At first all neighbors count; a vertex is no neighbor of its own."""
    for u in v.out_neighbors:
        if u != v:
            v.remaining += 1


@vg.operator
def settle(v, graph):
    """The level at which a vertex is peeled off is its core number."""
    v.core = graph.level


@vg.operator
def leave(src, edge, dst):
    """What was peeled off counts no more for its neighbors."""
    dst.remaining += -1


@vg.algorithm
def k_core(graph):
    """Core numbers: the largest k such that a vertex lies in a subgraph where all degrees are at least k.

    Result: `core`, int32. For undirected graphs. Self-loops do not count; of parallel edges each does.
    """
    remaining = graph.vertex_property(vg.int32)
    core = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    queue = graph.priority_queue(remaining)
    while queue:
        peeled = queue.pop()
        graph.level = vg.int32(queue.level)
        graph.vertex_apply(settle, peeled)
        graph.edge_apply(leave, peeled)
    return core


@k_core.requires
def undirected(graph: Graph) -> None:
    """Raise ParameterError for a directed graph."""
    if graph.directed:
        raise ParameterError("core numbers are of undirected graphs; build the graph with directed=False")
