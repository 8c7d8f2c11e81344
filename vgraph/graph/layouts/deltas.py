"""Rows of neighbors as 16-bit differences to their vertex: 8 bytes a row where neighbors are few and have near ids.

Such are grids, and road networks in an order that keeps neighbors near (`relabel.py` has one). A row is its first arcs,
in the order of the arcs, so whoever walks it meets the same neighbors in the same order, and arc k of the row is arc
`row_offsets[v] + k` of the graph. What does not fit is read from CSR.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.graph.layouts.base import ArcLayout, Arcs

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

SLOTS: Final = 4
"""Differences in a word, the first in its lowest 16 bits; 0: there is no further arc."""
REST: Final = -(1 << 15)
"""In the last slot: the arcs behind those in the other slots are read from CSR."""
REACH = (1 << 15) - 1
"""The largest difference that is kept; tests make it small."""
WINDOW: Final = 64
WINDOWS: Final = 256
"""To tell how many rows fit, so many windows of so many rows are looked at."""


def build(arcs: Arcs, *, side: str) -> dict[str, Any]:
    """A word for each vertex, of its arcs on one side."""
    return {"words": words_of(arcs.xp, *arcs.adjacency(side))}


def words_of(xp: Any, row_offsets: Any, column_indices: Any, first: int = 0) -> Any:
    """The words (uint64) of the rows that begin with vertex `first`, made where the arrays of `xp` lie.

    `row_offsets`: one more than rows; `column_indices`: those of the whole graph.
    """
    begin, count, size = row_offsets[:-1].astype(np.int64), len(row_offsets) - 1, len(column_indices)
    degree = row_offsets[1:].astype(np.int64) - begin
    own = xp.arange(first, first + count, dtype=np.int64)
    slots = xp.zeros((count, SLOTS), np.int16)
    near = xp.full(count, True)
    for k in range(SLOTS if size else 0):
        inside = degree > k
        step = column_indices[xp.where(inside, begin + k, 0)].astype(np.int64) - own
        near &= inside & (step != 0) & (abs(step) <= REACH)
        slots[:, k] = xp.where(near, step, 0)
    slots[:, -1] = xp.where((slots != 0).sum(axis=1) < degree, REST, slots[:, -1])
    return slots.view(np.uint64).ravel()


DELTAS: Final = {
    side: ArcLayout(f"{side}_deltas", {"words": "uint64"}, (), functools.partial(build, side=side))
    for side in ("out", "in")
}
"""The layout of the arcs on each side."""


def near_rows(graph: Graph) -> float:
    """The share of all vertices whose out-arcs fit in a word each, from a sample spread evenly; 0 without vertices."""

    def look() -> float:
        rows, n, fit = graph.out, graph.num_vertices, []
        for first in range(0, n, WINDOW * max(1, n // (WINDOW * WINDOWS))):
            offsets = rows.row_offsets[first : first + WINDOW + 1]
            columns = rows.neighbors_at(np.arange(int(offsets[0]), int(offsets[-1])))
            words = words_of(np, offsets - offsets[0], columns, first)
            fit.append(words.view(np.int16).reshape(-1, SLOTS)[:, -1] != REST)
        return float(np.concatenate(fit).mean()) if fit else 0.0

    return graph.kept_with_topology("near rows", look)


__all__ = ["DELTAS", "near_rows", "words_of"]
