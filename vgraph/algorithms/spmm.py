"""A sparse matrix times a dense one; the sparse one is that of spmv."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg
from vgraph.algorithms.spmv import check_product, multiply
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import ones_without_weights


@vg.operator
def row(v):
    """The product of v's row and x."""
    total = 0.0 * v.x
    for e in v.out_edges:
        total += e.weight * e.dst.x
    v.product = total


@vg.algorithm
def spmm(graph, dense: vg.array(vg.float64, 2), transposed=None, _rows=None):
    """The matrix of the graph, or with `transposed=vg.bool_` its transpose, times `dense`, a row for each vertex.

    The matrix is that of `spmv`, and so is what is refused. Result: `product` (float64), of the shape of `dense`, which
    has at least one column. O(columns * (vertices + arcs)).
    """
    product = graph.vertex_property(_rows)
    if transposed is None:
        graph.vertex_apply(row)
    else:
        graph.edge_apply(multiply)
    return product


@spmm.requires
def fitting(graph: Graph, dense: Any) -> None:
    """Raise ParameterError for a matrix of another shape, and for what `spmv` refuses."""
    shape = np.shape(dense)
    if shape[0] != graph.num_vertices or not 0 < shape[1]:
        rows = f"{graph.num_vertices} rows and at least one column"
        raise ParameterError(f"spmm: dense has the shape {shape}, and should have {rows}")
    check_product(graph, dense=dense)


@spmm.prepares
def weighted(graph: Graph, dense: Any) -> vg.Prepared:
    """The rows as a property of the vertices; arcs without weight count 1."""
    made = ones_without_weights(graph).with_vertex_property("x", np.asarray(dense, np.float64))
    return vg.Prepared(made, arguments={"_rows": vg.vector(vg.float64, np.shape(dense)[1])})
