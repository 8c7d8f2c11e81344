"""Widest paths from a source: the bottleneck of a path is its narrowest arc (Pollack 1960)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_no_bools, check_weights


@vg.operator
def widen(src, edge, dst):
    """What comes to dst through src is limited by the arc."""
    dst.width = max(dst.width, min(src.width, edge.weight))


@vg.algorithm
def widest_path(graph, source: vg.vertex):
    """How wide the widest path from `source` is: of all paths the largest smallest edge property `weight`.

    Result: `width`, of the weights' type: `vg.inf` (the largest value of an integer type) at the source, `-vg.inf` (the
    smallest) where unreached. Weights are finite, of any sign; else ParameterError.
    O(vertices * arcs) at worst, near vertices + arcs as a rule.
    """
    width = graph.vertex_property(graph.weight.dtype, fill=-vg.inf)
    width[source] = vg.inf
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(widen, frontier)
    return width


@widest_path.requires
def numbers_as_weights(graph: Graph) -> None:
    """Raise ParameterError for weights that are missing, bools or not finite."""
    check_no_bools(graph, "widths")
    check_weights(graph, negative=True)
