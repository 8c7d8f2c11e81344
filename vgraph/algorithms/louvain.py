"""Communities by the method of Louvain (Blondel et al. 2008), with moves in parallel (Lu et al. 2015, "Grappolo")."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_weights, ones_without_weights, own_weight, weighing

PARTS = 4
"""Groups that move at once are about one in so many: neighbors that all move at once swing."""

MOST = 1e100
"""The largest resolution: products of it and of sums of weights are numbers that a float64 holds."""

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
    """Search v's group from v, link its members in the order in which they are found, and add up their arcs."""
    v.inside = 0.0
    v.away = 0.0
    m = vg.vertex(v)
    last = m
    last.behind = -1
    while m != vg.none:
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


@vg.operator
def begin(v):
    """A level begins with each group as a community of its own."""
    v.community = v.group
    v.home = v.group
    v.total = v.away
    v.size = 1


@vg.operator
def due(v, graph):
    """Whether it is v's turn, and something around its group has moved since it chose.

    Who is in a part changes from sweep to sweep: neighbors that were always in the same one would swing.
    """
    return v.woken >= v.chosen and vg.random_below(PARTS, v, graph.turn // PARTS) == graph.turn % PARTS


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
            if there != v.old and (gain > most or (gain == most and there < v.new)):
                v.new = there
                most = gain
        m = m.after
    here = graph.whole * (v.old.toward - v.inside) - graph.resolution * (v.away * (v.old.total - v.away))
    return most > here and not (v.old.size == 1 and v.new.size == 1 and v.old < v.new)


@vg.operator
def move(v, graph):
    """Take all members along, and wake the groups around."""
    v.old.total -= v.away
    v.new.total += v.away
    v.old.size -= 1
    v.new.size += 1
    m = vg.vertex(v)
    while m != vg.none:
        m.home += v.new.id - v.old.id
        for e in m.out_edges:
            e.dst.group.woken = max(e.dst.group.woken, graph.turn + 1)
        m = m.after


@vg.operator
def join(src, edge, dst):
    """The connected parts of a community are groups of the next level."""
    if src.home == dst.home:
        vg.union(src.group, dst.group)


@vg.algorithm
def louvain(graph, resolution=1.0, tolerance=1e-7, max_levels=100):
    """Communities of high modularity: groups of vertices, at first each of one, move to better communities, and merge.

    A level ends when no group would gain; the groups of the next are its communities. It counts if it adds more
    than `tolerance` to the modularity. Arcs weigh their edge property `weight`, or 1; the unit does not matter.
    Results: `community`, a vertex id, the smallest of the community, which is connected; `modularity`; `levels` that
    counted; `converged`: neither was `max_levels` in the way, nor a level cut short. The same on every device if the
    weights are integers whose sum is below 2**25 and `resolution` is 1. Raises ParameterError for a directed graph,
    weights that are negative or not finite, and parameters out of range. O(levels * sweeps * (vertices + arcs)).
    """
    group = graph.disjoint_sets()
    community = graph.vertex_property(vg.vertex)
    home = graph.vertex_property(vg.int64)
    old = graph.vertex_property(vg.vertex)
    new = graph.vertex_property(vg.vertex)
    size = graph.vertex_property(vg.int32)
    inside = graph.vertex_property(vg.float64)
    away = graph.vertex_property(vg.float64)
    total = graph.vertex_property(vg.float64)
    behind = graph.scratch(vg.int64)
    toward = graph.scratch(vg.float64)
    graph.resolution = resolution
    graph.turn = vg.int32(0)
    modularity = 0.0
    level = 0
    converged = False
    calm = True
    while level <= max_levels:
        after = graph.vertex_property(vg.vertex)
        woken = graph.vertex_property(vg.int32)
        chosen = graph.vertex_property(vg.int32)
        groups = graph.vertex_filter(leads)
        graph.whole = 0.0
        graph.within = 0.0
        graph.chance = 0.0
        graph.vertex_apply(gather, groups)
        found = 0.0
        if graph.whole > 0:
            found = (graph.within - resolution * (graph.chance / graph.whole)) / graph.whole
        if level > 0 and found - modularity <= tolerance:
            converged = calm
            break
        modularity = found
        graph.vertex_apply(begin)
        moved = 1
        sweep = 0
        while moved > 0 and sweep < SWEEPS and level < max_levels:
            moved = 0
            for _ in range(PARTS):
                choosing = graph.vertex_filter(due, groups)
                moving = graph.vertex_filter(choose, choosing)
                graph.vertex_apply(move, moving)
                moved += len(moving)
                graph.turn += 1
            sweep += 1
        calm = calm and moved == 0
        graph.edge_apply(join)
        level += 1
    levels = level - 1
    return community, modularity, levels, converged


@louvain.requires
def sensible(graph: Graph, resolution: float, tolerance: float, max_levels: int) -> None:
    """Raise ParameterError for a directed graph, weights below 0 and parameters out of range."""
    if graph.directed:
        raise ParameterError(
            "louvain: communities are of undirected graphs; build the graph with directed=False"
        )
    for name, value in (("resolution", resolution), ("tolerance", tolerance)):
        if not 0 <= value <= MOST:
            raise ParameterError(f"louvain: {name}={value} is not a number from 0 to {MOST:g}")
    if max_levels < 1:
        raise ParameterError(f"louvain: max_levels={max_levels} is not above 0")
    check_weights(graph, own_weight(graph))


@louvain.prepares
def weighted(graph: Graph) -> vg.Prepared:
    """Arcs without weight count 1."""
    return vg.Prepared(weighing(ones_without_weights(graph), "weight", scaled=True))
