"""A longest path of a directed graph without cycles, level after level (Kahn 1962; critical paths, Kelley 1961)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._traces import followed
from vgraph.algorithms.topological_order import count, leave
from vgraph.graph import Graph
from vgraph.graph.weights import check_path_weights


@vg.operator
def extend(v):
    """Whether all that lead to v are done: the best of their paths goes on here, or one begins, if all are below 0."""
    if v.waiting == 0:
        for edge in v.in_edges:
            through = edge.src.dist + edge.weight
            if through > v.dist:
                v.dist = through
                v.parent = edge.src
    return v.waiting == 0


@vg.algorithm
def longest_path(graph: vg.directed, weight: vg.edge_property(vg.float64) = 1):
    """A longest path of a directed graph without cycles, in arcs or by `weight`, an edge property of any sign.

    Results: `path`, its vertices (of several longest paths always the same one), `length`, and `dist`: how long the
    longest path to each vertex is, 0 where that is the vertex alone (both float64). Raises AlgorithmError where the
    graph has a cycle; ParameterError for an undirected graph, and for weights that are not finite. O(vertices + arcs),
    in as many rounds as there are levels.
    """
    dist = graph.vertex_property(vg.float64)
    parent = graph.vertex_property(vg.vertex)
    waiting = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    frontier = graph.vertex_filter(extend)
    done = 0
    while frontier:
        done += len(frontier)
        frontier = graph.vertex_filter(extend, graph.edge_apply(leave, frontier))
    if done < graph.num_vertices:
        vg.fail("the graph has a cycle; vg.algorithms.topological_order names a vertex on it")
    return dist, parent


@longest_path.requires
def numbers_as_weights(graph: Graph, weight: Any) -> None:
    """Raise ParameterError for weights that are not finite, or too large to be added up."""
    check_path_weights(graph, weight, negative=True)


@longest_path.finishes
def path_back(dist: NDArray[Any], parent: NDArray[Any]) -> dict[str, Any]:
    """From the vertex that is farthest, the smallest of several."""
    path = followed(int(dist.argmax()) if dist.size else -1, parent)[::-1].copy()
    return {"path": path, "length": dist.max(initial=0.0), "dist": dist}
