"""Algorithms that call algorithms, and helpers of algorithms that take operators and frontiers."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms import bfs, connected_components, pagerank, sssp


@vg.operator
def relax(src, edge, dst):
    """By lengths, which are a parameter."""
    dst.dist = min(dst.dist, src.dist + edge.length)


@vg.algorithm
def distances(
    graph, source, most: vg.between(0, 100, vg.int32) = 50, length: vg.edge_property(vg.float64) = 1
):
    """A search with an early end, whose source is known to be a vertex by its use alone."""
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    rounds = 0
    if most == 0:
        return dist, rounds
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
        rounds += 1
        if rounds >= most:
            break
    return dist, rounds


@vg.operator
def near(v, graph):
    """Whether v is near enough, and how far all of those are together; `dist` and `sum` are others than there."""
    graph.sum += v.dist if v.dist < vg.inf else 0.0
    return v.dist < limit  # noqa: F821 - a parameter


@vg.algorithm
def within(graph, source: vg.vertex, limit=2.5, length: vg.edge_property(vg.float64) = 1):
    """The vertices near `source`, what they add up to, and in how many rounds: results of every kind."""
    found = distances(graph, source, length=length)
    dist = found.dist
    graph.sum = 0.0
    reached = graph.vertex_filter(near)
    sum = graph.sum
    rounds = found.rounds
    first = found.dist[source]
    return reached, sum, rounds, first, dist


@vg.operator
def start(v):
    """A property that the called program takes, of the name of one of its own."""
    v.rank = v.level + 1
    v.weight = 2 * v.level + 1


@vg.operator
def swap(v):
    """Two results side by side, written over."""
    v.level += v.other
    v.rank = -v.rank


@vg.algorithm
def repeated(graph, source: vg.vertex, turns=3, more=False):
    """In loops and branches: the values of each turn are kept, and those of another call are no others' names."""
    rank = graph.vertex_property(vg.int32)
    weight = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int32, fill=7)
    other = graph.vertex_property(vg.int32)
    last = 0
    for i in range(turns):
        if i > 0:
            level = bfs(graph, i).level
        else:
            level = bfs(graph, source=source).level
        graph.vertex_apply(start)
        last += level[0] if i % 2 == 0 else 0
    if more:
        other = bfs(graph, max_depth=1, source=source).level
    graph.vertex_apply(swap)
    share = shares(graph, weight, twice=more).rank
    result = pagerank(graph, 0.9, max_rounds=5, tolerance=0.0, dtype=vg.float32)
    converged = result.converged
    graph.vertex_apply(start)
    return rank, level, last, converged, share, weight


@vg.operator
def divide(v, graph):
    """The part of the whole."""
    graph.whole += v.weights
    v.rank = v.weights


@vg.operator
def scale(v, graph):
    """In two steps, of a global that the caller does not have."""
    v.rank /= graph.whole


@vg.algorithm
def shares(graph, weights: vg.vertex_property(vg.float64), twice=False):
    """A property of the caller's is read in its place."""
    rank = graph.vertex_property(vg.float64)
    graph.whole = 0.0
    graph.vertex_apply(divide)
    graph.vertex_apply(scale)
    if twice:
        graph.vertex_apply(scale)
    return rank


@vg.algorithm
def marked(graph, seeds, length: vg.edge_property(vg.float64) = 1):
    """Sets of vertices as arguments, twice: of an array, and of a frontier."""
    inside = spread(graph, seeds).reached
    wider = spread(graph, inside, more=True)
    reached = wider.reached
    size = wider.size
    times = 0
    for s in seeds:
        times += spread(graph, graph.frontier(s)).size
    return reached, size, times


@vg.algorithm
def handed_on(graph, seeds):
    """A set of vertices that is only an argument."""
    return spread(graph, seeds).reached


@vg.operator
def touch(src, edge, dst):
    """Neighbors are in."""
    dst.seen = True


@vg.algorithm
def spread(graph, seeds, more=False):
    """The out-neighbors of a set, with `more` together with it."""
    seen = graph.vertex_property(vg.bool_)
    given = graph.frontier(seeds)
    found = graph.edge_apply(touch, given)
    if more:
        found |= given
    reached = found
    size = len(reached)
    return reached, size


@vg.operator
def leads(v):
    """Of all vertices of a component the first."""
    return v.component == v


@vg.operator
def number(v, graph):
    """Disjoint sets come back as plain vertices, which may be written."""
    v.component = vg.none if v.component.id % 2 == graph.odd else v.component
    v.draw = vg.random(v, 7)


@vg.function
def counted(graph, test, op, times):
    """A helper with operators as parameters: frontiers of its own, loops, globals; it gives a number."""
    found = graph.vertex_filter(test)
    for _ in range(times):
        graph.vertex_apply(op)
        graph.calls += 1
    found = found & graph.vertex_filter(test)
    return len(found)


@vg.function
def flood(graph, op, frontier):
    """A helper that assigns its own parameter, and gives a frontier."""
    last = frontier
    while frontier:
        last = frontier
        frontier = graph.edge_apply(op, frontier)
        graph.calls += 100
    return last


@vg.function
def other_way(graph, op, frontier):
    """What another helper gives."""
    return flood(graph, op, graph.edge_apply(op, frontier))


@vg.algorithm
def helped(graph, source: vg.vertex):
    """Helpers, some of which call algorithms."""
    graph.calls = 0
    graph.odd = 1
    seen = graph.vertex_property(vg.bool_)
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    draw = graph.vertex_property(vg.float64)
    component = connected_components(graph).component
    groups = graph.vertex_filter(leads)
    before = len(groups)
    after = counted(graph, leads, number, 2)
    dist[source] = 0
    begin = graph.frontier(source)
    last = flood(graph, relax_ones, begin)
    again = other_way(graph, relax_ones, begin)
    dist_sum = sssp_sum(graph, source)
    calls = graph.calls
    still = len(begin)
    return component, draw, before, after, dist, last, again, dist_sum, calls, still


@vg.operator
def relax_ones(src, edge, dst):
    """Every arc is one step."""
    dst.dist = min(dst.dist, src.dist + 1)


@vg.function
def entered(graph, table, source, place, dist):
    """Vertices by use alone, in a helper; `place` is a number, by which a table is read."""
    dist[source] = table[place]
    return graph.frontier(source)


@vg.algorithm
def used(graph, source, place, several, table: vg.array(vg.float64)):
    """Parameters whose types follow from what helpers do with them."""
    dist = graph.vertex_property(vg.float64)
    count = 0
    f = entered(graph, table, source, place, dist)
    for s in several:
        g = entered(graph, table, s, place, dist)
        f |= g
    count = len(f)
    return dist, f, count


@vg.function
def sssp_sum(graph, source):
    """A helper that calls an algorithm."""
    found = sssp(graph, source)
    return found.dist[source] + found.dist[0]
