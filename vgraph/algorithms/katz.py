"""Katz centrality by iteration (Katz 1953; Newman 2010, section 7.3)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, check_weights


@vg.operator
def gather(src, edge, dst):
    """Whoever has an arc to dst counts for it, in proportion to the arc's weight."""
    dst.incoming += edge.weight * src.centrality


@vg.algorithm
def katz(
    graph,
    alpha=0.1,
    beta=1.0,
    betas: vg.vertex_property(vg.float64) = None,
    weight: vg.edge_property(vg.float64) = 1,
    start: vg.vertex_property(vg.float64) = None,
    tolerance=1e-6,
    max_rounds=1000,
    normalized=True,
):
    """Solves x = alpha * A' x + beta: a vertex counts for those that it has arcs to, each arc by itself.

    `betas`: a number for each vertex in the place of `beta`. `weight`: an edge property by which arcs count more or
    less. `start`: the values of x to begin with, 0 by default. Ends when a round changes x by less than
    `tolerance` per vertex on average; `normalized`: to length 1. All as NetworkX's katz_centrality has it. Result:
    `centrality` (float64). Raises AlgorithmError if it has not converged after `max_rounds`, as where `alpha` is not
    below 1 / (largest eigenvalue). O(vertices + arcs) per round.
    """
    centrality, incoming = graph.vertex_property(vg.float64)
    own = beta if betas is None else betas
    change = vg.inf
    rounds = 0
    if start is not None:
        centrality[:] = start
    while graph.num_vertices > 0 and not change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("Katz centrality has not converged: use a smaller alpha, or a larger max_rounds")
        graph.edge_apply(gather)
        change = graph.sum(abs(alpha * incoming + own - centrality))
        centrality = alpha * incoming + own
        incoming = 0
        rounds += 1
    if normalized:
        largest = graph.max(abs(centrality))
        if largest > 0:
            centrality /= largest
            squares = graph.sum(centrality * centrality)
            centrality *= 1 / vg.sqrt(squares)
    return centrality


@katz.requires
def sensible(
    graph: Graph, alpha: float, beta: float, betas: object, weight: object, start: object, tolerance: float
) -> None:
    """Raise ParameterError for a tolerance that nothing can meet, and for numbers that are not finite."""
    if not tolerance > 0:
        raise ParameterError(f"katz: tolerance={tolerance} is not above 0")
    check_weights(graph, weight, negative=True)
    check_numbers(alpha=alpha, beta=beta, betas=betas, start=start)
