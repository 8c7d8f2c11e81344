"""Neighbor lists with their first ids in 16 bits, eight side by side: for GPUs on which many lists are walked.

Where low numbers are hubs, as in an orientation by degree, most neighbors are among the first 65,535 vertices. Those of
a list are its *head*, each once, padded to a multiple of `EIGHT`; the rest, its tail, is read from CSR.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from vgraph.graph.layouts.base import ArcLayout, Arcs

EIGHT: Final = 8
"""Ids that a lane reads at once, 16 bytes."""
LANES: Final = 32
HEAD_BITS: Final = 7 * 32
"""Of eight words of shared memory that a warp marks, so many bits are for heads."""
WARPS: Final = 16
"""Warps among which the memory of a block is divided (`layout.BLOCK` threads). Where they are more, ids have no bits of
their own, which `marks.cuh` sees."""
COUNTED: Final = 3, 4
"""The part of the memory that marks have where there are counters, too."""


def fit(arcs: Arcs, shared: int, count: int, counters: int) -> tuple[int, int]:
    """How many of the `count` first vertices are in heads, where each warp of a kernel with `counters` arrays of
    counters has a bit for each: one less than a multiple of 32, for the padding has a bit, too, which is never set."""
    words = shared // 4
    part, of = COUNTED if counters else (1, 1)
    most = words // of * part // WARPS // 8 * HEAD_BITS
    return max(1, min(count, most, 1 << 16) // LANES) * LANES - 1, counters


def build(arcs: Arcs, width: int, counters: int, *, side: str) -> dict[str, Any]:
    """The head of v is `ids[8 * starts[v]:8 * starts[v + 1]]`, ascending, padded with `width`; its tail
    `columns[tails[v]:row_offsets[v + 1]]` of CSR."""
    xp, most = arcs.xp, arcs.num_arcs + EIGHT * arcs.num_vertices
    t = np.int32 if most <= np.iinfo(np.int32).max else np.int64
    rows, columns = arcs.adjacency(side)
    begin = rows.astype(t)
    early = columns < width
    tails = begin[:-1] + _within(xp, early, begin)
    fresh, count = early, tails - begin[:-1]
    again = xp.zeros(columns.size, bool)  # parallel arcs count once
    again[1:] = columns[1:] == columns[:-1]
    again[begin[:-1][begin[:-1] < begin[1:]]] = False
    if again.any():
        fresh = early & ~again
        count = _within(xp, fresh, begin)
    starts = xp.zeros(count.size + 1, t)
    xp.cumsum(-(-count // EIGHT), dtype=t, out=starts[1:])
    ids = xp.full(int(starts[-1]) * EIGHT, width, xp.uint16)
    before = xp.zeros(count.size + 1, t)
    xp.cumsum(count, dtype=t, out=before[1:])
    some = count > 0
    # Each list moves by as much as the ones before it are padded.
    moves = xp.zeros(int(before[-1]), t)
    moved = (starts[:-1] * EIGHT - before[:-1])[some]
    if moves.size:
        moves[before[:-1][some]] = xp.diff(moved, prepend=moved[:1] * 0)
        ids[xp.cumsum(moves, dtype=t) + xp.arange(moves.size, dtype=t)] = columns[fresh].astype(xp.uint16)
    return {"starts": starts.astype(xp.uint32), "ids": ids, "tails": tails.astype(rows.dtype), "width": width}


def _within(xp: Any, flags: Any, begin: Any) -> Any:
    """How many of the flags of each row are set."""
    sums = xp.zeros(flags.size + 1, begin.dtype)
    xp.cumsum(flags, dtype=begin.dtype, out=sums[1:])
    return sums[begin[1:]] - sums[begin[:-1]]


HEADS: Final = {
    side: ArcLayout(
        f"{side}_heads",
        {"starts": "uint32", "ids": "uint16", "tails": "offset"},
        ("width",),
        partial(build, side=side),
        fit=fit,
        side=side,
    )
    for side in ("out", "in")
}
"""The layout of the lists on each side."""
