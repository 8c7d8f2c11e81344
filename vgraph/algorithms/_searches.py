"""Breadth-first searches from 64 vertices at a time, a bit for each (Then et al. 2014, "The more the merrier")."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def begin(v, graph):
    """The next 64 vertices have a bit each, and have reached themselves."""
    v.seen = 0
    if graph.first <= v.id and v.id < graph.first + 64:
        v.seen = vg.uint64(1) << vg.uint64(v.id - graph.first)
    v.fresh = v.seen
    v.before = v.seen
    return v.seen != 0


@vg.operator
def spread(src, edge, dst):
    """The searches that came to src last go on to dst."""
    dst.seen |= src.fresh


@vg.function
def search(graph, frontier, settle):
    """From the vertices of a batch; `settle` visits what searches came to in a round, `graph.depth` hops away."""
    graph.depth = vg.int32(0)
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(spread, frontier)
        graph.vertex_apply(settle, frontier)


@vg.function
def search_from_all(graph, settle):
    """From every vertex, 64 at a time."""
    for batch in range((graph.num_vertices + 63) // 64):
        graph.first = 64 * batch
        search(graph, graph.vertex_filter(begin), settle)
