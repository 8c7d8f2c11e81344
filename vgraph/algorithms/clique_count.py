"""Cliques of a given size, counted along an order of the vertices (Chiba and Nishizeki 1985; Danisch et al. 2018)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph.orient import oriented


@vg.operator
def count(v, graph):
    """Grow cliques from v, in each step by one of the vertices that all before lead to.

    `depth` of a vertex is how many of the first vertices of the clique lead to it, `place` where its own arcs are being
    tried, from the last to the first, and `above` the vertex before it.
    """
    if size <= 2:
        graph.total += 1 if size == 1 else v.out_degree
        return
    if v.out_degree < size - 1:
        return
    found = 0
    for u in v.out_neighbors:
        u.depth = 1
    top = vg.vertex(v)
    top.place = vg.int32(top.out_degree)
    level = 1
    while level > 0:
        if top.place > 0:
            top.place -= 1
            u = top.out_neighbors[top.place]
            if u.depth == level:
                common = 0
                for w in u.out_neighbors:
                    if w.depth == level:
                        common += 1
                if level + 2 == size:
                    found += common
                elif level + 1 + common >= size:
                    for w in u.out_neighbors:
                        if w.depth == level:
                            w.depth = level + 1
                    u.above = top.id
                    u.place = vg.int32(u.out_degree)
                    top = u
                    level += 1
        else:
            level -= 1
            for w in top.out_neighbors:
                if w.depth > level:
                    w.depth = level
            top = vg.vertex(top.above)
    graph.total += found


@vg.algorithm
def clique_count(graph, size: vg.between(1, vg.inf) = 3):
    """How many cliques of `size` vertices there are: sets of so many of which each two are neighbors.

    Result: `total` (int64). A set counts whether or not it is a part of a larger clique. The direction of arcs is
    ignored; self-loops and parallel edges do not count. Raises ParameterError for a size below 1. Every clique of fewer
    vertices is looked at that has enough neighbors in common: O(arcs * sqrt(arcs) ** (size - 2)) at worst.
    """
    depth, place = graph.scratch(vg.int32)
    above = graph.scratch(vg.int64)
    graph.total = 0
    graph.vertex_apply(count)
    return graph.total


clique_count.prepares(oriented)  # so that each clique is found once, from its vertex of fewest neighbors
