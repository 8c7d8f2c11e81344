"""Vertex coloring: neighbors get different colors (Jones and Plassmann 1993; largest degree first: Hasenplaug 2014)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def draw(v):
    """The one with more arcs is colored first; among equals the lot decides, and then the smaller id."""
    v.rank = (vg.uint64(v.out_degree + v.in_degree) << 32) | vg.uint64(vg.random_below(1 << 32, v))


@vg.function
def goes_first(u, v):
    """Whether u is colored before v."""
    return u.rank > v.rank or (u.rank == v.rank and u < v)


@vg.operator
def count(v, graph):
    """How many neighbors v has to wait for."""
    for u in v.out_neighbors:
        if goes_first(u, v):
            v.waits += 1
    if graph.directed:
        for u in v.in_neighbors:
            if goes_first(u, v):
                v.waits += 1


@vg.operator
def paint(v, graph):
    """The first color that no neighbor has."""
    for u in v.out_neighbors:
        if u.color >= 0:
            vg.vertex(u.color).taken = True
    if graph.directed:
        for u in v.in_neighbors:
            if u.color >= 0:
                vg.vertex(u.color).taken = True
    free = 0
    while vg.vertex(free).taken:  # ends: v has fewer colored neighbors than there are vertices
        free += 1
    v.fresh = free


@vg.operator
def dry(v):
    """The colors of a round become visible together, which spares a copy of all."""
    v.color = v.fresh


@vg.operator
def release(src, edge, dst):
    """Neighbors that have no color yet wait for one less."""
    if dst.color < 0:
        dst.waits += -1


@vg.algorithm
def coloring(graph):
    """Colors 0, 1, 2, ... such that no edge joins two vertices of one color; self-loops are ignored.

    Every vertex takes the first color that is free once all neighbors before it have theirs; they go by falling degree,
    then by lot. Result: `color` (int32), the same in every run with the same `seed=` of `vg.run`; at most the largest
    degree plus one colors. The direction of arcs is ignored. O(vertices + arcs) in all, in O(log vertices) rounds on
    most graphs.
    """
    rank = graph.vertex_property(vg.uint64)
    waits, fresh = graph.vertex_property(vg.int32)
    color = graph.vertex_property(vg.int32, fill=-1)
    taken = graph.scratch(vg.bool_)
    graph.vertex_apply(draw)
    graph.vertex_apply(count)
    queue = graph.priority_queue(waits)
    while queue:
        ready = queue.pop()  # those that wait for nobody
        graph.vertex_apply(paint, ready)
        graph.vertex_apply(dry, ready)
        graph.edge_apply(release, ready)
        if graph.directed:
            graph.edge_apply(release, ready, reverse=True, label="release_in")
    return color
