"""The lightest edge from each component to another, the same of both where two choose each other (Boruvka 1926)."""

from __future__ import annotations

import vgraph as vg


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


@vg.function
def choose(graph, active, parts):
    """The components that have chosen an edge, of those in `parts`; `active` have edges to others."""
    graph.vertex_apply(clear, parts)
    graph.vertex_apply(lighten, active)
    graph.vertex_apply(lower, active)
    graph.vertex_apply(settle, active)
    return graph.vertex_filter(aim, parts)
