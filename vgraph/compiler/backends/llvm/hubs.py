"""Hubs that two neighbor lists share: bitmaps, AND and popcount; lists of others are looked up in a bitmap.

The marks of a visit are a bitmap of all hubs on the stack. Vectors of 512 bits are written as such: LLVM makes of
their popcount what the processor has (`vpopcntq`, shuffles of AVX2, or plain words).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import hub_counts
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.expressions import row_offset
from vgraph.compiler.backends.llvm.loops import counted, set_bits
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import hubs_key
from vgraph.compiler.types import I64, VID
from vgraph.graph.layouts.hubs import BLOCK

_WORDS, _VECTOR = hub_counts.WORDS, hub_counts.VECTOR
_LINE: Final = 64
_Compared = ir.MarkedHubs | ir.ForMarkedHubs


def bounds(f: Emitter, side: ir.Orientation, hubs: int, v: str) -> tuple[str, str, str]:
    """Where in `columns` of the layout the list of vertex `v` (i64) begins, its hubs end, and it ends."""
    name = f"{hubs_key(side, hubs)}.split"
    split = f.widen(f.read(f.types.offset, f.pointers[name], v, name), f.types.offset)
    return row_offset(f, side, v), split, row_offset(f, side, v, next_one=True)


def emit_mark(f: Emitter, node: ir.MarkHubs) -> None:
    """`markhubs 8192 out(v)`."""
    begin, split, _ = bounds(f, node.orientation, node.hubs, f.index(f.expr(node.of)))
    count = -(-node.hubs // BLOCK) * _WORDS
    f.marks = f.slot(f"[{count} x i64]", "marked", align=_LINE)
    f.call("void", "llvm.memset.p0.i64", f"ptr {f.marks}", "i8 0", f"i64 {8 * count}", "i1 false")

    def each(arc: str, _: str, __: str) -> None:
        _, place, bit = _place(f, node, arc)
        known = f.read("i64", f.marks, place, "marked")
        new = f.op(f"or i64 {known}, {f.op(f'shl nuw i64 1, {bit}')}")
        f.write("i64", f.marks, place, new, "marked")

    counted(f, begin, split, each, "mark")


def _place(f: Emitter, node: ir.MarkHubs | _Compared, arc: str) -> tuple[str, str, str]:
    """The number of the hub at place `arc` of a list, the word of the marks that has it, and the bit there."""
    name = f"{hubs_key(node.orientation, node.hubs)}.columns"
    hub = f.widen(f.read(f.types.id, f.pointers[name], arc, name))
    return hub, f.op(f"lshr i64 {hub}, 6"), f.op(f"and i64 {hub}, 63")


def _blocks(f: Emitter, node: _Compared, v: str) -> tuple[str, str]:
    """The first block of a vertex's bitmap, and how many it has (i64); none if it is no hub."""
    name = f"{hubs_key(node.orientation, node.hubs)}.blocks"
    address = f.item("i32", f.pointers[name], v)
    first, end = (f.widen(f.read("i32", address, k, name), "i32") for k in ("0", "1"))
    return first, f.op(f"sub nuw nsw i64 {end}, {first}")


def _words(f: Emitter, node: _Compared, first: str) -> str:
    """The address of a block."""
    name = f"{hubs_key(node.orientation, node.hubs)}.words"
    return f.item(_VECTOR, f.pointers[name], first)


def _shared(f: Emitter, words: str, block: str) -> str:
    """What a block of a bitmap has in common with the marks."""
    own, theirs = (
        f.op(f"load {_VECTOR}, ptr {f.item(_VECTOR, base, block)}, align {_LINE}{f.alias(scope)}")
        for base, scope in ((f.marks, "marked"), (words, "hubs.words"))
    )
    return f.op(f"and {_VECTOR} {own}, {theirs}")


def emit_marked(f: Emitter, node: ir.MarkedHubs) -> Value:
    """`markedhubs 8192 out(v)`."""
    v = f.index(f.expr(node.of))
    total, count = f.slot(_VECTOR, "counts", align=_LINE), f.slot("i64", "common")
    first, blocks = _blocks(f, node, v)
    hub, other, done = (f.label("hubs" + s) for s in (".bitmap", ".list", ".end"))
    f.branch(f.op(f"icmp ne i64 {blocks}, 0"), hub, other)

    f.start(hub)
    words = _words(f, node, first)
    f.do(f"store {_VECTOR} zeroinitializer, ptr {total}")

    def block(k: str, _: str, __: str) -> None:
        ones = f.call(_VECTOR, f"llvm.ctpop.v{_WORDS}i64", f"{_VECTOR} {_shared(f, words, k)}")
        so_far = f.op(f"load {_VECTOR}, ptr {total}")
        f.do(f"store {_VECTOR} {f.op(f'add {_VECTOR} {so_far}, {ones}')}, ptr {total}")

    counted(f, "0", blocks, block, "blocks")
    counts = f.op(f"load {_VECTOR}, ptr {total}")
    found = f.call("i64", f"llvm.vector.reduce.add.v{_WORDS}i64", f"{_VECTOR} {counts}")
    f.do(f"store i64 {found}, ptr {count}")
    f.jump(done)

    f.start(other)
    f.do(f"store i64 0, ptr {count}")

    def each(found: str, _: str, __: str) -> None:
        so_far = f.op(f"load i64, ptr {count}")
        more = f.op(f"zext i1 {found} to i64")
        f.do(f"store i64 {f.op(f'add i64 {so_far}, {more}')}, ptr {count}")

    _listed(f, node, v, each)
    f.start(done)
    found = f.op(f"load i64, ptr {count}")
    return Value(found, I64, found)


def _listed(f: Emitter, node: _Compared, v: str, each: Callable[[str, str, str], None]) -> None:
    """For each hub in the list of `v`: `each(found, hub, again)`, found if it is marked, and not of a parallel arc."""
    begin, split, _ = bounds(f, node.orientation, node.hubs, v)
    before = f.slot("i64", "before")
    f.do(f"store i64 -1, ptr {before}")

    def look(arc: str, again: str, _: str) -> None:
        hub, place, bit = _place(f, node, arc)
        fresh = f.op(f"icmp ne i64 {hub}, {f.op(f'load i64, ptr {before}')}")
        f.do(f"store i64 {hub}, ptr {before}")
        moved = f.op(f"lshr i64 {f.read('i64', f.marks, place, 'marked')}, {bit}")
        marked = f.op(f"trunc i64 {moved} to i1")
        each(f.op(f"and i1 {fresh}, {marked}"), hub, again)

    counted(f, begin, split, look, "listed")


def emit_for_marked(f: Emitter, node: ir.ForMarkedHubs) -> None:
    """`for w in markedhubs 8192 out(v)`: the bits that a bitmap has in common with the marks, or a list."""
    v = f.index(f.expr(node.of))
    first, blocks = _blocks(f, node, v)
    hub, other, done = (f.label("hubs" + s) for s in (".bitmap", ".list", ".end"))
    counts = f.region.counts.get(id(node)) if f.region is not None else None

    def body(number: str, again: str, _: str) -> None:
        name = f"{hubs_key(node.orientation, node.hubs)}.vertices"
        with f.turn(again, done):
            f.bind(node.vertex, Value(f.read(f.types.id, f.pointers[name], number, name), VID))
            f.body(node.body)

    f.branch(f.op(f"icmp ne i64 {blocks}, 0"), hub, other)
    f.start(hub)
    words = _words(f, node, first)

    def block(k: str, _: str, __: str) -> None:
        assert counts is not None
        hub_counts.ripple(f, counts, k, _shared(f, words, k))

    def word(k: str, _: str, __: str) -> None:
        both = (f.read("i64", f.marks, k, "marked"), f.read("i64", words, k, "hubs.words"))
        set_bits(f, f.op(f"and i64 {both[0]}, {both[1]}"), k, body)

    if counts is not None:
        counted(f, "0", blocks, block, "blocks")
        hub_counts.added(f, counts)
    else:
        counted(f, "0", f.op(f"mul nuw nsw i64 {blocks}, {_WORDS}"), word, "words")
    f.jump(done)

    f.start(other)

    def each(found: str, number: str, again: str) -> None:
        f.jump_unless(found, again)
        body(number, again, done)

    _listed(f, node, v, each)
    f.start(done)


def fetch_ahead(f: Emitter, node: _Compared, vertex: str) -> None:
    """Ask for the bitmap of `vertex` (i64)."""
    first, blocks = _blocks(f, node, vertex)
    words = _words(f, node, first)

    def ask(k: str, _: str, __: str) -> None:
        f.call("void", "llvm.prefetch.p0", f"ptr {f.item(_VECTOR, words, k)}", "i32 0", "i32 3", "i32 1")

    counted(f, "0", blocks, ask, "ahead", f.loop_metadata("!3"))
