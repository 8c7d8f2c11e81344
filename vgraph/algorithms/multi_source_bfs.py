"""Breadth-first search from several vertices at once, as far as wished (Moore 1959)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.bfs import visit


@vg.algorithm
def multi_source_bfs(graph, sources=(0,), max_depth: vg.between(0, vg.inf, vg.int64) = None):
    """Hops from the nearest of `sources`, along the arcs; no further than `max_depth` hops, if that is given.

    Results: `level` (int32, -1 where unreached, 0 at the sources) and `parent` (a vertex one level above, its own id
    at a source, -1 where unreached; which of several candidates is not defined). Without sources nothing is
    reached. Raises ParameterError for a negative depth. O(vertices + arcs).
    """
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex)
    for source in sources:
        level[source] = 0
        parent[source] = source
    graph.depth = 0
    frontier = graph.frontier(sources)
    while frontier:
        if max_depth is not None and graph.depth == max_depth:
            break
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier)
    return level, parent
