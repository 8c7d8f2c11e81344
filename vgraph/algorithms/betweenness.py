"""Betweenness centrality by counting shortest paths (Brandes 2001, "A faster algorithm for betweenness centrality")."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph._orient import Prepared, without_parallel_arcs
from vgraph.graph import Graph

HUGE = 2.0**900
TINY = 2.0**-900
STEP = 2.0**-64
FALL = 4  # times as many vertices as the level below must a level have to be handed its worth along arcs from there


@vg.operator
def reset(v):
    """Nothing is reached yet."""
    v.level = -1
    v.paths = 0.0
    v.share = 0.0


@vg.operator
def reach(src, edge, dst):
    """The shortest paths to src go on to dst, if no shorter ones were there before."""
    if dst.level == -1:
        dst.paths += src.handed_on


@vg.operator
def settle(v, graph):
    """The paths to v are complete; where they are very many, all of this level are counted in larger units."""
    v.level = graph.depth
    v.handed_on = v.paths * graph.unit
    v.onward = 0.0
    graph.most = max(graph.most, v.paths)
    graph.fewest = min(graph.fewest, v.handed_on)


@vg.operator
def collect(v, graph):
    """What v is worth to the level below: 1 for itself, and its part in the paths that go on."""
    onward = 0.0
    for w in v.out_neighbors:
        onward += w.share
    v.onward = v.handed_on * onward


@vg.operator
def send_up(src, edge, dst, graph):
    """The same from the other side: along the arcs of the level below, where those are few."""
    if dst.level == graph.depth:
        dst.onward += dst.handed_on * src.share


@vg.operator
def hand_back(v, graph):
    """v's worth for each path that leads to it; only now, for vertices of one level do not count for each other."""
    v.share = (1 + v.onward) / v.paths
    if v.level > 0:
        v.centrality += graph.scale * (v.onward + graph.ends)
    else:
        v.centrality += graph.scale * graph.ends * (graph.reached - 1)


@vg.algorithm
def betweenness(graph, sources=None, normalized=True, endpoints=False):
    """How many shortest paths lead through a vertex: over all pairs (s, t), the fraction of those that do, summed.

    `sources`: vertices from which paths are counted, each as often as it is named; all by default. `endpoints`: s and t
    lie on their paths. `normalized`: divided by the number of pairs; otherwise each pair of an undirected graph counts
    once. All as NetworkX has it: betweenness_centrality, and with `sources` betweenness_centrality_subset with all
    targets. Result: `centrality` (float64). O(vertices + arcs) for each source; parallel arcs count as one.
    """
    centrality = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int32)
    paths = graph.vertex_property(vg.float64)
    handed_on = graph.vertex_property(vg.float64)
    onward = graph.vertex_property(vg.float64)
    share = graph.vertex_property(vg.float64)
    n = graph.num_vertices
    graph.ends = 1.0 if endpoints else 0.0
    graph.scale = 1.0
    if normalized:
        graph.scale = 1.0 / max(1, (n - 1) * (n if endpoints else n - 2))
    elif not graph.directed:
        graph.scale = 0.5
    for source in sources:
        graph.vertex_apply(reset)
        paths[source] = 1.0
        graph.depth = 0
        graph.reached = 0
        graph.most = 0.0
        graph.fewest = 1.0
        levels = []
        frontier = graph.frontier(source)
        while frontier:
            graph.unit = STEP if graph.most > HUGE else 1.0
            graph.most = 0.0
            graph.vertex_apply(settle, frontier)
            if graph.fewest < TINY:
                vg.fail(
                    "the numbers of shortest paths in one level differ by more than a factor of 2 ** 1800"
                )
            levels.append(frontier)
            graph.depth += 1
            graph.reached += len(frontier)
            frontier = graph.edge_apply(reach, frontier)
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


@betweenness.prepares
def simple(graph: Graph, sources: object) -> Prepared:
    """One arc in place of parallel ones; all vertices where no sources are given."""
    given = np.arange(graph.num_vertices) if sources is None else sources
    return Prepared(without_parallel_arcs(graph), arguments={"sources": given})
