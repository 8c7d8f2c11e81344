"""Weakly connected components by pointer jumping over disjoint sets (Sutton, Ben-Nun and Barak 2018, Afforest)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def sample(v, graph):
    """Join v with one of its first neighbors."""
    if graph.k < v.out_degree:
        vg.union(v.component, v.out_neighbors[graph.k].component)


@vg.operator
def finish(v, graph):
    """Join v with all the others, unless it is in the giant component: then its neighbors outside will do it."""
    if v.component != graph.giant:
        for k in range(2, v.out_degree):
            vg.union(v.component, v.out_neighbors[k].component)
        if graph.directed:
            for u in v.in_neighbors:
                vg.union(v.component, u.component)


@vg.algorithm
def connected_components(graph):
    """Components, the direction of arcs ignored.

    Result: `component`, the smallest vertex id of each vertex's component.
    """
    component = graph.disjoint_sets()
    graph.k = 0
    graph.vertex_apply(sample)
    graph.k = 1
    graph.vertex_apply(sample)
    # A majority vote over a sample (Boyer and Moore 1991) finds the giant component, if there is one.
    graph.giant = vg.none
    votes = 0
    step = max(1, graph.num_vertices // 128)
    for i in range(min(128, graph.num_vertices)):
        c = component[i * step]
        if votes == 0:
            graph.giant = c
        if c == graph.giant:
            votes += 1
        else:
            votes -= 1
    graph.vertex_apply(finish)
    return component
