"""Reverse Cuthill-McKee (1969; George 1971): neighbors get near numbers, the direction of arcs ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import Graph


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, by SciPy. Raises GraphError for graphs of 2**31 arcs and more."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if not graph.num_vertices:
        return np.empty(0, np.int64)
    found = reverse_cuthill_mckee(matrix(graph), symmetric_mode=not graph.directed)
    return np.asarray(found, np.int64)


def matrix(graph: Graph) -> Any:
    """The arcs as a matrix of SciPy's, of ones."""
    from scipy.sparse import csr_array

    if max(graph.num_arcs, graph.num_vertices) > np.iinfo(np.int32).max:
        raise GraphError("this order takes graphs of fewer than 2**31 vertices and arcs")
    columns, offsets = (x.astype(np.int32) for x in (graph.out.column_indices, graph.out.row_offsets))
    return csr_array((np.ones(columns.size, np.int8), columns, offsets), shape=(offsets.size - 1,) * 2)
