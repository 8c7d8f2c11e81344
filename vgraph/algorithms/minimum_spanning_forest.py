"""Minimum spanning forest (Boruvka 1926; in parallel: Chung and Condon 1996)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._lightest import choose, find
from vgraph.graph import Graph
from vgraph.graph.weights import check_no_bools, check_sums, check_weights


@vg.operator
def join(v, graph):
    """The components unite, and each edge counts once."""
    vg.union(v.component, v.other.component)
    if v.chose:
        graph.total += v.least


@vg.operator
def keep(v):
    """Each component that is no more keeps an edge: its own, or, if its partner counted that, that of the survivor."""
    gone = v.component != v
    if gone and v.chose:
        v.tail = v.low
        v.head = v.high
    elif gone:
        v.tail = v.component.low
        v.head = v.component.high
    return not gone


@vg.algorithm
def minimum_spanning_forest(graph):
    """A lightest set of edges that joins whatever is connected, by the edge property `weight`.

    Weights are finite numbers of any type and sign, whose sum fits into it (64 bits for integers); else ParameterError.
    The direction of arcs is ignored, of parallel edges the lightest counts, self-loops do not. Results: `weight`, the
    sum (of a type wide enough), and `edges`, an array of shape (k, 2): the ends of each edge, the smaller first, in
    ascending order. O(arcs * log vertices).
    """
    component = graph.disjoint_sets()
    near, low, high, other, tail, head = graph.vertex_property(vg.vertex)
    cost, least = graph.vertex_property(graph.weight.dtype)
    chose = graph.vertex_property(vg.bool_)
    graph.total = graph.weight.path_dtype(0)
    active = graph.vertex_filter(find)
    parts = graph.vertices
    while active:
        parts = choose(graph, active, parts)
        graph.vertex_apply(join, parts)
        parts = graph.vertex_filter(keep, parts)
        active = graph.vertex_filter(find, active)
    weight = graph.total
    return weight, tail, head


@minimum_spanning_forest.finishes
def pairs(weight: Any, tail: NDArray[Any], head: NDArray[Any]) -> dict[str, Any]:
    """The edges, which lie scattered over the components that are no more."""
    ends = np.stack([tail, head])[:, tail >= 0]
    return {"weight": weight, "edges": np.ascontiguousarray(ends[:, np.lexsort(ends[::-1])].T)}


@minimum_spanning_forest.requires
def comparable_weights(graph: Graph) -> None:
    """Raise ParameterError for weights that cannot be compared or added up."""
    check_no_bools(graph, "numbers")
    check_weights(graph, negative=True)
    check_sums(graph, graph.num_vertices - 1)
