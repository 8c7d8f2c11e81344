"""Katz centrality by iteration (Katz 1953; Newman 2010, section 7.3)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def gather(src, edge, dst):
    """Whoever has an arc to dst counts for it."""
    dst.incoming += src.centrality


@vg.operator
def update(v, graph):
    """The new value, and how much it differs from the old one."""
    new = graph.alpha * v.incoming + graph.beta
    graph.change += abs(new - v.centrality)
    v.centrality = new
    v.incoming = 0
    graph.squares += new * new


@vg.operator
def scale(v, graph):
    """To length 1."""
    v.centrality *= graph.unit


@vg.algorithm
def katz(graph, alpha=0.1, beta=1.0, tolerance=1e-6, max_rounds=1000, normalized=True):
    """Solves x = alpha * A' x + beta: a vertex counts for those that it has arcs to, each arc by itself.

    Ends when a round changes x by less than `tolerance` per vertex on average; `normalized`: to length 1. All as
    NetworkX's katz_centrality has it. Result: `centrality` (float64). Raises AlgorithmError if it has not converged
    after `max_rounds`, as where `alpha` is not below 1 / (largest eigenvalue). O(vertices + arcs) per round.
    """
    centrality = graph.vertex_property(vg.float64)
    incoming = graph.vertex_property(vg.float64)
    graph.alpha = alpha
    graph.beta = beta
    graph.squares = 0.0
    graph.change = vg.inf
    rounds = 0
    while graph.num_vertices > 0 and not graph.change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("Katz centrality has not converged: use a smaller alpha, or a larger max_rounds")
        graph.change = 0.0
        graph.squares = 0.0
        graph.edge_apply(gather)
        graph.vertex_apply(update)
        rounds += 1
    if normalized and graph.squares > 0:
        graph.unit = 1 / vg.sqrt(graph.squares)
        graph.vertex_apply(scale)
    return centrality


@katz.requires
def sensible(graph: Graph, tolerance: float) -> None:
    """Raise ParameterError for a tolerance that nothing can meet."""
    if not tolerance > 0:
        raise ParameterError(f"katz: tolerance={tolerance} is not above 0")
