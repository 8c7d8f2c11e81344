"""In-arcs cut by ranges of sources, so that the values of one range stay in a cache while its arcs are walked.

Zhang, Kiriansky, Mendis, Amarasinghe and Zaharia 2017, "Making caches work for graph analytics" (Cagra).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.layouts.base import ArcLayout, Arcs, Prepared

CHUNK: Final = 1 << 22
"""Arcs that are looked at together while segments are built."""


def build(arcs: Arcs, count: int) -> dict[str, Any]:
    """The in-arcs by segment, then by destination, then ascending by source.

    Segment `s` holds the arcs whose source lies in `s * width .. (s + 1) * width`. Its rows, one for each destination
    that has such an arc, are numbered `bounds[s] .. bounds[s + 1]` (int64, one entry more than segments). Row `r`
    belongs to vertex `vertices[r]`; its sources are `column_indices[row_offsets[r]:row_offsets[r + 1]]`.
    Memory: an id per arc, an id and an offset per row. There are at most as many rows as arcs, and at most
    num_vertices times the number of segments.
    """
    xp = arcs.xp
    row_offsets, columns = arcs.adjacency("in")
    width = _width(arcs, count)
    segment = _segment_of_arcs(xp, columns, width)
    bounds = np.zeros(count + 1, np.int64)
    vertices, lengths = [], []
    ordered = xp.empty_like(columns)
    end = 0
    for s in range(count):
        inside = segment == s
        degrees = _counts(xp, inside, row_offsets)
        rows = xp.flatnonzero(degrees)
        vertices.append(rows.astype(columns.dtype))
        lengths.append(degrees[rows])
        bounds[s + 1] = bounds[s] + rows.size
        size = int(lengths[-1].sum())
        ordered[end : end + size] = columns[inside]
        end += size
    offsets = xp.zeros(int(bounds[-1]) + 1, row_offsets.dtype)
    xp.cumsum(xp.concatenate(lengths), out=offsets[1:])
    return {
        "bounds": xp.asarray(bounds),
        "vertices": xp.concatenate(vertices),
        "row_offsets": offsets,
        "column_indices": ordered,
        "count": count,
        "width": width,
    }


def order(arcs: Arcs, _: Prepared, values: Any, count: int) -> Any:
    """Values by in-arc in the order of `column_indices`."""
    xp = arcs.xp
    segment = _segment_of_arcs(xp, arcs.adjacency("in")[1], _width(arcs, count))
    found, end = xp.empty_like(values), 0
    for s in range(count):
        part = values[segment == s]
        found[end : end + len(part)] = part
        end += len(part)
    return found


SEGMENTS: Final = ArcLayout(
    "segments",
    {"bounds": "int64", "vertices": "id", "row_offsets": "offset", "column_indices": "id"},
    ("count", "width"),
    build,
    order,
)


def _width(arcs: Arcs, count: int) -> int:
    """Sources of a segment."""
    return max(1, -(-arcs.num_vertices // count))


def _segment_of_arcs(xp: Any, columns: NDArray[Any], width: int) -> NDArray[Any]:
    """The segment of every arc, in as few bytes as hold its number."""
    largest = int(columns.max()) // width if columns.size else 0
    found: NDArray[Any] = xp.empty(columns.size, np.min_scalar_type(largest))
    for start in range(0, columns.size, CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = columns[part] // columns.dtype.type(width)
    return found


def _counts(xp: Any, inside: NDArray[np.bool_], row_offsets: NDArray[Any]) -> NDArray[Any]:
    """For each row, how many of its arcs are `inside`."""
    before = xp.zeros(inside.size + 1, row_offsets.dtype)
    xp.cumsum(inside, out=before[1:])
    counts: NDArray[Any] = before[row_offsets[1:]] - before[row_offsets[:-1]]
    return counts
