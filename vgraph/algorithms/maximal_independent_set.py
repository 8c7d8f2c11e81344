"""A maximal independent set (Luby 1986, with fixed priorities as in Blelloch, Fineman and Shun 2012)."""

from __future__ import annotations

import vgraph as vg

UNDECIDED, IN, OUT = 0, 1, 2


@vg.operator
def draw(v):
    """Who has few arcs decides first, for it excludes few others; among equals the lot decides."""
    v.place = v.out_degree + v.in_degree + vg.random(v)


@vg.function
def precedes(u, v):
    """Whether u decides before v."""
    return u.place < v.place or (u.place == v.place and u > v)


@vg.operator
def decide(v, graph):
    """v joins once every neighbor that precedes it is out, and is out once one of them is in; else it waits."""
    excluded = False
    for u in v.out_neighbors:
        if u.state == IN:
            excluded = True
            break
    if graph.directed and not excluded:
        for u in v.in_neighbors:
            if u.state == IN:
                excluded = True
                break
    waits = False
    if not excluded:
        for u in v.out_neighbors:
            if u.state == UNDECIDED and u != v and precedes(u, v):
                waits = True
                break
    if graph.directed and not excluded and not waits:
        for u in v.in_neighbors:
            if u.state == UNDECIDED and u != v and precedes(u, v):
                waits = True
                break
    if excluded:
        v.state = OUT
    elif not waits:
        v.state = IN
        v.member = True
    return waits


@vg.algorithm
def maximal_independent_set(graph):
    """Vertices of which no two are neighbors, and to which none can be added; self-loops are ignored.

    Result: `member` (bool), the same in every run with the same `seed` of vg.run. O(vertices + arcs) in each of
    O(log vertices) rounds on average.
    """
    place = graph.vertex_property(vg.float64)
    state = graph.vertex_property(vg.int32, fill=UNDECIDED)
    member = graph.vertex_property(vg.bool_)
    graph.vertex_apply(draw)
    waiting = graph.vertices
    while waiting:
        waiting = graph.vertex_filter(decide, waiting)
    return member
