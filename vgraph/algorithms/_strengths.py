"""What the neighbors of a vertex count: each 1, or the weight of the arc (Barrat et al. 2004, the strength)."""

from __future__ import annotations

import vgraph as vg


@vg.function
def worth(edge):
    """What an arc counts."""
    return 1 if weight is None else edge.weight


@vg.operator
def count(v, graph):
    """At first all neighbors count; a vertex is no neighbor of its own."""
    if mode != "in" or not graph.directed:
        for e in v.out_edges:
            if e.dst != v:
                v.remaining += worth(e)
    if mode != "out" and graph.directed:
        for e in v.in_edges:
            if e.src != v:
                v.remaining += worth(e)
