"""Hubs and authorities (Kleinberg 1999, "Authoritative sources in a hyperlinked environment")."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, check_weights, heaviest, scaled_numbers, weighing

BOUND = 2.0**200
"""Weights up to this, or down to its inverse, have squares that a float64 adds up."""


@vg.operator
def point(src, edge, dst):
    """An authority is what good hubs point to, in proportion to the arcs' weights."""
    dst.authority += edge.weight * src.hub


@vg.operator
def weigh(src, edge, dst):
    """A hub points to good authorities: against the arcs, so src is what is pointed to."""
    dst.found += edge.weight * src.authority


@vg.algorithm
def hits(
    graph,
    weight: vg.edge_property(vg.float64) = 1,
    start: vg.vertex_property(vg.float64) = None,
    max_rounds: vg.between(1, vg.inf) = 100,
    tolerance: vg.between(0, vg.inf) = 1e-8,
    normalized=True,
):
    """Good hubs point to good authorities, good authorities are pointed to by good hubs.

    Power iteration from `start`, a non-negative number for each vertex, or from equal values, until the hubs (scaled to
    the sum 1) change by less than `tolerance` in sum (`converged`), or for `max_rounds` rounds. Results: `hub` and
    `authority`, float64; each sums to 1, or with `normalized=False` the squares of `authority` do and `hub` is the sum
    of the authorities that a vertex points to. Arcs, parallel ones and self-loops too, count each: alike, or by
    `weight`, an edge property of non-negative numbers; all 0 without arcs. As NetworkX has it. O(vertices +
    arcs) a round.
    """
    hub, authority, found = graph.vertex_property(vg.float64)
    hub = 1 / graph.num_vertices if start is None else start
    change = vg.inf
    rounds = 0
    while rounds < max_rounds and not change < tolerance:
        graph.edge_apply(point)
        graph.edge_apply(weigh, reverse=True)
        total = graph.sum(found)
        scale = 1 / total if total > 0 else 0.0
        change = graph.sum(abs(found * scale - hub))
        hub = found * scale
        found = authority = 0
        rounds += 1
    graph.edge_apply(point, label="last_point")
    graph.edge_apply(weigh, reverse=True, label="last_weigh")
    authorities = graph.sum(authority)
    squares = graph.sum(authority * authority)
    total = graph.sum(found)
    if squares > 0:
        scale = 1 / (authorities if normalized else vg.sqrt(squares))
        authority *= scale
        hub = found * (1 / total if normalized else scale)
    else:
        authority = hub = 0
    converged = change <= tolerance
    return hub, authority, converged


@hits.requires
def sensible(graph: Graph, weight: object, start: object, normalized: bool) -> None:
    """Raise ParameterError for weights and a start out of range."""
    check_weights(graph, weight)
    check_numbers(negative=False, start=start)
    largest = 0.0 if normalized or weight is None else heaviest(graph, weight)
    if largest and not BOUND >= largest >= 1 / BOUND:
        raise ParameterError(
            f"hits: hubs that are not normalized have the unit of weights, and one is {largest}"
        )


@hits.prepares
def named(graph: Graph, weight: object, start: object, normalized: bool) -> vg.Prepared:
    """The weights by the name that the operators know; the unit of hubs before they are normalized does not matter."""
    return vg.Prepared(weighing(graph, weight, scaled=normalized), arguments=scaled_numbers(start=start))
