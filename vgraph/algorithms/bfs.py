"""Breadth-first search: hops from a source, and a tree of shortest paths (Moore 1959)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def visit(src, edge, dst, graph):
    """The first arc to reach dst makes it a child of src."""
    if dst.level == -1:
        dst.level = graph.depth
        dst.parent = src


@vg.algorithm
def bfs(graph, source: vg.vertex, max_depth: vg.between(0, vg.inf, vg.int64) = None):
    """Hops from `source` along the arcs; no further than `max_depth` hops, if that is given.

    Results: `level` (int32, -1 where unreached, 0 at the source) and `parent` (a vertex one level above, the source's
    own id at the source, -1 where unreached; which of several candidates is not defined). Raises ParameterError for a
    negative depth. O(vertices + arcs).
    """
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex)
    level[source] = 0
    parent[source] = source
    graph.depth = 0
    frontier = graph.frontier(source)
    while frontier:
        if max_depth is not None and graph.depth == max_depth:
            break
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier)
    return level, parent
