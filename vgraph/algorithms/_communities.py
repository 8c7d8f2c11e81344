"""Groups of vertices that move between communities and merge, a part of them at once (Lu et al. 2015, "Grappolo")."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import both_ways
from vgraph.graph.weights import check_weights, ones_without_weights, own_weight, weighing

PARTS = 4
"""Groups that move at once are about one in so many: neighbors that all move at once swing."""

FACTOR = vg.between(0, 1e100)
"""What a resolution may be: products of it and of sums of weights are numbers that a float64 holds."""

SWEEPS = 100
"""A level ends after so many turns of each part, if groups still move then."""


@vg.function
def heaviness(v, edge):
    """The weight of an arc of v; a self-loop has two ends at v."""
    weight = vg.float64(edge.weight)
    return 2 * weight if edge.dst == v else weight


@vg.operator
def leads(v):
    """A group is named by its smallest member, which acts for all of it."""
    return v.group == v


@vg.operator
def gather(v, graph):
    """Search v's group from v, link its members in the order in which they are found, and add up their arcs.

    A directed graph is one with its arcs both ways, as `both_ways` makes it. Where `away` is the weight out + in of a
    group's arcs and `slope` out - in, and `total` and `tilt` are those of a community, there would be
    2 (out * in' + in * out') = away * total - slope * tilt between them by chance; without directions slopes are 0.
    """
    v.inside = 0.0
    v.away = 0.0
    if graph.directed:
        v.slope = 0.0
    m = vg.vertex(v)
    last = m
    last.behind = -1
    while m != vg.none:
        if graph.directed:
            v.slope += m.lean
        for e in m.out_edges:
            v.away += heaviness(m, e)
            if e.dst.group == v:
                v.inside += heaviness(m, e)
                if e.dst.behind == 0:
                    last.behind = e.dst.id + 1
                    last.after = min(last.after, e.dst)
                    last = e.dst
                    last.behind = -1
        m = vg.vertex(m.behind - 1) if m.behind > 0 else vg.none
    graph.whole += v.away
    graph.within += v.inside
    graph.chance += v.away * v.away
    if graph.directed:
        graph.chance -= v.slope * v.slope


@vg.function
def is_turn(v, graph):
    """Whether v is in the part whose turn it is.

    Who is in a part changes from sweep to sweep: neighbors that were always in the same one would swing.
    """
    return vg.random_below(PARTS, v, graph.turn // PARTS) == graph.turn % PARTS


@vg.operator
def due(v, graph):
    """Whether it is v's turn, and something around its group has moved since it chose."""
    return v.woken >= v.chosen and is_turn(v, graph)


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
def gathered(graph):
    """The groups, and in globals what arcs weigh: all of them, those within a group, and what these would by chance."""
    graph.whole = graph.within = graph.chance = 0.0
    groups = graph.vertex_filter(leads)
    graph.vertex_apply(gather, groups)
    return groups


@vg.function
def modularity_of(graph):
    """How much heavier arcs within communities are than by chance."""
    found = 0.0
    if graph.whole > 0:
        found = (graph.within - graph.resolution * (graph.chance / graph.whole)) / graph.whole
    return found


@vg.function
def settled(graph, groups):
    """Groups move to better communities, a part of them at once; whether none would at the end, or it was cut short."""
    moved = 1
    sweep = 0
    while moved > 0 and sweep < SWEEPS:
        moved = 0
        for _ in range(PARTS):
            choosing = graph.vertex_filter(due, groups)
            moving = graph.vertex_filter(choose, choosing)
            graph.vertex_apply(move, moving)
            moved += len(moving)
            graph.turn += 1
        sweep += 1
    return moved == 0


@vg.operator
def join(src, edge, dst):
    """The connected parts of a community are groups of the next level."""
    if src.home == dst.home:
        vg.union(src.group, dst.group)


def weights_in_range(graph: Graph) -> None:
    """Raise ParameterError for weights below 0."""
    check_weights(graph, own_weight(graph))


def weighted(graph: Graph) -> vg.Prepared:
    """Arcs without weight count 1; those of a directed graph lead both ways."""
    made = weighing(ones_without_weights(graph), "weight", scaled=True)
    return vg.Prepared(both_ways(made) if graph.directed else made)
