"""Truss numbers by peeling edges in buckets (Cohen 2008; Wang and Cheng 2012)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.extend import with_edges


@vg.operator
def count(v):
    """v stands for an edge: in how many triangles it is."""
    if v.left >= 0:
        for _ in vg.vertex(v.left).out_neighbors & vg.vertex(v.right).out_neighbors:
            v.support += 1


@vg.operator
def settle(v, graph):
    """An edge goes when the triangles that are left do not do; the level tells the truss. Whether others lose any."""
    v.gone = graph.round
    v.truss = graph.level + 2
    return v.support > 0


@vg.operator
def peel(v, graph):
    """The triangles of v are gone for the edges that stay; of edges that go together the first one tells them."""
    if v.left >= 0:
        for e in vg.vertex(v.left).out_edges:
            e.dst.beside = e.name
        for e in vg.vertex(v.right).out_edges:
            if e.dst.beside > 0:
                x = vg.vertex(e.dst.beside)
                y = vg.vertex(e.name)
                if x.gone >= graph.round and y.gone >= graph.round:
                    if x.gone > graph.round and (y.gone > graph.round or v < y):
                        x.support += -1
                    if y.gone > graph.round and (x.gone > graph.round or v < x):
                        y.support += -1


@vg.algorithm
def k_truss(graph: vg.undirected):
    """Truss numbers: the largest k such that an edge lies in a subgraph where each edge is in k - 2 triangles or more.

    Result: `truss`, int32, one number for each edge in the order of `graph.edges()`: those of NetworkX's k_truss(G, k)
    are the edges with `truss >= k`. At least 2, which is what self-loops have; parallel edges count as one. Raises
    ParameterError for a directed graph. O(sum of the squares of the degrees).
    """
    truss, support = graph.vertex_property(vg.int32)
    gone = graph.vertex_property(vg.int32, fill=vg.inf)
    beside = graph.scratch(vg.int64)
    graph.round = vg.int32(0)
    graph.vertex_apply(count)
    queue = graph.priority_queue(support)
    while queue:
        peeled = queue.pop()
        graph.level = vg.int32(queue.level)
        graph.round += 1
        graph.vertex_apply(peel, graph.vertex_filter(settle, peeled))
    return truss


@k_truss.prepares
def of_edges(graph: Graph) -> vg.Prepared:
    """A vertex for each edge."""
    return with_edges(graph)
