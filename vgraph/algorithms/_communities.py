"""Communities as groups of vertices, which merge from level to level: their arcs' weights, and their modularity."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import both_ways
from vgraph.graph.weights import check_weights, ones_without_weights, own_weight, weighing

FACTOR = vg.between(0, 1e100)
"""What a resolution may be: products of it and of sums of weights are numbers that a float64 holds."""


@vg.function
def heaviness(v, edge):
    """The weight of an arc of v; a self-loop has two ends at v."""
    return vg.float64(edge.weight) * (2.0 if edge.dst == v else 1.0)


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
def gathered(graph):
    """The groups, and in globals what arcs weigh: all of them, those within a group, and what these would by chance."""
    graph.whole = graph.within = graph.chance = 0.0
    groups = graph.vertex_filter(leads)
    graph.vertex_apply(gather, groups)
    return groups


@vg.function
def modularity_of(graph):
    """How much heavier arcs within communities are than by chance."""
    if graph.whole == 0:
        return 0.0
    return (graph.within - graph.resolution * (graph.chance / graph.whole)) / graph.whole


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
