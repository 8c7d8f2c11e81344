"""Groups of vertices that move between communities, a part of them at once (Lu et al. 2015, "Grappolo")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._communities import heaviness

PARTS = 4
"""Groups that move at once are about one in so many: neighbors that all move at once swing."""


SWEEPS = 100
"""A level ends after so many turns of each part, if groups still move then."""


@vg.function
def is_turn(v, graph):
    """Whether v is in the part whose turn it is.

    Who is in a part changes from sweep to sweep: neighbors that were always in the same one would swing.
    """
    return vg.random_below(PARTS, v, graph.turn // PARTS) == graph.turn % PARTS


@vg.operator
def choose(v, graph):
    """The community where v's group adds most, the smallest of several; whether that is more than where it is.

    Of two single groups that want each other only one goes.
    """
    v.chosen = graph.turn + 1
    v.old = vg.vertex(v.home)
    v.new = v.old
    most = -vg.inf
    m = vg.vertex(v)
    while m != vg.none:
        for e in m.out_edges:
            there = vg.vertex(e.dst.home)
            there.toward += heaviness(m, e)
            gain = graph.whole * there.toward - graph.resolution * (v.away * there.total)
            if graph.directed:
                gain += graph.resolution * (v.slope * there.tilt)
            if there != v.old and (gain > most or (gain == most and there < v.new)):
                v.new = there
                most = gain
        m = m.after
    here = graph.whole * (v.old.toward - v.inside) - graph.resolution * (v.away * (v.old.total - v.away))
    if graph.directed:
        here += graph.resolution * (v.slope * (v.old.tilt - v.slope))
    return most > here and not (v.old.size == 1 and v.new.size == 1 and v.old < v.new)


@vg.operator
def move(v, graph):
    """Take all members along, and wake the groups around."""
    v.old.total -= v.away
    v.new.total += v.away
    if graph.directed:
        v.old.tilt -= v.slope
        v.new.tilt += v.slope
    v.old.size -= 1
    v.new.size += 1
    m = vg.vertex(v)
    while m != vg.none:
        m.home += v.new.id - v.old.id
        for e in m.out_edges:
            e.dst.group.woken = max(e.dst.group.woken, graph.turn + 1)
        m = m.after


@vg.function
def settled(graph, groups):
    """Groups move to better communities, a part of them at once; whether none would at the end, or it was cut short."""
    for _ in range(SWEEPS):
        moved = 0
        for _ in range(PARTS):
            due = graph.frontier(v for v in groups if v.woken >= v.chosen and is_turn(v, graph))
            moving = graph.vertex_filter(choose, due)
            graph.vertex_apply(move, moving)
            moved += len(moving)
            graph.turn += 1
        if moved == 0:
            return True
    return False
