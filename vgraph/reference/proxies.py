"""What operators see: vertices, edges, neighbors and properties, as proxies with the semantics of a round.

The first write to a property in a round keeps a copy of it as it was. Reads at the operator's own vertex see
the present values, reads anywhere else see the copy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.kinds import ValueKind, default
from vgraph.compiler.frontend.lowering.gathered import FULL
from vgraph.compiler.types import VID, Type, Vector, computed, element_of
from vgraph.errors import AlgorithmError
from vgraph.graph.order import EDGE_REVERSE
from vgraph.language.names import DType, NoVertex, dtype_of
from vgraph.reference.casts import cast_type
from vgraph.reference.values import HALF, Combined, Number, contribution, convert, lift, numpy_dtype


class Round:
    """One apply under way: the properties as they were, what took effect, and the sums for the globals. `alone`: visits
    come one after the other, and see the properties as they are; `second`: they come again, with more room."""

    def __init__(self, *, alone: bool = False) -> None:
        self.alone, self.second = alone, False
        self.snapshots: dict[Property, Any] = {}
        self.merged: set[Property] = set()
        self.touched: set[int] = set()
        self.partials: dict[tuple[str, str], Any] = {}
        self.tuples: dict[tuple[tuple[str, ...], str], list[Any]] = {}


class State:
    """What all proxies of one run share."""

    def __init__(self, graph: Any, seed: int) -> None:
        self.graph, self.seed = graph, seed
        self.id_dtype = np.dtype(graph.id_dtype)
        self.id_type = self.id_dtype.type
        self.none = int(np.iinfo(self.id_dtype).max)
        self.properties: dict[str, Property] = {}  # by name, as the operators of the present round see them
        self.edge_properties: dict[str, EdgeProperty] = {}
        self.private: list[Property] = []  # to a visit: zero when the next one begins
        self.round: Round | None = None

    def dtype(self, t: Type) -> np.dtype[Any]:
        """The NumPy dtype of a type or of its elements."""
        return self.id_dtype if t is VID else numpy_dtype(t)

    def to_memory(self, value: Any, t: Type, *, nearest: bool = False) -> Any:
        """Any value of a program as it is stored in a property or global of type `t`; `nearest` as of `convert`."""
        lifted = self.lift(value)
        if t is VID and lifted._kind != VID and not 0 <= lifted._value < self.graph.num_vertices:
            return self.id_dtype.type(self.none)
        return convert(lifted, t, self.dtype(t), nearest=nearest)

    def from_memory(self, value: Any, t: Type, place: Hashable = None) -> Any:
        """What a program sees of a value stored at `place`."""
        if t is VID:
            return Vertex(self, int(value), place=place)
        if value.dtype is HALF:
            return Number(value.astype(np.float32), computed(t), place)
        return Number(value.copy() if isinstance(t, Vector) else value, t, place)

    def lift(self, value: Any) -> Any:
        """A number of Python's or NumPy's, or `vg.none`, as the language's."""
        return Vertex(self, self.none) if isinstance(value, NoVertex) else lift(value)

    def kept(self, value: Any, kind: ValueKind, *, named: bool = False) -> Any:
        """`value` as a variable of `kind` keeps it, or an expression that may also give something else.

        `named`: it never does, so that it may be another name of the operator's own vertex.
        """
        value = self.lift(value)
        if isinstance(value, Local) and value._kind == kind:
            return Local(self, value._value.copy(), value._kind)
        if kind is VID:
            own = named and isinstance(value, Vertex) and value._own
            return Vertex(self, int(self.to_memory(value, VID)), own=own)
        return Number(value._value if value._kind == kind else convert(value, default(kind)), kind)

    def best(
        self, op: str, kinds: Sequence[ValueKind], old: Sequence[Any], new: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The lexicographic minimum or maximum of values, as places of these kinds keep them."""
        types = [default(kind) for kind in kinds]
        before, after = (
            [self.to_memory(v, t, nearest=True) for v, t in zip(side, types, strict=True)]
            for side in (old, new)
        )
        chosen = new if arithmetic.precedes(op, after, before) else old
        return tuple(self.kept(v, kind) for v, kind in zip(chosen, kinds, strict=True))

    def index(self, vertex: Any) -> int:
        """The id behind anything that names a vertex. Raises AlgorithmError if the graph has no such vertex."""
        found = int(vertex)
        if not 0 <= found < self.graph.num_vertices:
            shown = "vg.none" if found in (-1, self.none) else found
            raise AlgorithmError(
                f"{shown} is not a vertex of this graph of {self.graph.num_vertices} vertices"
            )
        return found


class Local(Number):
    """An array of an operator's own; a variable that is assigned one holds a copy."""

    __slots__ = ("_state",)
    _state: State
    _kind: Vector

    def __init__(self, state: State, values: Any, t: Vector) -> None:
        super().__init__(values, t)
        object.__setattr__(self, "_state", state)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return (
            found if isinstance(index, slice) else self._state.from_memory(found._value, self._kind.element)
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value[int(index) % len(self)] = self._state.to_memory(value, self._kind.element)


class NoRoom(Exception):
    """A visit has no room for what it gathers, and comes again."""


class Gathered:
    """A local list: the vertices that a visit has gathered."""

    def __init__(self, state: State, room: int, more: int) -> None:
        assert state.round is not None
        again = more > 0 and state.round.second
        self._state, self._room, self._late = state, more if again else room, more > 0 and not again
        self._vertices: list[Vertex] = []

    def append(self, vertex: Any) -> None:
        """Take a vertex for this visit. Raises AlgorithmError where there is no room."""
        taken = self._state.kept(vertex, VID)
        if taken._is_none:
            return
        if len(self._vertices) == self._room and self._late:
            raise NoRoom
        if len(self._vertices) == self._room:
            raise AlgorithmError(FULL.format(self._room))
        self._vertices.append(taken)

    def __len__(self) -> int:
        return len(self._vertices)

    def __iter__(self) -> Iterator[Vertex]:
        return iter(self._vertices)

    def __contains__(self, vertex: Any) -> bool:
        return any(u._index == int(vertex) for u in self._vertices)

    def __getitem__(self, index: Any) -> Vertex:
        if not self._vertices:
            return Vertex(self._state, self._state.none)
        return self._vertices[int(index) % len(self._vertices)]


class Property:
    """A vertex property: `x[v]` in the driver loop, `v.x` in operators."""

    def __init__(
        self, state: State, t: Type, array: Any, *, disjoint: bool = False, scratch: bool = False
    ) -> None:
        self.state, self.type, self.array, self.disjoint = state, t, array, disjoint
        self.scratch = scratch  # private to one visit

    @property
    def dtype(self) -> DType:
        """`x.dtype`."""
        return cast_type(dtype_of(self.type))

    def __getitem__(self, vertex: Any) -> Any:
        return self.state.from_memory(self.array[self.state.index(vertex)], self.type)

    def __setitem__(self, vertex: Any, value: Any) -> None:
        self.array[self.state.index(vertex)] = self.state.to_memory(value, self.type)

    def __repr__(self) -> str:
        return str(self.array)

    def before(self) -> Any:
        """The array as the round's start left it."""
        assert self.state.round is not None
        return self.state.round.snapshots.get(self, self.array)

    def open(self) -> Round:
        """Keep a copy before the round's first write."""
        assert self.state.round is not None
        if self not in self.state.round.snapshots and not self.state.round.alone:
            self.state.round.snapshots[self] = self.array.copy()
        return self.state.round

    def with_element(self, index: int, element: Any, new: Any) -> Any:
        """The vector of a vertex with another number as one of its elements, which are counted modulo the length."""
        vector = self.array[index].copy()
        vector[int(element) % len(vector)] = new
        return vector

    def put(self, index: int, new: Any, *, always: bool = False) -> None:
        """A write in a round; `always`: it takes effect even if nothing changes."""
        if not self.scratch:
            touched, old = self.open().touched, self.array[index]
            if always or not np.array_equal(old, new, equal_nan=element_of(self.type).is_float):
                touched.add(index)
        self.array[index] = new


class Vertex(Number):
    """A vertex in the user's program: its properties are attributes. `_own` marks the operator's dst or v."""

    __slots__ = ("_own", "_state")

    _state: State
    _own: bool

    def __init__(self, state: State, index: int, *, own: bool = False, place: Hashable = None) -> None:
        # By their slots: one's own `__setattr__` writes properties.
        _put_value(self, state.id_type(index))
        _put_kind(self, VID)
        _put_place(self, place)
        _put_combined(self, None)
        _put_state(self, state)
        _put_own(self, own)

    def __repr__(self) -> str:
        return "vg.none" if self._is_none else str(self._value)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec) if self._is_none else format(self._value, spec)

    @property
    def _index(self) -> int:
        return int(self._value)

    @property
    def _is_none(self) -> bool:
        return int(self._value) == self._state.none

    def _made(self, value: Any, kind: ValueKind, combined: Combined | None) -> Number:
        if kind != VID:
            return super()._made(value, kind, combined)
        made = Vertex(self._state, int(value))
        _put_combined(made, combined)
        return made

    # --- the graph

    @property
    def id(self) -> Vertex:
        """The vertex as a number."""
        return self

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
    def neighbors(self) -> VertexSet:
        """The other ends of its edges; in a directed graph each vertex once, whatever the arcs between the two."""
        out = self.out_neighbors
        return out | self.in_neighbors if self._state.graph.directed else out

    @property
    def out_edges(self) -> Iterator[Edge]:
        """The arcs that leave it."""
        return Neighbors(self, out=True).edges()

    @property
    def in_edges(self) -> Iterator[Edge]:
        """The arcs that enter it."""
        return Neighbors(self, out=False).edges()

    # --- properties

    def _property(self, name: str) -> Property:
        prop = self._state.properties.get(name)
        if prop is None:
            raise AttributeError(f"there is no vertex property {name}")
        return prop

    def __getattr__(self, name: str) -> Any:
        prop, state, index = self._property(name), self._state, int(self._value)
        if index == state.none:  # nothing is stored there: zero, false, or vg.none
            zero = np.zeros(prop.array.shape[1:], prop.array.dtype)[()]
            return state.from_memory(state.none if prop.type is VID else zero, prop.type)
        value = (prop.array if self._own else prop.before())[index]
        return state.from_memory(value, prop.type, (prop, index))

    def __setattr__(self, name: str, value: Any) -> None:
        """A store that nothing else of the round meets, or one of the first to claim, which takes effect."""
        prop = self._property(name)
        if not self._is_none:
            prop.put(self._index, self._state.to_memory(value, prop.type), always=True)

    def _reduce(self, name: str, value: Any, op: str, element: Any = None) -> None:
        """A reduction into a property, or into one `element` of a vector."""
        prop = self._property(name)
        if self._is_none:
            return
        index = self._index
        old, t = prop.array[index], prop.type
        if element is not None:
            old, t = old[int(element) % len(old)], element_of(t)
        new = arithmetic.BINARY[op](old, contribution(value, op, t, self._state.to_memory))
        whole = new if element is None else prop.with_element(index, element, new)
        prop.put(index, whole, always=op in ("+", "*"))

    def _reduce_tuple(self, names: tuple[str, ...], values: Sequence[Any], op: str) -> None:
        """A lexicographic minimum or maximum over several properties."""
        if self._is_none:
            return
        index, props = self._index, [self._property(name) for name in names]
        new = [self._state.to_memory(v, p.type, nearest=True) for v, p in zip(values, props, strict=True)]
        if arithmetic.precedes(op, new, [p.array[index] for p in props]):
            for prop, value in zip(props, new, strict=True):
                prop.put(index, value, always=True)

    def __vg_union__(self, other: Any) -> None:
        """`vg.union(a.component, b.component)`: merge the sets of the vertices that they were read from."""
        if self._place is None or other._place is None:
            return  # a set of vg.none
        (prop, mine), (_, theirs) = self._place, other._place
        written, sets = prop.open(), prop.array
        written.merged.add(prop)
        low, high = sorted((root(sets, mine), root(sets, theirs)))
        if low != high:
            sets[high] = low
            written.touched.update((mine, theirs))


_put_value, _put_kind, _put_place, _put_combined = (
    vars(Number)[slot].__set__ for slot in ("_value", "_kind", "_place", "_combined")
)
_put_state, _put_own = (vars(Vertex)[slot].__set__ for slot in ("_state", "_own"))


def present(read: Any) -> Any:
    """What stands at this moment where `read` was read from: a claim is decided by that.

    At `vg.none` NaN, which is equal to nothing and not false, so that nothing is claimed.
    """
    if read._place is None:
        return Number(np.float64(np.nan))
    prop, index = read._place
    return prop.state.from_memory(prop.array[index], prop.type)


def root(sets: Any, vertex: int) -> int:
    """The smallest vertex of a set, found by following the links."""
    while int(sets[vertex]) != vertex:
        vertex = int(sets[vertex])
    return vertex


class EdgeProperty:
    """An edge property: the graph's, with an element for each arc, or the algorithm's, with one for each edge.

    The latter are read and written as they are at the moment: nobody else comes to the edge, or nobody reads.
    """

    def __init__(self, array: Any, t: Type, numbers: Any = None) -> None:
        self.array, self.type = array, t
        self.numbers = numbers  # of edges, by arc; None: the graph's property

    @property
    def dtype(self) -> DType:
        """`x.dtype`."""
        return cast_type(dtype_of(self.type))

    def place(self, arc: int) -> int:
        """Where the value of an arc lies."""
        return arc if self.numbers is None else int(self.numbers[arc])


class Edge:
    """An arc: `src`, `dst` and the properties of edges."""

    __slots__ = ("_position", "_state", "dst", "src")

    _position: int
    _state: State

    def __init__(self, state: State, position: int, src: Vertex, dst: Vertex) -> None:
        _put_edge_state(self, state)
        _put_position(self, position)
        _put_src(self, src)
        _put_dst(self, dst)

    def _property(self, name: str) -> EdgeProperty:
        found = self._state.edge_properties.get(name)
        if found is None:
            raise AttributeError(f"there is no edge property {name}")
        return found

    def __getattr__(self, name: str) -> Any:
        if name == "reverse" and name not in self._state.edge_properties:
            opposite = int(self._state.graph.edge_array(EDGE_REVERSE)[self._position])
            return Edge(self._state, opposite, self.dst, self.src)
        prop = self._property(name)
        if self._is_none:  # nothing is stored there: zero, false, or vg.none
            zero = np.zeros(prop.array.shape[1:], prop.array.dtype)[()]
            return self._state.from_memory(self._state.none if prop.type == VID else zero, prop.type)
        return self._state.from_memory(prop.array[prop.place(self._position)], prop.type)

    @property
    def _is_none(self) -> bool:
        return bool(self._position == self._state.graph.num_arcs)

    def __setattr__(self, name: str, value: Any) -> None:
        prop = self._property(name)
        if not self._is_none:
            prop.array[prop.place(self._position)] = self._state.to_memory(value, prop.type)

    def _reduce(self, name: str, value: Any, op: str) -> None:
        prop = self._property(name)
        if self._is_none:
            return
        at, change = prop.place(self._position), contribution(value, op, prop.type, self._state.to_memory)
        prop.array[at] = arithmetic.BINARY[op](prop.array[at], change)


_put_edge_state, _put_position, _put_src, _put_dst = (
    vars(Edge)[slot].__set__ for slot in ("_state", "_position", "src", "dst")
)


class VertexSet:
    """Ascending vertices, `ids`: what operators of neighbors give, each once."""

    def __init__(self, state: State, ids: Any) -> None:
        self.state, self.ids = state, ids

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Vertex]:
        return (Vertex(self.state, int(u)) for u in self.ids)

    def __contains__(self, vertex: Any) -> bool:
        return bool((self.ids == int(vertex)).any())

    def __and__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.state, np.intersect1d(self.ids, other.ids))

    def __or__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.state, np.union1d(self.ids, other.ids))

    def __sub__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.state, np.setdiff1d(self.ids, other.ids))


class Neighbors(VertexSet):
    """The neighbors of a vertex; parallel edges count each."""

    def __init__(self, vertex: Vertex, *, out: bool) -> None:
        self.vertex, self.out = vertex, out
        self.state = vertex._state
        side = self.state.graph.out if out else self.state.graph.in_
        if vertex._is_none:
            self.ids, self.positions = side.column_indices[:0], range(0)
            return
        index = vertex._index
        begin, end = int(side.row_offsets[index]), int(side.row_offsets[index + 1])
        self.ids = side.column_indices[begin:end]
        self.positions = range(begin, end) if side.edge_ids is None else side.edge_ids[begin:end]

    def __getitem__(self, k: Any) -> Vertex:
        if self.vertex._is_none:
            return Vertex(self.state, self.state.none)
        return Vertex(self.state, int(self.ids[int(k)]))

    def edges(self) -> Iterator[Edge]:
        """The arcs to these neighbors."""
        for u, position in zip(self.ids, self.positions, strict=True):
            ends = (self.vertex, Vertex(self.state, int(u)))
            yield Edge(self.state, int(position), *(ends if self.out else reversed(ends)))
