"""Betweenness centrality where arcs have lengths (Brandes 2001): shortest paths counted in topological order."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._pairs import check_pairs, pairs
from vgraph.algorithms._paths import credit, worth_of_a_path
from vgraph.algorithms._weighted_paths import search, tight
from vgraph.algorithms.sssp import sssp
from vgraph.graph import Graph
from vgraph.graph.orient import lightest_of_parallel_arcs
from vgraph.graph.weights import check_lengths


@vg.operator
def collect(v):
    """What a path to v is worth on its way on, to those behind it."""
    onward = 0.0
    for e in v.out_edges:
        if tight(v, e, e.dst):
            onward += e.dst.share
    v.onward = onward


@vg.operator
def hand_back(v, graph):
    """Only now, for vertices of one layer do not count for each other."""
    credit(v, graph, v.paths * v.onward, v.dist > 0)


@vg.algorithm
def weighted_betweenness(
    graph,
    sources=None,
    targets: vg.vertex_property(vg.float64) = None,
    samples=None,
    seed=0,
    normalized=True,
    endpoints=False,
):
    """`betweenness` where the length of a path is the sum of the edge property `weight`, which must be above 0.

    Parameters and result as there. Of parallel arcs the lightest counts, and as one. Paths are equally short if their
    sums are equal to the last bit: integers are safe, sums of floats may be rounded. Raises ParameterError for weights
    that are not above 0, not finite, or too large to be added up, and AlgorithmError where a vertex has more shortest
    paths than a float64 holds, or where a weight is lost in the rounding of a distance. For each source O(vertices +
    arcs) beside the distances (see `sssp`), in as many rounds as a shortest path has arcs.
    """
    waits = graph.vertex_property(vg.int32)
    coming, paths, onward, share, centrality = graph.vertex_property(vg.float64)
    graph.scale = worth_of_a_path(graph, normalized, endpoints, samples)
    for source in sources:
        dist = sssp(graph, source).dist
        share[:] = 0
        reached = graph.frontier(v for v in graph.vertices if v.dist != vg.inf)
        layers = []
        search(graph, source, paths, coming, waits, reached, layers)
        for layer in reversed(layers):
            graph.vertex_apply(collect, layer)
            graph.vertex_apply(hand_back, layer)
    return centrality


@weighted_betweenness.requires
def sensible(graph: Graph, sources: object, targets: object, samples: object) -> None:
    """Raise ParameterError for weights with which paths are not defined, and for pairs that there are not."""
    check_lengths(graph, zero=False)
    check_pairs(graph, sources, targets, samples)


@weighted_betweenness.prepares
def simple(graph: Graph, sources: object, targets: object, samples: object, seed: int) -> vg.Prepared:
    """The lightest arc in place of parallel ones; all vertices where no sources are given."""
    return vg.Prepared(
        lightest_of_parallel_arcs(graph), arguments=pairs(graph, sources, targets, samples, seed)
    )
