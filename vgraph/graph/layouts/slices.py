"""In-arcs for a GPU: by ranges of sources whose values fit into shared memory, as 16-bit offsets, in slices.

A pair of segment and destination is cut into rows of at most `ROW` arcs. Within a segment rows are sorted by their
number of chunks, the longest first; each 32 make a slice, one for each lane of a warp, as long as its longest row:
SELL-32-sigma (Kreutzer, Hager, Wellein, Fehske and Bishop 2014). A *chunk* is four offsets of each lane, 256 bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

from vgraph.graph.layouts.base import ArcLayout, Arcs, Prepared

ROW: Final = 128
"""Arcs of a row at most, so that no lane goes on long after the others."""
LANES: Final = 32
STEP: Final = 4
"""Offsets of a lane in a chunk, and chunks that a warp takes together: each segment has a multiple of them."""
MOST: Final = 0xFFFF
"""Sources of a segment at most: this many offsets, and the one behind them, have 16 bits."""
PADDING: Final = 128
"""Bytes of shared memory behind the values of a segment: the lanes' copies of what is read where there is no arc."""
PLACES: Final = 36
"""Bits of the number of a row where it is sorted, below what it is sorted by."""
UNIT: Final = 1 << 15
"""Shared memory is used by multiples of so many bytes, so that kernels of different needs share one layout."""


def fit(arcs: Arcs, shared: int, count: int, bits: int) -> tuple[int]:
    """How many sources a segment has, where there are `count` segments or more, and `bits` of each are kept in `shared`
    bytes of memory."""
    room = shared - PADDING
    room = room // UNIT * UNIT if room >= UNIT else max(room, bits)
    return (max(1, min(-(-arcs.num_vertices // count), 8 * room // bits, MOST)),)


def build(arcs: Arcs, width: int, *, side: str) -> dict[str, Any]:
    """Segment `s` of those that have arcs, of the `width` sources from `starts[s]` on, has the chunks
    `chunks[s] .. chunks[s + 1]`.

    `offsets[(chunk * 32 + lane) * 4 + k]`: a source less the first of its segment, or `width` where there is no arc.
    Bit `chunk % 32` of `masks[chunk // 32]` is set where a slice ends, and `ranks[chunk // 32]` slices end before.
    Lane l of slice t is a row of destination `rows[32 * t + l]`; num_vertices where it has none, as in a slice more,
    which the chunks behind the last slice belong to.
    """
    filled, made = laid_out(_in_ranges(arcs, width, side))
    return {"starts": filled * width, **made}


class Pulled(NamedTuple):
    """Arcs that are to be laid out: sources by rows, which ascend in each, in `segments` ranges of `width` of them.

    What they are numbers of is up to who asks. `ids`: the dtype of rows' destinations."""

    xp: Any
    row_offsets: Any
    sources: Any
    width: int
    segments: int
    ids: Any


def _in_ranges(arcs: Arcs, width: int, side: str) -> Pulled:
    """By ranges of the sources' numbers."""
    row_offsets, columns = arcs.adjacency(side)
    return Pulled(arcs.xp, row_offsets, columns, width, max(1, -(-arcs.num_vertices // width)), columns.dtype)


def laid_out(pulled: Pulled) -> tuple[Any, dict[str, Any]]:
    """The numbers of the segments that have arcs, and all of the layout but where these begin."""
    xp, width, columns = pulled.xp, pulled.width, pulled.sources
    found = _rows(pulled)
    total = int(found.chunks[-1])
    offsets = xp.full(total * LANES * STEP, width, xp.uint16)
    row, inside = _of_arcs(xp, found, columns.size)
    # Four offsets of a lane stand together.
    inside = (inside // STEP) * (LANES * STEP - STEP) + inside
    inside += (found.first * STEP).astype(inside.dtype)[row]
    offsets[inside] = (columns % columns.dtype.type(width)).astype(xp.uint16)
    filled = xp.flatnonzero(found.chunks[1:] != found.chunks[:-1])
    ends = xp.zeros(-(-total // LANES) * LANES + LANES, xp.bool_)  # one word more: warps look ahead
    ends[found.last] = True
    bits = ends.reshape(-1, LANES)
    before = xp.cumsum(bits.sum(axis=1)) - bits.sum(axis=1)
    weights = xp.left_shift(xp.uint32(1), xp.arange(LANES, dtype=xp.uint32))
    return filled, {
        "chunks": xp.concatenate((found.chunks[:-1][filled], found.chunks[-1:])),
        "offsets": offsets,
        "masks": (bits * weights).sum(axis=1).astype(xp.uint32),
        "ranks": before.astype(xp.uint32),
        "rows": found.rows,
        "count": filled.size,
        "width": width,
    }


def order(arcs: Arcs, made: Prepared, values: Any, width: int, *, side: str) -> Any:
    """Value k of lane l in chunk c at `(c * 4 + k) * 32 + l`: the lanes of a warp read a line; 0 without arc."""
    return in_lanes(_in_ranges(arcs, width, side), values)


def in_lanes(pulled: Pulled, values: Any) -> Any:
    """Values of the arcs, where `laid_out` has these."""
    xp, found = pulled.xp, _rows(pulled)
    places = int(found.chunks[-1]) * LANES * STEP
    ordered = xp.zeros((places, *values.shape[1:]), values.dtype)
    row, inside = _of_arcs(xp, found, pulled.sources.size)
    lane = found.first % LANES
    inside *= LANES
    inside += ((found.first - lane) * STEP + lane).astype(inside.dtype)[row]
    ordered[inside] = values
    return ordered


def _layout(name: str, side: str, undirected: str = "") -> ArcLayout:
    arrays = {"starts": "int64", "chunks": "int64", "offsets": "uint16", "masks": "uint32", "ranks": "uint32"}
    builders = partial(build, side=side), partial(order, side=side), fit
    return ArcLayout(name, {**arrays, "rows": "id"}, ("count", "width"), *builders, side, undirected)


SLICES: Final = _layout("slices", "in")
OUT_SLICES: Final = _layout("out_slices", "out", SLICES.name)
"""The same of out-arcs, for what is gathered against the arcs."""


class _Rows(NamedTuple):
    """Where rows begin: the number of the first in-arc, and the place of the lane in its first chunk, 32 a chunk;
    by segment the first chunk, by slice its last one, and the destinations of lanes."""

    begin: Any
    first: Any
    chunks: Any
    last: Any
    rows: Any


def _rows(pulled: Pulled) -> _Rows:
    xp, offsets, columns, width, count, ids = pulled
    m, n, t = columns.size, offsets.size - 1, xp.int64
    # The sources of a destination ascend, so those of one segment stand together: a pair of the two is a run of arcs.
    segment = columns // columns.dtype.type(width)
    begins = xp.ones(m, xp.bool_)
    begins[1:] = segment[1:] != segment[:-1]
    filled = xp.flatnonzero(offsets[1:] != offsets[:-1])
    heads = offsets[:-1][filled].astype(t)
    begins[heads] = True
    starts = xp.flatnonzero(begins)
    begins[:] = False
    begins[heads] = True
    target = filled[xp.cumsum(begins[starts], dtype=t) - 1]
    size = xp.concatenate((starts[1:], xp.asarray([m][: starts.size], t))) - starts
    # Pairs into rows.
    pieces = -(-size // ROW)
    first_row = _before(xp, pieces)
    pair = _owners(xp, first_row, int(first_row[-1]))
    behind = ROW * (xp.arange(pair.size, dtype=t) - first_row[pair])
    begin, size = starts[pair] + behind, xp.minimum(size[pair] - behind, ROW)
    # Rows into slices: by segment, the longest first.
    long = -(-size // STEP)
    of_row = segment[begin].astype(t)
    ranked = _order(xp, of_row * (ROW // STEP) + (ROW // STEP - long))
    rows_of = xp.bincount(of_row, minlength=count)
    slice_start, row_start = _before(xp, -(-rows_of // LANES)), _before(xp, rows_of)
    place = xp.arange(ranked.size, dtype=t) + (LANES * slice_start[:-1] - row_start[:-1])[of_row[ranked]]
    total = int(slice_start[-1])
    lanes = xp.full((total + 1) * LANES, n, ids)  # behind the last slice: nobody's
    lanes[place] = target[pair[ranked]].astype(ids)
    chunks_of = xp.zeros(total, t)
    leading = xp.flatnonzero(place % LANES == 0)
    chunks_of[place[leading] // LANES] = long[ranked[leading]]
    # Slices one behind the other; each segment up to a multiple of STEP chunks.
    before = _before(xp, chunks_of)
    chunks = _before(xp, -(-(before[slice_start[1:]] - before[slice_start[:-1]]) // STEP) * STEP)
    moved = chunks[:-1] - before[slice_start[:-1]]
    first_chunk = before[:-1] + moved[_owners(xp, slice_start, total)]
    first = xp.empty(ranked.size, t)
    first[ranked] = first_chunk[place // LANES] * LANES + place % LANES
    return _Rows(begin, first, chunks, first_chunk + chunks_of - 1, lanes)


def _of_arcs(xp: Any, rows: _Rows, count: int) -> tuple[Any, Any]:
    """For each arc its row, and its place in it; wide enough for any place in the layout."""
    t = xp.int32 if int(rows.chunks[-1]) * LANES * STEP < 1 << 31 else xp.int64
    marks = xp.zeros(count, t)
    marks[rows.begin[1:]] = 1
    row = xp.cumsum(marks, dtype=t)
    return row, xp.arange(count, dtype=t) - rows.begin.astype(t)[row]


def _before(xp: Any, counts: Any) -> Any:
    """The sums of all counts before each, and of all."""
    sums = xp.zeros(counts.size + 1, xp.int64)
    xp.cumsum(counts, out=sums[1:])
    return sums


def _order(xp: Any, keys: Any) -> Any:
    """Where the keys, below 2**28, stand that come first, second, ...; equals keep their order."""
    both = xp.sort(keys.astype(xp.uint64) << xp.uint64(PLACES) | xp.arange(keys.size, dtype=xp.uint64))
    return (both & xp.uint64((1 << PLACES) - 1)).astype(xp.int64)


def _owners(xp: Any, offsets: Any, count: int) -> Any:
    """For each of `count` items, in rows that begin at the ascending `offsets`, its row."""
    steps = xp.zeros(count + 1, xp.int64)
    filled = xp.flatnonzero(offsets[1:] != offsets[:-1])
    numbers = xp.concatenate((xp.zeros(1, xp.int64), filled))
    steps[offsets[:-1][filled]] = numbers[1:] - numbers[:-1]
    return xp.cumsum(steps[:count])
