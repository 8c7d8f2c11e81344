"""Along Hilbert's curve (1891) through the coordinates: neighbors on the curve are neighbors in space.

The bits of the coordinates are turned as Skilling does (2004, "Programming the Hilbert curve"), for all vertices at
once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.orders.morton import cells, interleaved


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`. Raises GraphError without coordinates."""
    turned, bits = cells(graph)
    axes = len(turned)
    for bit in reversed(range(1, bits)):
        low = (1 << bit) - 1
        for axis in range(axes):
            mirrored = turned[axis] >> bit & 1 == 1
            exchanged = np.where(mirrored, 0, (turned[0] ^ turned[axis]) & low)
            turned[0] ^= np.where(mirrored, low, exchanged)
            turned[axis] ^= exchanged
    for axis in range(1, axes):
        turned[axis] ^= turned[axis - 1]
    flips = np.zeros_like(turned[0])
    for bit in reversed(range(1, bits)):
        flips ^= np.where(turned[-1] >> bit & 1 == 1, (1 << bit) - 1, 0)
    return np.argsort(interleaved(turned ^ flips, bits), kind="stable")
