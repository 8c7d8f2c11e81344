"""In-arcs cut by ranges of sources, so that the values of one range stay in a cache while its arcs are walked.

Zhang, Kiriansky, Mendis, Amarasinghe and Zaharia 2017, "Making caches work for graph analytics" (Cagra).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.arrays import handed_out, sealed

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

CHUNK: Final = 1 << 22
"""Arcs that are looked at together while segments are built."""


@dataclass(frozen=True, eq=False)
class Segments:
    """The in-arcs of a graph by segment, then by destination, then ascending by source; all arrays are read-only.

    Segment `s` holds the arcs whose source lies in `s * width .. (s + 1) * width`. Its rows, one for each destination
    that has such an arc, are numbered `bounds[s] .. bounds[s + 1]` (int64, one entry more than segments). Row `r`
    belongs to vertex `vertices[r]`; its sources are `column_indices[row_offsets[r]:row_offsets[r + 1]]`.
    Memory: an id per arc, an id and an offset per row. There are at most as many rows as arcs, and at most
    num_vertices times the number of segments.
    """

    width: int
    bounds: NDArray[np.int64]
    vertices: NDArray[Any]
    row_offsets: NDArray[Any]
    column_indices: NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("bounds", "vertices", "row_offsets", "column_indices"):
            object.__setattr__(self, name, sealed(getattr(self, name)))

    @property
    def count(self) -> int:
        """The number of segments."""
        return self.bounds.size - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.bounds, self.vertices, self.row_offsets, self.column_indices)
        return sum(array.nbytes for array in arrays)


def segments_of(graph: Graph, count: int) -> Segments:
    """The in-arcs of `graph` in `count` segments; built when first asked for, kept with the graph."""
    return graph.kept_with_topology(
        f"segments {count}", lambda: _build(graph.in_.row_offsets, graph.in_.column_indices, count)
    )


def segment_property(graph: Graph, name: str, count: int) -> NDArray[Any]:
    """Edge property `name` in the order of the arcs of `segments_of(graph, count)`; kept with the graph."""
    key = property_name(name, count)
    with graph._topology.lock:
        found = graph._in_edge.get(key)
        if found is None:
            values = graph.in_property(name)
            found = np.empty_like(values)
            segment, end = _segment_of_arcs(graph.in_.column_indices, segments_of(graph, count).width), 0
            for s in range(count):
                part = values[segment == s]
                found[end : end + len(part)] = part
                end += len(part)
            found = graph._in_edge[key] = sealed(found)
    return handed_out(found)


def property_name(name: str, count: int) -> str:
    """What kernels call edge property `name` in the order of `count` segments."""
    return f"{name}.segments.{count}"


def split_name(name: str) -> tuple[str, int]:
    """The inverse of `property_name`."""
    base, _, count = name.rpartition(".segments.")
    return base, int(count)


def _build(row_offsets: NDArray[Any], columns: NDArray[Any], count: int) -> Segments:
    num_vertices = row_offsets.size - 1
    width = max(1, -(-num_vertices // count))
    segment = _segment_of_arcs(columns, width)
    bounds = np.zeros(count + 1, np.int64)
    vertices, lengths = [], []
    ordered = np.empty_like(columns)
    end = 0
    for s in range(count):
        inside = segment == s
        degrees = _counts(inside, row_offsets)
        rows = np.flatnonzero(degrees)
        vertices.append(rows.astype(columns.dtype))
        lengths.append(degrees[rows])
        bounds[s + 1] = bounds[s] + rows.size
        arcs = int(lengths[-1].sum())
        ordered[end : end + arcs] = columns[inside]
        end += arcs
    offsets = np.zeros(int(bounds[-1]) + 1, row_offsets.dtype)
    np.cumsum(np.concatenate(lengths), out=offsets[1:])
    return Segments(width, bounds, np.concatenate(vertices), offsets, ordered)


def _segment_of_arcs(columns: NDArray[Any], width: int) -> NDArray[Any]:
    """The segment of every arc, in as few bytes as hold its number."""
    largest = int(columns.max(initial=0)) // width
    found = np.empty(columns.size, np.min_scalar_type(largest))
    for start in range(0, columns.size, CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = columns[part] // columns.dtype.type(width)
    return found


def _counts(inside: NDArray[np.bool_], row_offsets: NDArray[Any]) -> NDArray[Any]:
    """For each row, how many of its arcs are `inside`."""
    before = np.zeros(inside.size + 1, row_offsets.dtype)
    np.cumsum(inside, out=before[1:])
    counts: NDArray[Any] = before[row_offsets[1:]] - before[row_offsets[:-1]]
    return counts


__all__ = ["Segments", "property_name", "segment_property", "segments_of", "split_name"]
