"""Edges in parts without a look at other edges."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vgraph.partitioning.edges.problem import EdgeProblem


def random(problem: EdgeProblem) -> NDArray[np.int32]:
    """Each edge in any part, parts of equally many (PowerGraph's random, Gonzalez et al. 2012)."""
    edges = problem.graph.num_edges
    shuffled = np.random.default_rng(problem.seed).permutation(edges)
    return (shuffled % problem.k).astype(np.int32)


def grid(problem: EdgeProblem) -> NDArray[np.int32]:
    """Parts as a grid: the row by a hash of the source, the column by one of the target (2-D, Yoo et al. 2005).

    No vertex has copies outside a row and a column. There are as many rows as the largest divisor of k that is not
    above its square root.
    """
    rows = next(r for r in range(math.isqrt(problem.k), 0, -1) if problem.k % r == 0)
    columns = problem.k // rows
    hashed = np.random.default_rng(problem.seed).permutation(problem.graph.num_vertices)
    sources, targets = problem.ends
    return (hashed[sources] % rows * columns + hashed[targets] % columns).astype(np.int32)
