"""Along Morton's curve (1966) through the coordinates: their bits, interleaved, are the place on it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import Graph

AXES: Final = ("x", "y", "z")
BITS: Final = {1: 62, 2: 31, 3: 20}
"""Of each coordinate, by the number of axes."""


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`. Raises GraphError without coordinates."""
    return np.argsort(interleaved(*cells(graph)), kind="stable")


def cells(graph: Graph) -> tuple[NDArray[np.int64], int]:
    """The coordinates as integers of equal scale, a row for each axis, and how many bits they have.

    They are the vertex properties x, y and z, as many as there are. Raises GraphError without any, and where one is not
    finite.
    """
    found = [graph.vertex_properties[axis] for axis in AXES if axis in graph.vertex_properties]
    if not found or any(values.ndim != 1 for values in found):
        raise GraphError("this order needs coordinates: numbers in the vertex properties x, y and perhaps z")
    points = np.stack(found).astype(np.float64)
    if not np.isfinite(points).all():
        raise GraphError("this order needs coordinates, and one is not finite")
    bits = BITS[len(found)]
    points *= 0.5 if np.abs(points).max(initial=0.0) > 1.0 else 1.0  # so that a span is finite, too
    points -= points.min(axis=1, keepdims=True, initial=np.inf)
    widest = points.max(initial=0.0)
    scaled = points / widest * (2.0**bits - 1) if widest > 0 else points * 0
    return np.minimum(scaled.astype(np.int64), (1 << bits) - 1), bits


def interleaved(coordinates: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """The highest bit of each axis, then the next of each, and so on, as one number for each vertex."""
    axes, size = coordinates.shape
    found = np.zeros(size, np.int64)
    for bit in reversed(range(bits)):
        for axis in range(axes):
            found = found << 1 | coordinates[axis] >> bit & 1
    return found
