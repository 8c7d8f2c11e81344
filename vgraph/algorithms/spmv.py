"""A sparse matrix times a vector: the matrix has `weight` at (i, j) for an arc from i to j, as Graph.to_scipy has."""

from __future__ import annotations

import math
from typing import Any

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import (
    check_numbers,
    check_weights,
    heaviest,
    magnitude,
    ones_without_weights,
    own_weight,
)


@vg.operator
def multiply(src, edge, dst):
    """The number of the column times that of x there; against the arcs src is the column, dst the row."""
    dst.product += edge.weight * src.x


@vg.algorithm
def spmv(graph, x: vg.vertex_property(vg.float64), transposed=None):
    """The matrix of the graph, or with `transposed=vg.bool_` its transpose, times `x`, a number per vertex.

    The matrix has the edge property `weight`, or 1 where the graph has none; parallel arcs add up. Result: `product`
    (float64). Raises ParameterError for numbers that are not finite, or so large that a product might not be.
    O(vertices + arcs).
    """
    product = graph.vertex_property(vg.float64)
    graph.edge_apply(multiply, reverse=transposed is None)
    return product


@spmv.requires
def finite(graph: Graph, x: object) -> None:
    """Raise ParameterError for numbers that are not finite, and where the product might not be."""
    check_product(graph, x=x)


def check_product(graph: Graph, **given: Any) -> None:
    """The same of what the matrix of the graph is multiplied by, under its name."""
    check_weights(graph, own_weight(graph), negative=True)
    ((name, values),) = given.items()
    given[name] = largest = magnitude(values)
    check_numbers(**given)
    if largest * (heaviest(graph) if own_weight(graph) else 1) * graph.num_arcs == math.inf:
        raise ParameterError(f"the product may be beyond what a float64 holds: scale {name} or the weights")


@spmv.prepares
def weighted(graph: Graph) -> vg.Prepared:
    """Arcs without weight count 1."""
    return vg.Prepared(ones_without_weights(graph))
