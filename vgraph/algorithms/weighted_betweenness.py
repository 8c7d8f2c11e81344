"""Betweenness centrality where arcs have lengths (Brandes 2001): shortest paths counted in topological order."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._pairs import check_pairs, pairs
from vgraph.algorithms.betweenness import credit, worth_of_a_path
from vgraph.algorithms.sssp import sssp
from vgraph.graph import Graph
from vgraph.graph.orient import lightest_of_parallel_arcs
from vgraph.graph.weights import check_lengths


@vg.function
def tight(src, edge, dst):
    """Whether the shortest paths to src go on to dst along this arc."""
    return dst.dist == src.dist + edge.weight


@vg.operator
def expect(src, edge, dst):
    """dst waits for the paths that come from src."""
    if tight(src, edge, dst):
        dst.waits += 1


@vg.operator
def hand_on(src, edge, dst):
    """They have come."""
    if tight(src, edge, dst):
        dst.coming += src.paths
        dst.waits -= 1


@vg.operator
def complete(v, graph):
    """Whether all paths to v have come."""
    if v.waits == 0:
        v.paths = v.coming
        graph.most = max(graph.most, v.coming)
    return v.waits == 0


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
    graph.scale = worth_of_a_path(graph.num_vertices, graph.directed, normalized, endpoints)
    if samples is not None:
        graph.scale *= graph.num_vertices / samples
    for source in sources:
        dist = sssp(graph, source).dist
        coming[:] = 0
        waits[:] = 0
        share[:] = 0
        reached = graph.frontier(v for v in graph.vertices if v.dist != vg.inf)
        graph.edge_apply(expect, reached)
        paths[source] = 1.0
        graph.most = 1.0
        counted = 0
        layers = []
        frontier = graph.frontier(source)
        while frontier:
            layers.append(frontier)
            counted += len(frontier)
            frontier = graph.vertex_filter(complete, graph.edge_apply(hand_on, frontier))
        if counted != len(reached):
            vg.fail("a distance is so large that the weight of an arc on the way is lost in rounding")
        if graph.most == vg.inf:
            vg.fail("there are more shortest paths to a vertex than a float64 holds")
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
