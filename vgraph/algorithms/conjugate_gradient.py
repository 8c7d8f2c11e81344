"""Linear equations by conjugate gradients (Hestenes and Stiefel 1952)."""

from __future__ import annotations

import vgraph as vg
from vgraph._orient import Prepared
from vgraph.algorithms._weights import ones_without_weights
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def begin(v, graph):
    """From x = 0 the residual is b, and the first direction too."""
    v.residual = v.b
    v.direction = v.b
    graph.squares += v.b * v.b


@vg.operator
def multiply(src, edge, dst):
    """The matrix times the direction."""
    dst.image += edge.weight * src.direction


@vg.operator
def project(v, graph):
    """How much the matrix stretches the direction."""
    graph.curvature += v.direction * v.image


@vg.operator
def step(v, graph):
    """To the minimum along the direction."""
    v.x += graph.alpha * v.direction
    v.residual -= graph.alpha * v.image
    v.image = 0
    graph.squares += v.residual * v.residual


@vg.operator
def turn(v, graph):
    """The next direction is conjugate to those before."""
    v.direction = v.residual + graph.beta * v.direction


@vg.algorithm
def conjugate_gradient(graph, b: vg.vertex_property(vg.float64), tolerance=1e-8, max_rounds=1000):
    """Solves A x = b for the symmetric positive definite matrix A of an undirected graph.

    A has the edge property `weight` (1 without one) at both places of an edge; self-loops are its diagonal. Ends when
    the residual is at most `tolerance` times as long as `b`, a number per vertex. Results: `x` (float64) and
    `rounds`. Raises ParameterError for a directed graph, AlgorithmError where A turns out not to be positive definite,
    or after `max_rounds`. O(vertices + arcs) per round.
    """
    x = graph.vertex_property(vg.float64)
    residual = graph.vertex_property(vg.float64)
    direction = graph.vertex_property(vg.float64)
    image = graph.vertex_property(vg.float64)
    graph.squares = 0.0
    graph.vertex_apply(begin)
    goal = tolerance * tolerance * graph.squares
    rounds = 0
    while graph.squares > goal:
        if rounds >= max_rounds:
            vg.fail("conjugate gradients have not converged: use a larger max_rounds or tolerance")
        graph.edge_apply(multiply)
        graph.curvature = 0.0
        graph.vertex_apply(project)
        if not graph.curvature > 0:
            vg.fail("the matrix is not positive definite")
        graph.alpha = graph.squares / graph.curvature
        before = graph.squares
        graph.squares = 0.0
        graph.vertex_apply(step)
        graph.beta = graph.squares / before
        graph.vertex_apply(turn)
        rounds += 1
    return x, rounds


@conjugate_gradient.requires
def symmetric(graph: Graph) -> None:
    """Raise ParameterError for a directed graph."""
    if graph.directed:
        raise ParameterError(
            "conjugate_gradient takes symmetric matrices: build the graph with directed=False"
        )


@conjugate_gradient.prepares
def weighted(graph: Graph) -> Prepared:
    """Edges without weight count 1."""
    return Prepared(ones_without_weights(graph))
