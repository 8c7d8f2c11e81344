"""Programs that go over a graph one step after the other: what they are given, and how they run.

Such a program is an algorithm whose statements are all its driver's: `x[i]` is an element of an array. It runs on a
graph without arcs, whose vertices number the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.api import run
from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.result import Result


def sequentially(program: AlgorithmDef, size: int, /, **parameters: Any) -> Result:
    """What a program gives, run by one thread; its properties have `size` elements."""
    memory = Graph.from_edges([], [], num_vertices=size)
    return run(program, memory, threads=1, device="cpu", **parameters)


def both_ways(graph: Graph) -> dict[str, NDArray[Any]]:
    """`offsets` and `columns` of all arcs and, of a directed graph, of those turned round; parallel ones may be one.

    Raises GraphError for graphs of 2**31 arcs and more.
    """
    found = matrix(graph)
    if graph.directed:
        found = (found + found.T).tocsr()
    return {"offsets": found.indptr.astype(np.int64), "columns": found.indices}


def matrix(graph: Graph) -> Any:
    """The arcs as a matrix of SciPy's, of ones."""
    from scipy.sparse import csr_array

    if max(graph.num_arcs, graph.num_vertices) > np.iinfo(np.int32).max:
        raise GraphError("this order takes graphs of fewer than 2**31 vertices and arcs")
    columns, offsets = (x.astype(np.int32) for x in (graph.out.column_indices, graph.out.row_offsets))
    return csr_array((np.ones(columns.size, np.int8), columns, offsets), shape=(offsets.size - 1,) * 2)
