"""At random, with a fixed seed: what other orders are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`; O(n)."""
    return np.random.default_rng(0).permutation(graph.num_vertices)
