"""Plans by diagonals of the adjacency matrix: entries of one diagonal lie in different rows and columns.

Kaleem 2016, section 4.3.2 (Diag and BlkDiag); Venkat et al. 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.conflicts.base import Ends, Plan, plan


def blocked_diagonals(ends: Ends, rows: int, columns: int) -> Plan:
    """Phases are diagonals of blocks of `rows` x `columns`, cells are blocks; one by one these are plain diagonals.

    Where sources and targets are different vertices, the matrix has a row for each source and a column for each target,
    and there are at most `sources / rows + targets / columns - 1` phases. Elsewhere a vertex is a row and a column, so
    both are cut by the larger of the two sizes, and each diagonal but the main one is two phases: along it, the column
    of one block is the row of another, which is as far away as the diagonal is from the main one.
    """
    n = ends.num_vertices
    active, reached = np.zeros(n, bool), np.zeros(n, bool)
    active[ends.sources] = reached[ends.targets] = True
    apart = not (active & reached).any()
    if apart:
        row, column = _places(active)[ends.sources] // rows, _places(reached)[ends.targets] // columns
    else:
        size = max(rows, columns)
        row, column = ends.sources.astype(np.int64) // size, ends.targets.astype(np.int64) // size
    away = column - row
    diagonal = away - int(away.min(initial=0))
    if apart:
        return plan(ends, diagonal, within=row)
    return plan(ends, 2 * diagonal + row // np.maximum(abs(away), 1) % 2 * (away != 0), within=row)


def _places(of: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each vertex how many there are before it."""
    return np.cumsum(of) - of
