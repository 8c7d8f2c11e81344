"""Heavy-edge matching by proposal and cross-examination (Karypis and Kumar 1998; Manne and Bisseling 2007)."""

from __future__ import annotations

import vgraph as vg


@vg.function
def lot(u, v, salt):
    """A number that looks random, the same from both ends of an edge."""
    x = (vg.uint32(u.id) + vg.uint32(salt)) * (vg.uint32(v.id) + vg.uint32(salt))
    y = (x ^ (x >> 16)) * vg.uint32(2246822519)
    return y ^ (y >> 13)


@vg.operator
def propose(v):
    """v looks for its best edge to a free vertex that is not too heavy; a wish that nobody took is kept.

    Best is a large squared weight over the load of the other end: coarse vertices stay about equally heavy (Holtgrewe,
    Sanders and Schulz 2010).
    """
    if v.wish == vg.none or v.wish.mate != vg.none:
        best = vg.none
        most = 0.0  # the best rating is this over `beside`
        beside = 1.0
        drawn = vg.uint32(0)
        for e in v.out_edges:
            u = e.dst
            if u.mate == vg.none and u.load + v.load <= heaviest:
                weight = vg.float64(e.weight)
                load = vg.float64(u.load)
                ahead = weight * weight * beside - most * load
                if ahead >= 0:
                    ticket = lot(u, v, salt)
                    if ahead > 0 or ticket > drawn or best == vg.none:
                        best = u
                        most = weight * weight
                        beside = load
                        drawn = ticket
        v.wish = best
    return v.wish != vg.none


@vg.operator
def accept(v):
    """Two that have the same wish are a pair."""
    if v.wish.wish == v:
        v.mate = v.wish
    return v.mate == vg.none


@vg.operator
def look_around(v):
    """What a vertex that found no mate hangs on: its best neighbor, whoever that one's mate is."""
    best = vg.none
    most = 0.0
    for e in v.out_edges:
        rated = vg.float64(e.weight) / vg.float64(e.dst.load)
        if rated > most:
            best = e.dst
            most = rated
    v.wish = best


@vg.operator
def is_single(v):
    """Whether nobody took v."""
    return v.mate == vg.none


@vg.algorithm
def matching(graph, heaviest: vg.int64, salt: vg.int64, rounds: vg.int64):
    """A matching of heavy edges, maximal but for what `rounds` leave; `wish` of a single vertex is what it hangs on,
    where more than a tenth are single."""
    mate = graph.vertex_property(vg.vertex)
    wish = graph.vertex_property(vg.vertex)
    free = graph.vertex_filter(propose)
    done = 0
    while free and done < rounds:
        free = graph.vertex_filter(accept, free)
        free = graph.vertex_filter(propose, free)
        done += 1
    single = graph.vertex_filter(is_single)
    singles = len(single)
    if 10 * singles > graph.num_vertices:
        graph.vertex_apply(look_around, single)
    return mate, wish, singles
