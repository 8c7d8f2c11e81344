"""Shortest paths from a source, counted on the way out; and what vertices are worth on the way back (Brandes 2001)."""

from __future__ import annotations

import vgraph as vg

HUGE = 2.0**900
TINY = 2.0**-900
STEP = 2.0**-64


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


@vg.function
def worth_of_a_path(graph, normalized, endpoints, samples):
    """What a path between two vertices adds to those on it, if it is the only one."""
    n = graph.num_vertices
    pairs = (n - 1) * (n if endpoints else n - 2)
    once = 1.0 if graph.directed else 0.5
    drawn = 1.0 if samples is None else n / samples
    return drawn / max(1, pairs) if normalized else drawn * once
