"""Many arcs into rows, by threads in machine code (`compiler/backends/prelude/rows.loops`).

A counting sort by row, then each row by column. Every thread has a range of rows, goes through all arcs, and takes
those of its rows: that streams the arcs once per thread, but nothing is shared, and no memory is needed besides the
result.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import machine

FROM: Final = 1 << 20
"""Arcs from which on this pays: below, NumPy sorts in less time than threads and machine code take to begin."""
_SHORT: Final = 24
"""Arcs of a row that are inserted one by one; longer rows are merged of such pieces."""
_LONG: Final = 1 << 16
"""Arcs of a row that a thread merges; NumPy sorts longer ones."""
_VALUES: Final = {"none": 0, "given": 1, "numbers": 2}


def into_rows(
    sources: NDArray[Any],
    targets: NDArray[Any],
    num_vertices: int,
    values: NDArray[np.uint32] | None,
    *,
    numbers: bool,
    step: int = 1,
) -> tuple[NDArray[Any], NDArray[np.uint32], NDArray[np.uint32] | None]:
    """Row offsets, columns and what goes with each arc: of `values`, or with `numbers` the arc's number, or nothing.

    `sources`, `targets`: every `step`-th entry is an arc's, below 2**32. Rows are sorted by target, parallel arcs stay
    in the order given.
    """
    size = -(-sources.size // step)
    kind = _VALUES["given" if values is not None else "numbers" if numbers else "none"]
    places = np.zeros(num_vertices + 1, np.uint32 if size <= 0xFFFF_FFFF else np.uint64)
    names: dict[str, Any] = {
        "types": {"ID": machine.machine_type(sources), "AT": machine.machine_type(places)},
        "numbers": {"STEP": step, "VALUES": kind, "SHORT": _SHORT, "LONG": _LONG},
    }
    _count(places, lambda _: (size, sources, places), names, size)
    offsets = _offsets(places)
    cuts = machine.cuts(offsets)
    columns = np.empty(size, np.uint32)
    found = np.empty(size if kind else 1, np.uint32)
    given = found if values is None else values
    arrays = size, sources, targets, given, places, columns, found
    machine.run("rows", "vg_rows_fill", cuts, lambda _: arrays, **names)
    machine.run(
        "rows",
        "vg_rows_sort",
        cuts,
        lambda _: (offsets, columns, found, np.empty(2 * _LONG, np.uint64)),
        **names,
    )
    for row in np.flatnonzero(np.diff(offsets) > _LONG).tolist():
        part = slice(int(offsets[row]), int(offsets[row + 1]))
        order = np.argsort(columns[part], kind="stable")
        columns[part] = columns[part][order]
        if kind:
            found[part] = found[part][order]
    return offsets, columns, found if kind else None


def turned(
    row_offsets: NDArray[Any], columns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Offsets, sources and numbers of the arcs by column, of the dtypes given."""
    places = np.zeros(row_offsets.size, row_offsets.dtype)
    names: dict[str, Any] = {
        "types": {"ID": machine.machine_type(columns), "AT": machine.machine_type(places)},
        "numbers": {"STEP": 1},
    }
    size = columns.size
    _count(places, lambda _: (size, columns, places), names, size)
    offsets = _offsets(places)
    sources, numbers = np.empty_like(columns), np.empty(size, row_offsets.dtype)
    arrays = row_offsets.size - 1, row_offsets, columns, places, sources, numbers
    machine.run("rows", "vg_rows_turn", machine.cuts(offsets), lambda _: arrays, **names)
    return offsets, sources, numbers


def _count(places: NDArray[Any], arguments: Any, names: dict[str, Any], size: int) -> None:
    """How many arcs each row has, into `places`."""
    even = machine.cuts(np.linspace(0, size, places.size).astype(np.int64))
    machine.run("rows", "vg_rows_count", even, arguments, **names)


def _offsets(places: NDArray[Any]) -> NDArray[Any]:
    """Where each row begins, and the last ends; into `places` goes where the first arc of each row goes."""
    offsets = np.zeros_like(places)
    np.cumsum(places[:-1], out=offsets[1:])
    places[:] = offsets
    return offsets
