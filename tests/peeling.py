"""Core numbers by a priority queue: a program that peels buckets (Dhulipala et al. 2017, Julienne)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def count(v):
    """All neighbors but v itself."""
    for u in v.out_neighbors:
        if u != v:
            v.remaining += 1


@vg.operator
def settle(v, graph):
    """The level at which a vertex is peeled off."""
    v.core = graph.level


@vg.operator
def leave(src, edge, dst):
    """What was peeled off counts no more."""
    dst.remaining += -1


@vg.algorithm
def cores(graph):
    """Core numbers, by a queue."""
    remaining = graph.vertex_property(vg.int32)
    core = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    queue = graph.priority_queue(remaining)
    while queue:
        peeled = queue.pop()
        graph.level = vg.int32(queue.level)
        graph.vertex_apply(settle, peeled)
        graph.edge_apply(leave, peeled)
    return core
