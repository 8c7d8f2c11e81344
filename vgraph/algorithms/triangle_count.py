"""Triangles, by common neighbors along an order of the vertices (Chiba and Nishizeki 1985; Latapy 2008)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.layouts import device_arcs
from vgraph.graph.orient import has_parallel_arcs, oriented
from vgraph.runtime.policy import worth_bitmaps, worth_orienting


@vg.operator
def count_between(u, graph):
    """Of each triangle with arcs v -> u -> w and v -> w, u looks for the w that v leads to as well."""
    for v in u.in_neighbors:
        shared = 0
        for w in u.out_neighbors & v.out_neighbors:
            shared += 1
            w.triangles += 1
        v.triangles += shared
        u.triangles += shared
        graph.total += shared


@vg.operator
def count_along(u, graph):
    """The same from the other end, u -> v -> w: v is a hub more often, and its list compared by a bitmap."""
    for v in u.out_neighbors:
        shared = 0
        for w in u.out_neighbors & v.out_neighbors:
            shared += 1
            w.triangles += 1
        v.triangles += shared
        u.triangles += shared
        graph.total += shared


@vg.operator
def count_below(u, graph):
    """Of each triangle w < v < u, u looks for the w that v is a neighbor of as well."""
    for v in u.neighbors:
        if v >= u:
            break
        shared = 0
        for w in u.neighbors & v.neighbors:
            if w >= v:
                break
            shared += 1
            w.triangles += 1
        if shared > 0:
            v.triangles += shared
            u.triangles += shared
            graph.total += shared


@vg.algorithm
def triangle_count(graph, _by=None):
    """How many triangles there are, and at how many each vertex takes part; the direction of arcs is ignored.

    Results: `total` and `triangles` (int64). Self-loops and parallel edges do not count. O(arcs ** 1.5).
    """
    triangles = graph.vertex_property(vg.int64)
    graph.total = 0
    if _by is not None:
        graph.vertex_apply(count_along, label="count")
    elif graph.directed:
        graph.vertex_apply(count_between, label="count")
    else:
        graph.vertex_apply(count_below, label="count")
    return graph.total, triangles


@triangle_count.prepares
def by_degree(graph: Graph) -> vg.Prepared:
    """Orient the edges by degree where that saves more time than it takes: then arcs have a direction and no cycle."""
    if graph.directed or worth_orienting(graph) or has_parallel_arcs(graph):
        return with_hubs(oriented(graph))
    return vg.Prepared(graph)


def with_hubs(made: vg.Prepared) -> vg.Prepared:
    """An oriented graph, with the argument that says that bitmaps of hubs pay."""
    here = device_arcs(made.graph) is None and worth_bitmaps(made.graph)
    return made._replace(arguments={**made.arguments, "_by": "hubs"}) if here else made
