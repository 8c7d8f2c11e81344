"""A matching of the most edges: trees of alternating paths from all free vertices at once (Azad et al. 2017)."""

from __future__ import annotations

import vgraph as vg


@vg.function
def origin(u):
    """The free vertex of the left from whose tree u is."""
    return u if u.owner == vg.none else u.owner.root


@vg.operator
def is_free(v):
    """Trees begin at what is left over on the left."""
    return not v.side and v.owner == vg.none and v.out_degree > 0


@vg.operator
def reach(src, edge, dst, graph):
    """dst is reached once in a phase, by the largest of those that ask first, if their tree has no free end yet."""
    if dst.reached != graph.phase and origin(src).end == vg.none:
        dst.asked, dst.before = max((dst.asked, dst.before), (graph.phase, src))


@vg.operator
def adopt(v, graph):
    """v belongs to the tree of the one before it. If it is free, the path from the root to it is one to be turned."""
    v.reached = graph.phase
    v.root = origin(v.before)
    v.beyond = v.before.owner
    if v.owner == vg.none:
        v.root.end = min(v.root.end, v)
        graph.found += 1
    return v.owner != vg.none


@vg.operator
def go_on(src, edge, dst, graph):
    """From one that is taken, the tree goes on to its owner, which nothing else leads to."""
    if dst == src.owner:
        dst.reached = max(dst.reached, graph.phase)


@vg.operator
def turn(v, graph):
    """Edges of the path are taken that were not, and the others are not: one more in all. No two trees meet."""
    right = v.end
    while right != vg.none:
        left = right.before
        right.turned, right.owner = max((right.turned, right.owner), (graph.phase, left))
        left.turned, left.owner = max((left.turned, left.owner), (graph.phase, right))
        right = right.beyond


@vg.function
def match_most(graph):
    """Phases until no tree has a free end: then no matching has more edges (Berge 1957)."""
    graph.phase = vg.int32(0)
    graph.found = 1
    free = graph.vertices
    while graph.found > 0:
        graph.phase += 1
        graph.found = 0
        free = graph.vertex_filter(is_free, free)
        ahead = free
        while ahead:
            ahead = graph.vertex_filter(adopt, graph.edge_apply(reach, ahead))
            ahead = graph.edge_apply(go_on, ahead)
        graph.vertex_apply(turn, free)
