"""A topological order by taking away what nothing leads to, level after level (Kahn 1962)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

import vgraph as vg
from vgraph.errors import AlgorithmError


@vg.operator
def count(v):
    """v waits for all its in-arcs."""
    v.waiting = v.in_degree


@vg.operator
def free(v, graph):
    """Whether all arcs to v come from vertices that have a level; then v is on this one."""
    if v.waiting == 0:
        v.level = graph.depth
    return v.waiting == 0


@vg.operator
def leave(src, edge, dst):
    """dst waits for one arc less."""
    dst.waiting += -1


@vg.operator
def stuck(v):
    """A vertex without a level has another one before it. To go back so for ever is to go round a cycle."""
    before = vg.none
    if v.level == -1:
        for u in v.in_neighbors:
            if u.level == -1:
                before = u
                break
    v.before = before
    return v.level == -1


@vg.operator
def skip(v):
    """Twice as far back at a time."""
    v.before = v.before.before


@vg.operator
def name(v, graph):
    """The smallest vertex that is so far back."""
    graph.cycle = min(graph.cycle, v.before)


@vg.algorithm
def topological_order(graph: vg.directed):
    """An order in which every arc of a directed graph leads to a later vertex: by levels, then by vertex.

    Results: `order`, the vertices in that order, and `level` (int32), the most arcs of any path to a vertex. Raises
    AlgorithmError where the graph has a cycle (a self-loop is one), and names a vertex on it; ParameterError for an
    undirected graph. O(vertices + arcs), in as many rounds as there are levels.
    """
    level = graph.vertex_property(vg.int32, fill=-1)
    waiting = graph.vertex_property(vg.int32)
    before = graph.vertex_property(vg.vertex)
    graph.depth = 0
    graph.cycle = vg.none
    graph.vertex_apply(count)
    frontier = graph.vertex_filter(free)
    done = 0
    while frontier:
        done += len(frontier)
        graph.depth += 1
        frontier = graph.vertex_filter(free, graph.edge_apply(leave, frontier))
    if done < graph.num_vertices:
        rest = graph.vertex_filter(stuck)
        back = 1
        while back < graph.num_vertices:
            graph.vertex_apply(skip, rest)
            back *= 2
        graph.vertex_apply(name, rest)
    return level, graph.cycle


@topological_order.finishes
def by_level(level: NDArray[Any], cycle: Any) -> dict[str, Any]:
    """The order. Raises AlgorithmError where there is none."""
    if cycle >= 0:
        raise AlgorithmError(f"topological_order: the graph has a cycle, through vertex {cycle}")
    few = level.max(initial=0) < 2**16  # such are sorted by digits, in a fifth of the time
    return {"order": level.astype("u2" if few else "u4").argsort(kind="stable"), "level": level}
