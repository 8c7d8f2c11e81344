"""Neighbor lists with the hubs in front, and those of the hubs also as bitmaps: for what two lists have in common.

Hubs are the vertices of the highest degrees, numbered by ascending id, so that whoever walks the hubs of a list by
their numbers meets the vertices in the order of the list. In power-law graphs few vertices are in most lists: the
hubs that two lists share are counted by AND and popcount, 512 of them at a time (Aberger, Tu, Olukotun and Re 2016,
"EmptyHeaded": bitsets for dense sets, lists for sparse ones).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import machine
from vgraph.graph.layouts.base import ArcLayout, Arcs

BLOCK: Final = 512
"""Bits that are looked at together; a bitmap is so many times as long, up to its last hub."""
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
    n, (row_offsets, columns) = arcs.num_vertices, arcs.adjacency(side)
    count = min(count, n)
    vertices = _hubs(row_offsets, columns, count)
    types = {"ID": machine.machine_type(columns), "OFFSET": machine.machine_type(row_offsets)}
    run, cuts = partial(machine.run, "hubs", types=types), machine.cuts(row_offsets)
    split = np.empty(n, row_offsets.dtype)
    if (vertices == np.arange(count)).all():
        run("vg_hubs_split", cuts, lambda _: (count, row_offsets, columns, split))
    else:
        numbers, given, columns = np.full(n, count, columns.dtype), columns, np.empty_like(columns)
        numbers[vertices] = np.arange(count, dtype=columns.dtype)
        run("vg_hubs_move", cuts, lambda _: (count, row_offsets, given, numbers, split, columns))
    vertices = vertices.astype(columns.dtype)
    begin, end = row_offsets[vertices].astype(np.int64), split[vertices].astype(np.int64)
    last = columns[np.maximum(end - 1, 0)].astype(np.int64) if columns.size else end
    of_vertex = np.zeros(n + 1, np.uint32)
    of_vertex[vertices.astype(np.int64) + 1] = np.where(end > begin, last // BLOCK + 1, 0)
    blocks = np.cumsum(of_vertex, dtype=np.uint32)
    words = _aligned(int(blocks[-1]) * (BLOCK // 64))
    work = np.concatenate(([0], np.cumsum(end - begin)))
    run("vg_hubs_bits", machine.cuts(work), lambda _: (vertices, row_offsets, split, columns, blocks, words))
    return {"split": split, "columns": columns, "vertices": vertices, "blocks": blocks, "words": words}


def _hubs(row_offsets: NDArray[Any], columns: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The ids of the `count` vertices with the most arcs in both directions, ascending."""
    n = row_offsets.size - 1
    degrees = np.diff(row_offsets).astype(np.int64) + np.bincount(columns, minlength=n)
    if degrees[:count].sum() >= FIRST_SHARE * np.partition(degrees, n - count)[n - count :].sum():
        return np.arange(count)
    return np.sort(np.argsort(degrees.max(initial=0) - degrees, kind="stable")[:count])


def _aligned(size: int) -> NDArray[np.uint64]:
    """Words, all zero, that begin with a line of the cache."""
    whole = np.zeros(size + 8, np.uint64)
    return whole[-whole.ctypes.data % 64 // 8 :][:size]


HUBS: Final = {
    side: ArcLayout(
        f"{side}_hubs",
        {"split": "offset", "columns": "id", "vertices": "id", "blocks": "uint32", "words": "uint64"},
        (),
        partial(build, side=side),
        side=side,
    )
    for side in ("out", "in")
}
"""The layout of the lists on each side."""
