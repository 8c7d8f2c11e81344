"""Hints on loops over arcs: prefetching, and several arcs at a time in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

from vgraph.compiler import ir
from vgraph.compiler.analysis.gathers import lanes_of, touched, varies
from vgraph.compiler.backends.llvm import arithmetic, hubs
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.expressions import arcs_of, row_offset
from vgraph.compiler.backends.llvm.loops import LoopBody, counted
from vgraph.compiler.backends.llvm.memory import combine, element_address
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import VID, Type, Vector, element_of

FEW: Final = 6
"""Fewer arcs than this are walked one by one: filling and folding the lanes costs as much as some six of them."""
FAR, NEAR = 16, 8
"""How many vertices ahead of the present one in a queue its own values are asked for, and its arcs."""
_KEEP: Final = 3
"""Locality of `llvm.prefetch`: into all levels of the cache."""


def prefetch(f: Emitter, node: ir.ForNeighbors, arc: str, columns: str) -> None:
    """Ask for what the body will touch `node.prefetch` arcs ahead, be that at the next vertex."""
    compared = next((n for n in ir.walk(node) if isinstance(n, ir.MarkedHubs | ir.ForMarkedHubs)), None)
    last = f.op(f"sub nuw nsw i64 {arcs_of(f, node.orientation)}, 1")
    there = f.call(
        "i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw i64 {arc}, {node.prefetch}')}", f"i64 {last}"
    )
    other = f.widen(f.read(f.types.id, f.pointers[columns], there, columns))
    for prop, writes in touched(node.body, node.vertex).items():
        address = element_address(f, prop, other, f.program.property(prop).type)
        f.call("void", "llvm.prefetch.p0", f"ptr {address}", f"i32 {int(writes)}", f"i32 {_KEEP}", "i32 1")
    if compared is not None:
        hubs.fetch_ahead(f, compared, other)


def fetch_entries(
    f: Emitter, node: ir.ParFor | ir.BucketLoop, entry: Callable[[str], str], number: str, last: str
) -> None:
    """Ask for what vertices further on in a queue will touch: `entry` gives the id of a number (i64), up to `last`.

    They lie apart, so the processor does not foresee them, and atomic updates of neighbors keep it from having many
    under way; where neighbors are only read it has, and asking costs more than it gives.
    """
    walk = next((n for n in walk_body(node.body) if _own_arcs(n, node.vertex)), None)
    if walk is None or not any(touched(walk.body, walk.vertex).values()):
        return
    far, near = (
        entry(f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw nsw i64 {number}, {k}')}", f"i64 {last}"))
        for k in (FAR, NEAR)
    )
    side, types = walk.orientation.value, {p.name: p.type for p in f.program.properties}
    first = row_offset(f, walk.orientation, near)
    asked = [f.item(f.types.offset, f.pointers[f"{side}.row_offsets"], far)]
    asked.append(f.item(f.types.id, f.pointers[f"{side}.column_indices"], first))
    for place, body, name in ((far, node.body, node.vertex), (first, walk.body, walk.edge)):
        known = [prop for prop in touched(body, name) if prop in f.pointers and prop not in f.shifts]
        asked += [element_address(f, prop, place, types[prop]) for prop in known if prop in types]
    for address in asked:
        f.call("void", "llvm.prefetch.p0", f"ptr {address}", "i32 0", f"i32 {_KEEP}", "i32 1")


def _own_arcs(n: ir.Node, vertex: str) -> TypeGuard[ir.ForNeighbors]:
    """Whether a loop walks the arcs of this vertex as the graph has them."""
    match n:
        case ir.ForNeighbors(segments=1, planned=False, beyond=0, deltas=False, of=ir.Var(name=name)):
            return name == vertex
    return False


def by_lanes(f: Emitter, node: ir.ForNeighbors, begin: str, end: str, columns: str) -> tuple[str, str]:
    """Whole registers of arcs, then the rest under a mask, unless the arcs are few; the range that is left over.

    What the body sums up is in its locals again when the loop over what is left begins.
    """
    lanes = lanes_of(node.body, node.vertex, node.edge, f.program.target)
    entry = f.block
    degree = f.op(f"sub nuw nsw i64 {end}, {begin}")
    with f.unless(f.op(f"icmp ult i64 {degree}, {FEW}"), "lanes"):
        loop = Lanes(f, node, lanes, columns)
        loop.begin()
        whole = f.op(f"and i64 {degree}, {-lanes}")
        stop = f.op(f"add nuw nsw i64 {begin}, {whole}")
        number = f.op(f"lshr exact i64 {whole}, {lanes.bit_length() - 1}")
        counted(f, "0", number, loop.whole(begin), "lanes", f.loop_metadata("!3"))
        with f.unless(f.op(f"icmp eq i64 {stop}, {end}"), "lanes.rest"):
            loop.part(stop, f.op(f"sub nuw nsw i64 {end}, {stop}"))
        loop.fold()
        after = f.block
    return f.op(f"phi i64 [ {begin}, %{entry} ], [ {end}, %{after} ]"), end


class Lanes:
    """The body of a loop over arcs, for several arcs at once."""

    def __init__(self, f: Emitter, node: ir.ForNeighbors, lanes: int, columns: str) -> None:
        self.f, self.node, self.lanes, self.columns = f, node, lanes, columns
        self.statements = [s for s in node.body if isinstance(s, ir.Accumulate)]
        assert len(self.statements) == len(node.body)
        self.totals: list[tuple[str, Vector]] = []
        self.ids = Vector(VID, lanes)

    def vector(self, t: Type) -> Vector:
        return Vector(element_of(t), self.lanes)

    def begin(self) -> None:
        """A register of partial results for each statement, in a stack slot that LLVM removes."""
        for s in self.statements:
            t = self.vector(s.value.type)
            register, nothing = self.f.types.register(t), self.f.types.constant(neutral(s.op, t), t)
            slot = self.f.slot(register, f"lanes.{s.name}")
            self.f.do(f"store {register} {nothing}, ptr {slot}")
            self.totals.append((slot, t))

    def whole(self, begin: str) -> LoopBody:
        """The body for full registers, by their number."""

        def each(number: str, _: str, __: str) -> None:
            shift = self.lanes.bit_length() - 1
            arc = self.f.op(f"add nuw nsw i64 {begin}, {self.f.op(f'shl nuw nsw i64 {number}, {shift}')}")
            self.step(arc, self._ids(arc, None), None)

        return each

    def part(self, arc: str, size: str) -> None:
        """The body for the first `size` lanes only."""
        f, n = self.f, self.lanes
        narrow = f.op(f"trunc nuw nsw i64 {size} to i32")
        filled = f.op(f"insertelement <{n} x i32> poison, i32 {narrow}, i64 0")
        spread = f.op(f"shufflevector <{n} x i32> {filled}, <{n} x i32> poison, <{n} x i32> zeroinitializer")
        numbers = ", ".join(f"i32 {k}" for k in range(n))
        mask = f.op(f"icmp ult <{n} x i32> <{numbers}>, {spread}")
        self.step(arc, self._ids(arc, mask), mask)

    def _ids(self, arc: str, mask: str | None) -> str:
        return self._row(self.ids, self.f.pointers[self.columns], arc, self.columns, mask)

    def step(self, arc: str, others: str, mask: str | None) -> None:
        """The body for the lanes of the mask (None: all), with the other ends `others`, from arc number `arc` on."""
        f = self.f
        for s, (slot, t) in zip(self.statements, self.totals, strict=True):
            value, name = self._value(s.value, others, arc, mask), f.types.register(t)
            if mask is not None:
                nothing = f.types.constant(neutral(s.op, t), t)
                value = f.op(f"select <{self.lanes} x i1> {mask}, {name} {value}, {name} {nothing}")
            old = f.op(f"load {name}, ptr {slot}")
            f.do(f"store {name} {combine(f, s.op, old, value, t)}, ptr {slot}")

    def fold(self) -> None:
        """Combine the lanes, half onto half, and put the results into the locals."""
        f = self.f
        for s, (slot, t) in zip(self.statements, self.totals, strict=True):
            name, half = f.types.register(t), self.lanes // 2
            total = f.op(f"load {name}, ptr {slot}")
            while half:
                picks = ", ".join(f"i32 {half + k}" if k < half else "i32 poison" for k in range(self.lanes))
                upper = f.op(f"shufflevector {name} {total}, {name} poison, <{self.lanes} x i32> <{picks}>")
                total = combine(f, s.op, total, upper, t)
                half //= 2
            found = f.op(f"extractelement {name} {total}, i64 0")
            pointer, scalar = f.locals[s.name].pointer, f.types.register(t.element)
            old = f.op(f"load {scalar}, ptr {pointer}")
            f.do(f"store {scalar} {combine(f, s.op, old, found, t.element)}, ptr {pointer}")

    def _value(self, e: ir.Expr, others: str, arc: str, mask: str | None) -> str:
        """The values of `e` for all lanes."""
        f, node = self.f, self.node
        t = self.vector(e.type)
        if not varies(e, node.vertex, node.edge):
            return arithmetic.cast(f, f.expr(e), t).text
        match e:
            case ir.Var(name=node.vertex):
                return others
            case ir.Load(prop=prop, index=ir.Var(name=node.edge)):
                return self._row(t, f.pointers[prop], arc, prop, mask)
            case ir.Load(prop=prop):
                return self._gather(t, prop, others, mask)
            case ir.Binary(op=op, left=a, right=b):
                return arithmetic.binary(
                    f, op, self._value(a, others, arc, mask), self._value(b, others, arc, mask), t
                )
            case ir.Unary(op=op, operand=a):
                return arithmetic.unary(f, op, self._value(a, others, arc, mask), t)
            case ir.Cast(operand=a):
                return arithmetic.cast(
                    f, Value(self._value(a, others, arc, mask), self.vector(a.type)), t
                ).text
        raise AssertionError(e)

    def _row(self, t: Vector, base: str, arc: str, scope: str, mask: str | None) -> str:
        """Neighboring elements, one for each lane."""
        f = self.f
        name, element = f.types.register(t), f.types.register(t.element)
        address, align = f.item(element, base, arc), f.types.size(t.element)
        if mask is None:
            return f.op(f"load {name}, ptr {address}, align {align}{f.alias(scope)}")
        function = f"llvm.masked.load.{f.types.suffix(t)}.p0"
        f.declarations.add(f"declare {name} @{function}(ptr, i32, <{self.lanes} x i1>, {name})")
        args = f"ptr {address}, i32 {align}, <{self.lanes} x i1> {mask}, {name} zeroinitializer"
        return f.op(f"call {name} @{function}({args}){f.alias(scope)}")

    def _gather(self, t: Vector, prop: str, others: str, mask: str | None) -> str:
        """Elements at the places `others`."""
        f, n = self.f, self.lanes
        name, element = f.types.register(t), f.types.register(t.element)
        ids = f.types.register(self.ids)
        # Ids stay below 2**31 where they have 32 bits, so that the gather takes them as they are.
        wide = others if f.types.id == "i64" else f.op(f"sext {ids} {others} to <{n} x i64>")
        places = f.op(f"getelementptr {element}, ptr {f.pointers[prop]}, <{n} x i64> {wide}")
        function = f"llvm.masked.gather.{f.types.suffix(t)}.v{n}p0"
        f.declarations.add(f"declare {name} @{function}(<{n} x ptr>, i32, <{n} x i1>, {name})")
        chosen = mask if mask is not None else "splat (i1 true)"
        args = f"<{n} x ptr> {places}, i32 {f.types.size(t.element)}, <{n} x i1> {chosen}, {name} zeroinitializer"
        return f.op(f"call {name} @{function}({args}){f.alias(prop)}")
