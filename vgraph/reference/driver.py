"""What the driver loop sees: the graph with its globals and applies, and frontiers."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.signature import EdgeArgument, EdgeConstant
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.types import BOOL, I64, NUMPY_NAMES, VID, Type, Vector
from vgraph.graph import members
from vgraph.graph.order import EDGE_NUMBER
from vgraph.language.decorators import OperatorDef
from vgraph.language.names import DType, dtype_of
from vgraph.reference.casts import cast_type
from vgraph.reference.frontiers import Chosen, Frontier, PriorityQueue
from vgraph.reference.overlay import Overlay
from vgraph.reference.proxies import (
    Edge,
    EdgeProperty,
    Neighbors,
    NoRoom,
    Property,
    Round,
    State,
    Vertex,
    root,
)
from vgraph.reference.values import Number, contribution


class RoundRecord(NamedTuple):
    """One apply: its label, "push" or "vertex", the vertices it ran on, and the arcs it visited."""

    label: str
    direction: str
    active: int
    edges: int


class DriverState(State):
    """The state of a run with its globals, trace and the algorithm's own frame."""

    code: CodeType

    def __init__(
        self,
        graph: Any,
        typed: TypedProgram,
        seed: int,
        ended: Callable[[int, int], None] | None,
        watch: Callable[[Mapping[str, Property], int], None] | None,
        places: Callable[[Any, str], Any],
    ) -> None:
        super().__init__(graph, seed)
        self.ended, self.watch, self.places = ended, watch, places
        self.path_types, self.operators = typed.signature.path_types, typed.operators
        self.overlay = Overlay(self)
        self.globals: dict[str, Any] = {}
        self.types = {g.name: g.type for g in typed.program.globals}
        self.trace: list[RoundRecord] = []
        self.of_graph = {k: Property(self, _array_type(v), v) for k, v in graph.vertex_properties.items()}
        self.edges_of_graph = {k: EdgeProperty(v, _array_type(v)) for k, v in graph.edge_properties.items()}
        for name, argument in typed.signature.arguments.items():
            if isinstance(argument, EdgeConstant):
                one = np.array(argument.value, self.dtype(argument.type))
                values = np.broadcast_to(one, graph.num_arcs)
                self.edges_of_graph[name] = EdgeProperty(values, argument.type)
            elif isinstance(argument, EdgeArgument):
                values = graph.edge_properties[name].astype(self.dtype(argument.type))
                self.edges_of_graph[name] = EdgeProperty(values, argument.type)

    def resolve(self) -> None:
        """Let operators find properties by the names that the algorithm gave them."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back  # type: ignore[assignment]
        names = frame.f_locals if frame is not None else {}
        own = {name: value for name, value in names.items() if isinstance(value, Property)}
        edges = {name: value for name, value in names.items() if isinstance(value, EdgeProperty)}
        self.properties = {**self.of_graph, **own}
        self.private = [p for p in own.values() if p.scratch]
        self.edge_properties = {**self.edges_of_graph, **edges}

    def filled(self, t: Type, size: int, fill: Any) -> Any:
        """An array of `fill`, by default 0, false, none, for values of type `t`."""
        array = np.zeros((size, t.length) if isinstance(t, Vector) else size, self.dtype(t))
        default = -1 if t == VID else 0
        array[...] = self.to_memory(default if fill is None else fill, t)
        return array

    def watched(self, more: int = 0) -> None:
        """Tell `watch` of the last round, or of one of what is called, `more` rounds later."""
        if self.watch is not None:
            self.resolve()
            self.watch(self.properties, len(self.trace) - 1 + more)

    def note(self, record: RoundRecord) -> None:
        """A round is over."""
        self.trace.append(record)
        if self.ended is not None:
            self.ended(record.active, record.edges)

    def end_round(self, label: str, direction: str, active: int, edges: int) -> set[int]:
        """Combine the contributions to globals, name merged sets; gives the vertices that were touched."""
        self.note(RoundRecord(label, direction, active, edges))
        done, self.round = self.round, None
        assert done is not None
        for (name, op), value in done.partials.items():
            self.globals[name] = arithmetic.BINARY[op](self.globals[name], value)
        for (names, op), new in done.tuples.items():
            if arithmetic.precedes(op, new, [self.globals[n] for n in names]):
                self.globals.update(zip(names, new, strict=True))
        for prop in done.merged:
            for v in range(self.graph.num_vertices):
                prop.array[v] = root(prop.array, v)
        self.watched()
        return done.touched


def _array_type(values: Any) -> Type:
    element = NUMPY_NAMES.get(values.dtype.name, I64)
    return Vector(element, values.shape[1]) if values.ndim == 2 else element


class EdgePropertyProxy:
    """`graph.weight` in the driver loop: its types."""

    def __init__(self, t: Type, path_type: Type) -> None:
        self.dtype = cast_type(dtype_of(t))
        self.path_dtype = cast_type(dtype_of(path_type))


class GraphProxy:
    """The algorithm's `graph`: declarations, applies, and global scalars as attributes."""

    _state: DriverState

    def __init__(self, state: DriverState) -> None:
        object.__setattr__(self, "_state", state)

    # --- the graph itself

    @property
    def num_vertices(self) -> Number:
        """How many vertices there are."""
        return Number(np.int64(self._state.graph.num_vertices))

    @property
    def num_edges(self) -> Number:
        """How many edges there are; an undirected one counts once."""
        return Number(np.int64(self._state.graph.num_edges))

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self._state.graph.directed)

    # --- declarations

    def vertex_property(self, dtype: DType, fill: Any = None) -> Property:
        """A new property with `fill` at every vertex: by default 0, false, none."""
        return Property(
            self._state, dtype.type, self._state.filled(dtype.type, self._state.graph.num_vertices, fill)
        )

    def edge_property(self, dtype: DType, fill: Any = None) -> EdgeProperty:
        """A new property with `fill` at every edge: by default 0, false, none."""
        graph = self._state.graph
        array = self._state.filled(dtype.type, graph.num_edges, fill)
        return EdgeProperty(array, dtype.type, graph.edge_array(EDGE_NUMBER))

    def scratch(self, dtype: DType) -> Property:
        """A property that is private to one visit of a vertex operator, zero when it begins."""
        state, t = self._state, dtype.type
        return Property(state, t, np.zeros(state.graph.num_vertices, state.dtype(t)), scratch=True)

    def disjoint_sets(self) -> Property:
        """A property of disjoint sets: each vertex is its own."""
        array = np.arange(self._state.graph.num_vertices, dtype=self._state.id_dtype)
        return Property(self._state, VID, array, disjoint=True)

    def priority_queue(self, prop: Property) -> PriorityQueue:
        """A queue of all vertices, those with the lowest value of an integer property first."""
        return PriorityQueue(prop)

    def frontier(self, seeds: Any = None) -> Frontier:
        """The frontier of a vertex, of an array of them, of a property of bools, of a condition; or the empty one."""
        state = self._state
        if seeds is None:
            return Frontier(state, ())
        if isinstance(seeds, Chosen):
            return self._visit(seeds.test, seeds.frontier, seeds.label)
        if isinstance(seeds, Number):
            return Frontier(state, (state.index(seeds),))
        given = seeds.array if isinstance(seeds, Property) else np.asarray(seeds)
        if isinstance(seeds, Property) and seeds.type == BOOL:
            given = members.ids(given)
        return Frontier(state, given.tolist())

    @property
    def vertices(self) -> Frontier:
        """All vertices, as a frontier."""
        return Frontier(self._state, range(self._state.graph.num_vertices))

    # --- globals

    def __getattr__(self, name: str) -> Any:
        state = self._state
        if name in state.globals:
            return state.from_memory(state.globals[name], state.types[name])
        if name in state.edges_of_graph:
            return EdgePropertyProxy(state.edges_of_graph[name].type, state.path_types[name])
        if name in state.of_graph:
            return state.of_graph[name]
        raise AttributeError(f"the graph has no property {name}, and no global of that name was set")

    def __setattr__(self, name: str, value: Any) -> None:
        self._state.globals[name] = self._state.to_memory(value, self._state.types[name])

    def _reduce(self, name: str, value: Any, op: str) -> None:
        """Remember a contribution until the round ends."""
        state = self._state
        assert state.round is not None
        change = contribution(value, op, state.types[name], state.to_memory)
        partials, key = state.round.partials, (name, op)
        partials[key] = arithmetic.BINARY[op](partials[key], change) if key in partials else change

    def _reduce_tuple(self, names: tuple[str, ...], values: Sequence[Any], op: str) -> None:
        """Remember a contribution to several globals until the round ends."""
        state = self._state
        assert state.round is not None
        new = [state.to_memory(v, state.types[n], nearest=True) for v, n in zip(values, names, strict=True)]
        tuples, key = state.round.tuples, (names, op)
        if key not in tuples or arithmetic.precedes(op, new, tuples[key]):
            tuples[key] = new

    # --- applies

    def edge_apply(
        self,
        op: OperatorDef,
        frontier: Frontier | None = None,
        label: str | None = None,
        *,
        reverse: bool = False,
    ) -> Frontier:
        """Run an edge operator over the arcs that leave the frontier; the vertices where it took effect.

        With `reverse` over those that enter it: then src is the head of each arc, and dst its tail.
        """
        state = self._state
        state.resolve()
        call, first = state.overlay.function(state.operators[op]), _graph_first(op)
        active, alone = _vertices(frontier, state), state.operators[op].exclusive
        state.round = Round()
        visits = [(v, edge) for v in active for edge in Neighbors(Vertex(state, v), out=not reverse).edges()]
        if alone:
            place = state.places(state.graph, label or op.name)
            visits.sort(key=lambda visit: place[visit[1]._position])
        for v, edge in visits:
            src = Vertex(state, v, own=alone)
            dst = Vertex(state, (edge.src if reverse else edge.dst)._index, own=True)
            self._call(op, call, first, (src, Edge(state, edge._position, src, dst), dst))
        arcs = len(visits)
        return Frontier(state, state.end_round(label or op.name, "push", len(active), arcs))

    def vertex_apply(
        self, op: OperatorDef, frontier: Frontier | None = None, label: str | None = None
    ) -> None:
        """Run a vertex operator on the frontier."""
        self.vertex_filter(op, frontier, label)

    def vertex_filter(
        self, op: OperatorDef, frontier: Frontier | None = None, label: str | None = None
    ) -> Frontier:
        """Run a vertex operator on the frontier; the vertices for which it returns true."""
        state = self._state
        call, first = state.overlay.function(state.operators[op]), _graph_first(op)
        alone = state.operators[op].exclusive
        return self._visit(lambda v: self._call(op, call, first, (v,)), frontier, label or op.name, alone)

    def _visit(
        self, visit: Callable[[Vertex], Any], frontier: Frontier | None, label: str, alone: bool = False
    ) -> Frontier:
        """One round over the vertices of a frontier; those for which `visit` gives something true."""
        state = self._state
        state.resolve()
        active = _vertices(frontier, state)
        state.round = Round(alone=alone)
        chosen, late = list[int](), list[int]()
        for v in active:
            try:
                if visit(Vertex(state, v, own=True)):
                    chosen.append(v)
            except NoRoom:
                late.append(v)
        state.round.second = True
        chosen += [v for v in late if visit(Vertex(state, v, own=True))]
        state.end_round(label, "vertex", len(active), 0)
        return Frontier(state, chosen)

    def _call(self, op: OperatorDef, call: Any, graph_first: bool | None, args: tuple[Any, ...]) -> Any:
        for prop in self._state.private:
            prop.array[...] = 0
        if graph_first is None:
            return call(*args)
        return call(self, *args) if graph_first else call(*args, self)


def _vertices(frontier: Frontier | None, state: State) -> Sequence[int]:
    return range(state.graph.num_vertices) if frontier is None else frontier.vertices


def _graph_first(op: OperatorDef) -> bool | None:
    """True if the operator's first parameter is `graph`, False if its last is, None if it has none."""
    names = list(inspect.signature(op.function).parameters)
    if "graph" not in names:
        return None
    return names[0] == "graph"
