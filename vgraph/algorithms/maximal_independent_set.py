"""A maximal independent set (Luby 1986, with fixed priorities as in Blelloch, Fineman and Shun 2012)."""

from __future__ import annotations

import vgraph as vg

UNDECIDED, IN, OUT = 0, 1, 2


@vg.function
def scrambled(v):
    """A number that looks random, the same in every run."""
    x = vg.uint32(v) * vg.uint32(2654435761)
    return (x ^ (x >> 15)) * vg.uint32(2246822519)


@vg.function
def precedes(u, v):
    """Whether u decides before v: few arcs first, for it excludes fewer others; then by lot."""
    a = u.out_degree + u.in_degree
    b = v.out_degree + v.in_degree
    x = scrambled(u)
    y = scrambled(v)
    return a < b or (a == b and (x > y or (x == y and u > v)))


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

    Result: `member` (bool), the same in every run. O(vertices + arcs) in each of O(log vertices) rounds on average.
    """
    state = graph.vertex_property(vg.int32, fill=UNDECIDED)
    member = graph.vertex_property(vg.bool_)
    waiting = graph.vertices
    while waiting:
        waiting = graph.vertex_filter(decide, waiting)
    return member
