"""Weakly connected components by label propagation: the smallest id spreads."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def start(v):
    """Every vertex begins with its own id."""
    v.component = v


@vg.operator
def lower(src, edge, dst):
    """dst takes the smaller label."""
    dst.component = min(dst.component, src.component)


@vg.operator
def lower_both_ways(v, graph):
    """v takes the smallest label around it, the direction of arcs ignored."""
    smallest = v.component
    for u in v.out_neighbors:
        smallest = min(smallest, u.component)
    for u in v.in_neighbors:
        smallest = min(smallest, u.component)
    if smallest < v.component:
        v.component = smallest
        graph.changed += 1


@vg.algorithm
def label_components(graph):
    """Components, the direction of arcs ignored.

    Result: `component`, the smallest vertex id of each vertex's component. As many rounds as the longest shortest
    path that a smallest id has to travel: `connected_components` is faster on all but small-world graphs.
    """
    component = graph.vertex_property(vg.vertex)
    graph.vertex_apply(start)
    if graph.directed:
        graph.changed = 1
        while graph.changed > 0:
            graph.changed = 0
            graph.vertex_apply(lower_both_ways)
    else:
        frontier = graph.vertices
        while frontier:
            frontier = graph.edge_apply(lower, frontier)
    return component
