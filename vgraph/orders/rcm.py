"""Reverse Cuthill-McKee (1969; George 1971): neighbors get near numbers, the direction of arcs ignored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.sequential import matrix


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, by SciPy. Raises GraphError for graphs of 2**31 arcs and more."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if not graph.num_vertices:
        return np.empty(0, np.int64)
    found = reverse_cuthill_mckee(matrix(graph), symmetric_mode=not graph.directed)
    return np.asarray(found, np.int64)
