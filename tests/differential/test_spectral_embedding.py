"""Spectral embeddings beside SciPy's eigenvectors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import vgraph as vg
from vgraph.algorithms import spectral_embedding


def made(n: int, m: int) -> vg.Graph:
    """With self-loops, parallel edges and, where edges are few, vertices without any."""
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, m))
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=False, weight=rng.integers(1, 9, m))


@pytest.mark.parametrize(("n", "m", "dimensions"), [(2, 0, 1), (3, 4, 2), (30, 40, 5), (300, 1500, 2)])
def test_embeddings(n: int, m: int, dimensions: int) -> None:
    graph = made(n, m)
    found = spectral_embedding(graph, dimensions, "weight", threads=2)
    laplacian = nx.normalized_laplacian_matrix(graph.to_networkx(), nodelist=range(n))
    np.testing.assert_allclose(
        found.values, np.linalg.eigvalsh(laplacian.toarray())[1 : dimensions + 1], atol=1e-8
    )
    assert np.linalg.norm(laplacian @ found.vectors - found.vectors * found.values, axis=0).max() < 2e-8
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(dimensions), atol=1e-8)
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, np.arange(dimensions)] > 0).all()


def test_the_same_vectors_as_scipys_and_on_python() -> None:
    graph = made(60, 200)
    found = spectral_embedding(graph, 1)
    matrix = nx.normalized_laplacian_matrix(graph.to_networkx(), nodelist=range(60), weight=None).astype(
        float
    )
    _, theirs = eigsh(matrix, k=2, sigma=-0.1)
    assert abs(abs(theirs[:, 1] @ found.vectors[:, 0]) - 1) < 1e-8
    small = made(8, 14)
    for way in ({"device": "python"}, {"threads": 1}):
        again = spectral_embedding(small, 2, **way)
        np.testing.assert_allclose(again.values, spectral_embedding(small, 2, threads=3).values, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"dimensions": 0}, vg.ParameterError, "from 1 to 299, the number of vertices less 1"),
        ({"dimensions": 300}, vg.ParameterError, "from 1 to"),
        ({"weight": "height"}, vg.ParameterError, "no such edge property"),
        ({"weight": -1}, vg.ParameterError, "negative"),
        ({"max_rounds": 1}, vg.AlgorithmError, "has not converged"),
    ],
)
def test_what_is_refused_or_fails(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        spectral_embedding(made(300, 1500), **given)
    with pytest.raises(vg.ParameterError, match="undirected"):
        spectral_embedding(vg.Graph.from_edges([0], [1]), 1)
