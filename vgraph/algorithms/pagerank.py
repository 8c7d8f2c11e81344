"""PageRank, as LDBC Graphalytics defines it (Brin and Page 1998; Iosup et al. 2016, section 2.3)."""

from __future__ import annotations

from typing import Any

import vgraph as vg
from vgraph.algorithms._surfers import hand_on, refuse_faint, set_out
from vgraph.graph import Graph
from vgraph.graph.weights import check_shares, check_weights, scaled_numbers, weighing


@vg.operator
def gather(src, edge, dst):
    """Every vertex hands its rank on in equal parts, or in proportion to the weights."""
    if weight is None:
        dst.incoming += src.part
    else:
        dst.incoming += edge.weight * src.part


@vg.operator
def update(v, graph):
    """The new rank takes the place of the old one, and is handed on in the next round."""
    own = graph.base if personalization is None else graph.base * v.personalization / graph.preferences
    rank = own + v.incoming
    graph.change += abs(rank - v.rank)
    v.rank = rank
    v.incoming = 0
    hand_on(v, graph, rank)


@vg.algorithm
def pagerank(
    graph,
    damping: vg.between(0, 1) = 0.85,
    tolerance: vg.between(0, vg.inf) = 1e-9,
    max_rounds: vg.between(0, vg.inf) = 100,
    personalization: vg.vertex_property(vg.float64) = None,
    weight=None,
    dtype=vg.float64,
):
    """The probability that a random surfer is at a vertex; ranks sum to 1.

    Stops when the ranks change by less than `tolerance` in sum, or after `max_rounds`. Where there is no out-arc the
    surfer jumps, as one does anywhere with probability 1 - `damping`: evenly, or in proportion to `personalization`
    (non-negative, one number per vertex). Arcs are taken evenly, or in proportion to `weight`, the name of an edge
    property of non-negative numbers; their unit does not matter. Results: `rank`, of type `dtype` (vg.float64 or
    vg.float32), and `converged`: the last round changed little enough. Raises AlgorithmError where the arcs of a vertex
    weigh less than 2**-1000 (vg.float32: 2**-100), beside others of usual weights.
    """
    rank, incoming, part = graph.vertex_property(dtype)
    if weight is not None:
        leaving = graph.vertex_property(vg.float64)
    if personalization is not None:
        graph.preferences = graph.sum(personalization)
    set_out(graph)
    if weight is not None:
        refuse_faint(graph, leaving)
    rounds = 0
    while rounds < max_rounds and not graph.change < tolerance:
        graph.base = 1 - damping + damping * graph.dangling
        graph.dangling = graph.change = 0.0
        graph.edge_apply(gather)
        if personalization is None:
            graph.base /= graph.num_vertices
        graph.vertex_apply(update)
        rounds += 1
    converged = graph.change <= tolerance
    return rank, converged


@pagerank.requires
def sensible(graph: Graph, personalization: Any, weight: object) -> None:
    """Raise ParameterError for preferences and weights out of range."""
    check_shares(personalization=personalization)
    check_weights(graph, weight)


@pagerank.prepares
def named(graph: Graph, personalization: object, weight: object) -> vg.Prepared:
    """The weights by the name that the operators know; ranks do not depend on units."""
    return vg.Prepared(
        weighing(graph, weight, scaled=True), arguments=scaled_numbers(personalization=personalization)
    )
