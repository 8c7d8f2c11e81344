"""Harmonic centrality (Marchiori and Latora 2000; Boldi and Vigna 2014) by searches from 64 vertices at a time."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._searches import search_from_all


@vg.operator
def settle(v, graph):
    """v is as far as this from the searches that came to it now."""
    v.fresh = v.seen & ~v.before
    v.before = v.seen
    v.centrality += vg.popcount(v.fresh) / graph.depth


@vg.algorithm
def harmonic_centrality(graph, normalized=False):
    """The sum of 1 / distance, in hops, over the other vertices that reach a vertex; others add nothing.

    `normalized`: divided by the number of other vertices, so that it is from 0 to 1. Result: `centrality` (float64).
    O(vertices * (vertices + arcs) / 64) or a little more.
    """
    centrality = graph.vertex_property(vg.float64)
    seen, fresh, before = graph.vertex_property(vg.uint64)
    search_from_all(graph, settle)
    if normalized and graph.num_vertices > 1:
        centrality /= graph.num_vertices - 1
    return centrality
