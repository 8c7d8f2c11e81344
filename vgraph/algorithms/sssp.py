"""Single-source shortest paths with non-negative weights, data-driven (Bellman 1958; Pingali et al. 2011)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._trees import parent
from vgraph.graph import Graph
from vgraph.graph.weights import check_lengths


@vg.operator
def relax(src, edge, dst):
    """Shorten dst's distance through src."""
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def sssp(graph, source: vg.vertex):
    """Lengths of the shortest paths from `source` by the edge property `weight`.

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
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@sssp.requires
def non_negative_weights(graph: Graph) -> None:
    """Raise ParameterError for weights with which distances are not defined, or not found by this algorithm."""
    check_lengths(graph)


sssp.derives(parent)
