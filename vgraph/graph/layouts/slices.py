"""In-arcs for a GPU: by ranges of sources whose values fit into shared memory, as 16-bit offsets, in slices.

A pair of segment and destination is cut into rows of at most `ROW` arcs. Within a segment rows are sorted by their
number of chunks, the longest first; each 32 make a slice, one for each lane of a warp, as long as its longest row:
SELL-32-sigma (Kreutzer, Hager, Wellein, Fehske and Bishop 2014). A *chunk* is four offsets of each lane, 256 bytes.
"""

from __future__ import annotations

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
PLACES: Final = 40
"""Bits of the number of an arc where it is sorted, below what it is sorted by."""
UNIT: Final = 1 << 15
"""Shared memory is used by multiples of so many bytes, so that kernels of different needs share one layout."""


def fit(arcs: Arcs, shared: int, count: int, bits: int) -> tuple[int]:
    """How many sources a segment has, where there are `count` segments or more, and `bits` of each are kept in `shared`
    bytes of memory."""
    room = shared - PADDING
    room = room // UNIT * UNIT if room >= UNIT else max(room, bits)
    return (max(1, min(-(-arcs.num_vertices // count), 8 * room // bits, MOST)),)


def build(arcs: Arcs, width: int) -> dict[str, Any]:
    """Segment `s`, of the sources from `s * width` on, has the chunks `chunks[s] .. chunks[s + 1]`.

    `offsets[(chunk * 32 + lane) * 4 + k]`: a source less the first of its segment, or `width` where there is no arc.
    Bit `chunk % 32` of `masks[chunk // 32]` is set where a slice ends, and `ranks[chunk // 32]` slices end before.
    Lane l of slice t is a row of destination `rows[32 * t + l]`; num_vertices where it has none.
    """
    xp = arcs.xp
    found = _rows(arcs, width)
    total = int(found.chunks[-1])
    offsets = xp.full(total * LANES * STEP, width, xp.uint16)
    columns = arcs.adjacency("in")[1]
    place = found.first + (found.inside >> 2) * (LANES * STEP) + (found.inside & 3)
    offsets[place] = (columns[found.arcs] % columns.dtype.type(width)).astype(xp.uint16)
    ends = xp.zeros(-(-total // LANES) * LANES + LANES, xp.bool_)  # one word more: warps look ahead
    ends[found.last] = True
    bits = ends.reshape(-1, LANES)
    before = xp.cumsum(bits.sum(axis=1)) - bits.sum(axis=1)
    weights = xp.left_shift(xp.uint32(1), xp.arange(LANES, dtype=xp.uint32))
    return {
        "chunks": found.chunks,
        "offsets": offsets,
        "masks": (bits * weights).sum(axis=1).astype(xp.uint32),
        "ranks": before.astype(xp.uint32),
        "rows": found.rows,
        "count": found.chunks.size - 1,
        "width": width,
    }


def order(arcs: Arcs, made: Prepared, values: Any, width: int) -> Any:
    """Value k of lane l in chunk c at `(c * 4 + k) * 32 + l`: the lanes of a warp read a line; 0 without arc."""
    found = _rows(arcs, width)
    ordered = arcs.xp.zeros((made.arrays["offsets"].size, *values.shape[1:]), values.dtype)
    start = found.first // STEP  # the lane within the first chunk, and 32 times that chunk
    lane, chunk = start % LANES, start // LANES + (found.inside >> 2)
    ordered[(chunk * STEP + (found.inside & 3)) * LANES + lane] = values[found.arcs]
    return ordered


SLICES: Final = ArcLayout(
    "slices",
    {"chunks": "int64", "offsets": "uint16", "masks": "uint32", "ranks": "uint32", "rows": "id"},
    ("count", "width"),
    build,
    order,
    fit,
)


class _Rows(NamedTuple):
    """Where arcs go: for each, by segment and destination, its number as an in-arc, its place in its row, and where the
    first offset of the row stands; then by segment its chunks, by slice its last chunk, and the lanes' destinations."""

    arcs: Any
    inside: Any
    first: Any
    chunks: Any
    last: Any
    rows: Any


def _rows(arcs: Arcs, width: int) -> _Rows:
    xp = arcs.xp
    offsets, columns = arcs.adjacency("in")
    n, m, t = arcs.num_vertices, arcs.num_arcs, xp.int64
    count = max(1, -(-n // width))
    # Arcs are by destination already: a stable sort by segment leaves them so.
    segment = (columns // columns.dtype.type(width)).astype(xp.uint64)
    segment, arc = _sorted(xp, segment)
    target = _owners(xp, offsets.astype(t), m)[arc]
    begins = xp.ones(m, xp.bool_)
    begins[1:] = (target[1:] != target[:-1]) | (segment[1:] != segment[:-1])
    starts = xp.flatnonzero(begins)
    ends = xp.append(starts[1:], xp.asarray([m][: starts.size], t))
    # Pairs into rows.
    pieces = -(-(ends - starts) // ROW)
    pair_rows = xp.concatenate((xp.zeros(1, t), xp.cumsum(pieces)))
    row_pair = _owners(xp, pair_rows, int(pair_rows[-1]))
    begin = starts[row_pair] + ROW * (xp.arange(row_pair.size) - pair_rows[row_pair])
    size = xp.minimum(ends[row_pair] - begin, ROW)
    # Rows into slices: by segment, the longest first.
    long = -(-size // STEP)
    of_row = segment[begin].astype(t) if m else xp.zeros(0, t)
    key = (of_row * (ROW // STEP) + (ROW // STEP - long)).astype(xp.uint64)
    ranked = (
        xp.sort(key << xp.uint64(40) | xp.arange(size.size, dtype=xp.uint64)) & xp.uint64((1 << 40) - 1)
    ).astype(t)
    rows_of = xp.bincount(of_row, minlength=count)
    slices_of = -(-rows_of // LANES)
    slice_start, row_start = (xp.concatenate((xp.zeros(1, t), xp.cumsum(x))) for x in (slices_of, rows_of))
    by_segment = of_row[ranked]
    position = xp.arange(ranked.size) - row_start[by_segment] + LANES * slice_start[by_segment]
    total = int(slice_start[-1])
    lanes = xp.full(total * LANES, n, columns.dtype)
    lanes[position] = target[begin[ranked]].astype(columns.dtype)
    chunks_of = xp.zeros(total, t)
    leading = position % LANES == 0
    chunks_of[position[leading] // LANES] = long[ranked][leading]
    # Slices one behind the other; each segment up to a multiple of STEP chunks.
    before = xp.concatenate((xp.zeros(1, t), xp.cumsum(chunks_of)))
    of_segment = before[slice_start[1:]] - before[slice_start[:-1]]
    chunks = xp.concatenate((xp.zeros(1, t), xp.cumsum(-(-of_segment // STEP) * STEP)))
    moved = chunks[:-1] - before[slice_start[:-1]]
    first_chunk = before[:-1] + moved[_owners(xp, slice_start, total)]
    first = xp.empty(ranked.size, t)
    first[ranked] = (first_chunk[position // LANES] * LANES + position % LANES) * STEP
    # Rows are numbered as their arcs come.
    row_of_arc = _owners(xp, xp.append(begin, xp.asarray([m], t)), m)
    inside = xp.arange(m) - begin[row_of_arc]
    return _Rows(arc, inside, first[row_of_arc], chunks, first_chunk + chunks_of - 1, lanes)


def _sorted(xp: Any, keys: Any) -> tuple[Any, Any]:
    """Numbers below 2**24, ascending, and where each stood; equals keep their order."""
    numbers = xp.arange(keys.size, dtype=xp.uint64)
    both = xp.sort(keys << xp.uint64(PLACES) | numbers)
    return (both >> xp.uint64(PLACES)).astype(xp.uint32), (both & xp.uint64((1 << PLACES) - 1)).astype(
        xp.int64
    )


def _owners(xp: Any, offsets: Any, count: int) -> Any:
    """For each of `count` items, in rows that begin at the ascending `offsets`, its row."""
    steps = xp.zeros(count + 1, xp.int64)
    filled = xp.flatnonzero(offsets[1:] != offsets[:-1])
    numbers = xp.concatenate((xp.zeros(1, xp.int64), filled))
    steps[offsets[:-1][filled]] = numbers[1:] - numbers[:-1]
    return xp.cumsum(steps[:count])
