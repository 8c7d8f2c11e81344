"""Betweenness centrality by counting shortest paths (Brandes 2001, "A faster algorithm for betweenness centrality")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._pairs import check_pairs, pairs
from vgraph.algorithms._paths import credit, search, worth_of_a_path
from vgraph.graph import Graph
from vgraph.graph.orient import without_parallel_arcs

FALL = 1.5
"""A level hands its worth along arcs to one of so many times as many vertices."""


@vg.operator
def collect(v):
    """What a path to v is worth on its way on: its part in what the level below is worth."""
    onward = 0.0
    for w in v.out_neighbors:
        onward += w.share
    v.onward = onward


@vg.operator
def send_up(src, edge, dst, graph):
    """The same from the other side: along the arcs of the level below, where those are few."""
    if dst.level == graph.depth:
        dst.onward += src.share


@vg.operator
def hand_back(v, graph):
    """Only now, for vertices of one level do not count for each other."""
    credit(v, graph, v.handed_on * v.onward, v.level > 0)


@vg.algorithm
def betweenness(
    graph,
    sources=None,
    targets: vg.vertex_property(vg.float64) = None,
    samples=None,
    seed=0,
    normalized=True,
    endpoints=False,
):
    """How many shortest paths lead through a vertex: over all pairs (s, t), the fraction of those that do, summed.

    `sources`: vertices from which paths are counted, each as often as it is named; all by default. `targets`: vertices
    to which they are counted; all by default. `samples`: an estimate of the whole from so many sources, drawn by `seed`
    without replacement, multiplied by vertices / samples (Brandes and Pich 2007). `endpoints`: s and t lie on their
    paths. `normalized`: divided by the number of pairs; otherwise each pair of an undirected graph counts once. Values
    are NetworkX's: betweenness_centrality, and betweenness_centrality_subset with `sources` or `targets`. Result:
    `centrality` (float64). O(vertices + arcs) for each source; parallel arcs count as one. Raises AlgorithmError where
    the numbers of paths in one level differ beyond all bounds; `weighted_betweenness` takes lengths of arcs.
    """
    centrality, paths, handed_on, onward, share = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int32)
    graph.scale = worth_of_a_path(graph, normalized, endpoints, samples)
    for source in sources:
        level[:] = -1
        paths[:] = 0
        share[:] = 0
        levels = []
        search(graph, source, paths, levels)
        below = graph.num_vertices
        for _ in range(len(levels)):
            graph.depth -= 1
            reached = levels[graph.depth]
            if not graph.directed and FALL * below < len(reached):
                deeper = levels[graph.depth + 1]
                graph.edge_apply(send_up, deeper)
            else:
                graph.vertex_apply(collect, reached)
            graph.vertex_apply(hand_back, reached)
            below = len(reached)
    return centrality


betweenness.requires(check_pairs)


@betweenness.prepares
def simple(graph: Graph, sources: object, targets: object, samples: object, seed: int) -> vg.Prepared:
    """One arc in place of parallel ones; all vertices where no sources are given."""
    return vg.Prepared(without_parallel_arcs(graph), arguments=pairs(graph, sources, targets, samples, seed))
