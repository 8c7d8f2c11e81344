"""Vertices of more arcs than the average first, in the order that they have; then the others, likewise.

Hub clustering (Balaji and Lucia 2018, "When is graph reordering an optimization?"): the values that most arcs read lie
together, and what structure the order had is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`; O(n)."""
    hubs = graph.out_degree.astype(np.int64) * graph.num_vertices > graph.num_arcs
    return np.concatenate((np.flatnonzero(hubs), np.flatnonzero(~hubs)))
