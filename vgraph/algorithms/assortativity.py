"""Assortativity: whether arcs join vertices that are alike (Newman 2002, 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, scaled_numbers


@vg.operator
def measure(v, graph):
    """What v counts as where an arc begins and where one ends; an undirected self-loop has two ends at v."""
    if value is None:
        ends = v.out_degree
        if not graph.directed and v in v.out_neighbors:
            for u in v.out_neighbors:
                if u == v:
                    ends += 1
        v.tail = ends
        v.head = v.in_degree if graph.directed else ends
    else:
        v.tail = v.value
        v.head = v.value
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
    graph.tails = 0.0
    graph.heads = 0.0
    graph.tail_squares = 0.0
    graph.head_squares = 0.0
    graph.products = 0.0
    graph.arcs = 0
    graph.vertex_apply(measure)
    graph.mean_tail = graph.tails / max(1, graph.arcs)
    graph.mean_head = graph.heads / max(1, graph.arcs)
    graph.vertex_apply(compare)
    assortativity = vg.nan
    if graph.tail_squares > 0 and graph.head_squares > 0:
        assortativity = graph.products / vg.sqrt(graph.tail_squares * graph.head_squares)
    return assortativity


@assortativity.requires
def finite(graph: Graph, value: object) -> None:
    """Raise ParameterError for values that are not finite."""
    check_numbers(value=value)


@assortativity.prepares
def differences(graph: Graph, value: Any) -> vg.Prepared:
    """Values of a size whose squares a float64 holds, less one where an arc ends, so that equal ones are 0."""
    if value is None or not graph.num_arcs:
        return vg.Prepared(graph)
    values = scaled_numbers(value=value).get("value", np.asarray(value, np.float64))
    return vg.Prepared(graph, arguments={"value": values - values[graph.out.column_indices[0]]})
