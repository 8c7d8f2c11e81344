"""Cliques that begin at a vertex, as far as colors say that they may be larger (Tomita and Seki 2003)."""

from __future__ import annotations

import vgraph as vg


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
