"""From lists of edges to sorted CSR arrays: checking, packing, sorting, merging and transposing.

An edge on its way into a graph is one *key*: `source << 32 | target` in a uint64. Sorting keys sorts by
source, then by target; rotating a key by 32 bits reverses the edge; a key equal to its rotation is a
self-loop. What is as long as the edge list is done in place or in chunks. Many arcs are put into rows by threads
(`rows.py`), straight from the arrays given: a graph with a property of 4 bytes is built in two and a half times its
final size, one without in three.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph import rows
from vgraph.graph.arrays import MAX_OFFSET_32, MAX_VERTICES, final_dtypes, offset_dtype
from vgraph.records import dataclass

MultiEdges = bool | Literal["min", "max", "sum"]

CHUNK = 1 << 18
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(eq=False, repr=False)
class EdgeList:
    """Edges in input order, as keys or else as `ends`, their sources and targets.

    The builder takes the arrays out, so that their memory returns early. Keys own their memory and are
    overwritten; ends and properties may be the caller's, and are only read.
    """

    keys: NDArray[np.uint64] | None
    properties: dict[str, NDArray[Any]]
    num_vertices: int
    ends: tuple[NDArray[Any], NDArray[Any]] | None = None

    def take(self) -> tuple[NDArray[np.uint64], dict[str, NDArray[Any]]]:
        """The keys and properties; this object holds none afterwards."""
        keys, properties = self.keys, self.properties
        if self.ends is not None:
            keys = pack(*self.ends)
        assert keys is not None
        assert keys.flags.owndata
        self.keys, self.ends, self.properties = None, None, {}
        return keys, properties

    def take_ends(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int, dict[str, NDArray[Any]]]:
        """Sources and targets in every so many entries, and the properties; this object holds none afterwards."""
        properties, self.properties = self.properties, {}
        if self.ends is None:
            keys, self.keys = self.keys, None
            assert keys is not None
            halves = keys.view(np.uint32)
            first = int(sys.byteorder == "big")
            return halves[1 - first :], halves[first:], 2, properties
        (sources, targets), self.ends = self.ends, None
        step = sources.itemsize // 4
        little = sys.byteorder == "little" and sources.dtype.isnative and targets.dtype.isnative
        if sources.itemsize != targets.itemsize or step not in (1, 2) or not little:
            return sources.astype(np.uint32), targets.astype(np.uint32), 1, properties
        sources, targets = (np.ascontiguousarray(end).view(np.uint32) for end in (sources, targets))
        return sources, targets, step, properties

    @property
    def size(self) -> int:
        """How many edges there are."""
        return self.keys.size if self.keys is not None else self.ends[0].size if self.ends is not None else 0


_OPTIONS: Final[dict[str, tuple[object, ...]]] = {
    "directed": (True, False),
    "self_loops": (True, False),
    "multi_edges": (True, False, "min", "max", "sum"),
    "id_bits": (32, 64, None),
}


def _is_one_of(value: object, known: tuple[object, ...]) -> bool:
    """Whether it equals one of `known`, of which True and False are not 1 and 0."""
    flag = isinstance(value, (bool, np.bool_))
    return not isinstance(value, np.ndarray) and any(
        isinstance(k, bool) is flag and value == k for k in known
    )


@dataclass(frozen=True, eq=False)
class BuildOptions:
    """What the edges mean and which of them are kept; the fields are those of `Graph.from_edges`."""

    directed: bool = True
    self_loops: bool = True
    multi_edges: MultiEdges = True
    id_bits: int | None = None

    def __post_init__(self) -> None:
        for name, known in _OPTIONS.items():
            value = getattr(self, name)
            if not _is_one_of(value, known):
                *others, last = map(repr, known)
                raise GraphError(f"{name} must be {', '.join(others)} or {last}, got {shown(value)}")


class BuiltCsr(NamedTuple):
    """Sorted CSR arrays in their final dtypes, the permuted edge properties, and the number of edges."""

    row_offsets: NDArray[Any]
    column_indices: NDArray[Any]
    properties: dict[str, NDArray[Any]]
    num_edges: int


def bytes_per_edge(properties: Iterable[np.dtype[Any]], *, directed: bool) -> int:
    """What reading and building take at most for an edge with scalar properties of these dtypes (measured)."""
    size = sum(dtype.itemsize for dtype in properties)
    return (17 + 3 * size) * (1 if directed else 2)


def build(edges: EdgeList, options: BuildOptions) -> BuiltCsr:
    """Build the CSR of `edges`: rows sorted by target, parallel edges in input order."""
    num_vertices = edges.num_vertices
    if edges.ends is None or not options.directed or not options.self_loops or edges.size < rows.FROM:
        edges = _arcs(edges, options)
    row_offsets, columns, properties = _sorted_csr(edges)
    if options.multi_edges is not True:
        row_offsets, columns, properties = _merge(row_offsets, columns, properties, options.multi_edges)
    num_edges = columns.size
    if not options.directed:
        num_edges = (columns.size + count_self_loops(row_offsets, columns)) // 2
    row_offsets, columns = final_dtypes(row_offsets, columns, num_vertices, options.id_bits)
    return BuiltCsr(row_offsets, columns, properties, num_edges)


def _arcs(edges: EdgeList, options: BuildOptions) -> EdgeList:
    """The arcs to store: self-loops dropped, undirected edges in both directions."""
    keys, properties = edges.take()
    if not options.self_loops:
        keys, properties = _drop_self_loops(keys, properties)
    if not options.directed:
        keys, edge_of_arc = _symmetrize(keys, bool(properties))
        properties = {name: values[edge_of_arc] for name, values in properties.items()}
    return EdgeList(keys, properties, edges.num_vertices)


# --- keys -------------------------------------------------------------------------------------------------


def _chunks(size: int) -> Iterator[slice]:
    for start in range(0, size, CHUNK):
        yield slice(start, min(start + CHUNK, size))


def pack(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.uint64]:
    """A new array of keys; the ids must lie below 2**32."""
    keys = np.empty(sources.size, np.uint64)
    for part in _chunks(keys.size):
        np.left_shift(sources[part].astype(np.uint64), _HALF, out=keys[part])
        keys[part] |= targets[part].astype(np.uint64, copy=False)
    return keys


def _rotated(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (keys << _HALF) | (keys >> _HALF)


def _loop_mask(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    mask = np.empty(keys.size, np.bool_)
    for part in _chunks(keys.size):
        np.equal(keys[part], _rotated(keys[part]), out=mask[part])
    return mask


def _drop_self_loops(
    keys: NDArray[np.uint64], properties: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.uint64], dict[str, NDArray[Any]]]:
    loops = _loop_mask(keys)
    if not loops.any():
        return keys, properties
    keep = ~loops
    return keys[keep], {name: values[keep] for name, values in properties.items()}


def _symmetrize(keys: NDArray[np.uint64], want_edges: bool) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """Both arcs of every edge, a self-loop once, and the edge that each arc belongs to.

    All arcs from the lower to the higher id come first: so parallel edges meet in input order in both rows,
    which keeps their properties symmetric.
    """
    loops = _loop_mask(keys)
    num_loops = int(np.count_nonzero(loops))
    size = keys.size
    keys.resize(2 * size - num_loops, refcheck=False)
    end = size
    for part in _chunks(size):
        forth = keys[part].copy()
        back = _rotated(forth)
        np.minimum(forth, back, out=keys[part])
        reverse = np.maximum(forth, back)
        if num_loops:
            reverse = reverse[~loops[part]]
        keys[end : end + reverse.size] = reverse
        end += reverse.size
    if not want_edges:
        return keys, keys[:0]
    edge_of_arc = np.empty(keys.size, np.uint32 if size <= MAX_OFFSET_32 else np.int64)
    edge_of_arc[:size] = np.arange(size, dtype=edge_of_arc.dtype)
    edge_of_arc[size:] = np.flatnonzero(~loops) if num_loops else edge_of_arc[:size]
    return keys, edge_of_arc


def _is_sorted(keys: NDArray[Any]) -> bool:
    for start in range(0, keys.size, CHUNK):
        part = keys[start : start + CHUNK + 1]
        if not bool((part[1:] >= part[:-1]).all()):
            return False
    return True


# --- sorting ----------------------------------------------------------------------------------------------


def _sorted_csr(arcs: EdgeList) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """Row offsets, columns and permuted properties; parallel arcs stay in input order.

    Few arcs are sorted by NumPy: without properties the keys; with properties, where the bits suffice, the position is
    packed behind the key; else by argsort. Many are put into rows by threads.
    """
    num_vertices = arcs.num_vertices
    if rows.FROM <= arcs.size <= MAX_OFFSET_32 and not (arcs.keys is not None and _is_sorted(arcs.keys)):
        return _in_rows(arcs)
    keys, properties = arcs.take()
    order: NDArray[Any] | None = None
    if _is_sorted(keys):
        pass
    elif not properties:
        keys.sort()
    elif sum(_bits(num_vertices, keys.size)) <= 64:
        order = _sort_with_positions(keys, *_bits(num_vertices, keys.size)[1:])
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    row_offsets = _offsets(keys, num_vertices)
    columns = _shrink_to_low_half(keys)
    del keys
    if order is not None:
        for name in properties:
            properties[name] = properties[name][order]
    return row_offsets, columns, properties


def _bits(num_vertices: int, num_arcs: int) -> tuple[int, int, int]:
    """How many bits a source, a target and a position take; beyond 32 for a position, more than there are."""
    vertex, position = max(num_vertices - 1, 1).bit_length(), max(num_arcs - 1, 1).bit_length()
    return vertex, vertex, position if position <= 32 else 65


def _sort_with_positions(keys: NDArray[np.uint64], bits: int, position_bits: int) -> NDArray[np.uint32]:
    """Sort `keys` in place, stably, and return the input position of each."""
    source_shift, target_shift = np.uint64(bits + position_bits), np.uint64(position_bits)
    for part in _chunks(keys.size):
        positions = np.arange(part.start, part.stop, dtype=np.uint64)
        keys[part] = (keys[part] >> _HALF << source_shift) | ((keys[part] & _LOW) << target_shift) | positions
    keys.sort()
    order = np.empty(keys.size, np.uint32)
    target_mask, position_mask = np.uint64((1 << bits) - 1), np.uint64((1 << position_bits) - 1)
    for part in _chunks(keys.size):
        order[part] = keys[part] & position_mask
        keys[part] = (keys[part] >> source_shift << _HALF) | (keys[part] >> target_shift & target_mask)
    return order


def _in_rows(arcs: EdgeList) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """The same by threads. A single scalar property of four bytes travels with the arcs, else their positions do."""
    sources, targets, step, properties = arcs.take_ends()
    values = _single_scalar(properties)
    numbers = values is None and bool(properties)
    offsets, columns, found = rows.into_rows(
        sources, targets, arcs.num_vertices, values, numbers=numbers, step=step
    )
    del sources, targets
    if numbers:
        return offsets, columns, {name: values[found] for name, values in properties.items()}
    if found is not None:
        properties = {name: found.view(values.dtype) for name, values in properties.items()}
    return offsets, columns, properties


def _single_scalar(properties: dict[str, NDArray[Any]]) -> NDArray[np.uint32] | None:
    """The one property, as integers, if there is just one, of four bytes."""
    values = next(iter(properties.values()), None)
    if values is None or len(properties) > 1 or values.ndim > 1 or values.itemsize != 4:
        return None
    return np.ascontiguousarray(values).view(np.uint32)


def _offsets(keys: NDArray[np.uint64], num_vertices: int) -> NDArray[Any]:
    row_offsets = np.empty(num_vertices + 1, offset_dtype(keys.size, None))
    for part in _chunks(num_vertices):
        starts = np.arange(part.start, part.stop, dtype=np.uint64) << _HALF
        row_offsets[part] = np.searchsorted(keys, starts)
    row_offsets[-1] = keys.size
    return row_offsets


def _shrink_to_low_half(keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The low 32 bits of every key, in the memory of the keys; the other half is given back."""
    size = keys.size
    low = keys.view(np.uint32)[:size]
    for part in _chunks(size):  # a chunk is copied before it is written, and only read parts are overwritten
        low[part] = keys[part] & _LOW
    del low
    keys.resize((size + 1) // 2, refcheck=False)
    return keys.view(np.uint32)[:size]


# --- sorted rows ------------------------------------------------------------------------------------------


def repeats(row_offsets: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.bool_]:
    """True at each arc that has the same source and target as the arc before it."""
    same = np.zeros(columns.size, np.bool_)
    np.equal(columns[1:], columns[:-1], out=same[1:])
    _at_starts(same, row_offsets, False)
    return same


def rows_sorted(row_offsets: NDArray[Any], columns: NDArray[Any]) -> bool:
    """Whether the targets ascend within every row."""
    ascending = np.ones(columns.size, np.bool_)
    np.greater_equal(columns[1:], columns[:-1], out=ascending[1:])
    _at_starts(ascending, row_offsets, True)
    return bool(ascending.all())


def _at_starts(mask: NDArray[np.bool_], row_offsets: NDArray[Any], value: bool) -> None:
    """Set `mask` at the first arc of every row that has one."""
    end = int(np.searchsorted(row_offsets, row_offsets.dtype.type(mask.size)))  # the rows behind are empty
    for part in _chunks(end):
        mask[row_offsets[part]] = value


_REDUCERS: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "min": lambda values, starts: np.minimum.reduceat(values, starts, axis=0),
    "max": lambda values, starts: np.maximum.reduceat(values, starts, axis=0),
    "sum": lambda values, starts: np.add.reduceat(values, starts, axis=0, dtype=values.dtype),
}


def _merge(
    row_offsets: NDArray[Any], columns: NDArray[Any], properties: dict[str, NDArray[Any]], how: MultiEdges
) -> tuple[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]]:
    """One arc in place of parallel ones: the first, or with each property reduced by `how`."""
    same = repeats(row_offsets, columns)
    if not same.any():
        return row_offsets, columns, properties
    keep = ~same
    dropped = np.flatnonzero(same)
    for part in _chunks(row_offsets.size):
        before = np.searchsorted(dropped, row_offsets[part])
        row_offsets[part] -= before.astype(row_offsets.dtype)
    if isinstance(how, str):
        starts = np.flatnonzero(keep)
        reduce = _REDUCERS[how]
        properties = {name: reduce(values, starts) for name, values in properties.items()}
    else:
        properties = {name: values[keep] for name, values in properties.items()}
    return row_offsets, columns[keep], properties


def sources_of(row_offsets: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The source of every arc, in arc order."""
    sources = np.empty(int(row_offsets[-1]), dtype)
    for part in _chunks(row_offsets.size - 1):
        ends = row_offsets[part.start : part.stop + 1]
        ids = np.arange(part.start, part.stop, dtype=dtype)
        sources[ends[0] : ends[-1]] = np.repeat(ids, np.diff(ends).astype(np.intp, copy=False))
    return sources


def arcs_of(row_offsets: NDArray[Any], vertices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of all arcs of these vertices, row after row, and how many each row has."""
    begins = row_offsets[vertices].astype(np.int64)
    degrees = row_offsets[vertices + 1].astype(np.int64) - begins
    ends = np.cumsum(degrees)
    return np.repeat(begins - ends + degrees, degrees) + np.arange(degrees.sum()), degrees


def count_self_loops(row_offsets: NDArray[Any], columns: NDArray[Any]) -> int:
    """The number of arcs from a vertex to itself."""
    return int(np.count_nonzero(sources_of(row_offsets, columns.dtype) == columns))


def transpose(
    row_offsets: NDArray[Any], columns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Offsets, sources and out-arc positions of the reversed arcs, rows sorted by source and position."""
    num_vertices, num_arcs = row_offsets.size - 1, columns.size
    if num_arcs >= rows.FROM:
        return rows.turned(row_offsets, columns)
    if max(num_arcs, num_vertices) < MAX_VERTICES:
        keys = np.empty(num_arcs, np.uint64)
        for part in _chunks(num_arcs):
            np.left_shift(columns[part].astype(np.uint64), _HALF, out=keys[part])
            keys[part] |= np.arange(part.start, part.stop, dtype=np.uint64)
        keys.sort()
        offsets = _offsets(keys, num_vertices)
        edge_ids: NDArray[Any] = _shrink_to_low_half(keys)
        del keys
    else:
        edge_ids = np.argsort(columns, kind="stable")
        counts = np.bincount(columns.astype(np.intp), minlength=num_vertices)
        offsets = np.concatenate(([0], np.cumsum(counts)))
    sources = sources_of(row_offsets, columns.dtype)[edge_ids]
    dtype = row_offsets.dtype
    return offsets.astype(dtype, copy=False), sources, edge_ids.astype(dtype, copy=False)
