"""The vertices of most out-arcs first; equals keep their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`; O(n log n)."""
    return np.argsort(-graph.out_degree.astype(np.int64), kind="stable")
