"""Trees of shortest paths, found from the distances when these are final."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vgraph as vg

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result


@vg.operator
def lead(src, edge, dst):
    """src comes before dst on a shortest path, and is nearer."""
    if src.dist < dst.dist and src.dist + edge.weight == dst.dist:
        dst.parent = min(dst.parent, src)


@vg.operator
def wait(v):
    """No vertex with an arc to v is nearer than v: the last arc of its paths adds nothing."""
    v.waits = v.dist != vg.inf and v.parent == vg.none


@vg.operator
def join(src, edge, dst):
    """dst is as near as src, over an arc that adds nothing, and src has a parent."""
    if dst.waits and src.dist == dst.dist and src.dist + edge.weight == dst.dist:
        dst.parent = min(dst.parent, src)


@vg.operator
def settle(v):
    """v has a parent from now on."""
    v.waits = False


@vg.algorithm
def shortest_path_tree(graph, source: vg.vertex, dist):
    """The parent of each vertex in a tree of shortest paths, of `dist`, the distances from `source`.

    The smallest of those that are nearer, by one look at each arc. Where arcs add nothing (weights of 0, or too small
    for the sum), the smallest of those that have a parent already, round after round: so there is no circle of them.
    """
    parent = graph.vertex_property(vg.vertex)
    waits = graph.vertex_property(vg.bool_)
    parent[source] = source
    graph.edge_apply(lead)
    graph.vertex_apply(wait)
    waiting = graph.frontier(waits)
    if waiting:
        front = graph.vertices - waiting
        while front:
            front = graph.edge_apply(join, front)
            graph.vertex_apply(settle, front)
    return parent


def parent(graph: Graph, result: Result) -> Any:
    """`shortest_path_tree` of a result with `dist` and one source, on the device of that run."""
    _, origin = result.origin()
    assert origin is not None
    dist, device = result.dist, result.stats.device
    given = {"source": origin.arguments["source"], "dist": dist.get() if hasattr(dist, "get") else dist}
    return vg.run(
        shortest_path_tree, graph, device=device if device in ("cpu", "cuda") else "cpu", **given
    ).parent
