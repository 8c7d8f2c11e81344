"""The state of a run: memory of properties and globals, frontiers, the round under way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.arithmetic import Word
from vgraph.compiler.types import EID, VID, Packed, Type, Vector, element_of
from vgraph.graph import layouts, members
from vgraph.graph.layouts import on_host, parsed, split_name
from vgraph.graph.layouts.hubs import HUBS
from vgraph.graph.layouts.part_slices import PART_SLICES
from vgraph.graph.layouts.parts import PARTS, part_of_arcs
from vgraph.graph.layouts.plans import PLANS
from vgraph.records import dataclass
from vgraph.source import Span

Env = dict[str, Any]
SCRATCH = "scratch memory"
MARKED = "marked hubs"
"""The key of an environment under which the visit's private memory stands: by property, by vertex."""


class TraceRecord(NamedTuple):
    """One round: the label of the apply, its direction ("" above kernel level), vertices and arcs visited."""

    label: str
    direction: str
    active: int
    edges: int


@dataclass
class Frontier:
    """A set of vertices in one layout. A sparse queue may hold one twice; `flags` are its in-queue flags."""

    layout: ir.Layout = ir.Layout.SPARSE
    queue: list[int] = field(default_factory=list)
    bits: set[int] = field(default_factory=set)
    flags: set[int] = field(default_factory=set)

    @staticmethod
    def of(vertices: Iterable[int], layout: ir.Layout = ir.Layout.SPARSE) -> Frontier:
        """The frontier of `vertices`, sorted."""
        members = set(vertices)
        if layout is ir.Layout.BITMAP:
            return Frontier(layout, [], members)
        return Frontier(layout, sorted(members), members, set(members))

    @property
    def vertices(self) -> list[int]:
        """The vertices in the order in which they are visited."""
        return self.queue if self.layout is ir.Layout.SPARSE else sorted(self.bits)

    def copy(self) -> Frontier:
        """A frontier of its own with the same content."""
        return Frontier(self.layout, list(self.queue), set(self.bits), set(self.flags))

    def push(self, vertex: int) -> None:
        """Add a vertex in the present layout."""
        if self.layout is ir.Layout.SPARSE:
            self.queue.append(vertex)
            self.flags.add(vertex)
        else:
            self.bits.add(vertex)


DRIVER, ONE = -1, -2
"""The tasks of the driver loop, which all threads execute, and of what one of them does for all."""
Table = dict[type[Any], Callable[..., Any]]
"""What evaluates or executes nodes, by class."""
_OF_ARCS = (ir.Site.EDGE, ir.Site.EDGE_IN, ir.Site.EDGE_SEGMENTS)
Exchange = Callable[[Sequence[Any], Sequence[Any], Sequence[str], int | None], None]
"""What exchanges with the other members of a set of devices: buffers that go out, those to be filled, and the ways."""
Share = Callable[[str, int], tuple[int, int]]
"""What gives this member iterations of a divided loop: the name of the buffer, how many there are in all."""
Item = tuple[int, int]
"""A vertex that a parallel loop visits, and its place; of slices, the range of sources."""
PIECE = "<piece>"
"""The name under which an iteration of a parallel loop with `cut` finds its `Piece`."""


Rows = dict[int, list[tuple[Any, Any, int]]]
"""By vertex the arcs of a row: the other end, the arc's number there, and its number among all of the side."""


class Piece(NamedTuple):
    """Arcs begin .. end of `vertex`, counted from its first one."""

    vertex: str
    orientation: ir.Orientation
    begin: int
    end: int
    whole: bool
    first: bool
    segment: int | None = None
    """Arcs are counted among those from this range of sources."""


class Side(NamedTuple):
    """The arcs of every vertex in one orientation; `edges` maps an arc to its place in out order."""

    offsets: list[int]
    neighbors: Any
    edges: Any


class Access(NamedTuple):
    """Who was at a place, how, and in which line."""

    task: int
    write: bool
    atomic: bool
    span: Span
    locks: frozenset[int] = frozenset()


class Machine:
    """Everything that a program can change."""

    expressions: Table
    simple: Table
    """Statements that are one step."""
    compound: Table
    """Statements that are generators of steps."""

    def __init__(
        self,
        program: ir.Program,
        graph: Any,
        arguments: Mapping[str, Any],
        *,
        rng: np.random.Generator | None,
        threads: int,
        trace: list[TraceRecord],
    ) -> None:
        self.program, self.graph = program, graph
        self.rng, self.threads, self.trace = rng, threads, trace
        self.low = program.level is ir.Level.KERNEL
        self.num_vertices, self.num_arcs = int(graph.num_vertices), int(graph.num_arcs)
        self.vid, self.eid = self.dtype(VID), self.dtype(EID)
        self._sides: dict[ir.Orientation, Side] = {}
        self._segments: dict[object, list[Rows]] = {}
        self.properties = {p.name: p for p in program.properties}
        self.arrays = {p.name: self._array(p, arguments) for p in program.properties}
        self.globals = {g.name: self.zero(g.type) for g in program.globals}
        self.frontiers = {f.name: self._frontier(f.layouts) for f in program.frontiers}
        self.layouts = {f.name: f.layouts for f in program.frontiers}
        self.lists: dict[str, list[Frontier]] = {x.name: [] for x in program.lists}
        self.buckets: dict[str, list[tuple[Any, int, int]]] = {b.name: [] for b in program.buckets}
        self.current: dict[str, Any] = {}
        self.queues: dict[str, set[int]] = {q.name: set() for q in program.queues}
        self.levels: dict[str, int] = {q.name: 0 for q in program.queues}
        self.queued: dict[str, set[int]] = {b.name: set() for b in program.buckets}
        # The round under way.
        self.partials: dict[tuple[str, str], Any] = {}
        self.tuples: dict[tuple[tuple[str, ...], str], list[Any]] = {}  # of globals that are reduced together
        self.snapshot: dict[str, Any] = {}
        self.own: set[str] = set()
        self.touched: set[int] = set()
        self.interleaved = False
        self.segment = 0
        self.ranges: list[Rows] = []
        self.plan: Mapping[str, Any] = {}
        self.exchange: Exchange | None = arguments.get("set.exchange")
        self.share: Share | None = arguments.get("set.share")
        self.held: list[set[int]] = [set() for _ in range(max(1, threads))]
        """The vertices whose locks each thread has."""
        self.thread = 0
        self.task = DRIVER
        """Who runs: iterations of a parallel loop with different numbers may be on different threads."""

    def dtype(self, t: Type) -> np.dtype[Any]:
        """The NumPy dtype of a scalar, or of a vector's elements; words are objects."""
        if isinstance(t, Packed):
            return np.dtype(object)
        return np.dtype(self.program.target.numpy_name(element_of(t)))

    def zero(self, t: Type) -> Any:
        """The zero of a type."""
        if isinstance(t, Packed):
            return Word(0)
        return np.zeros(t.length, self.dtype(t)) if isinstance(t, Vector) else self.dtype(t).type(0)

    def parameters(self, arguments: Mapping[str, Any]) -> Env:
        """The scalar parameters as typed locals."""
        hidden = {p.name: 2 for p in self.program.params if p.name.startswith("policy.")}
        values = {**hidden, **arguments}  # no result depends on a number of the policy
        return {p.name: self._scalar(values[p.name], p.type) for p in self.program.params}

    def _scalar(self, value: Any, t: Type) -> Any:
        plain = value.item() if isinstance(value, np.generic) else value
        return arithmetic.constant(plain, self.dtype(t))

    def _array(self, prop: ir.Property, arguments: Mapping[str, Any]) -> Any:
        dtype = self.dtype(prop.type)
        if prop.origin is ir.Origin.PARAM or prop.site is ir.Site.ARRAY:
            return np.array(np.asarray(arguments[prop.name]).astype(dtype))
        if prop.origin is ir.Origin.MEMBERS:
            return members.marked(arguments[members.array_name(prop.name)], self.num_vertices)
        if prop.origin is ir.Origin.GRAPH and prop.site is ir.Site.VERTEX:
            return self.graph.vertex_properties[prop.name].astype(dtype)
        if prop.origin is ir.Origin.GRAPH:
            if prop.site is ir.Site.EDGE_SEGMENTS:
                name, key = split_name(prop.name)
                layout, parameters = parsed(key)
                if layout in (*PLANS, PARTS):
                    return layouts.ordered(self.graph, name, key).astype(dtype)
                count, way = parameters[0], ir.Orientation(layout.side)
                parted = layout is PART_SLICES
                rows_of = self.by_parts(str(count)) if parted else self.segments(int(count), way)
                order = [arc for rows in rows_of for row in rows.values() for _, _, arc in row]
                values = self.graph.edge_array(name).astype(dtype)[self.side(way).edges]
                return values[np.array(order, np.intp)]
            values = self.graph.edge_array(prop.name.removesuffix(".in")).astype(dtype)
            return values[self.side(ir.Orientation.IN).edges] if prop.site is ir.Site.EDGE_IN else values
        if prop.site is ir.Site.QUEUE and prop.name in arguments:
            return np.array(arguments[prop.name], dtype)
        if isinstance(prop.type, Packed):
            return np.full(self.num_arcs if prop.site in _OF_ARCS else self.num_vertices, Word(0))
        if prop.site is ir.Site.THREAD:
            copies = (self.threads, self.num_vertices)
            return np.zeros((*copies, prop.type.length) if isinstance(prop.type, Vector) else copies, dtype)
        sizes = {ir.Site.VERTEX: self.num_vertices, ir.Site.QUEUE: self.num_vertices}
        sizes[ir.Site.NUMBERED] = int(self.graph.num_edges)
        size = sizes.get(prop.site, self.num_arcs)
        return np.zeros((size, prop.type.length) if isinstance(prop.type, Vector) else size, dtype)

    def memory(self, prop: str) -> Any:
        """The array of a property: the running thread's own copy, if there is one for each."""
        array = self.arrays[prop]
        return array[self.thread] if self.properties[prop].site is ir.Site.THREAD else array

    def priorities(self, prop: str) -> Any:
        """What orders vertices by a property: of words the value that comes first."""
        array, t = self.arrays[prop], self.properties[prop].type
        if not isinstance(t, Packed):
            return array
        fields = [self.dtype(field) for field in t.fields]
        return [arithmetic.unpack(word, fields, 0) for word in array]

    def take(self, vertex: int) -> None:
        """This thread goes on with `vertex`, alone with it."""

    def spoil(self, prop: str, at: Any) -> None:
        """Forget elements, so that whoever reads them is found out."""
        array = self.arrays[prop]
        kind = array.dtype.kind
        array[at] = np.nan if kind == "f" else Word(85) if kind == "O" else array.dtype.type(85)

    @staticmethod
    def _frontier(layouts: tuple[ir.Layout, ...]) -> Frontier:
        return Frontier(ir.Layout.BITMAP if layouts == (ir.Layout.BITMAP,) else ir.Layout.SPARSE)

    def side(self, orientation: ir.Orientation) -> Side:
        """The arcs in one orientation."""
        if orientation not in self._sides:
            stored = self.graph.out if orientation is ir.Orientation.OUT else self.graph.in_
            identity = np.arange(self.num_arcs)
            edges = identity if stored.edge_ids is None else stored.edge_ids
            neighbors = stored.column_indices.astype(self.vid)
            self._sides[orientation] = Side(stored.row_offsets.tolist(), neighbors, edges.astype(self.eid))
        return self._sides[orientation]

    def arcs(self, vertex: int, orientation: ir.Orientation) -> list[tuple[Any, Any]]:
        """Pairs (other end, arc) of `vertex`, ascending; arcs are numbered as properties are indexed at this level."""
        offsets, neighbors, edges = self.side(orientation)
        begin, end = offsets[vertex], offsets[vertex + 1]
        numbers = np.arange(begin, end).astype(self.eid) if self.low else edges[begin:end]
        return list(zip(neighbors[begin:end], numbers, strict=True))

    def hubs(self, orientation: ir.Orientation, count: int) -> set[int]:
        """The vertices that count as hubs on a side."""
        return set(map(int, on_host(self.graph, HUBS[orientation.value].key(count)).arrays["vertices"]))

    def segments(self, count: int, way: ir.Orientation = ir.Orientation.IN) -> list[Rows]:
        """For each range of sources: (source, number of the arc, the arc) of the arcs of each vertex that has any, on
        the side `way`."""
        width = max(1, -(-self.num_vertices // count))
        return self._ranges(
            (count, way), way, lambda: np.asarray(self.side(way).neighbors, np.int64) // width
        )

    def by_parts(self, given: str) -> list[Rows]:
        """The same for each part of the in-arcs: of so many, or of those that an edge property tells."""
        parts = int(given) if given.isdecimal() else given
        way = ir.Orientation.IN
        return self._ranges(
            given, way, lambda: np.unique(part_of_arcs(self.graph, parts), return_inverse=True)[1]
        )

    def _ranges(self, key: object, way: ir.Orientation, find: Callable[[], NDArray[Any]]) -> list[Rows]:
        if key not in self._segments:
            range_of, (offsets, neighbors, _) = find(), self.side(way)
            found: list[Rows] = [{} for _ in range(int(range_of.max(initial=0)) + 1)]
            for v in range(self.num_vertices):
                for arc in range(offsets[v], offsets[v + 1]):
                    found[range_of[arc]].setdefault(v, []).append((neighbors[arc], 0, arc))
            number = 0
            for rows in found:
                for v, row in rows.items():
                    rows[v] = [(u, self.eid.type(number + k), arc) for k, (u, _, arc) in enumerate(row)]
                    number += len(row)
            self._segments[key] = found
        return self._segments[key]

    def parted(self, key: str) -> list[Rows]:
        """The same for each phase of a layout by parts; arcs have the numbers of their places there."""
        made = layouts.on_host(self.graph, key)
        a, found = made.arrays, list[Rows]()
        for first, last in itertools.pairwise(a["tasks"][a["bounds"]].tolist()):
            rows: Rows = {}
            for row in range(16 * first, 16 * last):
                begin, count = 16 * int(a["steps"][row // 16]) + row % 16, int(a["lengths"][row])
                places = range(begin, begin + 16 * count, 16)
                if count:
                    arcs = [(a["sources"][k], self.eid.type(k), int(a["arcs"][k])) for k in places]
                    rows[int(a["vertices"][row])] = arcs
            found.append(rows)
        return found

    def neighbors(self, vertex: int, orientation: ir.Orientation) -> Any:
        """The other ends of the arcs of `vertex`, ascending."""
        offsets, neighbors, _ = self.side(orientation)
        return neighbors[offsets[vertex] : offsets[vertex + 1]]

    def ordered(self, items: list[Any]) -> list[Any]:
        """`items`, shuffled if a seed was given."""
        if self.rng is None:
            return items
        return [items[i] for i in self.rng.permutation(len(items))]

    def cuts(self, degree: int, limit: int | None) -> list[tuple[int, int]]:
        """Where a vertex of `degree` arcs is cut: at random if a seed was given, else by the limit if there is one."""
        if self.rng is not None:
            inner = sorted(int(x) for x in self.rng.integers(0, degree + 1, self.rng.integers(0, 4)))
            places = [0, *inner, degree]
        else:
            count = -(-degree // max(1, limit)) if limit is not None and degree else 1
            places = [degree * k // count for k in range(count + 1)]
        return list(itertools.pairwise(places))

    def result(self, env: Env, e: ir.Expr, name: str) -> Any:
        """A number that the program returns under a name."""
        return self.expressions[type(e)](self, env, e)

    def reduce_global(self, name: str, op: str, value: Any) -> None:
        """Remember a contribution until the round ends."""
        key = (name, op)
        before = self.partials.get(key)
        self.partials[key] = value if before is None else arithmetic.BINARY[op](before, value)

    def met(self) -> None:
        """All threads are at a barrier."""

    def end_round(self) -> None:
        """Combine the contributions to the globals."""
        for (name, op), value in self.partials.items():
            self.globals[name] = arithmetic.BINARY[op](self.globals[name], value)
        for (names, op), new in self.tuples.items():
            if arithmetic.precedes(op, new, [self.globals[name] for name in names]):
                self.globals.update(zip(names, new, strict=True))
        self.partials, self.tuples = {}, {}
