"""What programs that go over a graph one step after the other are given: arcs as arrays, and memory.

Such a program is an algorithm whose statements are all its driver's: `x[i]` is an element of an array. It runs on a
graph without arcs, whose vertices number the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.language.decorators import AlgorithmDef
from vgraph.orders.rcm import matrix
from vgraph.runtime.result import Result


def sequentially(program: AlgorithmDef, size: int, /, **parameters: Any) -> Result:
    """What a program gives, run by one thread; its properties have `size` elements."""
    memory = Graph.from_edges([], [], num_vertices=size)
    return vg.run(program, memory, threads=1, device="cpu", **parameters)


def both_ways(graph: Graph) -> dict[str, NDArray[Any]]:
    """`offsets` and `columns` of all arcs and, of a directed graph, of those turned round; parallel ones may be one.

    Raises GraphError for graphs of 2**31 arcs and more.
    """
    found = matrix(graph)
    if graph.directed:
        found = (found + found.T).tocsr()
    return {"offsets": found.indptr.astype(np.int64), "columns": found.indices}
