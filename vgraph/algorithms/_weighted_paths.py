"""Shortest paths by weight, counted in topological order, as distances are known."""

from __future__ import annotations

import vgraph as vg


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


@vg.function
def search(graph, source, paths, coming, waits, reached, layers):
    """Count the shortest paths to what was reached, in layers: each vertex comes after all that lead to it."""
    coming[:] = 0
    waits[:] = 0
    graph.edge_apply(expect, reached)
    paths[source] = 1.0
    graph.most = 1.0
    counted = 0
    frontier = graph.frontier(source)
    while frontier:
        layers.append(frontier)
        counted += len(frontier)
        frontier = graph.vertex_filter(complete, graph.edge_apply(hand_on, frontier))
    if counted != len(reached):
        vg.fail("a distance is so large that the weight of an arc on the way is lost in rounding")
    if graph.most == vg.inf:
        vg.fail("there are more shortest paths to a vertex than a float64 holds")
