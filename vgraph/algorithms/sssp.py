"""Single-source shortest paths with non-negative weights, data-driven (Bellman 1958; Pingali et al. 2011)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._trees import parent
from vgraph.graph import Graph
from vgraph.graph.weights import check_lengths

FIRST, GROWTH = 4.0, 1.5
"""How far a search with targets goes at first, in arcs, and how much farther each time: seldom, and not much too far
(road networks and email-Enron, measured).
"""


@vg.operator
def relax(src, edge, dst):
    """Shorten dst's distance through src."""
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def relax_within(src, edge, dst, graph):
    """The same, if src is no farther than the search has come."""
    if src.dist > graph.limit:
        return
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def begin(v, graph):
    """How far to go at first: some arcs."""
    for edge in v.out_edges:
        graph.limit = max(graph.limit, FIRST * edge.weight)


@vg.operator
def waits(v, graph):
    """Whether v is reached, but farther than that. What is as near as the nearest of these is settled."""
    far = v.dist > graph.limit and v.dist != vg.inf
    if far:
        graph.nearest = min(graph.nearest, v.dist)
    return far


@vg.operator
def forget(v, graph):
    """What is not settled may be nearer than was found."""
    if v.dist > graph.nearest:
        v.dist = vg.inf


@vg.algorithm
def sssp(graph, source: vg.vertex, targets=None):
    """Lengths of the shortest paths from `source` by the edge property `weight`.

    `targets`: vertices; the search ends when their distances are known. Vertices that are farther from the source than
    all targets may then be left out, as if they were not reached.

    Result: `dist`, of the weight's type (int64 for 32-bit integers if a path might overflow), `vg.inf` where unreached:
    the largest value of an integer type, or infinity. Weights are finite and not negative (see `bellman_ford`), and may
    not add up to more than their type holds.

    `parent` of the result is found when it is first asked for, by a look at each arc: the vertex before each on a
    shortest path (of several the smallest that is nearer), the source's own id at the source, -1 where unreached. Until
    then the result keeps the graph.
    """
    dist = graph.vertex_property(graph.weight.path_dtype, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    if targets is None:
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
    else:
        graph.limit = 0.0
        graph.vertex_apply(begin, frontier)
        while frontier:
            while frontier:
                frontier = graph.edge_apply(relax_within, frontier)
            graph.nearest = vg.inf
            frontier = graph.vertex_filter(waits)
            unsettled = 0
            for target in targets:
                if dist[target] > graph.nearest:
                    unsettled += 1
            if unsettled == 0:
                break
            graph.limit = GROWTH * graph.nearest
        graph.vertex_apply(forget)
    return dist


@sssp.requires
def non_negative_weights(graph: Graph) -> None:
    """Raise ParameterError for weights with which distances are not defined, or not found by this algorithm."""
    check_lengths(graph)


sssp.derives(parent)
