"""Betweenness centrality by counting shortest paths (Brandes 2001, "A faster algorithm for betweenness centrality")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._pairs import check_pairs, pairs
from vgraph.graph import Graph
from vgraph.graph.orient import without_parallel_arcs

HUGE = 2.0**900
TINY = 2.0**-900
STEP = 2.0**-64
FALL = 1.5
"""A level hands its worth along arcs to one of so many times as many vertices."""


@vg.operator
def reach(src, edge, dst):
    """The shortest paths to src go on to dst, if no shorter ones were there before."""
    if dst.level == -1:
        dst.paths += src.handed_on


@vg.operator
def settle(v, graph):
    """The paths to v are complete; where they are very many, all of this level are counted in larger units."""
    v.level = graph.depth
    v.handed_on = v.paths * graph.unit
    v.onward = 0.0


@vg.operator
def measure(v, graph):
    """How many paths lead to the vertices of a level."""
    graph.most = max(graph.most, v.paths)
    graph.fewest = min(graph.fewest, v.paths)


@vg.operator
def collect(v):
    """What a path to v is worth on its way on: its part in what the level below is worth."""
    onward = 0.0
    for w in v.out_neighbors:
        onward += w.share
    v.onward = onward


@vg.operator
def send_up(src, edge, dst, graph):
    """The same from the other side: along the arcs of the level below, where those are few."""
    if dst.level == graph.depth:
        dst.onward += src.share


@vg.function
def credit(v, graph, onward, between):
    """v's worth for each path that leads to it, and what its centrality gains: it is worth `onward` to the level below,
    and 1 for itself. Paths end everywhere, or at targets."""
    ended = 1.0 if targets is None else v.targets
    v.share = (ended + onward) / v.paths
    if between:
        v.centrality += graph.scale * (onward + ended if endpoints else onward)
    elif endpoints:
        v.centrality += graph.scale * onward


@vg.operator
def hand_back(v, graph):
    """Only now, for vertices of one level do not count for each other."""
    credit(v, graph, v.handed_on * v.onward, v.level > 0)


@vg.function
def worth_of_a_path(n, directed, normalized, endpoints):
    """What a path between two vertices adds to those on it, if it is the only one."""
    pairs = (n - 1) * (n if endpoints else n - 2)
    once = 1.0 if directed else 0.5
    return 1.0 / max(1, pairs) if normalized else once


@vg.function
def search(graph, source, paths, levels):
    """Count the shortest paths from a source, level by level."""
    paths[source] = 1.0
    graph.depth = 0
    graph.most = 1.0
    frontier = graph.frontier(source)
    while frontier:
        graph.unit = 1.0
        if graph.most > HUGE:  # it is a bound, as long as that tells enough
            graph.most = 0.0
            graph.fewest = vg.inf
            graph.vertex_apply(measure, frontier)
            if graph.most > HUGE:
                graph.unit = STEP
                graph.most *= STEP
                if graph.fewest * STEP < TINY:
                    vg.fail("the numbers of paths in one level differ by more than a factor of 2 ** 1800")
        graph.vertex_apply(settle, frontier)
        levels.append(frontier)
        graph.depth += 1
        graph.most *= graph.num_edges
        frontier = graph.edge_apply(reach, frontier)


@vg.algorithm
def betweenness(
    graph,
    sources=None,
    targets: vg.vertex_property(vg.float64) = None,
    samples=None,
    seed=0,
    normalized=True,
    endpoints=False,
):
    """How many shortest paths lead through a vertex: over all pairs (s, t), the fraction of those that do, summed.

    `sources`: vertices from which paths are counted, each as often as it is named; all by default. `targets`: vertices
    to which they are counted; all by default. `samples`: an estimate of the whole from so many sources, drawn by `seed`
    without replacement, multiplied by vertices / samples (Brandes and Pich 2007). `endpoints`: s and t lie on their
    paths. `normalized`: divided by the number of pairs; otherwise each pair of an undirected graph counts once. Values
    are NetworkX's: betweenness_centrality, and betweenness_centrality_subset with `sources` or `targets`. Result:
    `centrality` (float64). O(vertices + arcs) for each source; parallel arcs count as one. Raises AlgorithmError where
    the numbers of paths in one level differ beyond all bounds; `weighted_betweenness` takes lengths of arcs.
    """
    centrality, paths, handed_on, onward, share = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int32)
    graph.scale = worth_of_a_path(graph.num_vertices, graph.directed, normalized, endpoints)
    if samples is not None:
        graph.scale *= graph.num_vertices / samples
    for source in sources:
        level[:] = -1
        paths[:] = 0
        share[:] = 0
        levels = []
        search(graph, source, paths, levels)
        below = graph.num_vertices
        for _ in range(len(levels)):
            graph.depth -= 1
            reached = levels[graph.depth]
            if not graph.directed and FALL * below < len(reached):
                deeper = levels[graph.depth + 1]
                graph.edge_apply(send_up, deeper)
            else:
                graph.vertex_apply(collect, reached)
            graph.vertex_apply(hand_back, reached)
            below = len(reached)
    return centrality


@betweenness.requires
def sensible(graph: Graph, sources: object, targets: object, samples: object) -> None:
    """Raise ParameterError for pairs that there are not."""
    check_pairs(graph, sources, targets, samples)


@betweenness.prepares
def simple(graph: Graph, sources: object, targets: object, samples: object, seed: int) -> vg.Prepared:
    """One arc in place of parallel ones; all vertices where no sources are given."""
    return vg.Prepared(without_parallel_arcs(graph), arguments=pairs(graph, sources, targets, samples, seed))
