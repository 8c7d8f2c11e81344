"""Degree centrality (Freeman 1979)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def measure(v, graph):
    """The fraction of the others that v has an arc with."""
    v.out_centrality = graph.scale * v.out_degree
    v.in_centrality = v.out_centrality
    v.centrality = v.out_centrality
    if graph.directed:
        v.in_centrality = graph.scale * v.in_degree
        v.centrality = graph.scale * (v.out_degree + v.in_degree)
    else:
        graph.arcs += v.out_degree


@vg.operator
def add_loops(v, graph):
    """An undirected self-loop has two ends at v, but is one arc."""
    ends = v.out_degree
    for u in v.out_neighbors:
        if u == v:
            ends += 1
    v.out_centrality = graph.scale * ends
    v.in_centrality = v.out_centrality
    v.centrality = v.out_centrality


@vg.algorithm
def degree_centrality(graph):
    """The number of arcs that a vertex has, divided by the number of other vertices.

    Results, float64, with NetworkX's numbers: `centrality` (arcs in and out), `in_centrality` and `out_centrality`; all
    the same in an undirected graph, where a self-loop counts twice. A single vertex has 1. O(vertices + arcs).
    """
    centrality, in_centrality, out_centrality = graph.vertex_property(vg.float64)
    graph.scale = 1.0 / max(1, graph.num_vertices - 1)
    graph.arcs = 0
    graph.vertex_apply(measure)
    if not graph.directed and graph.arcs < 2 * graph.num_edges:
        graph.vertex_apply(add_loops)
    if graph.num_vertices == 1:
        centrality = in_centrality = out_centrality = 1.0
    return centrality, in_centrality, out_centrality
