"""The values of axes as programs write them, and the functions that make those with a number."""

from __future__ import annotations

from sys import float_info

from vgraph.errors import ScheduleError, shown
from vgraph.schedule.record import between
from vgraph.schedule.values import *
from vgraph.tracebacks import public

PUSH, PULL = Direction.PUSH, Direction.PULL
LOCAL, BASE, COMBINE, DELAYED = Exchange.LOCAL, Exchange.BASE, Exchange.COMBINE, Exchange.DELAYED
DENSE, CHANGED = Volume.DENSE, Volume.CHANGED
FUSED, GATHER_APPLY, APPLY_SCATTER = Phases.FUSED, Phases.GATHER_APPLY, Phases.APPLY_SCATTER
RAW, COMPUTED = Payload.RAW, Payload.COMPUTED
TOPOLOGY, DATA = Drive.TOPOLOGY, Drive.DATA
SPARSE, BITMAP = FrontierLayout.SPARSE, FrontierLayout.BITMAP
BSP, ASYNC = Sync.BSP, Sync.ASYNC
CSR, DELTA, SLICES = Rows.CSR, Rows.DELTA, Rows.SLICES
UNORDERED, STRICT = Order("unordered"), Order("strict")
FREE = Conflict("free")
EDGE_LOCKED, NODE_LOCKED, HYBRID = map(Conflict, LOCKING)
SEQUENTIAL, AGM_E, AGM_N, SGM, DIAGONAL, COLORED = map(Conflict, PLANNED)
MARKED, RACED = map(Conflict, MARKING)
VERTEX, EDGE, WARP, BLOCK, TWC = (Balance(kind) for kind in ("vertex", "edge", "warp", "block", "twc"))


@public
def delta_stepping(delta: float | None = None) -> Order:
    """Buckets of width `delta`, a positive number; by default 4 * average weight / average degree.

    Raises ScheduleError for anything else.
    """
    number = isinstance(delta, int | float) and not isinstance(delta, bool) and 0 < delta <= float_info.max
    if delta is not None and not number:
        raise ScheduleError(f"delta_stepping({shown(delta)}): the width of a bucket is a positive number")
    return Order("delta", delta)


@public
def SPLIT(limit: int | None = None) -> Balance:
    """Vertices of more than `limit` arcs are split; by default the limit follows from the histogram of degrees.

    Raises ScheduleError unless `limit` is an int from 1 to 2**62.
    """
    if limit is not None and not between(1, 1 << 62)(limit):
        raise ScheduleError(f"SPLIT({shown(limit)}): the limit is an int from 1 to 2**62")
    return Balance("split", limit)


@public
def blocked_diagonals(rows: int | None = None, columns: int | None = None) -> Conflict:
    """The plan `vg.DIAGONAL` with blocks of `rows` sources x `columns` destinations in place of single edges.

    Without sizes vertices are dealt to the blocks by their degrees. Raises ScheduleError unless there are none, or two
    ints from 1 to 2**31.
    """
    if rows is None and columns is None:
        return Conflict("blocked_diagonals")
    if rows is None or columns is None or not all(map(between(1, 1 << 31), (rows, columns))):
        given = f"{shown(rows)}, {shown(columns)}"
        raise ScheduleError(
            f"blocked_diagonals({given}): rows and columns are ints from 1 to 2**31, or both left out"
        )
    return Conflict("blocked_diagonals", rows, columns)


@public
def dealt_blocks(parts: int = 8) -> Conflict:
    """A plan of `parts` x `parts` blocks of the matrix for a set of devices: those of a turn share no row, no column.

    Each device has some of them, and hands on what it has of the columns. Raises ScheduleError unless `parts` is an
    even number from 2 to 256.
    """
    if not between(2, 256)(parts) or parts % 2:
        raise ScheduleError(f"dealt_blocks({shown(parts)}): the number of parts is even, from 2 to 256")
    return Conflict("dealt_blocks", parts)


@public
def even_blocks(parts: int = 32) -> Conflict:
    """A plan of `parts` x `parts` blocks of the matrix for the threads of a CPU, in `parts` phases.

    Rows and columns are cut into ranges of equally many arcs. Raises ScheduleError unless `parts` is an even number
    from 2 to 256.
    """
    if not between(2, 256)(parts) or parts % 2:
        raise ScheduleError(f"even_blocks({shown(parts)}): the number of parts is even, from 2 to 256")
    return Conflict("even_blocks", parts)


__all__ = [
    "AGM_E", "AGM_N", "APPLY_SCATTER", "ASYNC", "BASE", "BITMAP", "BLOCK", "BSP", "CHANGED", "COLORED",
    "COMBINE", "COMPUTED", "CSR", "DATA", "DELAYED", "DELTA", "DENSE", "DIAGONAL", "EDGE", "EDGE_LOCKED",
    "FREE", "FUSED", "GATHER_APPLY", "HYBRID", "LOCAL", "MARKED", "NODE_LOCKED", "PULL", "PUSH", "RACED",
    "RAW", "SEQUENTIAL", "SGM", "SLICES", "SPARSE", "SPLIT", "STRICT", "TOPOLOGY", "TWC", "UNORDERED",
    "VERTEX", "WARP", "blocked_diagonals", "dealt_blocks", "delta_stepping",
    "even_blocks",
]  # fmt: skip
