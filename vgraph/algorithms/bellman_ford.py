"""Single-source shortest paths with weights of any sign (Bellman 1958, Ford 1956)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_lengths


@vg.operator
def relax(src, edge, dst):
    """Shorten dst's distance through src."""
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def bellman_ford(graph, source: vg.vertex):
    """Lengths of the shortest paths from `source`; weights may be negative.

    Result: `dist`, as of `sssp`. Raises AlgorithmError if a cycle of negative length can be reached from the source.
    Without one no shortest path has more arcs than the graph has vertices, less one. O(vertices * arcs).
    """
    dist = graph.vertex_property(graph.weight.path_dtype, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    rounds = 0
    while frontier:
        if rounds == graph.num_vertices:
            vg.fail("a cycle of negative length can be reached from the source")
        frontier = graph.edge_apply(relax, frontier)
        rounds += 1
    return dist


@bellman_ford.requires
def numbers_as_weights(graph: Graph) -> None:
    """Raise ParameterError for weights that are missing, not finite, or too large to be added up."""
    check_lengths(graph, negative=True)
