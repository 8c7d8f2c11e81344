"""Weakly connected components by pointer jumping over disjoint sets (Sutton, Ben-Nun and Barak 2018, Afforest)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def sample(v, graph):
    """Join v with one of its first neighbors; which vertex has the most is found on the way."""
    graph.busiest = max(graph.busiest, v.out_degree * graph.num_vertices + v.id)
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
    graph.busiest = 0
    graph.k = 0
    graph.vertex_apply(sample)
    graph.k = 1
    graph.vertex_apply(sample)
    # A hub is seldom outside of the giant component, if there is one.
    graph.giant = vg.none
    if graph.busiest > 0:
        graph.giant = component[graph.busiest % graph.num_vertices]
    graph.vertex_apply(finish)
    return component
