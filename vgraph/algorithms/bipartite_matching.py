"""A matching of the most weight between two sides, by auction with falling raises (Bertsekas 1988, 1992).

Without weights, as many edges as can be: `_augmenting.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._augmenting import match_most
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.sides import doubled, sides, with_side
from vgraph.graph.weights import check_weights, heaviest

STEEP = 5
"""By this factor the least raise of a bid falls from phase to phase."""


@vg.operator
def find_largest(v, graph):
    """The most that anything is worth to anybody."""
    for e in v.out_edges:
        graph.largest = max(graph.largest, e.worth)


@vg.operator
def begin(v):
    """Nobody owns anything, and each person acts for itself. Prices stay."""
    v.right = v.side
    v.owner = vg.none
    v.person = vg.vertex(v)
    return v.out_degree > 0


@vg.operator
def bid(v, graph):
    """The person that v acts for offers for the best object: by how much it is better than the second, and a little."""
    best = -vg.inf
    second = -vg.inf
    wish = vg.vertex(v)
    for e in v.person.out_edges:
        gain = e.worth - e.dst.price
        if gain > best:
            second = best
            best = gain
            wish = e.dst
        else:
            second = max(second, gain)
    lead = graph.largest
    if second > best - lead:
        lead = best - second
    v.wish = wish
    v.before = wish.owner
    v.offer = wish.price + lead + graph.least
    wish.offered, wish.bidder = max((wish.offered, wish.bidder), (v.offer, v.person))


@vg.operator
def settle(v):
    """The highest bidder owns the object; v then acts for whom this leaves with nothing."""
    if v.wish.bidder == v.person:
        v.wish.price, v.wish.owner = max((v.wish.price, v.wish.owner), (v.offer, v.person))
        v.person = v.before
    return v.person != vg.none


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
    graph.largest = vg.int64(0)
    graph.vertex_apply(find_largest)
    graph.least = graph.largest
    while graph.least > 0:
        graph.least = (graph.least + STEEP - 1) // STEEP
        waiting = graph.vertex_filter(begin)
        while waiting:
            graph.vertex_apply(bid, waiting)
            waiting = graph.vertex_filter(settle, waiting)
        if graph.least == 1:
            graph.least = 0
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
