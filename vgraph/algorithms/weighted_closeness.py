"""Closeness centrality where arcs have lengths (Freeman 1979; Wasserman and Faust 1994): a search from each vertex."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph.algorithms.sssp import relax
from vgraph.graph import Graph
from vgraph.graph.weights import check_lengths


@vg.operator
def add_up(v, graph):
    """How many reach the vertex, and how far they are."""
    if v.dist != vg.inf:
        graph.total += v.dist
        graph.reached += 1


@vg.algorithm
def weighted_closeness(graph, vertices=None, wf_improved=True):
    """The inverse of the mean distance, by the edge property `weight`, to a vertex from those that reach it; else 0.

    `vertices`: those of which it is wanted, all by default; the others get 0. `wf_improved` as of `closeness`; all as
    NetworkX's closeness_centrality with `distance`. Result: `centrality` (float64). Weights as of `sssp`. Raises
    AlgorithmError where distances are so large or small that their mean, or its inverse, is beyond a float64. For each
    vertex asked for the work of an `sssp`, and O(vertices); `closeness` counts hops, from 64 vertices at a time.
    """
    centrality = graph.vertex_property(vg.float64)
    for vertex in vertices:
        dist = graph.vertex_property(graph.weight.path_dtype, fill=vg.inf)
        dist[vertex] = 0
        frontier = graph.frontier(vertex)
        while frontier:
            frontier = graph.edge_apply(relax, frontier, reverse=True)
        graph.total = 0.0
        graph.reached = -1
        graph.vertex_apply(add_up)
        if graph.total > 0:
            inverse = graph.reached / graph.total
            if graph.total == vg.inf or inverse == vg.inf:
                vg.fail("distances are beyond what a float64 can add up or invert: scale the weights")
            centrality[vertex] = inverse
            if wf_improved:
                centrality[vertex] *= graph.reached / (graph.num_vertices - 1)
    return centrality


@weighted_closeness.requires
def lengths(graph: Graph) -> None:
    """Raise ParameterError for weights that are no lengths."""
    check_lengths(graph)


@weighted_closeness.prepares
def all_by_default(graph: Graph, vertices: object) -> vg.Prepared:
    """The vertices that are asked for."""
    return vg.Prepared(
        graph, arguments={"vertices": np.arange(graph.num_vertices) if vertices is None else vertices}
    )
