"""The diameter of a component from few searches (Crescenzi et al. 2013, iFUB, begun by a double sweep)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def visit(src, edge, dst, graph):
    """The first to come tells the distance."""
    if dst.hops == -1:
        dst.hops = graph.depth


@vg.operator
def farthest(v, graph):
    """One of the vertices reached last; the distances are kept."""
    v.ring = v.hops
    if v.hops == graph.reach:
        graph.next = min(graph.next, v.id)


@vg.operator
def middle(v, graph):
    """One halfway between the ends of the second sweep."""
    if v.ring == graph.reach // 2 and v.ring + v.hops == graph.reach:
        graph.next = min(graph.next, v.id)


@vg.operator
def fringe(v, graph):
    """One that is as far from the middle as is looked at now, and was not searched from."""
    if v.ring == graph.radius and not v.searched:
        graph.next = min(graph.next, v.id)


@vg.algorithm
def diameter(graph: vg.undirected, source: vg.vertex = 0, max_searches: vg.between(1, vg.inf) = 1000):
    """The largest distance, in hops, between two vertices of `source`'s component, or bounds of it; undirected graphs.

    Results: `lower` and `upper`, equal if `max_searches` searches were enough (`converged`), and `end`, a vertex with
    another `lower` away. Two sweeps give a lower bound and a middle; vertices are searched from ring by ring around it,
    the farthest first, until nearer ones cannot be farther apart. O(vertices + arcs) per search: some ten in most real
    graphs, many in regular ones. Raises ParameterError for a directed graph.
    """
    hops, ring = graph.vertex_property(vg.int32)
    searched = graph.vertex_property(vg.bool_)
    lower = searches = graph.radius = 0
    upper = graph.num_vertices
    graph.next = vg.int64(source)
    end = graph.next
    while lower < upper and searches < max_searches:
        here = graph.next
        hops[:] = -1
        hops[here] = 0
        searched[here] = True
        graph.depth = 0
        frontier = graph.frontier(here)
        while frontier:
            graph.depth += 1
            frontier = graph.edge_apply(visit, frontier)
        graph.reach = graph.depth - 1
        searches += 1
        upper = min(upper, 2 * graph.reach)
        if graph.reach > lower:
            lower = graph.reach
            end = here
        graph.next = graph.num_vertices
        if searches == 3:
            graph.vertex_apply(middle)
            if graph.next == graph.num_vertices:  # the third sweep went farther than the second
                graph.next = here
        elif searches <= 4:
            graph.vertex_apply(farthest)
            graph.radius = graph.reach
        if searches > 3:
            graph.next = graph.num_vertices
            while graph.next == graph.num_vertices and lower < upper:
                graph.vertex_apply(fringe)
                if graph.next == graph.num_vertices:
                    graph.radius -= 1
                    upper = min(upper, max(lower, 2 * graph.radius))
    converged = lower == upper
    return lower, upper, end, converged
