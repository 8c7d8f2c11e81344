"""`for w in markedhubs 8192 out(v) late { count[w] += 1 }`: hubs are counted in bits, 512 of them at a time.

A number of 8 bits lies across 8 planes, each a bitmap of all hubs: to add a bitmap is a ripple of AND and XOR. Before
planes overflow they are spilled into sums of 16 bits, and these into the property; what is left, when the loop ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.memory import combine, element_address, load_at, store_at
from vgraph.compiler.backends.scan import hubs_key
from vgraph.compiler.types import Scalar
from vgraph.graph.layouts.hubs import BLOCK

if TYPE_CHECKING:
    from vgraph.compiler.backends.llvm.emitter import Emitter

PLANES: Final = 8
ROWS: Final = (1 << PLANES) - 1
"""Bitmaps that planes hold the sum of."""
MOST: Final = ROWS * ((1 << 16) // ROWS)
"""The same for sums."""
WORDS: Final = BLOCK // 64
VECTOR: Final = f"<{WORDS} x i64>"


class Counts(NamedTuple):
    """The counters of one loop over hubs, on the stack of a thread: how many bitmaps are in them is in `rows`."""

    node: ir.ForMarkedHubs
    blocks: int
    planes: str
    sums: str
    rows: str


def prepare(f: Emitter, node: ir.ForMarkedHubs) -> Counts:
    """Counters at zero."""
    blocks = -(-node.hubs // BLOCK)
    planes = f.slot(f"[{blocks * PLANES} x {VECTOR}]", "planes", align=64)
    sums, rows = f.slot(f"[{blocks * BLOCK} x i16]", "sums", align=64), f.slot("i64", "rows")
    for array, size in ((planes, blocks * PLANES * BLOCK // 8), (sums, blocks * BLOCK * 2)):
        f.call("void", "llvm.memset.p0.i64", f"ptr {array}", "i8 0", f"i64 {size}", "i1 false")
    f.do(f"store i64 0, ptr {rows}")
    return Counts(node, blocks, planes, sums, rows)


def ripple(f: Emitter, counts: Counts, block: str, found: str) -> None:
    """Add the bits `found` of one block."""
    first, carry = f.op(f"mul nuw nsw i64 {block}, {PLANES}"), found
    for j in range(PLANES):
        place = f.item(VECTOR, counts.planes, f.op(f"add nuw nsw i64 {first}, {j}"))
        plane = f.op(f"load {VECTOR}, ptr {place}, align 64{f.alias('planes')}")
        f.do(
            f"store {VECTOR} {f.op(f'xor {VECTOR} {plane}, {carry}')}, ptr {place}, align 64{f.alias('planes')}"
        )
        carry = f.op(f"and {VECTOR} {plane}, {carry}")


def added(f: Emitter, counts: Counts) -> None:
    """A whole bitmap was added: spill what would overflow."""
    rows = f.op(f"add nuw nsw i64 {f.op(f'load i64, ptr {counts.rows}')}, 1")
    f.do(f"store i64 {rows}, ptr {counts.rows}")
    done = f.label("planes.end")
    f.jump_unless(f.op(f"icmp eq i64 {f.op(f'urem i64 {rows}, {ROWS}')}, 0"), done, ", !prof !1")
    _spill(f, counts)
    f.jump_unless(f.op(f"icmp eq i64 {rows}, {MOST}"), done)
    _flush(f, counts)
    f.start(done)


def finish(f: Emitter, counts: Counts) -> None:
    """What is left, when the loop ends."""
    _spill(f, counts)
    _flush(f, counts)


def _spill(f: Emitter, counts: Counts) -> None:
    """Planes into sums: of each word the 64 numbers as bytes."""

    def word(w: str, _: str, __: str) -> None:
        block, inside = f.op(f"lshr i64 {w}, 3"), f.op(f"and i64 {w}, {WORDS - 1}")
        base = f.op(f"add nuw nsw i64 {f.op(f'mul nuw nsw i64 {block}, {PLANES * WORDS}')}, {inside}")
        total = "zeroinitializer"
        for j in range(PLANES):
            place = f.op(f"add nuw nsw i64 {base}, {j * WORDS}")
            bits = f.op(f"bitcast i64 {f.read('i64', counts.planes, place, 'planes')} to <64 x i1>")
            f.write("i64", counts.planes, place, "0", "planes")
            byte = f"<64 x i8> splat (i8 {(1 << j) - (256 if j == 7 else 0)})"
            part = f.op(f"select <64 x i1> {bits}, {byte}, <64 x i8> zeroinitializer")
            total = f.op(f"or <64 x i8> {total}, {part}")
        at = f.item("i16", counts.sums, f.op(f"shl nuw nsw i64 {w}, 6"))
        before = f.op(f"load <64 x i16>, ptr {at}, align 64{f.alias('sums')}")
        after = f.op(f"add <64 x i16> {before}, {f.op(f'zext <64 x i8> {total} to <64 x i16>')}")
        f.do(f"store <64 x i16> {after}, ptr {at}, align 64{f.alias('sums')}")

    counted(f, "0", str(counts.blocks * WORDS), word, "spill", f.loop_metadata("!3"))


def _flush(f: Emitter, counts: Counts) -> None:
    """Sums into the properties."""
    key = hubs_key(counts.node.orientation, counts.node.hubs)

    def hub(h: str, again: str, _: str) -> None:
        found = f.read("i16", counts.sums, h, "sums")
        f.jump_if(f.op(f"icmp eq i16 {found}, 0"), again)
        f.write("i16", counts.sums, h, "0", "sums")
        vertex = f.widen(f.read(f.types.id, f.pointers[f"{key}.vertices"], h, f"{key}.vertices"))
        for s in counts.node.body:
            assert isinstance(s, ir.Reduce)
            t = s.value.type
            assert isinstance(t, Scalar)
            assert isinstance(s.value, ir.Const)
            register = f.types.register(t)
            width = f.types.target.width(t)
            how = "zext" if width > 16 else "trunc"
            number = found if width == 16 else f.op(f"{how} i16 {found} to {register}")
            more = f.op(f"mul {register} {number}, {f.types.constant(s.value.value, t)}")
            place = element_address(f, s.prop, vertex, t)
            store_at(f, place, combine(f, "+", load_at(f, place, t, s.prop), more, t), t, s.prop)

    counted(f, "0", str(counts.blocks * BLOCK), hub, "flush", f.loop_metadata("!3"))
    f.do(f"store i64 0, ptr {counts.rows}")
