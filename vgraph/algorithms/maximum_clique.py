"""A largest clique, by branch and bound with colors (Tomita and Seki 2003; Rossi et al. 2014)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph.orient import oriented


@vg.operator
def search(v, graph):
    """Grow cliques from v, in each step by one of the vertices that all before lead to, as long as they may be larger
    than the best: of vertices of one color, which are no neighbors, only one can be in a clique.

    `depth` of a vertex is how many of the first vertices of the clique lead to it, `place` where its own arcs are being
    tried, from the last to the first, and `above` the vertex before it. A color is a bit; 0 is none, where 64 were not
    enough.
    """
    best = max(graph.size, 1)
    if graph.size == 0:
        v.largest = 1
    if v.out_degree < best:
        return
    for u in v.out_neighbors:
        u.depth = 1
    for u in v.out_neighbors:
        used = vg.uint64(0)
        for w in u.out_neighbors:
            if w.depth == 1:
                used |= w.color
        u.color = ~used & (used + 1)
    top = vg.vertex(v)
    top.place = vg.int32(top.out_degree)
    level = 1
    while level > 0:
        if top.place > 0:
            top.place -= 1
            u = top.out_neighbors[top.place]
            if u.depth == level:
                used = vg.uint64(0)
                more = 0
                for w in u.out_neighbors:
                    if w.depth == level:
                        w.depth = level + 1
                        used |= w.color
                        if w.color == 0:
                            more += 1
                u.above = top.id
                u.place = 0
                top = u
                level += 1
                if level + vg.popcount(used) + more > best:
                    u.place = vg.int32(u.out_degree)
                    if used == 0 and more == 0:
                        best = level
                        v.largest = level
                        if graph.marking:
                            while u != v:
                                u.member = True
                                u = vg.vertex(u.above)
                        if graph.quick:
                            break
        else:
            level -= 1
            for w in top.out_neighbors:
                if w.depth > level:
                    w.depth = level
            top = vg.vertex(top.above)


@vg.operator
def compare(v, graph):
    """The largest clique found so far, and where it begins."""
    graph.size, graph.where = max((graph.size, graph.where), (v.largest, v))


@vg.algorithm
def maximum_clique(graph):
    """A largest clique: a set of vertices of which each two are neighbors.

    Results: `size`, the clique number, and `member` (bool), one such clique. The direction of arcs is ignored;
    self-loops and parallel edges do not count. First a clique is sought from each vertex without ever going back, then
    all that might be larger. Finding one is hard: exponential at worst.
    """
    member = graph.vertex_property(vg.bool_)
    largest = graph.vertex_property(vg.int64)
    depth, place = graph.scratch(vg.int32)
    above = graph.scratch(vg.int64)
    color = graph.scratch(vg.uint64)
    graph.size = 0
    graph.where = vg.none
    graph.quick = True
    graph.marking = False
    graph.vertex_apply(search, label="guess")
    graph.vertex_apply(compare)
    graph.quick = False
    graph.vertex_apply(search)
    graph.vertex_apply(compare, label="compare_all")
    size = graph.size
    if size > 0:
        graph.size -= 1
        graph.quick = graph.marking = True
        member[graph.where] = True
        graph.vertex_apply(search, graph.frontier(graph.where), label="mark")
    return size, member


maximum_clique.prepares(oriented)  # so that each clique is found once, from its vertex of fewest neighbors
