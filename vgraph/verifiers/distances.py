"""Eccentricities and diameters."""

from __future__ import annotations

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *
from vgraph.verifiers.paths import hops


def eccentricity(graph: Graph, result: Result, given: Arguments) -> None:
    """Distances by SciPy, from each vertex."""
    n, ends = graph.num_vertices, simple_arcs(graph)
    farthest, reached = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for source in range(n):
        level = hops(graph, ends, source)
        farthest[source], reached[source] = level.max(), (level >= 0).sum()
    equal(result.eccentricity, farthest, "eccentricity")
    equal(result.reached, reached, "reached")


def diameter(graph: Graph, result: Result, given: Arguments) -> None:
    """A search from `end` proves the lower bound; the diameter is found again by bounds on all eccentricities."""
    source, end, lower, upper = int(given["source"]), int(result.end), int(result.lower), int(result.upper)
    ends = simple_arcs(graph)
    level = hops(graph, ends, source)
    if level[end] < 0:
        raise VerificationError(f"vertex {end}: end is not in the component of {source}")
    far = int(hops(graph, ends, end).max())
    if far != lower:
        raise VerificationError(f"vertex {end}: lower is {lower}, and the farthest from end is {far} away")
    most = min(graph.num_vertices, 2 * int(level.max()))
    if lower < level.max() or upper > most:
        raise VerificationError(
            f"vertex {source}: bounds are {lower} and {upper}; the first search gave {level.max()} and {most}"
        )
    true = _diameter(graph, ends, source)
    unfinished = upper > lower and given["max_searches"] > 4 + graph.num_vertices
    if not lower <= true <= upper or unfinished:
        raise VerificationError(f"vertex {end}: bounds are {lower} and {upper}, and the diameter is {true}")
    flagged(result, lower == upper)


def _diameter(graph: Graph, ends: tuple[Array, Array], source: int) -> int:
    """Takes and Kosters 2011: each search bounds the eccentricities of all vertices, until none can be larger."""
    level = hops(graph, ends, source)
    low = np.zeros(level.size, np.int64)
    high = np.where(level >= 0, 2 * level.size, -1)
    best, widest = 0, False
    here = source
    while True:
        level = hops(graph, ends, here)
        far = int(level.max())
        best = max(best, far)
        inside = level >= 0
        low = np.where(inside, np.maximum(low, np.maximum(level, far - level)), low)
        high = np.where(inside, np.minimum(high, far + level), high)
        high[here] = far
        best = max(best, int(low[inside].max()))
        open_ = np.flatnonzero(high > best)
        if not open_.size:
            return best
        widest = not widest
        here = int(open_[high[open_].argmax() if widest else low[open_].argmin()])
