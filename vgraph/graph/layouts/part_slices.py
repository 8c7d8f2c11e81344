"""Slices for a GPU by the parts of an edge partition: what a part's arcs need of their sources lies in shared memory.

Within a part sources are numbered in ascending order, so that 16 bits tell one; a part with more of them than have
room is cut into several segments. All else is as in `slices.py`: rows of a destination are short, and of equal length
side by side.
"""

from __future__ import annotations

from typing import Any, Final

from vgraph.graph.layouts.base import ArcLayout, Arcs, Parameter, Prepared
from vgraph.graph.layouts.parts import part_of_arcs
from vgraph.graph.layouts.slices import Pulled, in_lanes, laid_out
from vgraph.graph.layouts.slices import fit as fit_ranges


def fit(arcs: Arcs, shared: int, given: Parameter, bits: int) -> tuple[Parameter, ...]:
    """The partition, and how many sources a segment has at most."""
    return given, *fit_ranges(arcs, shared, 1, bits)


def build(arcs: Arcs, given: Parameter, width: int) -> dict[str, Any]:
    """As of slices, but that segment s has the sources `members[starts[s] .. starts[s + 1]]`."""
    pulled, _, members, begins = _pulled(arcs, given, width)
    filled, made = laid_out(pulled)
    assert filled.size == begins.size - 1, "every segment has arcs"
    return {"starts": begins, "members": members, **made}


def order(arcs: Arcs, made: Prepared, values: Any, given: Parameter, width: int) -> Any:
    """As of slices."""
    pulled, places, _, _ = _pulled(arcs, given, width)
    return in_lanes(pulled, values[places])


def _pulled(arcs: Arcs, given: Parameter, width: int) -> tuple[Pulled, Any, Any, Any]:
    """The arcs, and at which place of the in-arcs each stood; the sources of all segments, and where those of each
    begin."""
    xp, (row_offsets, columns) = arcs.xp, arcs.adjacency("in")
    n, t = arcs.num_vertices, xp.int64
    part = xp.unique(xp.asarray(part_of_arcs(arcs.graph, given)), return_inverse=True)[1].reshape(-1)
    pairs, pair = xp.unique(part * max(1, n) + columns.astype(t), return_inverse=True)
    # Pairs of part and source into segments.
    owner = pairs // max(1, n)
    new = xp.ones(pairs.size, xp.bool_)
    new[1:] = owner[1:] != owner[:-1]
    first = xp.flatnonzero(new)
    which = xp.cumsum(new) - 1
    inside = xp.arange(pairs.size, dtype=t) - first[which]
    new |= inside % width == 0
    begins = xp.flatnonzero(new)
    number = (xp.cumsum(new) - 1) * width + inside % width
    # Each row in the order of its sources' new numbers.
    sources = number[pair.reshape(-1)]
    targets = xp.searchsorted(row_offsets[1:].astype(t), xp.arange(columns.size, dtype=t), side="right")
    places = xp.argsort(targets * max(1, begins.size * width) + sources)
    pulled = Pulled(xp, row_offsets, sources[places], width, max(1, begins.size), columns.dtype)
    starts = xp.append(begins, pairs.size).astype(t)
    return pulled, places, (pairs % max(1, n)).astype(columns.dtype), starts


PART_SLICES: Final = ArcLayout(
    "part_slices",
    {"starts": "int64", "chunks": "int64", "offsets": "uint16", "masks": "uint32", "ranks": "uint32", "rows": "id",
     "members": "id"},
    ("count", "width"),
    build,
    order,
    fit,
)  # fmt: skip
