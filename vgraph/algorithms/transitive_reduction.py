"""The arcs of a directed graph without cycles that no other path replaces (Aho, Garey and Ullman 1972)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._searches import begin, spread


@vg.operator
def settle(v):
    """The searches that came to v now, and for the first time, go on from here."""
    v.fresh = (v.seen | v.far) & ~v.before
    v.before |= v.fresh


@vg.operator
def reach(src, edge, dst):
    """The searches that came to src last come to dst by two arcs or more."""
    dst.far |= src.fresh


@vg.operator
def judge(v, graph):
    """An arc is needed if v's own search comes to its end by no longer path; of parallel arcs the first is."""
    own = vg.uint64(1) << vg.uint64(v.id - graph.first)
    before = vg.none
    for edge in v.out_edges:
        edge.needed = edge.dst.far & own == 0 and edge.dst != before
        before = edge.dst
        if edge.dst == v or v.far & own != 0:
            graph.cycles = max(graph.cycles, 1)


@vg.algorithm
def transitive_reduction(graph: vg.directed):
    """The least set of arcs of a directed graph without cycles by which each vertex leads to all that it leads to.

    Result: `needed` (bool), a value for each edge in the order in which the graph was given them; of parallel arcs one
    is needed at most. Raises AlgorithmError where the graph has a cycle, ParameterError for an undirected graph.
    O(vertices * (vertices + arcs) / 64) or a little more: searches run from 64 vertices at a time.
    """
    needed = graph.edge_property(vg.bool_)
    seen, fresh, before = graph.vertex_property(vg.uint64)
    graph.cycles = 0
    for batch in range((graph.num_vertices + 63) // 64):
        far = graph.vertex_property(vg.uint64)
        graph.first = 64 * batch
        sources = graph.vertex_filter(begin)
        frontier = graph.edge_apply(spread, sources)
        graph.vertex_apply(settle, frontier)
        while frontier:
            frontier = graph.edge_apply(reach, frontier)
            graph.vertex_apply(settle, frontier)
        graph.vertex_apply(judge, sources)
        if graph.cycles > 0:
            vg.fail("the graph has a cycle; vg.algorithms.topological_order names a vertex on it")
    return needed
