"""Loops by segments in slices: 16 rows side by side in the lanes of vector registers, or one after the other."""

from __future__ import annotations

from collections.abc import Callable

from vgraph.compiler import ir
from vgraph.compiler.analysis.gathers import loop_obstacle
from vgraph.compiler.analysis.slices import arcs_of, key_of
from vgraph.compiler.backends.llvm import arithmetic
from vgraph.compiler.backends.llvm.emitter import Emitter, Slice
from vgraph.compiler.backends.llvm.gathers import Lanes
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.memory import combine
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.types import EID, VID
from vgraph.graph.layouts.sell import LANES


def visit_task(f: Emitter, node: ir.ParFor, task: str, visit: Callable[[str, str, str], None]) -> None:
    """Visit the vertices of the slices of a task (i64)."""
    region, key, arcs = f.region, key_of(node, f.program.target), arcs_of(node)
    assert region is not None
    parted = isinstance(node.domain, ir.PartedSegments)
    start = "" if parted else _read(f, f"{key}.starts", region.segment)
    together = _together(node, arcs)

    def each_slice(number: str, _: str, __: str) -> None:
        assert region is not None
        begin, end = _pair(f, f"{key}.steps", number)
        totals: tuple[str, ...] = ()
        if together:
            totals = _side_by_side(f, arcs, key, start, (begin, _read(f, f"{key}.full", number), end))
        first = f.op(f"shl nuw nsw i64 {number}, {LANES.bit_length() - 1}")

        def each_lane(lane: str, again: str, _: str) -> None:
            assert region is not None
            row, name = f.op(f"or disjoint i64 {first}, {lane}"), f"{key}.vertices"
            vertex = f.widen(f.read(f.types.id, f.pointers[name], row, name))
            f.jump_if(f.op(f"icmp eq i64 {vertex}, %num_vertices"), again)
            region.slice = Slice(key, row, lane, start, begin, totals)
            visit(vertex, again, vertex)
            region.slice = None

        counted(f, "0", str(LANES), each_lane, "lanes")

    counted(f, *_pair(f, f"{key}.tasks", task), each_slice, "slices")


def walk_row(f: Emitter, node: ir.ForNeighbors, at: Slice) -> None:
    """The arcs of the row that is visited: added up already, or one after the other."""
    if at.totals:
        for s, totals in zip(node.body, at.totals, strict=True):
            assert isinstance(s, ir.Accumulate)
            t, pointer = f.types.register(s.value.type), f.locals[s.name].pointer
            total = f.op(f"load {t}, ptr {f.item(t, totals, at.lane)}")
            old = f.op(f"load {t}, ptr {pointer}")
            f.do(f"store {t} {combine(f, s.op, old, total, s.value.type)}, ptr {pointer}")
        return
    lengths = f"{at.key}.lengths"
    length = f.widen(f.read("i32", f.pointers[lengths], at.row, lengths), "i32")

    def each(k: str, again: str, leave: str) -> None:
        place = f.op(f"or disjoint i64 {_places(f, f.op(f'add nuw nsw i64 {at.begin}, {k}'))}, {at.lane}")
        with f.turn(again, leave):
            f.bind(node.vertex, _source(f, at, place))
            f.bind(node.edge, f.narrow(place, EID))
            f.body(node.body)

    counted(f, "0", length, each, "arcs")


def _source(f: Emitter, at: Slice, place: str) -> Value:
    if not at.start:
        return Value(f.read(f.types.id, f.pointers[f"{at.key}.sources"], place, f"{at.key}.sources"), VID)
    offset = f.widen(f.read("i16", f.pointers[f"{at.key}.offsets"], place, f"{at.key}.offsets"), "i16")
    return f.narrow(f.op(f"add nuw nsw i64 {at.start}, {offset}"), VID)


def _together(node: ir.ParFor, arcs: ir.ForNeighbors) -> bool:
    """Whether what rows add up is computed for several at a time: nothing in it is of one destination."""
    if loop_obstacle(arcs) is not None:
        return False
    own = {node.vertex, *(n.name for s in node.body for n in ir.walk(s) if isinstance(n, ir.Let))}
    return not any(isinstance(n, ir.Var) and n.name in own for s in arcs.body for n in ir.walk(s))


def _side_by_side(
    f: Emitter, node: ir.ForNeighbors, key: str, start: str, steps: tuple[str, str, str]
) -> tuple[str, ...]:
    """For each statement the address of what the rows of a slice add up, by lane.

    `steps`: the slice's first step (i64), how many have an arc in every row, and where they end.
    """
    lanes, (begin, full, end) = Lanes(f, node, LANES, ""), steps
    lanes.begin()
    ids = f.types.register(lanes.ids)
    t, stored, array = ("i16", f"<{LANES} x i16>", "offsets") if start else (f.types.id, ids, "sources")
    first = f.narrow(start or "%num_vertices", VID).text
    base = arithmetic.cast(f, Value(first, VID), lanes.ids).text

    def step(number: str, *, masked: bool) -> None:
        place, name = _places(f, number), f"{key}.{array}"
        address = f.item(t, f.pointers[name], place)
        found = f.op(
            f"load {stored}, ptr {address}, align {f.types.size(VID) if not start else 2}{f.alias(name)}"
        )
        mask = f.op(f"icmp ne {stored} {found}, {'splat (i16 -1)' if start else base}") if masked else None
        others = f.op(f"add {ids} {base}, {f.op(f'zext {stored} {found} to {ids}')}") if start else found
        lanes.step(place, others, mask)

    middle = f.op(f"add nuw nsw i64 {begin}, {full}")
    once = f.loop_metadata("!3")
    counted(f, begin, middle, lambda k, _, __: step(k, masked=False), "steps", once)
    counted(f, middle, end, lambda k, _, __: step(k, masked=True), "steps", once)
    return tuple(slot for slot, _ in lanes.totals)


def _places(f: Emitter, step: str) -> str:
    """The number of the first place of a step (i64)."""
    return f.op(f"shl nuw nsw i64 {step}, {LANES.bit_length() - 1}")


def _read(f: Emitter, name: str, index: str) -> str:
    return f.read("i64", f.pointers[name], index, name)


def _pair(f: Emitter, name: str, index: str) -> tuple[str, str]:
    """An element and the one behind it."""
    address = f.item("i64", f.pointers[name], index)
    return f.read("i64", address, "0", name), f.read("i64", address, "1", name)
