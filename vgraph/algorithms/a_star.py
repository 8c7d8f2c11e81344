"""A shortest path between two vertices, guided by lower bounds (Hart, Nilsson and Raphael 1968, A*)."""

from __future__ import annotations

from typing import Any

import vgraph as vg
from vgraph.algorithms._traces import bound, path_of, trace
from vgraph.algorithms.sssp import FIRST, GROWTH
from vgraph.graph import Graph
from vgraph.graph.weights import check_bounds, check_path_weights


@vg.operator
def relax(src, edge, dst, graph):
    """Shorten dst's distance through src, if a path over src may be as short as is looked for now."""
    if bound(src) > graph.limit:
        return
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def begin(v, graph):
    """How short a path to look for at first: a little longer than the bound."""
    graph.least = min(graph.least, bound(v))
    for edge in v.out_edges:
        graph.reach = max(graph.reach, FIRST * edge.weight)


@vg.operator
def waits(v, graph):
    """Whether paths over v were too long until now; the shortest of them may be as short as this."""
    far = bound(v) > graph.limit and bound(v) != vg.inf
    if far:
        graph.nearest = min(graph.nearest, bound(v))
    return far


@vg.algorithm
def a_star(
    graph,
    source: vg.vertex,
    target: vg.vertex,
    heuristic: vg.vertex_property(vg.float64) = None,
    weight: vg.edge_property(vg.float64) = 1,
):
    """A shortest path from `source` to `target`, in hops or by `weight`, an edge property of at least 0.

    `heuristic`: for each vertex a lower bound of its distance to the target (infinity: no path comes here), so that
    vertices in other directions are not looked at; with one that is too large, the path may not be a shortest one.
    Results: `path`, its vertices (of several shortest paths always the same, one of the fewest arcs; empty where there
    is none) and `length` (float64, then infinite). Raises ParameterError for weights as `sssp` does, and for bounds
    that are NaN. As much work as a search with `targets` of `sssp`, on the vertices that bounds leave.
    """
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    onward = graph.vertex_property(vg.vertex)
    passed = graph.vertex_property(vg.bool_)
    dist[source] = 0
    graph.least = vg.inf
    graph.reach = 0.0
    frontier = graph.frontier(source)
    graph.vertex_apply(begin, frontier)
    graph.limit = graph.least + graph.reach
    if graph.least == vg.inf:
        frontier = graph.frontier()
    while frontier:
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
        graph.nearest = vg.inf
        frontier = graph.vertex_filter(waits)
        if dist[target] <= graph.nearest:
            break
        graph.limit = graph.least + GROWTH * (graph.nearest - graph.least)
    length = dist[target]
    if length != vg.inf:
        trace(graph, source, target, passed)
    begins = source
    return onward, length, begins


@a_star.requires
def lengths(graph: Graph, heuristic: Any, weight: Any) -> None:
    """Raise ParameterError for weights that are no lengths, and for bounds that are NaN."""
    check_path_weights(graph, weight)
    check_bounds(heuristic=heuristic)


a_star.finishes(path_of)
