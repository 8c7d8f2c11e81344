"""Core numbers by peeling, one level after the other (Batagelj and Zaversnik 2003; Dasari et al. 2014, ParK)."""

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
def lowest(v, graph):
    """The next level at which anything is peeled off."""
    graph.level = min(graph.level, v.remaining)


@vg.operator
def peel(v, graph):
    """The level at which a vertex is peeled off is its core number."""
    peeled = v.core < 0 and v.remaining <= graph.level
    if peeled:
        v.core = graph.level
    return peeled


@vg.operator
def leave(src, edge, dst):
    """What was peeled off counts no more for those of its neighbors that are left."""
    if dst.core < 0:
        dst.remaining += -1


@vg.operator
def left(v):
    """Whether v has no core number yet."""
    return v.core < 0


@vg.algorithm
def k_core(graph):
    """Core numbers: the largest k such that a vertex lies in a subgraph where all degrees are at least k.

    Result: `core`, int32. For undirected graphs. Self-loops do not count; of parallel edges each does. O(vertices +
    arcs): a vertex is looked at once for each level up to its core number, which is at most its degree.
    """
    remaining = graph.vertex_property(vg.int32)
    core = graph.vertex_property(vg.int32, fill=-1)
    graph.vertex_apply(count)
    rest = graph.vertices
    while rest:
        graph.level = vg.inf
        graph.vertex_apply(lowest, rest)
        peeled = graph.vertex_filter(peel, rest)
        while peeled:
            peeled = graph.vertex_filter(peel, graph.edge_apply(leave, peeled))
        rest = graph.vertex_filter(left, rest)
    return core


@k_core.requires
def undirected(graph: Graph) -> None:
    """Raise ParameterError for a directed graph."""
    if graph.directed:
        raise ParameterError("core numbers are of undirected graphs; build the graph with directed=False")
