"""Betweenness centrality of edges, by counting shortest paths (Girvan and Newman 2002; Brandes 2008)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._pairs import pairs
from vgraph.algorithms._paths import search, worth_of_a_path
from vgraph.graph import Graph


@vg.operator
def collect(v, graph):
    """What v is worth to the level below is what its edges to the level above are worth; the others lead nowhere."""
    onward = 0.0
    for e in v.out_edges:
        if e.dst.share > 0:
            worth = v.handed_on * e.dst.share
            e.centrality += graph.scale * worth
            onward += worth
    v.onward = onward


@vg.operator
def hand_back(v):
    """v's worth for each path that leads to it. Only now, for vertices of one level do not count for each other."""
    v.share = (1.0 + v.onward) / v.paths


@vg.algorithm
def edge_betweenness(graph, sources=None, normalized=True):
    """How many shortest paths lead along an edge: over all pairs (s, t), the fraction of those that do, summed.

    `sources`: vertices from which paths are counted, each as often as it is named; all by default. `normalized`:
    divided by the number of ordered pairs, vertices * (vertices - 1); otherwise each pair of an undirected graph
    counts once. Result: `centrality` (float64), a value for each edge in the order in which the graph was given them.
    Each of parallel edges makes paths of its own, as in igraph, and a self-loop is on no shortest path, 0. Without
    parallel edges values are those of NetworkX's edge_betweenness_centrality, which takes parallel edges for one when
    it counts paths, and divides what that one is worth among them. O(vertices + arcs) for each source. Raises
    AlgorithmError where the numbers of paths in one level differ beyond all bounds.
    """
    centrality = graph.edge_property(vg.float64)
    level = graph.vertex_property(vg.int32)
    paths, handed_on, onward, share = graph.vertex_property(vg.float64)
    graph.scale = worth_of_a_path(graph, normalized, True, None)
    for source in sources:
        level[:] = -1
        paths[:] = 0
        share[:] = 0
        levels = []
        search(graph, source, paths, levels)
        for reached in reversed(levels):
            graph.vertex_apply(collect, reached)
            graph.vertex_apply(hand_back, reached)
    return centrality


@edge_betweenness.prepares
def begun(graph: Graph, sources: object) -> vg.Prepared:
    """All vertices where no sources are given."""
    return vg.Prepared(graph, arguments=pairs(graph, sources, None, None, 0))
