"""Local clustering coefficients, as LDBC Graphalytics defines them (Watts and Strogatz 1998; Iosup et al. 2016)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.triangle_count import count_along, count_below, count_between, with_hubs
from vgraph.graph import Graph
from vgraph.graph.orient import has_parallel_arcs, oriented, oriented_with_ways
from vgraph.runtime.policy import worth_orienting


@vg.operator
def count(v):
    """In each triangle v -> u -> w, v -> w, a vertex counts the arcs of the user's between the other two."""
    for a in v.out_edges:
        a.dst.beside = a.ways
    here = 0
    for a in v.out_edges:
        u = a.dst
        there = 0
        for b in u.out_edges:
            w = b.dst
            if w.beside > 0:
                here += b.ways
                there += w.beside
                w.arcs += a.ways
        if there > 0:
            u.arcs += there
    if here > 0:
        v.arcs += here


@vg.operator
def finish(v, graph):
    """Of the arcs that there might be between neighbors, how many there are."""
    degree = v.out_degree + v.in_degree if graph.directed else v.out_degree
    if degree > 1:
        arcs = v.arcs if graph.directed and _edges is None else 2 * v.triangles
        v.lcc = arcs / (vg.float64(degree) * (degree - 1))


@vg.algorithm
def local_clustering(graph, _edges=None, _by=None):
    """The fraction of the ordered pairs of neighbors of a vertex between which there is an arc; 0 below two neighbors.

    A neighbor is a vertex with an arc in either direction; an undirected edge is an arc both ways, which makes it the
    clustering of NetworkX. Self-loops and parallel arcs do not count. Result: `lcc` (float64). O(arcs ** 1.5).
    """
    lcc = graph.vertex_property(vg.float64)
    if graph.directed and _edges is None:
        arcs = graph.vertex_property(vg.int64)
        beside = graph.scratch(vg.int32)
        graph.vertex_apply(count)
    else:
        triangles = graph.vertex_property(vg.int64)
        graph.total = 0
        if _by is not None:
            graph.vertex_apply(count_along, label="count_between")
        elif graph.directed:
            graph.vertex_apply(count_between)
        else:
            graph.vertex_apply(count_below, label="count_between")
    graph.vertex_apply(finish)
    return lcc


@local_clustering.prepares
def by_degree(graph: Graph) -> vg.Prepared:
    """Orient the edges by degree where that saves more time than it takes. Of a directed graph `ways` tells in how many
    directions it has them; those of an undirected one are both ways, so that triangles are all that counts."""
    if graph.directed:
        return oriented_with_ways(graph)
    simple = 2 * graph.num_edges == graph.num_arcs and not has_parallel_arcs(graph)
    if simple and not worth_orienting(graph):
        return vg.Prepared(graph)
    return with_hubs(oriented(graph)._replace(arguments={"_edges": "undirected"}))
