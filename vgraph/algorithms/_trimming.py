"""Strong components of one vertex, taken away one after the other (McLendon et al. 2005)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def count(v):
    """How many in-arcs v has from vertices without a component."""
    v.left = 0
    for u in v.in_neighbors:
        if u.component == vg.none and u != v:
            v.left += 1


@vg.operator
def alone(v):
    """A vertex that nothing leads to is a component of its own.

    What leads nowhere is not trimmed: nothing leads to it either once the components before it are found.
    """
    trimmed = v.component == vg.none and v.left <= 0
    if trimmed:
        v.component = v
    return trimmed


@vg.operator
def leave(src, edge, dst):
    """What was trimmed counts no more."""
    dst.left += -1


@vg.function
def trim(graph, rest):
    """Of the vertices without a component, those that nothing leads to have one of their own."""
    graph.vertex_apply(count, rest)
    touched = rest
    while touched:
        touched = graph.edge_apply(leave, graph.vertex_filter(alone, touched))
