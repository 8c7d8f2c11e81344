"""Core numbers by peeling, one level after the other (Batagelj and Zaversnik 2003; Dasari et al. 2014, ParK)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._strengths import count, worth
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_weights


@vg.operator
def scan(v, graph):
    """The level at which a vertex is peeled off is its core number; those that are left tell what comes next."""
    peeled = v.open and v.remaining <= graph.level
    if peeled:
        v.open = False
        v.core = graph.level
        graph.remain += -1
    elif v.open:
        graph.lowest = min(graph.lowest, v.remaining)
    return peeled


@vg.operator
def peel(v, graph):
    """The same for vertices of which a neighbor was peeled off."""
    peeled = v.open and v.remaining <= graph.level
    if peeled:
        v.open = False
        v.core = graph.level
        graph.remain += -1
    return peeled


@vg.operator
def leave(src, edge, dst):
    """What was peeled off counts no more for those of its neighbors that are left."""
    if dst.open:
        dst.remaining += -worth(edge)


@vg.algorithm
def k_core(graph, weight: vg.edge_property(vg.float64) = None, mode="all"):
    """Core numbers: the largest k such that a vertex lies in a subgraph where all degrees are at least k.

    `weight`: an edge property that is added up in place of the degree (Eidsaa and Almaas 2013). `mode`: the arcs that
    count in a directed graph, "in", "out" or "all" of them. Result: `core`, int32, or float64 with weights. Self-loops
    do not count; of parallel edges each does. Raises ParameterError for another mode, and for weights that are negative
    or whose sum is not finite. O(vertices + arcs): a vertex is looked at a few times for each level up to its core
    number, which is at most its degree; with weights there may be as many levels as vertices.
    """
    remaining, core = graph.vertex_property(vg.int32 if weight is None else vg.float64)
    open = graph.vertex_property(vg.bool_, fill=True)
    graph.vertex_apply(count)
    graph.level = 0
    rest = graph.vertices
    graph.remain = graph.num_vertices
    while graph.remain > 0:
        graph.lowest = vg.inf
        peeled = graph.vertex_filter(scan, rest)
        if not peeled:
            graph.level = graph.lowest
        else:
            while peeled:
                nearer = graph.edge_apply(leave, peeled, reverse=mode == "out")
                if graph.directed and mode == "all":
                    nearer |= graph.edge_apply(leave, peeled, reverse=True, label="leave_in")
                peeled = graph.vertex_filter(peel, nearer)
            if weight is None:
                graph.level += 1
            if 2 * graph.remain < len(rest):
                rest = graph.frontier(v for v in rest if v.open)
    return core


@k_core.requires
def sensible(graph: Graph, weight: object, mode: object) -> None:
    """Raise ParameterError for an unknown mode, weights below 0, and such that do not add up to a number."""
    if mode not in ("all", "in", "out"):
        raise ParameterError(f'k_core: mode={mode!r} is none of "all", "in" and "out"')
    check_weights(graph, weight, sums=True)
