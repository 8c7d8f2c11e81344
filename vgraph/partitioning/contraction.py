"""A coarser graph of pairs of vertices. On the host by machine code, through a table of where a row has its neighbors;
on a GPU by sorting arcs by where they lead. Both give the same rows, each as its pair's arcs stood."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler.backends.machine_code import machine_code
from vgraph.graph import Graph
from vgraph.graph.machine import in_parts
from vgraph.graph.topology import Adjacency, Topology

RANGE: Final = 1 << 16
"""Arcs from which on a thread of its own pays."""
NONE: Final = 2**32 - 1
"""The mate of a vertex without one."""
Room = tuple[NDArray[Any], NDArray[Any], NDArray[np.uint32]]
"""Targets and weights of arcs, and for coarse vertices where in a row they stand, which needs no clearing."""


def contracted(
    graph: Graph, mate: NDArray[np.uint32], threads: int, rooms: list[Room] | None = None
) -> tuple[Graph, NDArray[np.int32]]:
    """The graph in which a vertex and its mate are one, and which one that is for each vertex.

    Weights are added up, loops go. Rows are not sorted: arcs stand as the pair's own did. rooms: what threads write
    rows to, made by the first call of several, which has the largest graph.
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
    rooms = [] if rooms is None or parts == 1 else rooms
    while len(rooms) < parts:  # as large as it may have to be; what is not written to takes no memory
        made = np.empty(columns.size, columns.dtype), np.empty(columns.size, weights.dtype)
        rooms.append((*made, np.empty(n, np.uint32)))

    def part(k: int) -> tuple[NDArray[Any], ...]:
        targets, sums, place = rooms[k]
        return offsets, columns, weights, mate, coarse, first, place, sizes, targets, sums, lengths[k : k + 1]

    in_parts(machine_code("contraction", "vg_contract", types), bounds, part)
    targets, sums = _joined(rooms[:parts], lengths.astype(np.int64))
    starts = np.zeros(count + 1, offsets.dtype)
    np.cumsum(sizes, dtype=starts.dtype, out=starts[1:])
    topology = Topology(Adjacency(starts, targets), targets.size, True)
    return Graph(topology, {"weight": sums}, {"load": loads}), coarse.view(np.int32)


def _joined(rooms: list[Room], lengths: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What each thread made, one behind the other: as many threads copy it, mostly to memory that is new."""
    if len(rooms) == 1:
        return rooms[0][0][: lengths[0]], rooms[0][1][: lengths[0]]
    ends = np.cumsum(lengths)
    targets, sums = (np.empty(int(ends[-1]), x.dtype) for x in rooms[0][:2])

    def copy(k: int) -> None:
        own = slice(ends[k] - lengths[k], ends[k])
        targets[own], sums[own] = (x[: lengths[k]] for x in rooms[k][:2])

    with ThreadPoolExecutor(len(rooms)) as pool:
        list(pool.map(copy, range(len(rooms))))
    return targets, sums


def contracted_by_keys(graph: Graph, mate: Any, xp: Any) -> tuple[Graph, Any]:
    """The same of arrays of `xp`, by sorting: all operations are on whole arrays."""
    offsets, columns = graph.out.row_offsets, graph.out.columns
    load, n, t = graph.vertex_properties["load"], graph.num_vertices, xp.int64
    leads = mate >= xp.arange(n, dtype=mate.dtype)
    number = xp.cumsum(leads, dtype=t) - 1
    coarse = xp.where(leads, number, number[xp.where(leads, 0, mate)])
    first = xp.flatnonzero(leads)
    pairs = xp.flatnonzero(mate[first] != NONE)
    second = mate[first[pairs]].astype(t)
    loads = load[first]
    loads[pairs] += load[second]
    # Arcs in the order of the pairs: the first vertex's, then its mate's.
    starts = offsets[:-1].astype(t)
    degree = offsets[1:].astype(t) - starts
    sizes = degree[first]
    sizes[pairs] += degree[second]
    begin = xp.cumsum(sizes) - sizes
    place = xp.empty(n, t)
    place[first] = begin
    place[second] = begin[pairs] + degree[first[pairs]]
    source = owners(xp, offsets, columns.size)
    order = xp.empty(columns.size, t)
    order[xp.arange(columns.size, dtype=t) + (place - starts)[source]] = xp.arange(columns.size, dtype=t)
    rows, ends = coarse[source][order], coarse[columns][order]
    kept = xp.flatnonzero(rows != ends)
    keys, weights = rows[kept] * first.size + ends[kept], graph.edge_properties["weight"][order[kept]]
    targets, rows, sums = _merged(xp, keys, weights, first.size)
    row_offsets = xp.zeros(first.size + 1, offsets.dtype)
    row_offsets[1:] = xp.cumsum(xp.bincount(rows, minlength=first.size))
    topology = Topology(Adjacency(row_offsets, targets.astype(columns.dtype)), targets.size, True)
    return Graph(topology, {"weight": sums}, {"load": loads}), coarse.astype(xp.int32)


def _merged(xp: Any, keys: Any, weights: Any, count: int) -> tuple[Any, Any, Any]:
    """Target, row and weight of the arcs that are left of those with keys `row * count + target`: equal ones are one,
    where the first of them was."""
    order = xp.argsort(keys, kind="stable")
    ordered = keys[order]
    new = xp.ones(keys.size, xp.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    heads = xp.flatnonzero(new)
    sums = xp.zeros(keys.size + 1, xp.int64)
    xp.cumsum(weights[order], dtype=xp.int64, out=sums[1:])
    ends = xp.append(heads[1:], keys.size)
    marks = xp.zeros(keys.size, xp.bool_)
    marks[order[heads]] = True
    places = xp.flatnonzero(marks)
    at = xp.empty(keys.size, xp.int64)
    at[order[heads]] = sums[ends] - sums[heads]
    return keys[places] % count, keys[places] // count, at[places].astype(weights.dtype)


def owners(xp: Any, offsets: Any, count: int) -> Any:
    """For each of `count` arcs, in rows that begin at the ascending `offsets`, its row."""
    filled = xp.flatnonzero(offsets[1:] != offsets[:-1])
    steps = xp.zeros(count, xp.int64)
    steps[offsets[:-1][filled]] = xp.diff(filled, prepend=xp.zeros(1, xp.int64))
    return xp.cumsum(steps)
