"""How many shortest paths lead from a source to each vertex: the first half of Brandes' algorithm (Brandes 2001)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import without_parallel_arcs


@vg.operator
def reach(src, edge, dst):
    """The shortest paths to src go on to dst, if no shorter ones were there before."""
    if dst.level == -1:
        dst.paths += src.paths


@vg.operator
def settle(v, graph):
    """The paths to v are complete."""
    v.level = graph.depth


@vg.algorithm
def path_counts(graph, source: vg.vertex, dtype=vg.float64):
    """The number of shortest paths, in hops, from `source` to each vertex.

    Results: `level` (int32, -1 where unreached) and `paths` of type `dtype` (0 where unreached, 1 at the source): a
    float64 is exact up to 2 ** 53 paths and becomes infinite beyond 10 ** 308; integers wrap. Parallel arcs count as
    one. O(vertices + arcs).
    """
    level = graph.vertex_property(vg.int32, fill=-1)
    paths = graph.vertex_property(dtype)
    paths[source] = 1
    graph.depth = 0
    frontier = graph.frontier(source)
    while frontier:
        graph.vertex_apply(settle, frontier)
        graph.depth += 1
        frontier = graph.edge_apply(reach, frontier)
    return level, paths


@path_counts.prepares
def simple(graph: Graph) -> vg.Prepared:
    """One arc in place of parallel ones."""
    return vg.Prepared(without_parallel_arcs(graph))
