"""Linear equations by conjugate gradients (Hestenes and Stiefel 1952)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, check_weights, ones_without_weights, own_weight

TINY = 2.0**-1000
"""Numbers below this have few digits left."""


@vg.operator
def multiply(src, edge, dst):
    """The matrix times the direction."""
    dst.image += edge.weight * src.direction


@vg.algorithm
def conjugate_gradient(
    graph: vg.undirected,
    b: vg.vertex_property(vg.float64),
    tolerance: vg.between(0, vg.inf) = 1e-8,
    max_rounds=1000,
):
    """Solves A x = b for the symmetric positive definite matrix A of an undirected graph.

    A has the edge property `weight` (1 without one) at both places of an edge; self-loops are its diagonal. Ends when
    the residual is at most `tolerance` times as long as `b`, a number per vertex. Results: `x` (float64) and
    `rounds`. Raises ParameterError for a directed graph and for numbers that are not finite, AlgorithmError where A
    turns out not to be positive definite, or after `max_rounds`. O(vertices + arcs) per round.
    """
    x, residual, direction, image = graph.vertex_property(vg.float64)
    squares = 0.0
    largest = graph.max(abs(b))
    if largest > 0:  # in the unit of b's largest number, so that squares are numbers
        residual = b / largest
        direction[:] = residual
        squares = graph.sum(residual * residual)
    goal = tolerance * tolerance * squares
    rounds = 0
    while not squares <= goal:
        if rounds >= max_rounds:
            vg.fail("conjugate gradients have not converged: use a larger max_rounds or tolerance")
        graph.edge_apply(multiply)
        curvature = graph.sum(direction * image)
        if not curvature > 0:
            vg.fail("the matrix is not positive definite, or has numbers too large or small for a float64")
        alpha = squares / curvature
        before = squares
        x += alpha * direction
        residual -= alpha * image
        image = 0
        squares = graph.sum(residual * residual)
        direction = residual + squares / before * direction
        rounds += 1
    x *= largest
    most = graph.max(abs(x))
    if most == vg.inf or (most < TINY and most > 0):
        vg.fail("x is too large or small for a float64")
    return x, rounds


@conjugate_gradient.requires
def symmetric(graph: Graph, b: object) -> None:
    """Raise ParameterError for numbers that are out of range."""
    check_weights(graph, own_weight(graph), negative=True)
    check_numbers(b=b)


@conjugate_gradient.prepares
def weighted(graph: Graph) -> vg.Prepared:
    """Edges without weight count 1."""
    return vg.Prepared(ones_without_weights(graph))
