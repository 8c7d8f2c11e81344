"""Assortativity: whether arcs join vertices that are alike (Newman 2002, 2003)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, scaled_numbers


@vg.operator
def measure(v, graph):
    """What v counts as where an arc begins and where one ends; an undirected self-loop has two ends at v."""
    if value is None:
        ends = v.out_degree
        if not graph.directed:
            for u in v.out_neighbors:
                if u == v:
                    ends += 1
        v.tail = ends
        v.head = v.in_degree if graph.directed else ends
    else:
        v.tail = v.value
        v.head = v.value
    if v.out_degree > 0:
        graph.low_tail = min(graph.low_tail, v.tail)
        graph.high_tail = max(graph.high_tail, v.tail)
    if v.in_degree > 0:
        graph.low_head = min(graph.low_head, v.head)
        graph.high_head = max(graph.high_head, v.head)
    graph.arcs += v.out_degree
    graph.tails += v.out_degree * v.tail
    graph.heads += v.in_degree * v.head


@vg.operator
def compare(v, graph):
    """The squares of the differences from the means, and their products along the arcs that leave v."""
    tail = v.tail - graph.mean_tail
    head = v.head - graph.mean_head
    graph.tail_squares += v.out_degree * (tail * tail)
    graph.head_squares += v.in_degree * (head * head)
    across = 0.0
    for u in v.out_neighbors:
        across += u.head - graph.mean_head
    graph.products += tail * across


@vg.algorithm
def assortativity(graph, value: vg.vertex_property(vg.float64) = None):
    """The correlation of the values at the two ends of an arc, from -1 to 1 (Pearson's coefficient).

    `value`: a number for each vertex; their unit does not matter. Without it, the degree: of a directed graph the
    out-degree where an arc begins and the in-degree where it ends. Parallel arcs count each; an undirected edge counts
    both ways, a self-loop once. Result: `assortativity`, a float with NetworkX's values; NaN where all arcs begin, or
    all end, at one value, or there are none. Raises ParameterError for values that are not finite. O(vertices + arcs).
    """
    tail = graph.vertex_property(vg.float64)
    head = graph.vertex_property(vg.float64)
    graph.low_tail = vg.inf
    graph.high_tail = -vg.inf
    graph.low_head = vg.inf
    graph.high_head = -vg.inf
    graph.tails = 0.0
    graph.heads = 0.0
    graph.tail_squares = 0.0
    graph.head_squares = 0.0
    graph.products = 0.0
    graph.arcs = 0
    graph.vertex_apply(measure)
    assortativity = vg.nan
    if graph.low_tail < graph.high_tail and graph.low_head < graph.high_head:
        graph.mean_tail = graph.tails / graph.arcs
        graph.mean_head = graph.heads / graph.arcs
        graph.vertex_apply(compare)
        assortativity = graph.products / vg.sqrt(graph.tail_squares * graph.head_squares)
    return assortativity


@assortativity.requires
def finite(graph: Graph, value: object) -> None:
    """Raise ParameterError for values that are not finite."""
    check_numbers(value=value)


@assortativity.prepares
def scaled(graph: Graph, value: object) -> vg.Prepared:
    """Values of a size whose squares a float64 holds."""
    return vg.Prepared(graph, arguments=scaled_numbers(value=value))
