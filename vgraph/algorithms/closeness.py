"""Closeness centrality (Freeman 1979; Wasserman and Faust 1994) by searches from 64 vertices at a time."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._searches import search_from_all
from vgraph.algorithms.diameter import visit


@vg.operator
def settle(v, graph):
    """v is as far as this from the searches that came to it now."""
    v.fresh = v.seen & ~v.before
    v.before = v.seen
    found = vg.popcount(v.fresh)
    v.total += graph.depth * found
    v.reached += found


@vg.algorithm
def closeness(graph, vertices=None, wf_improved=True):
    """The inverse of the mean distance, in hops, to a vertex from those that reach it; 0 where none does.

    `vertices`: those of which it is wanted, all by default; the others get 0. `wf_improved`: multiplied by the fraction
    of the other vertices that reach it (Wasserman and Faust), as NetworkX's closeness_centrality does. Result:
    `centrality` (float64). O(vertices * (vertices + arcs) / 64) or a little more; O(vertices + arcs) for each vertex
    that is asked for.
    """
    centrality = graph.vertex_property(vg.float64)
    if vertices is None:
        total, reached = graph.vertex_property(vg.int64)
        seen, fresh, before = graph.vertex_property(vg.uint64)
        search_from_all(graph, settle)
        centrality = graph.where(total > 0, reached / total, 0.0)
        if wf_improved:
            centrality = graph.where(total > 0, centrality * (reached / (graph.num_vertices - 1)), 0.0)
    else:
        for vertex in vertices:
            hops = graph.vertex_property(vg.int32, fill=-1)
            hops[vertex] = 0
            graph.depth = 0
            far = 0
            others = 0
            frontier = graph.frontier(vertex)
            while frontier:
                graph.depth += 1
                frontier = graph.edge_apply(visit, frontier, reverse=True)
                far += graph.depth * len(frontier)
                others += len(frontier)
            if far > 0:
                centrality[vertex] = others / far
                if wf_improved:
                    centrality[vertex] *= others / (graph.num_vertices - 1)
    return centrality
