"""Eigenvectors of the normalised Laplacian as coordinates of vertices (Belkin and Niyogi 2003; von Luxburg 2007)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._subspace import largest_eigenvectors
from vgraph.algorithms.spmm import spmm
from vgraph.errors import ParameterError
from vgraph.graph import Graph, build
from vgraph.graph.weights import check_weights, check_whole

MORE = 4
"""Vectors that are sought beyond those asked for: the last ones converge late."""


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
    check_whole(1, n - 1, ", the number of vertices less 1", dimensions=dimensions)
    check_weights(graph, weight)
    matrix, alone = _normalised(graph, weight)

    def multiply(dense: NDArray[Any]) -> NDArray[Any]:
        product: NDArray[Any] = vg.run(spmm, matrix, dense=dense, device=device, threads=threads).product
        return np.asarray(product + alone[:, None] * dense)

    start = np.random.default_rng(seed).standard_normal((n, dimensions + 1 + MORE))
    values, vectors = largest_eigenvectors(multiply, start, dimensions + 1, tolerance, max_rounds)
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
