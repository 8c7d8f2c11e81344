"""In-arcs for the lanes of a CPU: by ranges of sources, as 16-bit offsets, in slices of 16 rows side by side.

A row is all arcs of one destination from one segment. Within a segment rows are sorted by their length, the longest
first, to within a 32nd; each 16 make a slice, as long as its longest row: SELL-16-sigma (Kreutzer, Hager, Wellein,
Fehske and Bishop 2014). What is streamed is half of CSR's, the values of a segment's sources stay in a core's second
cache, and 16 rows that end together cost no branch each. Longest first, no more than 16 rows of the longest, and a 32nd
of all, are padding. Made by threads, in machine code: `compiler/backends/prelude/sell.loops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import machine
from vgraph.graph.layouts.base import ArcLayout, Arcs, Prepared

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

LANES: Final = 16
MOST: Final = 0xFFFF
"""Sources of a segment at most."""
NONE: Final = 0xFFFF
"""The offset where no arc is."""
TASK: Final = 256
"""Steps of 16 arcs that a thread takes together, unless a slice has more: some microseconds. On a road network a range
has 14,000 steps, so with 1,024 in a task 16 threads waited for each other half the time."""
WINDOW: Final = 64
WINDOWS: Final = 256
"""To tell how long rows will be, so many windows of so many destinations are looked at."""
RANKS: Final = 384
"""Lengths that rows are sorted by: each below 64, and 32 more each time they double; beyond 2**16 all alike."""


def build(arcs: Arcs, count: int) -> dict[str, Any]:
    """The sources in `count` ranges, or as many more as 16-bit offsets need, of `width` ids each.

    Segment s of those that have arcs, with the sources from `starts[s]` on, has the tasks `bounds[s] .. bounds[s + 1]`,
    task t the slices `tasks[t] .. tasks[t + 1]`, and slice i the steps `steps[i] .. steps[i + 1]` (all int64), of
    which its shortest row has the first `full[i]`. Step k has a source of lane l, less `starts[s]`, at
    `offsets[16 * k + l]` (uint16; NONE where the row has ended). Lane l of slice i is row `16 * i + l`: its destination
    is `vertices[row]`, num_vertices where it has none, its in-arcs are `firsts[row] .. firsts[row] + lengths[row]`.
    Memory: two bytes for an arc, and 12 to 20 bytes for a row.
    """
    row_offsets, columns = arcs.adjacency("in")
    n, m = arcs.num_vertices, arcs.num_arcs
    width = width_of(n, count)
    ranges = max(1, -(-n // width))
    names = _names(row_offsets, columns)
    cuts = machine.cuts(row_offsets)
    counts = np.zeros((cuts.size - 1, ranges, RANKS), np.int64)
    machine.run("sell", "vg_sell_count", cuts, lambda k: (width, row_offsets, columns, counts[k]), **names)
    places, rows_of = _places(counts)
    total = int(rows_of[-1])
    vertices = np.full(total, n, columns.dtype)
    lengths, firsts = np.zeros(total, np.uint32), np.zeros(total, row_offsets.dtype)
    found = vertices, lengths, firsts
    machine.run(
        "sell", "vg_sell_place", cuts, lambda k: (width, row_offsets, columns, places[k], *found), **names
    )
    by_slice = lengths.reshape(-1, LANES)
    steps = np.zeros(len(by_slice) + 1, np.int64)
    np.cumsum(by_slice.max(axis=1, initial=0), out=steps[1:])
    offsets = np.empty(LANES * int(steps[-1]), np.uint16)
    machine.run(
        "sell",
        "vg_sell_fill",
        machine.cuts(LANES * steps),
        lambda _: (width, columns, steps, lengths, firsts, offsets),
        **names,
    )
    filled = np.flatnonzero(np.diff(rows_of)) if m else np.zeros(1, np.int64)
    starts = rows_of[np.append(filled, ranges)] // LANES
    tasks, bounds = tasks_of(steps, starts, starts)
    return {
        "bounds": bounds,
        "starts": filled * width,
        "tasks": tasks,
        "steps": steps,
        "full": by_slice.min(axis=1).astype(np.int64) if total else np.zeros(0, np.int64),
        "offsets": offsets,
        "vertices": vertices,
        "lengths": lengths,
        "firsts": firsts,
        "count": filled.size,
        "width": width,
    }


def width_of(num_vertices: int, count: int) -> int:
    """Sources of a segment."""
    return max(1, -(-num_vertices // max(count, -(-num_vertices // MOST))))


def arcs_of_a_row(graph: Graph) -> float:
    """How many arcs a row has, on average, from a sample of destinations spread evenly; 0 without arcs."""

    def look() -> float:
        rows, n = graph.in_, graph.num_vertices
        width, count, arcs = width_of(n, 2), 0, 0
        for first in range(0, n, WINDOW * max(1, n // (WINDOW * WINDOWS))):
            offsets = rows.row_offsets[first : first + WINDOW + 1].astype(np.int64)
            segments = rows.column_indices[offsets[0] : offsets[-1]] // width
            new = np.ones(segments.size, np.bool_)
            new[1:] = segments[1:] != segments[:-1]
            new[(offsets - offsets[0])[:-1][np.diff(offsets) > 0]] = True
            count, arcs = count + int(new.sum()), arcs + segments.size
        return arcs / count if count else 0.0

    return graph.kept_with_topology("arcs of a row", look)


def order(arcs: Arcs, made: Prepared, values: Any, count: int) -> Any:
    """Values by in-arc in the order of `offsets`; where no arc is, any."""
    steps, lengths, firsts = (made.arrays[name] for name in ("steps", "lengths", "firsts"))
    found = np.empty(made.arrays["offsets"].size, firsts.dtype)
    names = _names(firsts, arcs.adjacency("in")[1])
    machine.run(
        "sell",
        "vg_sell_arcs",
        machine.cuts(LANES * steps),
        lambda _: (steps, lengths, firsts, found),
        **names,
    )
    return values[found]


SELL: Final = ArcLayout(
    "sell",
    {"bounds": "int64", "starts": "int64", "tasks": "int64", "steps": "int64", "full": "int64", "offsets": "uint16",
     "vertices": "id", "lengths": "uint32", "firsts": "offset"},
    ("count", "width"),
    build,
    order,
)  # fmt: skip


def _names(row_offsets: NDArray[Any], columns: NDArray[Any]) -> dict[str, Any]:
    """What the functions' types and numbers stand for."""
    types = {"ID": machine.machine_type(columns), "OFFSET": machine.machine_type(row_offsets)}
    numbers = {"RANKS": RANKS, "NONE": NONE, "BYTES": columns.itemsize, "WIDE": row_offsets.itemsize}
    return {"types": types, "numbers": numbers}


def _places(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of the first row of each part, segment and rank; and the first of each segment, a multiple of LANES.

    Within a segment the highest rank comes first, within a rank the first part: so the result is the same in any number
    of parts.
    """
    ahead = np.moveaxis(counts[:, :, ::-1], 0, 2)  # segment, rank from the highest, part
    flat = ahead.reshape(len(ahead), -1)
    before = np.cumsum(flat, axis=1) - flat
    rows_of = np.zeros(len(ahead) + 1, np.int64)
    np.cumsum(-(-flat.sum(axis=1) // LANES) * LANES, out=rows_of[1:])
    places = (before + rows_of[:-1, None]).reshape(ahead.shape)
    return np.ascontiguousarray(np.moveaxis(places, 2, 0)[:, :, ::-1]), rows_of


def tasks_of(
    steps: NDArray[np.int64], starts: NDArray[np.int64], slices: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first slice of each task, of which one begins with each slice of `starts`; and the first task of each range,
    which has the slices from `slices[s]` on."""
    piece = steps[:-1] // TASK
    new = np.ones(steps.size, np.bool_)
    new[1:-1] = piece[1:] != piece[:-1]
    new[starts] = True
    tasks = np.flatnonzero(new)
    return tasks, np.searchsorted(tasks, slices)
