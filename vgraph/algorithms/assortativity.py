"""Assortativity: whether arcs join vertices that are alike (Newman 2002, 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import self_loops
from vgraph.graph.weights import check_numbers, scaled_numbers


@vg.function
def at_tail(v):
    """What v counts as where an arc begins."""
    return vg.float64(v.out_degree) if value is None else v.value


@vg.function
def at_head(v):
    """What v counts as where an arc ends."""
    return vg.float64(v.in_degree) if value is None else v.value


@vg.operator
def add_up(v, graph):
    """The sums over all arcs, for the means."""
    graph.arcs += v.out_degree
    graph.tails += v.out_degree * at_tail(v)
    graph.heads += v.in_degree * at_head(v)


@vg.operator
def center(v, graph):
    """How far v is from the mean where an arc ends, and the squares of the differences."""
    v.head = at_head(v) - graph.mean_head
    tail = at_tail(v) - graph.mean_tail
    graph.tail_squares += v.out_degree * (tail * tail)
    graph.head_squares += v.in_degree * (v.head * v.head)


@vg.operator
def compare(v, graph):
    """The products of the differences along the arcs that leave v."""
    across = 0.0
    for u in v.out_neighbors:
        across += u.head
    graph.products += (at_tail(v) - graph.mean_tail) * across


@vg.algorithm
def assortativity(graph, value: vg.vertex_property(vg.float64) = None):
    """The correlation of the values at the two ends of an arc, from -1 to 1 (Pearson's coefficient).

    `value`: a number for each vertex; their unit does not matter. Without it, the degree: of a directed graph the
    out-degree where an arc begins and the in-degree where it ends. Parallel arcs count each; an undirected edge counts
    both ways, a self-loop once. Result: `assortativity`, a float with NetworkX's values; NaN where all arcs begin, or
    all end, at one value, or there are none. Raises ParameterError for values that are not finite. O(vertices + arcs).
    """
    graph.tails = graph.heads = graph.tail_squares = graph.head_squares = graph.products = 0.0
    graph.arcs = 0
    head = graph.vertex_property(vg.float64)
    graph.vertex_apply(add_up)
    graph.mean_tail = graph.tails / max(1, graph.arcs)
    graph.mean_head = graph.heads / max(1, graph.arcs)
    graph.vertex_apply(center)
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
    """Values of a size whose squares a float64 holds, less one where an arc ends, so that equal ones are 0.

    An undirected self-loop has two ends at its vertex: where there are such, degrees are values as well.
    """
    if value is not None:
        value = scaled_numbers(value=value).get("value", np.asarray(value, np.float64))
    elif not graph.directed and (loops := self_loops(graph)).any():
        value = graph.out_degree + loops.astype(np.float64)
    if value is None or not graph.num_arcs:
        return vg.Prepared(graph)
    return vg.Prepared(graph, arguments={"value": value - value[graph.out.column_indices[0]]})
