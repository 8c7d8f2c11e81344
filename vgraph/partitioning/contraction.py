"""A coarser graph of pairs of vertices, by machine code: each row by one thread, so it depends on the pairs alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler.backends.machine_code import machine_code
from vgraph.graph import Graph
from vgraph.graph.machine import in_parts
from vgraph.graph.topology import Adjacency, Topology

RANGE: Final = 1 << 16
"""Arcs from which on a thread of its own pays."""


def contracted(graph: Graph, mate: NDArray[np.uint32], threads: int) -> tuple[Graph, NDArray[np.int32]]:
    """The graph in which a vertex and its mate (2**32 - 1: it has none) are one, and which one that is for each vertex.

    Weights are added up, loops go. Rows are not sorted: arcs stand as the pair's own did.
    """
    offsets, columns = graph.out.row_offsets, graph.out.column_indices
    weights, load = graph.edge_properties["weight"], graph.vertex_properties["load"]
    given = {"Id": columns, "Offset": offsets, "Weight": weights, "Load": load}
    types = tuple((name, f"u{8 * array.itemsize}") for name, array in given.items())
    n = graph.num_vertices
    coarse, first, loads = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, load.dtype)
    found = np.zeros(1, np.uint64)
    arrays = mate, load, coarse, first, loads, found
    machine_code("contraction", "vg_number", types)(n, *(x.ctypes.data for x in arrays))
    count = int(found[0])
    first, loads = first[:count].copy(), loads[:count].copy()
    parts = max(1, min(threads, columns.size // RANGE))
    inside = np.searchsorted(offsets[first], np.arange(1, parts) * (columns.size / parts))
    bounds = np.concatenate(([0], inside, [count])).astype(np.int64)
    sizes, lengths = np.empty(count, np.uint32), np.zeros(parts, np.uint64)
    # Memory is as large as it may have to be; what is not written to takes none.
    made = [
        (np.empty(columns.size, columns.dtype), np.empty(columns.size, weights.dtype)) for _ in range(parts)
    ]

    def part(k: int) -> tuple[NDArray[Any], ...]:
        place = np.zeros(count, np.uint32)
        row = offsets, columns, weights, mate, coarse, first, place, sizes
        return *row, *made[k], lengths[k : k + 1]

    in_parts(machine_code("contraction", "vg_contract", types), bounds, part)
    rows = [[x[: int(size)] for x in arrays] for arrays, size in zip(made, lengths, strict=True)]
    targets, sums = rows[0] if parts == 1 else (np.concatenate(x) for x in zip(*rows, strict=True))
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(offsets.dtype)
    topology = Topology(Adjacency(starts, targets), targets.size, True)
    return Graph(topology, {"weight": sums}, {"load": loads}), coarse.view(np.int32)
