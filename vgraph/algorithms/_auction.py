"""Persons who bid for objects, by raises that fall from phase to phase (Bertsekas 1988, 1992)."""

from __future__ import annotations

import vgraph as vg

STEEP = 5
"""By this factor the least raise of a bid falls from phase to phase."""


@vg.operator
def find_largest(v, graph):
    """The most that anything is worth to anybody."""
    for e in v.out_edges:
        graph.largest = max(graph.largest, e.worth)


@vg.operator
def begin(v):
    """Nobody owns anything, and each person acts for itself. Prices stay."""
    v.right = v.side
    v.owner = vg.none
    v.person = vg.vertex(v)
    return v.out_degree > 0


@vg.operator
def bid(v, graph):
    """The person that v acts for offers for the best object: by how much it is better than the second, and a little."""
    best = -vg.inf
    second = -vg.inf
    wish = vg.vertex(v)
    for e in v.person.out_edges:
        gain = e.worth - e.dst.price
        if gain > best:
            second = best
            best = gain
            wish = e.dst
        else:
            second = max(second, gain)
    lead = graph.largest
    if second > best - lead:
        lead = best - second
    v.wish = wish
    v.before = wish.owner
    v.offer = wish.price + lead + graph.least
    wish.offered, wish.bidder = max((wish.offered, wish.bidder), (v.offer, v.person))


@vg.operator
def settle(v):
    """The highest bidder owns the object; v then acts for whom this leaves with nothing."""
    if v.wish.bidder == v.person:
        v.wish.price, v.wish.owner = max((v.wish.price, v.wish.owner), (v.offer, v.person))
        v.person = v.before
    return v.person != vg.none


@vg.function
def sell(graph):
    """Everything has an owner after each phase; when raises are of 1 nobody could do better."""
    graph.largest = vg.int64(0)
    graph.vertex_apply(find_largest)
    graph.least = graph.largest
    while graph.least > 0:
        graph.least = (graph.least + STEEP - 1) // STEEP
        waiting = graph.vertex_filter(begin)
        while waiting:
            graph.vertex_apply(bid, waiting)
            waiting = graph.vertex_filter(settle, waiting)
        if graph.least == 1:
            graph.least = 0
