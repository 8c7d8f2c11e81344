"""Minimum spanning forest (Boruvka 1926; in parallel: Chung and Condon 1996)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_no_bools, check_sums, check_weights


@vg.operator
def find(v, graph):
    """v's lightest edge to another component, of equal ones that to the smallest vertex.

    Components only grow: the edge found last remains the lightest until it leads to v's own component.
    """
    if v.near == vg.none or v.near.component == v.component:
        cost = vg.inf
        near = vg.none
        for e in v.out_edges:
            if e.dst.component != v.component:
                cost, near = min((cost, near), (e.weight, e.dst))
        if graph.directed:
            for e in v.in_edges:
                if e.src.component != v.component:
                    cost, near = min((cost, near), (e.weight, e.src))
        v.cost = cost
        v.near = near
    return v.near != vg.none


@vg.operator
def clear(v):
    """A component knows no edge yet."""
    v.least = vg.inf
    v.low = vg.none
    v.high = vg.none


@vg.operator
def lighten(v):
    """The weight of the component's lightest edge ..."""
    v.component.least = min(v.component.least, v.cost)


@vg.operator
def lower(v):
    """... of equal ones that with the smallest end ..."""
    if v.cost == v.component.least:
        v.component.low = min(v.component.low, min(v, v.near))


@vg.operator
def settle(v):
    """... and then the smaller other end: all components order edges alike, so their choices close no circle."""
    if v.cost == v.component.least and min(v, v.near) == v.component.low:
        v.component.high = min(v.component.high, max(v, v.near))


@vg.operator
def aim(v):
    """The component at the other end of the edge that component v has chosen; v chose alone unless both chose it."""
    if v.low != vg.none:
        v.other = v.low.component
        if v.other == v:
            v.other = v.high.component
        v.chose = v.other.low != v.low or v.other.high != v.high or v < v.other
    return v.low != vg.none


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
        graph.vertex_apply(clear, parts)
        graph.vertex_apply(lighten, active)
        graph.vertex_apply(lower, active)
        graph.vertex_apply(settle, active)
        parts = graph.vertex_filter(aim, parts)
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
