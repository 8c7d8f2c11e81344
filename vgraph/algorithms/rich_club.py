"""Rich-club coefficients: how densely vertices of many neighbors are joined (Zhou and Mondragon 2004; Colizza 2006)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import without_parallel_arcs


@vg.operator
def measure(v):
    """The number of neighbors of v, itself not among them."""
    for u in v.out_neighbors:
        if u != v:
            v.near += 1
    vg.vertex(v.near).vertices += 1


@vg.operator
def join(v):
    """An edge is in the clubs of its end of fewer neighbors, and in all larger ones."""
    for u in v.out_neighbors:
        if u < v:
            vg.vertex(min(u.near, v.near)).edges += 1


@vg.algorithm
def rich_club(graph: vg.undirected):
    """For each degree, the density of the subgraph of the vertices of more neighbors than that.

    Result: `coefficient`, float64, an array by degree from 0: twice the edges between those vertices, divided by the
    ordered pairs of them; as long as there are two such vertices. For undirected graphs; self-loops and parallel edges
    do not count. Raises ParameterError for a directed graph. O(vertices + arcs).
    """
    near, vertices, edges = graph.vertex_property(vg.int64)
    graph.vertex_apply(measure)
    graph.vertex_apply(join)
    return vertices, edges


@rich_club.finishes
def densities(vertices: NDArray[Any], edges: NDArray[Any]) -> dict[str, Any]:
    """What is above each degree, where there were counts by degree."""
    members, joined = (values.sum() - values.cumsum() for values in (vertices, edges))
    clubs = members > 1
    return {"coefficient": 2 * joined[clubs] / (members * (members - 1))[clubs]}


@rich_club.prepares
def once(graph: Graph) -> vg.Prepared:
    """Neighbors count once."""
    return vg.Prepared(without_parallel_arcs(graph))
