"""Eigenvector centrality by power iteration (Bonacich 1987)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def gather(src, edge, dst):
    """Whoever has an arc to dst counts for it."""
    dst.incoming += src.centrality


@vg.operator
def add(v, graph):
    """The matrix is shifted by 1, so that the iteration does not swing."""
    v.incoming += v.centrality
    graph.squares += v.incoming * v.incoming


@vg.operator
def update(v, graph):
    """The new value, of a vector of length 1."""
    new = v.incoming * graph.unit
    graph.change += abs(new - v.centrality)
    v.centrality = new
    v.incoming = 0


@vg.algorithm
def eigenvector(graph, tolerance=1e-6, max_rounds=100):
    """The leading eigenvector of the matrix of arcs: a vertex counts as those with arcs to it count, summed.

    Ends when a round changes it by less than `tolerance` per vertex on average, as NetworkX's eigenvector_centrality
    does. Result: `centrality` (float64, of length 1). Raises AlgorithmError if it has not converged after `max_rounds`.
    O(vertices + arcs) per round.
    """
    centrality = graph.vertex_property(vg.float64, fill=1 / max(1, graph.num_vertices))
    incoming = graph.vertex_property(vg.float64)
    graph.change = vg.inf
    rounds = 0
    while graph.num_vertices > 0 and not graph.change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("eigenvector centrality has not converged: use a larger max_rounds or tolerance")
        graph.change = 0.0
        graph.squares = 0.0
        graph.edge_apply(gather)
        graph.vertex_apply(add)
        graph.unit = 1 / vg.sqrt(graph.squares)
        graph.vertex_apply(update)
        rounds += 1
    return centrality


@eigenvector.requires
def sensible(graph: Graph, tolerance: float) -> None:
    """Raise ParameterError for a tolerance that nothing can meet."""
    if not tolerance > 0:
        raise ParameterError(f"eigenvector: tolerance={tolerance} is not above 0")
