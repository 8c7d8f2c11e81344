"""Subspace iteration, filtered by Chebyshev polynomials (Zhou, Saad, Tiago and Chelikowsky 2006)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import AlgorithmError

DEGREE = 24
"""Of the polynomial of the matrix by which the vectors are multiplied in a round."""


def largest_eigenvectors(
    multiply: Callable[[NDArray[Any]], NDArray[Any]],
    start: NDArray[Any],
    count: int,
    tolerance: float,
    max_rounds: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest eigenvalues of a symmetric matrix, descending, and their vectors. `multiply`: the matrix times some.

    All eigenvalues are at least -1. Raises AlgorithmError where it has not converged after `max_rounds`.
    """
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
