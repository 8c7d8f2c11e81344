"""Eigenvectors of the normalised Laplacian as coordinates of vertices (Belkin and Niyogi 2003; von Luxburg 2007)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms.spmm import spmm
from vgraph.errors import AlgorithmError, ParameterError, shown
from vgraph.graph import Graph, build
from vgraph.graph.weights import check_weights

MORE = 4
"""Vectors that are sought beyond those asked for: the last ones converge late."""
DEGREE = 24
"""Of the polynomial of the matrix by which the vectors are multiplied in a round."""


class Embedding(NamedTuple):
    """A row of coordinates for each vertex, and the eigenvalue of each column, ascending; both float64."""

    vectors: NDArray[np.float64]
    values: NDArray[np.float64]


def spectral_embedding(
    graph: Graph,
    dimensions: int = 2,
    weight: Any = 1,
    *,
    tolerance: float = 1e-8,
    max_rounds: int = 1000,
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> Embedding:
    """The eigenvectors of the smallest eigenvalues of the normalised Laplacian, without the first, which tells nothing.

    A function, which runs `spmm`: subspace iteration, filtered by Chebyshev polynomials (Zhou et al. 2006). The matrix
    is I - D^-1/2 A D^-1/2, as NetworkX's normalized_laplacian_matrix has it: an isolated vertex has a row of zeros.

    weight: the name of an edge property of numbers of at least 0, an array with one for each arc, or one number. It
    ends when the residual of each vector is at most `tolerance`. device and threads as of `vg.run`; seed: of the
    vectors that it begins with. Of each vector the largest number, the first of several, is positive; where
    eigenvalues are equal the vectors are any basis. Result: `vectors`, of shape (vertices, dimensions), of length 1
    each, and `values`. Raises ParameterError for directed graphs and for parameters out of range, AlgorithmError
    after `max_rounds`. O(dimensions * (vertices * dimensions + arcs)) per round.
    """
    n = graph.num_vertices
    if graph.directed:
        raise ParameterError("spectral_embedding: of undirected graphs; build the graph with directed=False")
    if (
        isinstance(dimensions, bool)
        or not isinstance(dimensions, int | np.integer)
        or not 1 <= dimensions < n
    ):
        raise ParameterError(
            f"dimensions={shown(dimensions)} is no int from 1 to below the number of vertices, {n}"
        )
    check_weights(graph, weight)
    matrix, alone = _normalised(graph, weight)

    def multiply(dense: NDArray[Any]) -> NDArray[Any]:
        product: NDArray[Any] = vg.run(spmm, matrix, dense=dense, device=device, threads=threads).product
        return np.asarray(product + alone[:, None] * dense)

    start = np.random.default_rng(seed).standard_normal((n, dimensions + 1 + MORE))
    values, vectors = _largest(multiply, start, dimensions + 1, tolerance, max_rounds)
    chosen = vectors[:, 1:]
    signs = np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(dimensions)])
    return Embedding(np.ascontiguousarray(chosen * signs), 1 - values[1:])


def _normalised(graph: Graph, weight: Any) -> tuple[Graph, NDArray[np.bool_]]:
    """The graph with the entries of D^-1/2 A D^-1/2 as weights, and which vertices have a row of zeros there."""
    given = graph.edge_properties[weight] if isinstance(weight, str) else weight
    values = np.broadcast_to(np.asarray(given, np.float64), graph.num_arcs)
    sources = build.sources_of(graph.out.row_offsets, np.dtype(np.int64))
    degree = np.bincount(sources, values, graph.num_vertices)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros(degree.size), where=degree > 0)
    entries = values * (scale[sources] * scale[graph.out.column_indices])
    return graph.with_edge_property("weight", entries), degree == 0


def _largest(
    multiply: Callable[[NDArray[Any]], NDArray[Any]],
    start: NDArray[Any],
    count: int,
    tolerance: float,
    max_rounds: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest eigenvalues of a symmetric matrix, descending, and their vectors."""
    n, width = start.shape
    if n <= 8 * width:  # the space is hardly larger than what would be searched
        values, vectors = np.linalg.eigh(multiply(np.eye(n)))
        return values[::-1][:count], vectors[:, ::-1][:, :count]
    block = np.linalg.qr(start)[0]
    for _ in range(max_rounds):
        image = multiply(block)
        values, inner = np.linalg.eigh(block.T @ image)
        values, block, image = values[::-1], block @ inner[:, ::-1], image @ inner[:, ::-1]
        if (np.linalg.norm(image - block * values, axis=0)[:count] <= tolerance).all():
            return values[:count], block[:, :count]
        middle, half = (values[-1] - 1) / 2, (values[-1] + 1) / 2  # of what is not sought, from -1 on
        before, block = block, (image - middle * block) / half
        for _ in range(DEGREE - 1):
            before, block = block, 2 * (multiply(block) - middle * block) / half - before
        block = np.linalg.qr(block)[0]
    raise AlgorithmError("spectral_embedding has not converged: use a larger max_rounds or tolerance")
