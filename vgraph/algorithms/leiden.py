"""Communities by the method of Leiden (Traag, Waltman and van Eck 2019, "From Louvain to Leiden")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._communities import (
    FACTOR,
    gathered,
    heaviness,
    join,
    modularity_of,
    weighted,
    weights_in_range,
)
from vgraph.algorithms._moves import PARTS, is_turn, settled

TRIES = 3
"""Turns of each group to merge: two single ones that have them at the same time do not find each other."""


@vg.operator
def begin(v, graph):
    """Each vertex is a community of its own."""
    v.kept = v.id
    v.total = v.away
    if graph.directed:
        v.tilt = v.slope


@vg.operator
def restore(v):
    """Groups begin where the last level that counted left them."""
    v.home = v.kept
    v.size = 0


@vg.operator
def settle(v):
    """How many groups a community has."""
    vg.vertex(v.home).size += 1


@vg.operator
def isolate(v, graph):
    """Refinement begins with each group as a part of its own."""
    v.part = v.group
    v.mass = v.away
    v.parts = 1
    v.cut = 0.0
    v.total = 0.0
    if graph.directed:
        v.skew = v.slope
        v.tilt = 0.0


@vg.operator
def measure(v, graph):
    """The weight of a community's arcs, of those within it, and of those between a group and the rest of it."""
    total = 0.0
    within = 0.0
    cut = 0.0
    for e in v.out_edges:
        total += heaviness(v, e)
        if e.dst.home == v.home:
            within += heaviness(v, e)
            if e.dst.group != v.group:
                cut += heaviness(v, e)
    vg.vertex(v.home).total += total
    if graph.directed:
        vg.vertex(v.home).tilt += v.lean
    graph.within += within
    v.group.cut += cut


@vg.operator
def expect(v, graph):
    """What would be within the community called v by chance."""
    graph.chance += v.total * v.total
    if graph.directed:
        graph.chance -= v.tilt * v.tilt


@vg.function
def measured(graph):
    """The modularity of the communities; refinement would begin as it leaves things."""
    graph.within = graph.chance = 0.0
    graph.vertex_apply(isolate)
    graph.vertex_apply(measure)
    graph.vertex_apply(expect)
    return modularity_of(graph)


@vg.operator
def keep(v):
    """This level counts."""
    v.kept = v.home


@vg.function
def attached(community, part, graph):
    """Whether a part of a community has at least the weight to the rest of it that it would have by chance."""
    if graph.directed:
        away = part.mass * (community.total - part.mass) - part.skew * (community.tilt - part.skew)
        return graph.whole * part.cut >= graph.resolution * away
    return graph.whole * part.cut >= graph.resolution * (part.mass * (community.total - part.mass))


@vg.operator
def select(v, graph):
    """The part of its community that v's group adds most to, which it joins if it is alone and both are attached.

    What is alone and might itself go now is no part to join, so that nobody leaves a part that another joins.
    """
    v.new = vg.vertex(v)
    community = vg.vertex(v.home)
    if is_turn(v, graph) and v.part == v and v.parts == 1 and attached(community, v, graph):
        most = 0.0
        m = vg.vertex(v)
        while m != vg.none:
            for e in m.out_edges:
                if e.dst.home == v.home:
                    there = e.dst.group.part
                    there.toward += heaviness(m, e)
                    gain = graph.whole * there.toward - graph.resolution * (v.away * there.mass)
                    if graph.directed:
                        gain += graph.resolution * (v.slope * there.skew)
                    stays = there.parts > 1 or not is_turn(there, graph)
                    if stays and attached(community, there, graph):
                        if gain > most or (gain == most and v.new != v and there < v.new):
                            v.new = there
                            most = gain
            m = m.after
    return v.new != v


@vg.operator
def merge(v, graph):
    """The group is of the part now."""
    if graph.directed:
        v.new.skew += v.slope
    v.part = v.new
    v.chosen = graph.turn + 1
    v.new.mass += v.away
    v.new.parts += 1


@vg.operator
def sever(v, graph):
    """What the part has to the rest of its community: no more what leads to v's group, but what leads on from there."""
    m = vg.vertex(v)
    while m != vg.none:
        for e in m.out_edges:
            other = e.dst.group
            if e.dst.home == v.home and other != v:
                if other.part != v.part:
                    v.part.cut += heaviness(m, e)
                elif other.chosen <= graph.turn:  # no arc to what joins at the same time was counted
                    v.part.cut -= heaviness(m, e)
        m = m.after


@vg.operator
def adopt(v):
    """Parts are groups of the next level."""
    v.home = v.group.part.id


@vg.operator
def name(v):
    """A community is called by its smallest vertex."""
    v.community = v.group
    v.home = v.group.id


@vg.algorithm
def leiden(
    graph,
    resolution: FACTOR = 1.0,
    tolerance: FACTOR = 1e-7,
    max_levels: vg.between(1, vg.inf) = 100,
):
    """Communities of high modularity that are connected: as louvain's, but what moves next are refined parts of them.

    Three steps to a level: groups, at first each of one vertex, move to better communities; each community is divided
    anew, by merging single groups into parts that are well attached to the rest of it; the parts are the groups of
    the next level, and begin in their community. A level counts if it adds more than `tolerance` to the modularity, and
    the first that does not ends it. Arcs weigh their edge property `weight`, or 1; the unit does not matter. The
    modularity of a directed graph is that of Leicht and Newman (2008).
    Results: `community`, a vertex id, the smallest of the community, which is connected; `modularity`; `levels` that
    counted; `converged`: neither was `max_levels` in the way, nor a level cut short. The same on every device if the
    weights are integers whose sum is below 2**25 and `resolution` is 1. Raises ParameterError for weights
    that are negative or not finite, and parameters out of range. O(levels * sweeps * (vertices + arcs)).
    """
    group = graph.disjoint_sets()
    community, old, new, part = graph.vertex_property(vg.vertex)
    home, kept = graph.vertex_property(vg.int64)
    size, parts = graph.vertex_property(vg.int32)
    inside, away, total, mass, cut = graph.vertex_property(vg.float64)
    if graph.directed:
        slope, tilt, skew = graph.vertex_property(vg.float64)
    behind = graph.scratch(vg.int64)
    toward = graph.scratch(vg.float64)
    graph.resolution = resolution
    graph.turn = vg.int32(0)
    modularity = 0.0
    levels = 0
    calm = True
    more = True
    while more and levels < max_levels:
        after = graph.vertex_property(vg.vertex)
        woken, chosen = graph.vertex_property(vg.int32)
        groups = gathered(graph)
        if levels == 0:
            graph.vertex_apply(begin)
            modularity = modularity_of(graph)
        graph.vertex_apply(restore)
        graph.vertex_apply(settle, groups)
        quiet = settled(graph, groups)
        calm = calm and quiet
        found = measured(graph)
        more = found - modularity > tolerance
        if more:
            modularity = found
            levels += 1
            graph.vertex_apply(keep)
            for _ in range(TRIES * PARTS):
                merging = graph.vertex_filter(select, groups)
                graph.vertex_apply(merge, merging)
                graph.vertex_apply(sever, merging)
                graph.turn += 1
            graph.vertex_apply(adopt)
            graph.edge_apply(join)
    graph.vertex_apply(restore)
    graph.edge_apply(join)
    graph.vertex_apply(name)
    modularity = measured(graph)
    converged = calm and not more
    return community, modularity, levels, converged


leiden.prepares(weighted)
leiden.requires(weights_in_range)
