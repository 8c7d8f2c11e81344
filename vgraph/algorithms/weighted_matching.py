"""A matching of large weight: edges that outweigh all their neighbors are taken (Preis 1999; Manne, Bisseling 2007)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.maximal_matching import accept, draw, lot
from vgraph.graph import Graph
from vgraph.graph.weights import check_weights


@vg.operator
def propose(v, graph):
    """v looks for the heaviest of its edges whose other end is free, by lot among equals; or it is done.

    A wish that nobody has taken is kept: edges only go.
    """
    if v.wish == vg.none or v.wish.mate != vg.none:
        most = 0.0
        last = vg.uint32(0)
        wish = last
        for e in v.out_edges:
            if e.weight > 0 and e.weight >= most and e.dst != v and e.dst.mate == vg.none:
                most, last, wish = max((most, last, wish), (e.weight, lot(e.dst, v), vg.uint32(e.dst.id)))
        if graph.directed:
            for e in v.in_edges:
                if e.weight > 0 and e.weight >= most and e.src != v and e.src.mate == vg.none:
                    most, last, wish = max((most, last, wish), (e.weight, lot(e.src, v), vg.uint32(e.src.id)))
        v.wish = vg.vertex(wish) if most > 0 else vg.none
    return v.wish != vg.none


@vg.algorithm
def weighted_matching(graph, weight: vg.edge_property(vg.float64) = "weight"):
    """Edges of which no two share an end, of at least half the weight that any such edges have together.

    `weight`: the name of an edge property of finite numbers. An edge that is not taken shares an end with one that is
    and weighs at least as much; or it does not weigh more than 0: such edges are never taken. Directions and self-loops
    are ignored; the heaviest of parallel edges counts. Result: `mate`, the other end of each vertex's edge, -1 without
    one; the same in every run with the same `seed` of vg.run. Raises ParameterError for weights that are missing or not
    finite. O(vertices + arcs) in each of O(log vertices) rounds on average where weights are random.
    """
    mate, wish = graph.vertex_property(vg.vertex)
    number = graph.vertex_property(vg.uint32)
    graph.vertex_apply(draw)
    free = graph.vertex_filter(propose)
    while free:
        free = graph.vertex_filter(accept, free)
        free = graph.vertex_filter(propose, free)
    return mate


@weighted_matching.requires
def finite(graph: Graph, weight: object) -> None:
    """Raise ParameterError for weights that are missing or not finite."""
    check_weights(graph, weight, negative=True)
