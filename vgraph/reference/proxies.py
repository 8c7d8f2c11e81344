"""What operators see: vertices, edges, neighbors and properties, as proxies with the semantics of a round.

The first write to a property in a round keeps a copy of it as it was. Reads at the operator's own vertex see
the present values, reads anywhere else see the copy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.types import VID, Type, Vector, element_of
from vgraph.errors import GraphError
from vgraph.language import NoVertex
from vgraph.reference.values import Number, Read, Reduced, convert, numpy_dtype


class Round:
    """One apply under way: the properties as they were, what took effect, and the sums for the globals."""

    def __init__(self) -> None:
        self.snapshots: dict[Property, Any] = {}
        self.claimed: set[Property] = set()
        self.merged: set[Property] = set()
        self.touched: set[int] = set()
        self.partials: dict[tuple[str, str], Any] = {}


class State:
    """What all proxies of one run share."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.id_dtype = np.dtype(graph.id_dtype)
        self.none = int(np.iinfo(self.id_dtype).max)
        self.properties: dict[str, Property] = {}  # by name, as the operators of the present round see them
        self.edge_properties: dict[str, tuple[Any, Type]] = {}
        self.round: Round | None = None

    def dtype(self, t: Type) -> np.dtype[Any]:
        """The NumPy dtype of a type or of its elements."""
        return self.id_dtype if t == VID else numpy_dtype(t)

    def to_memory(self, value: Any, t: Type) -> Any:
        """Any value of a program as it is stored in a property or global of type `t`."""
        if t != VID:
            return convert(value, t)
        if isinstance(value, Vertex):
            return self.id_dtype.type(value._index)
        if isinstance(value, Number):
            return arithmetic.cast(value.value, self.id_dtype)
        return arithmetic.constant(operator.index(value), self.id_dtype)

    def from_memory(self, value: Any, t: Type) -> Any:
        """What a program sees of a stored value."""
        if t == VID:
            return Vertex(self, int(value))
        return Number(value.copy() if isinstance(t, Vector) else value)

    def index(self, vertex: Any) -> int:
        """The id behind anything that names a vertex. Raises GraphError if the graph has no such vertex."""
        found = vertex._index if isinstance(vertex, Vertex) else operator.index(vertex)
        if not 0 <= found < self.graph.num_vertices:
            shown = "vg.none" if found in (-1, self.none) else found
            raise GraphError(f"{shown} is not a vertex of this graph of {self.graph.num_vertices} vertices")
        return found


class Property:
    """A vertex property: `x[v]` in the driver loop, `v.x` in operators."""

    def __init__(
        self, state: State, t: Type, array: Any, *, disjoint: bool = False, scratch: bool = False
    ) -> None:
        self.state, self.type, self.array, self.disjoint = state, t, array, disjoint
        self.scratch = scratch  # private to one visit

    def __getitem__(self, vertex: Any) -> Any:
        return self.state.from_memory(self.array[self.state.index(vertex)], self.type)

    def __setitem__(self, vertex: Any, value: Any) -> None:
        self.array[self.state.index(vertex)] = self.state.to_memory(value, self.type)

    def before(self) -> Any:
        """The array as the round's start left it."""
        assert self.state.round is not None
        return self.state.round.snapshots.get(self, self.array)

    def open(self) -> Round:
        """Keep a copy before the round's first write."""
        assert self.state.round is not None
        if self not in self.state.round.snapshots:
            self.state.round.snapshots[self] = self.array.copy()
        return self.state.round


class PropertyPlace:
    """A property at one vertex, in an operator."""

    __slots__ = ("own", "prop", "vertex")

    def __init__(self, prop: Property, vertex: int, own: bool) -> None:
        self.prop, self.vertex, self.own = prop, vertex, own

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, PropertyPlace) and other.prop is self.prop
        return same and other.vertex == self.vertex  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((id(self.prop), self.vertex))

    def tested(self, value: Any) -> Any:
        """The present value of a property that the round claims at other vertices, else what was read."""
        assert self.prop.state.round is not None
        claimed = not self.own and self.prop in self.prop.state.round.claimed
        return self.prop.array[self.vertex] if claimed else value

    def reduce(self, op: str, operand: Any) -> None:
        """Combine into the present value; + and * always take effect."""
        change = self.prop.state.to_memory(operand, self.prop.type)
        self._put(arithmetic.BINARY[op](self.prop.array[self.vertex], change), always=op in ("+", "*"))

    def assign(self, value: Any) -> None:
        """A plain store. Away from the own vertex, a comparison or claim came out true: see `_better`."""
        new = self.prop.state.to_memory(value, self.prop.type)
        if not self.own and not self.prop.scratch:
            self.prop.open().claimed.add(self.prop)
            new = _better(self.prop.before()[self.vertex], self.prop.array[self.vertex], new)
        self._put(new, always=False)

    def _put(self, new: Any, always: bool) -> None:
        if self.prop.scratch:
            self.prop.array[self.vertex] = new
            return
        written = self.prop.open()
        old = self.prop.array[self.vertex]
        if always or not np.array_equal(old, new, equal_nan=element_of(self.prop.type).name[0] == "f"):
            written.touched.add(self.vertex)
        self.prop.array[self.vertex] = new


def _better(start: Any, present: Any, new: Any) -> Any:
    """A value assigned after a test against `start` (`if e < u.x: u.x = e`), combined with earlier ones."""
    if np.ndim(new):
        return new
    if new < start:
        return np.minimum(present, new)
    return np.maximum(present, new) if new > start else present


class Vertex:
    """A vertex in the user's program: its properties are attributes. `_own` marks the operator's dst or v."""

    __slots__ = ("_index", "_own", "_place", "_state")

    _state: State
    _index: int
    _own: bool
    _place: PropertyPlace | None

    def __init__(
        self, state: State, index: int, own: bool = False, place: PropertyPlace | None = None
    ) -> None:
        for name, value in (("_state", state), ("_index", index), ("_own", own), ("_place", place)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return "vg.none" if self._index == self._state.none else str(self._index)

    @property
    def id(self) -> Vertex:
        """The vertex as a number."""
        return Vertex(self._state, self._index)

    @property
    def out_degree(self) -> Number:
        """How many arcs leave it."""
        return Number(np.int64(len(Neighbors(self, out=True))))

    @property
    def in_degree(self) -> Number:
        """How many arcs enter it."""
        return Number(np.int64(len(Neighbors(self, out=False))))

    @property
    def degree(self) -> Number:
        """How many edges it has, in an undirected graph."""
        self._need_undirected("degree")
        return self.out_degree

    @property
    def out_neighbors(self) -> Neighbors:
        """The other ends of the arcs that leave it, ascending."""
        return Neighbors(self, out=True)

    @property
    def in_neighbors(self) -> Neighbors:
        """The other ends of the arcs that enter it, ascending."""
        return Neighbors(self, out=False)

    @property
    def neighbors(self) -> Neighbors:
        """The other ends of its edges, in an undirected graph."""
        self._need_undirected("neighbors")
        return self.out_neighbors

    @property
    def out_edges(self) -> Iterator[Edge]:
        """The arcs that leave it."""
        return Neighbors(self, out=True).edges()

    @property
    def in_edges(self) -> Iterator[Edge]:
        """The arcs that enter it."""
        return Neighbors(self, out=False).edges()

    def _need_undirected(self, name: str) -> None:
        if self._state.graph.directed:
            raise GraphError(f"the graph is directed: say out_{name} or in_{name}")

    # --- properties

    def __getattr__(self, name: str) -> Any:
        prop = self._state.properties.get(name)
        if prop is None:
            raise AttributeError(f"there is no vertex property {name}")
        if self._index == self._state.none:  # nothing is stored there: zero, false, or vg.none
            zero = np.zeros(prop.array.shape[1:], prop.array.dtype)[()]
            return self._state.from_memory(self._state.none if prop.type == VID else zero, prop.type)
        index = self._state.index(self)
        value = (prop.array if self._own else prop.before())[index]
        place = PropertyPlace(prop, index, self._own)
        if prop.type == VID:
            return Vertex(self._state, int(value), place=place)
        return Read(value.copy() if isinstance(prop.type, Vector) else value, place)

    def __setattr__(self, name: str, value: Any) -> None:
        prop = self._state.properties.get(name)
        if prop is None:
            raise AttributeError(f"there is no vertex property {name}")
        if self._index == self._state.none:
            return
        place = PropertyPlace(prop, self._state.index(self), self._own)
        if isinstance(value, Reduced) and value.place == place:
            place.reduce(value.op, value.operand)
        else:
            place.assign(value)

    def __vg_union__(self, other: Any) -> None:
        """`vg.union(a.component, b.component)`: merge the sets of the vertices that they were read from."""
        mine, theirs = self._place, getattr(other, "_place", None)
        if mine is None or theirs is None or mine.prop is not theirs.prop or not mine.prop.disjoint:
            raise GraphError("vg.union takes the same property of disjoint sets of two vertices")
        written, sets = mine.prop.open(), mine.prop.array
        written.merged.add(mine.prop)
        low, high = sorted((root(sets, mine.vertex), root(sets, theirs.vertex)))
        if low != high:
            sets[high] = low
            written.touched.update((mine.vertex, theirs.vertex))

    # --- as a number: unsigned beside vertices and literals, int64 in arithmetic

    def as_number(self) -> Number:
        """The id as int64."""
        return Number(np.uint64(self._index).astype(np.int64))

    def extreme(self, op: str, other: Vertex | NoVertex) -> Vertex:
        """The smaller or larger of two vertices; `vg.none` is larger than all."""
        mine, theirs = self._index, other._index if isinstance(other, Vertex) else self._state.none
        return Vertex(self._state, (min if op == "min" else max)(mine, theirs))

    def _compare(self, op: Callable[[Any, Any], bool], other: Any) -> Any:
        if isinstance(other, Vertex):
            return op(self._index, other._index)
        if isinstance(other, int) and not isinstance(other, bool):
            mine = self._index
            if self._place is not None and op in (operator.eq, operator.ne):
                mine = int(self._place.tested(mine))
            return op(mine, other & self._state.none)
        return op(self.as_number(), other)

    def __eq__(self, other: object) -> Any:
        return self._compare(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compare(operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._compare(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._compare(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(operator.ge, other)

    def __hash__(self) -> int:
        return hash(self._index)

    def __index__(self) -> int:
        return self._index

    def __int__(self) -> int:
        return self._index

    def __float__(self) -> float:
        return float(self._index)

    def __neg__(self) -> Number:
        return -self.as_number()

    def __pos__(self) -> Number:
        return +self.as_number()

    def __invert__(self) -> Number:
        return ~self.as_number()

    def __abs__(self) -> Number:
        return abs(self.as_number())


def _as_int64(name: str) -> Callable[[Vertex, Any], Any]:
    def apply(self: Vertex, other: Any) -> Any:
        right = other.as_number() if isinstance(other, Vertex) else other
        return getattr(self.as_number(), name)(right)

    return apply


for _op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    for _name in (f"__{_op}__", f"__r{_op}__"):
        setattr(Vertex, _name, _as_int64(_name))


def root(sets: Any, vertex: int) -> int:
    """The smallest vertex of a set, found by following the links."""
    while int(sets[vertex]) != vertex:
        vertex = int(sets[vertex])
    return vertex


class Edge:
    """An arc: `src`, `dst` and the edge properties of the graph."""

    __slots__ = ("_position", "_state", "dst", "src")

    def __init__(self, state: State, position: int, src: Vertex, dst: Vertex) -> None:
        self._state, self._position, self.src, self.dst = state, position, src, dst

    def __getattr__(self, name: str) -> Any:
        found = self._state.edge_properties.get(name)
        if found is None:
            raise AttributeError(f"there is no edge property {name}")
        values, t = found
        return self._state.from_memory(values[self._position], t)


class Neighbors:
    """The neighbors of a vertex, ascending; parallel edges count each."""

    def __init__(self, vertex: Vertex, *, out: bool) -> None:
        self.vertex, self.out = vertex, out
        self.state = vertex._state
        side = self.state.graph.out if out else self.state.graph.in_
        if vertex._index == self.state.none:
            self.ids, self.positions = side.column_indices[:0], range(0)
            return
        index = self.state.index(vertex)
        begin, end = int(side.row_offsets[index]), int(side.row_offsets[index + 1])
        self.ids = side.column_indices[begin:end]
        self.positions = range(begin, end) if side.edge_ids is None else side.edge_ids[begin:end]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Vertex]:
        return (Vertex(self.state, int(u)) for u in self.ids)

    def __getitem__(self, k: Any) -> Vertex:
        if self.vertex._index == self.state.none:
            return Vertex(self.state, self.state.none)
        return Vertex(self.state, int(self.ids[operator.index(k)]))

    def __and__(self, other: Neighbors) -> list[Vertex]:
        return [Vertex(self.state, int(u)) for u in np.intersect1d(self.ids, other.ids)]

    def edges(self) -> Iterator[Edge]:
        """The arcs to these neighbors."""
        for u, position in zip(self.ids, self.positions, strict=True):
            ends = (self.vertex, Vertex(self.state, int(u)))
            yield Edge(self.state, int(position), *(ends if self.out else reversed(ends)))
