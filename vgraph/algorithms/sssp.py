"""Single-source shortest paths with non-negative weights, data-driven (Bellman 1958; Pingali et al. 2011)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def relax(src, edge, dst):
    """Shorten dst's distance through src."""
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def sssp(graph, source: vg.vertex):
    """Lengths of the shortest paths from `source` by the edge property `weight`.

    Result: `dist`, of the weight's type (int64 for 32-bit integers if a path might overflow), `vg.inf` where unreached:
    the largest value of an integer type, or infinity. Weights must not be negative or NaN: see `bellman_ford`.
    """
    dist = graph.vertex_property(graph.weight.path_dtype, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@sssp.requires
def non_negative_weights(graph: Graph) -> None:
    """Raise ParameterError for weights with which distances are not defined, or not found by this algorithm."""
    if "weight" not in graph.edge_properties or not graph.num_arcs:
        return
    low, _, has_nan = graph.edge_property_range("weight")
    if has_nan:
        raise ParameterError("sssp: an edge weight is NaN")
    if low < 0:
        raise ParameterError(
            f"sssp: the weight {low} is negative; vg.algorithms.bellman_ford takes negative weights"
        )
