"""Plans by diagonals of the adjacency matrix: entries of one diagonal lie in different rows and columns.

Kaleem 2016, section 4.3.2 (Diag and BlkDiag); Venkat et al. 2015.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.conflicts.base import Ends, FirstFit, Plan, ascending, by_cells, shuffled, starts
from vgraph.graph.conflicts.matchings import colored

ARCS: Final = 64
"""Arcs of a block, about, where blocks are made by degree, ..."""
PARTS: Final = 256
"""... and the most parts of rows, and of columns."""
WINDOW: Final = 32
"""Sources of a window of a block that one thread takes."""


def blocked_diagonals(ends: Ends, first_fit: FirstFit, rows: int = 0, columns: int = 0) -> Plan:
    """Phases are diagonals of blocks of `rows` x `columns`, cells are blocks; one by one these are plain diagonals.

    Where sources and targets are different vertices, the matrix has a row for each source and a column for each target,
    and there are at most `sources / rows + targets / columns - 1` phases. Elsewhere a vertex is a row and a column, so
    both are cut by the larger of the two sizes, and each diagonal but the main one is two phases: along it, the column
    of one block is the row of another, which is as far away as the diagonal is from the main one.

    Diagonals come in an order by lot, as matchings do.

    Without sizes rows and columns are dealt to equally many parts by their degrees; where no vertex has more arcs than
    there would be phases, each edge is a block, and phases are those of `colored`.
    """
    active, apart = _sides(ends)
    if not rows:
        return _by_degree(ends, first_fit, active, apart=apart)
    if apart:
        reached = np.zeros_like(active)
        reached[ends.targets] = True
        row, column = _places(active)[ends.sources] // rows, _places(reached)[ends.targets] // columns
    else:
        size = max(rows, columns)
        row, column = ends.sources.astype(np.int64) // size, ends.targets.astype(np.int64) // size
    away = column - row
    diagonal = away - int(away.min(initial=0))
    if not apart:
        diagonal = 2 * diagonal + row // np.maximum(abs(away), 1) % 2 * (away != 0)
    return by_cells(ends, first_fit, shuffled(diagonal), row)


def _by_degree(ends: Ends, first_fit: FirstFit, active: NDArray[np.bool_], *, apart: bool) -> Plan:
    """As many phases as parts, in each of which every part is in one block.

    With rows and columns apart these are the diagonals, each going on at the other side of the matrix. Elsewhere a
    block has the arcs between two parts, in both directions, and phases are the rounds of a tournament, in which each
    of an even number of players meets each other; the blocks between a part and itself are the last.
    """
    degrees = ends.degrees
    parts = max(1, min(PARTS, int((ends.sources.size / ARCS) ** 0.5)) // 2 * 2)
    if degrees.max(initial=0) <= parts:
        return colored(ends, first_fit)
    phase, cell = _met(ends, dealt(active, degrees, parts), parts, apart=apart)
    return by_cells(ends, first_fit, phase, cell)


def even_blocks(ends: Ends, parts: int) -> Plan:
    """As many phases as parts, of which each is a range of vertices with as many arcs as the others have.

    Phases and blocks as in blocks by degree. A block is for one thread: its arcs come by windows of sources, in each by
    lot, so that one does not wait for the one before it, and what is at the targets stays in the cache.
    """
    active, apart = _sides(ends)
    arcs = ends.degrees.astype(np.float64)
    part = np.zeros(ends.num_vertices, np.int64)
    for side in (active, ~active) if apart else (np.ones_like(active),):
        behind = np.cumsum(arcs[side])
        middle = (behind - arcs[side] / 2) / max(behind[-1] if behind.size else 0, 1)
        part[side] = np.minimum(middle * parts, parts - 1)
    phase, cell = _met(ends, part, parts, apart=apart)
    phase, cell = phase.astype(np.uint16), cell.astype(np.uint16)
    lot = np.random.default_rng(0).integers(0, 256, ends.sources.size, np.uint8)
    order = ascending(phase, cell, ends.sources // np.uint32(WINDOW), lot)
    cells = starts(phase, cell, order=order)
    phases = starts(phase, order=order[cells[:-1]])
    return Plan(order, cells, phases, int(ends.degrees.max(initial=0)))


def _sides(ends: Ends) -> tuple[NDArray[np.bool_], bool]:
    """The vertices that are sources, and whether none of them is a target."""
    active, reached = np.zeros(ends.num_vertices, bool), np.zeros(ends.num_vertices, bool)
    active[ends.sources] = reached[ends.targets] = True
    return active, not (active & reached).any()


def _met(
    ends: Ends, part: NDArray[np.int64], parts: int, *, apart: bool
) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """The phase of each arc, and its block's number in this, if every part is to be in one block of a phase."""
    a, b = (part.astype(np.int16)[of] for of in (ends.sources, ends.targets))
    if apart or parts == 1:
        return shuffled((b - a) % parts), a
    low, high = np.minimum(a, b), np.maximum(a, b)
    meet = np.where(high == parts - 1, 2 * low, low + high) % (parts - 1)
    return shuffled(np.where(low == high, parts - 1, meet)), low


def dealt(active: NDArray[np.bool_], degrees: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """The part of each vertex: those with arcs out, then the others, are dealt by falling degree, to and fro."""
    found = np.empty(degrees.size, np.int64)
    turn = np.arange(degrees.size) % (2 * parts)
    falling = ascending(active.astype(np.uint8), degrees.max(initial=0) - degrees)
    found[falling] = np.minimum(turn, 2 * parts - 1 - turn)
    return found


def _places(of: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each vertex how many there are before it."""
    return np.cumsum(of) - of
