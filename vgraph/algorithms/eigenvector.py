"""Eigenvector centrality by power iteration (Bonacich 1987)."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph.algorithms.katz import gather
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, check_weights, heaviest, scaled_numbers, weighing


@vg.algorithm
def eigenvector(
    graph,
    weight: vg.edge_property(vg.float64) = 1,
    start: vg.vertex_property(vg.float64) = None,
    tolerance=1e-6,
    max_rounds=100,
    shift=1.0,
):
    """The leading eigenvector of the matrix of arcs: a vertex counts as those with arcs to it count, summed.

    `weight`: an edge property by which arcs count more or less. `start`: the vector to begin with; all
    vertices alike by default. `shift`: what each vertex counts for itself, by the largest weight, so that the iteration
    does not swing. Ends when a round changes the vector by less than `tolerance` per vertex on average, as NetworkX's
    eigenvector_centrality does. Result: `centrality` (float64, of length 1). Raises AlgorithmError if it has
    not converged after `max_rounds`, or comes to nothing, as weights below 0 may. O(vertices + arcs) per round.
    """
    centrality = graph.vertex_property(vg.float64, fill=1 / max(1, graph.num_vertices))
    incoming = graph.vertex_property(vg.float64)
    change = vg.inf
    rounds = 0
    if start is not None:
        centrality[:] = start
    while graph.num_vertices > 0 and not change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("eigenvector centrality has not converged: use a larger max_rounds or tolerance")
        graph.edge_apply(gather)
        incoming += shift * centrality
        squares = graph.sum(incoming * incoming)
        if not squares > 0:
            vg.fail("the vector of eigenvector centrality has come to nothing: begin with another one")
        unit = 1 / vg.sqrt(squares)
        change = graph.sum(abs(incoming * unit - centrality))
        centrality = incoming * unit
        incoming = 0
        rounds += 1
    return centrality


@eigenvector.requires
def sensible(graph: Graph, weight: object, start: object, tolerance: float, shift: float) -> None:
    """Raise ParameterError for a tolerance that nothing can meet, and for numbers that are not finite or all 0."""
    if not tolerance > 0:
        raise ParameterError(f"eigenvector: tolerance={tolerance} is not above 0")
    check_weights(graph, weight, negative=True)
    check_numbers(start=start, shift=shift)
    if start is not None and graph.num_vertices and not np.any(start):  # type: ignore[call-overload]
        raise ParameterError("eigenvector: start is all zero")


@eigenvector.prepares
def named(graph: Graph, weight: object, start: object, shift: float) -> vg.Prepared:
    """The weights by the name that the operators know, and the shift in their unit, which like that of `start` does not
    matter.
    """
    made = weighing(graph, weight, scaled=True)
    largest = (heaviest(made, weight) if graph.num_arcs else 0) or 1.0
    return vg.Prepared(made, arguments={"shift": float(shift * largest), **scaled_numbers(start=start)})
