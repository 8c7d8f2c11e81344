"""Reverse Cuthill-McKee (1969; George 1971): neighbors get near numbers, the direction of arcs ignored.

It is the order in which searches meet the vertices, where those of a vertex's neighbors come first that have fewest
themselves; and backwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.build import arcs_of, transpose
from vgraph.orders.bfs import search
from vgraph.sequential import both_ways, sequentially


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, sequentially; O(n log n + arcs). Raises GraphError for graphs of 2**31 arcs and more."""
    arcs = both_ways(graph)
    offsets, columns = arcs["offsets"], arcs["columns"]
    starts = np.argsort(np.diff(offsets), kind="stable")
    # A transpose lists rows in their order: those of least degree first, if they come so.
    rows, degrees = arcs_of(offsets, starts)
    places = transpose(np.concatenate(([0], np.cumsum(degrees))), columns[rows])[1]
    near = starts.astype(columns.dtype)[places]
    met = sequentially(search, graph.num_vertices, starts=starts, offsets=offsets, columns=near).met
    return np.ascontiguousarray(met[::-1])
