"""What graphs are made of: adjacency, degrees, and the extent of properties."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import build
from vgraph.graph.arrays import Elsewhere, handed_out, sealed
from vgraph.graph.order import Order, numbers_of_arcs, opposite_arcs, places_of_arcs

T = TypeVar("T")


class Adjacency:
    """The neighbors of every vertex, in CSR form, in arrays that nobody can change: each access hands out a new object.

    The neighbors of `v` are `column_indices[row_offsets[v]:row_offsets[v + 1]]`, ascending. `row_offsets` has
    num_vertices + 1 entries of the graph's `offset_dtype`, `column_indices` has num_arcs of its `id_dtype`.
    `edge_ids[i]` is the position, in out order, of arc `i`: an edge property of arc `i` is
    `property[edge_ids[i]]`. It is None where the arcs are in out order already.
    """

    __slots__ = ("_column_indices", "_edge_ids", "_row_offsets")

    def __init__(
        self,
        row_offsets: NDArray[Any] | Elsewhere,
        column_indices: NDArray[Any] | Elsewhere,
        edge_ids: NDArray[Any] | Callable[[], NDArray[Any]] | None = None,
    ) -> None:
        self._row_offsets, self._column_indices = (
            sealed(x) if isinstance(x, np.ndarray) else x for x in (row_offsets, column_indices)
        )
        self._edge_ids = sealed(edge_ids) if isinstance(edge_ids, np.ndarray) else edge_ids

    @property
    def row_offsets(self) -> NDArray[Any]:
        """Where the neighbors of each vertex begin, and where those of the last end."""
        if (fetch := getattr(self._row_offsets, "fetch", None)) is not None:  # an array on a GPU has none
            self._row_offsets = fetch()
        return handed_out(self._row_offsets)  # type: ignore[arg-type]

    @property
    def column_indices(self) -> NDArray[Any]:
        """The neighbors of all vertices, one after the other."""
        if not isinstance(self._column_indices, np.ndarray):
            self._column_indices = self._column_indices.fetch()
        return handed_out(self._column_indices)

    @property
    def columns(self) -> NDArray[Any] | Elsewhere:
        """The same for who does not look into them on the host, where they may not be yet; `rows`: the offsets."""
        found = self._column_indices
        return handed_out(found) if isinstance(found, np.ndarray) else found

    @property
    def rows(self) -> NDArray[Any] | Elsewhere:
        found = self._row_offsets
        return handed_out(found) if isinstance(found, np.ndarray) else found

    def neighbors_at(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Some of the column indices, by their places; the others stay where they are."""
        found = self.columns
        return found[places] if isinstance(found, np.ndarray) else found.take(places)

    @property
    def edge_ids(self) -> NDArray[Any] | None:
        """The position of each arc in out order; None if that is its own."""
        if callable(self._edge_ids):
            self._edge_ids = sealed(self._edge_ids())
        return None if self._edge_ids is None else handed_out(self._edge_ids)


class PropertyRange(NamedTuple):
    """The extent of a property. Without any value but NaN, `min` is inf and `max` is -inf."""

    min: int | float
    max: int | float
    has_nan: bool


class Topology:
    """What graphs that differ only in properties share: the adjacency and, once built, its transpose."""

    def __init__(
        self,
        out: Adjacency,
        num_edges: int,
        directed: bool,
        order: Order | None = None,
        transpose: Adjacency | None = None,
    ) -> None:
        self.out, self.num_edges, self.directed, self.order = out, num_edges, directed, order
        offsets, columns = out.rows, out.columns
        self.num_vertices, self.num_arcs = offsets.size - 1, columns.size
        self.offset_dtype, self.id_dtype = offsets.dtype, columns.dtype
        self.lock = threading.RLock()
        self._in: Adjacency | None = transpose if directed else out
        self._degrees: dict[str, NDArray[Any]] = {}
        self._kept: dict[str, Any] = {}

    def kept(self, name: str, make: Callable[[], T]) -> T:
        with self.lock:
            if name not in self._kept:
                self._kept[name] = make()
            found: T = self._kept[name]
            return found

    def has(self, name: str) -> bool:
        """Whether something is `kept` by this name."""
        return name in self._kept

    @property
    def in_(self) -> Adjacency:
        with self.lock:
            if self._in is None:
                self._in = Adjacency(*build.transpose(self.out.row_offsets, self.out.column_indices))
            return self._in

    @property
    def has_transpose(self) -> bool:
        return self._in is not None

    @property
    def edge_numbers(self) -> NDArray[Any]:
        return handed_out(self.kept("edge numbers", lambda: sealed(numbers_of_arcs(self))))

    @property
    def arc_places(self) -> NDArray[np.int64]:
        return handed_out(self.kept("places of arcs", lambda: sealed(places_of_arcs(self))))

    @property
    def opposite_arcs(self) -> NDArray[Any]:
        return handed_out(self.kept("opposite arcs", lambda: sealed(opposite_arcs(self))))

    @property
    def edge_order(self) -> NDArray[np.int64] | None:
        return self.kept("edge order", self._edge_order)

    def _edge_order(self) -> NDArray[np.int64] | None:
        found = None if self.order is None else self.order.numbers(self)
        return None if found is None or np.array_equal(found, np.arange(self.num_edges)) else sealed(found)

    @functools.cached_property
    def max_degree(self) -> int:
        rows, part = self.out.row_offsets, 1 << 15  # a part stays in the cache
        tops = (np.diff(rows[k : k + part + 1]).max() for k in range(0, rows.size - 1, part))
        return int(max(tops, default=0))

    def degrees(self, side: str) -> NDArray[Any]:
        with self.lock:
            if side not in self._degrees:
                adjacency = self.out if side == "out" else self.in_
                self._degrees[side] = sealed(np.diff(adjacency.row_offsets))
            return handed_out(self._degrees[side])


def range_of(values: NDArray[Any]) -> PropertyRange:
    """The extent of `values`."""
    if values.size == 0:
        return PropertyRange(np.inf, -np.inf, False)
    if values.dtype.kind != "f":
        return PropertyRange(values.min().item(), values.max().item(), False)
    low = np.fmin.reduce(values, axis=None, initial=np.inf)
    high = np.fmax.reduce(values, axis=None, initial=-np.inf)
    return PropertyRange(float(low), float(high), bool(np.isnan(values).any()))


def check_symmetric(name: str, values: NDArray[Any], reverse: NDArray[Any], out: Adjacency) -> None:
    """Refuse an edge property whose value differs at an arc of `out` and at the one in `reverse` for it."""
    equal = (values == values[reverse]) | ((values != values) & (values != values)[reverse])
    if not equal.all():
        arc = int(np.argmin(equal if equal.ndim == 1 else equal.all(axis=1)))
        source = int(np.searchsorted(out.row_offsets, arc, side="right")) - 1
        raise GraphError(
            f"edge property {name!r} is not symmetric: {values[arc]} from {source} to {int(out.column_indices[arc])}, "
            f"{values[reverse[arc]]} back; an undirected edge has one value"
        )
