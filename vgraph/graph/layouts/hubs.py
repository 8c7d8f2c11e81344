"""Neighbor lists with the hubs in front, and those of the hubs also as bitmaps: for what two lists have in common.

Hubs are the vertices of the highest degrees, numbered by ascending id, so that whoever walks the hubs of a list by
their numbers meets the vertices in the order of the list. In power-law graphs few vertices are in most lists: the
hubs that two lists share are counted by AND and popcount, 512 of them at a time (Aberger, Tu, Olukotun and Re 2016,
"EmptyHeaded": bitsets for dense sets, lists for sparse ones).
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from vgraph.graph.layouts.base import ArcLayout, Arcs

BLOCK: Final = 512
"""Bits that are looked at together; a bitmap is so many times as long, up to its last hub."""
ROWS: Final = 512
"""Bitmaps that are made together."""
FIRST_SHARE: Final = 0.98
"""The first vertices are taken for the hubs if they have so much of the hubs' arcs: then lists are what they were."""


def build(arcs: Arcs, count: int, *, side: str) -> dict[str, Any]:
    """The lists on one side, for the `count` vertices of the highest degrees.

    The list of v is `columns[row_offsets[v]:row_offsets[v + 1]]` with the `row_offsets` of the graph: first the numbers
    of its hubs, up to place `split[v]`, then the ids of all others, both ascending. Hub h is vertex `vertices[h]`.
    If v is a hub, bit h of `words[8 * blocks[v]:8 * blocks[v + 1]]` tells whether hub h is in its list.
    Memory: an id per arc (none where the hubs are the first vertices), 4 or 8 bytes and 4 more per vertex, and at most
    count * count / 8 bytes.
    """
    xp, n = arcs.xp, arcs.num_vertices
    row_offsets, columns = arcs.adjacency(side)
    count = min(count, n)
    vertices = _hubs(xp, row_offsets, columns, count)
    own = bool((vertices == xp.arange(count)).all())
    number = None
    if own:
        inside = columns < count
    else:
        number = xp.full(n, count, columns.dtype)
        number[vertices] = xp.arange(count, dtype=columns.dtype)
        inside = number[columns] < count
    before = xp.zeros(columns.size + 1, row_offsets.dtype)
    xp.cumsum(inside, dtype=row_offsets.dtype, out=before[1:])
    split = row_offsets[:-1] + (before[row_offsets[1:]] - before[row_offsets[:-1]])
    if number is not None:
        lengths = xp.diff(row_offsets).astype(np.int64)
        front = xp.arange(columns.size) < xp.repeat(split, lengths)
        moved = xp.empty_like(columns)
        moved[front], moved[~front] = number[columns[inside]], columns[~inside]
        columns = moved
    blocks, words = _bitmaps(xp, row_offsets, split, columns, vertices)
    return {"split": split, "columns": columns, "vertices": vertices.astype(columns.dtype), "blocks": blocks,
            "words": words}  # fmt: skip


def _hubs(xp: Any, row_offsets: Any, columns: Any, count: int) -> Any:
    """The ids of the `count` vertices with the most arcs in both directions, ascending."""
    n = len(row_offsets) - 1
    degrees = xp.diff(row_offsets).astype(np.int64) + xp.bincount(columns, minlength=n)
    best = xp.argsort(degrees.max(initial=0) - degrees, kind="stable")[:count]
    if degrees[:count].sum() >= FIRST_SHARE * degrees[best].sum():
        return xp.arange(count)
    return xp.sort(best)


def _bitmaps(xp: Any, row_offsets: Any, split: Any, columns: Any, vertices: Any) -> tuple[Any, Any]:
    """`blocks` and `words` of `build`."""
    begin, end = row_offsets[vertices].astype(np.int64), split[vertices].astype(np.int64)
    last = columns[xp.maximum(end - 1, 0)].astype(np.int64) if columns.size else end
    of_vertex = xp.zeros(len(row_offsets), np.uint32)
    of_vertex[vertices + 1] = xp.where(end > begin, last // BLOCK + 1, 0)
    blocks = xp.cumsum(of_vertex, dtype=np.uint32)
    words = _aligned(xp, int(blocks[-1]) * (BLOCK // 64))
    for first in range(0, len(vertices), ROWS):
        some = slice(first, first + ROWS)
        counts = end[some] - begin[some]
        before = xp.cumsum(counts) - counts
        hubs = columns[xp.arange(int(counts.sum())) + xp.repeat(begin[some] - before, counts)].astype(
            np.int64
        )
        rows = xp.repeat(blocks[vertices[some]].astype(np.int64) * (BLOCK // 64), counts)
        word = rows + (hubs >> 6)
        new = xp.flatnonzero(xp.diff(word, prepend=-1))  # lists ascend, so a word's bits stand together
        if new.size:
            words[word[new]] = xp.bitwise_or.reduceat(xp.uint64(1) << (hubs & 63).astype(np.uint64), new)
    return blocks, words


def _aligned(xp: Any, size: int) -> Any:
    """Words (uint64), all zero, that begin with a line of the cache."""
    whole = xp.zeros(size + 8, np.uint64)
    address = whole.ctypes.data if xp is np else whole.data.ptr
    return whole[-address % 64 // 8 :][:size]


HUBS: Final = {
    side: ArcLayout(
        f"{side}_hubs",
        {"split": "offset", "columns": "id", "vertices": "id", "blocks": "uint32", "words": "uint64"},
        (),
        functools.partial(build, side=side),
        side=side,
    )
    for side in ("out", "in")
}
"""The layout of the lists on each side."""
