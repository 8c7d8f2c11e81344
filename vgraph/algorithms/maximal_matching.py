"""A maximal matching: edges that are first among their neighbors are taken, in rounds (Blelloch et al. 2012)."""

from __future__ import annotations

import vgraph as vg


@vg.function
def lot(u, v):
    """What decides about an edge, the same from both ends."""
    return u.number ^ v.number


@vg.operator
def draw(v):
    """A number at random; what two of them make is a lot of their own for each edge of a vertex."""
    v.number = vg.uint32(vg.random_below(2**32, v))


@vg.operator
def propose(v, graph):
    """v looks for the first of its edges whose other end is free, the smaller vertex among equals; or it is done.

    A wish that nobody has taken is kept: edges only go.
    """
    if v.wish == vg.none or v.wish.mate != vg.none:
        least = vg.uint32(0xFFFFFFFF)
        wish = vg.none
        for u in v.out_neighbors:
            if u.mate == vg.none and u != v:
                least, wish = min((least, wish), (lot(u, v), u))
        if graph.directed:
            for u in v.in_neighbors:
                if u.mate == vg.none and u != v:
                    least, wish = min((least, wish), (lot(u, v), u))
        v.wish = wish
    return v.wish != vg.none


@vg.operator
def accept(v):
    """Two that have the same wish are a pair."""
    if v.wish.wish == v:
        v.mate = v.wish
    return v.mate == vg.none


@vg.algorithm
def maximal_matching(graph):
    """Edges of which no two share an end, and to which none can be added; directions and self-loops are ignored.

    Result: `mate`, the other end of each vertex's edge, -1 without one; the same in every run with the same `seed`
    of vg.run. O(vertices + arcs) in each of O(log vertices) rounds on average.
    """
    mate, wish = graph.vertex_property(vg.vertex)
    number = graph.vertex_property(vg.uint32)
    graph.vertex_apply(draw)
    free = graph.vertex_filter(propose)
    while free:
        free = graph.vertex_filter(accept, free)
        free = graph.vertex_filter(propose, free)
    return mate
