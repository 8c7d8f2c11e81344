"""A largest clique: a good one first, and then all that may be larger (Rossi et al. 2014)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._branch_and_bound import search
from vgraph.graph.orient import oriented


@vg.operator
def compare(v, graph):
    """The largest clique found so far, and where it begins."""
    graph.size, graph.where = max((graph.size, graph.where), (v.largest, v))


@vg.algorithm
def maximum_clique(graph):
    """A largest clique: a set of vertices of which each two are neighbors.

    Results: `size`, the clique number, and `member` (bool), one such clique. The direction of arcs is ignored;
    self-loops and parallel edges do not count. First a clique is sought from each vertex without ever going back, then
    all that might be larger. Finding one is hard: exponential at worst.
    """
    member = graph.vertex_property(vg.bool_)
    largest = graph.vertex_property(vg.int64)
    depth, place = graph.scratch(vg.int32)
    above = graph.scratch(vg.int64)
    color = graph.scratch(vg.uint64)
    graph.size = 0
    graph.where = vg.none
    graph.quick = True
    graph.marking = False
    graph.vertex_apply(search, label="guess")
    graph.vertex_apply(compare)
    graph.quick = False
    graph.vertex_apply(search)
    graph.vertex_apply(compare, label="compare_all")
    size = graph.size
    if size > 0:
        graph.size -= 1
        graph.quick = graph.marking = True
        member[graph.where] = True
        graph.vertex_apply(search, graph.frontier(graph.where), label="mark")
    return size, member


maximum_clique.prepares(oriented)  # so that each clique is found once, from its vertex of fewest neighbors
