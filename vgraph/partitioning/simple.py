"""Partitions that are made in a moment: to compare with, and where edges do not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.partitioning.problem import Problem

Parts = NDArray[np.int32]


def blocks(problem: Problem) -> Parts:
    """Vertices in the order of their numbers, cut into pieces of about the same weight."""
    return in_blocks(np.arange(problem.graph.num_vertices), problem)


def rcm(problem: Problem) -> Parts:
    """Blocks of the reverse Cuthill-McKee order, in which neighbors are near each other."""
    return in_blocks(problem.graph.relabelled("rcm").old_of_new, problem)


def random(problem: Problem) -> Parts:
    """Blocks of a random order."""
    return in_blocks(np.random.default_rng(problem.seed).permutation(problem.graph.num_vertices), problem)


def hashed(problem: Problem) -> Parts:
    """By a hash of the vertex's number and the seed alone, as systems do that keep no table of parts (Knuth 6.4)."""
    x = np.arange(problem.graph.num_vertices, dtype=np.uint64) + np.uint64(problem.seed << 32)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return ((x ^ (x >> np.uint64(33))) % np.uint64(problem.k)).astype(np.int32)


def in_blocks(order: NDArray[Any], problem: Problem) -> Parts:
    """Vertices in an order, cut into k pieces: each is where the middle of its weight falls."""
    loads = problem.loads[order].astype(np.float64)
    middles = np.cumsum(loads) - loads / 2
    parts = np.empty(order.size, np.int32)
    parts[order] = np.minimum(middles * (problem.k / loads.sum()), problem.k - 1)  # rounding may give k
    return parts
