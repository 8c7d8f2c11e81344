"""A matching between two sides: by weight at auction (`_auction.py`), else by paths (`_augmenting.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._auction import sell
from vgraph.algorithms._augmenting import match_most
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.sides import doubled, sides, with_side
from vgraph.graph.weights import check_weights, heaviest


@vg.algorithm
def bipartite_matching(graph, weight: vg.edge_property(vg.int64) = None):
    """Edges of which no two share an end that weigh as much together as any such edges do, in a graph of two sides.

    `weight`: the name of an edge property of integers; without it as many edges as can be. Edges that do not weigh more
    than 0 are never taken; directions are ignored, the heaviest of parallel edges counts. Result: `mate`, the
    other end of each vertex's edge, -1 without one; the same in every run. Raises ParameterError for weights that are
    no integers, or that times the square of the number of vertices are not below 2**60, and for a graph with a cycle of
    odd length. O(vertices * arcs * log(vertices * weight)) at worst, and without weights O(vertices * arcs); far less
    as a rule.
    """
    owner, before = graph.vertex_property(vg.vertex)
    right = graph.vertex_property(vg.bool_)
    if weight is None:
        root, end, beyond = graph.vertex_property(vg.vertex)
        reached, asked, turned = graph.vertex_property(vg.int32)
        match_most(graph)
        right[:] = True
        return owner, right
    price, offered, offer = graph.vertex_property(vg.int64)
    bidder, person, wish = graph.vertex_property(vg.vertex)
    sell(graph)
    return owner, right


@bipartite_matching.finishes
def from_the_right(owner: NDArray[Any], right: NDArray[Any]) -> dict[str, Any]:
    """Of the two matchings the one that is of objects of the right side; without weights there is one."""
    mate = np.full(owner.size, -1, owner.dtype)
    sold = np.flatnonzero(right & (owner != np.arange(owner.size)) & (owner >= 0))
    mate[sold] = owner[sold]
    mate[owner[sold]] = sold
    return {"mate": mate}


@bipartite_matching.requires
def two_sides(graph: Graph, weight: Any) -> None:
    """Raise ParameterError for weights that are not finite or too large, and where there are no two sides."""
    if weight is not None:
        check_weights(graph, weight, negative=True)
    if weight is not None and heaviest(graph, weight) * (graph.num_vertices + 1.0) ** 2 >= 2.0**60:
        raise ParameterError(
            "bipartite_matching: weights times the square of the number of vertices reach 2**60"
        )
    odd = np.flatnonzero(sides(graph) < 0)
    if odd.size:
        raise ParameterError(f"bipartite_matching: a cycle of odd length is connected with vertex {odd[0]}")


@bipartite_matching.prepares
def persons_and_objects(graph: Graph, weight: Any) -> vg.Prepared:
    """Each vertex as a person v, and as an object n + v that is worth nothing to itself.

    What persons own is a matching from either side, together of twice the most weight; and everything has an owner, as
    it must for prices that are kept from phase to phase. Worths are multiples of n + 1, so n raises by 1 are less.
    Without weights each vertex is itself.
    """
    n = graph.num_vertices
    if weight is None:
        return vg.Prepared(with_side(graph))
    return vg.Prepared(doubled(graph, weight), n + np.arange(n), {"weight": 1})
