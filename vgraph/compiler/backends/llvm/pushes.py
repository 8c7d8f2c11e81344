"""Pushing vertices onto a frontier inside a parallel loop.

A queue is filled through a buffer on the thread's stack: one fetch-and-add per 1024 vertices. In-queue flags
hold the epoch of the queue that the vertex was last put into, so a new queue needs no clearing.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import FRONTIER
from vgraph.compiler.backends.llvm.emitter import LIKELY, UNLIKELY, Emitter, Region
from vgraph.compiler.backends.llvm.expressions import descriptor
from vgraph.records import dataclass

BUFFER: Final = 1024
"""Vertex ids in a thread's buffer."""

_FLUSH: Final = """\
define internal void @vg.flush(ptr %count, ptr %queue, ptr %buffer, i64 %n) nounwind cold noinline {
  %at = atomicrmw add ptr %count, i64 %n monotonic, align 8
  %to = getelementptr inbounds nuw <ID>, ptr %queue, i64 %at
  %bytes = mul i64 %n, <SIZE>
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %buffer, i64 %bytes, i1 false)
  ret void
}
"""


@dataclass(frozen=True)
class Push:
    """Where pushes to one frontier go while a parallel loop runs."""

    layout: ir.Layout
    alone: bool
    """No other thread pushes at the same time."""
    counter: str
    """Address of the frontier's count."""
    array: str
    """Address of the queue or the bitmap."""
    flags: str
    epoch: str
    count: str
    """Stack slot: ids in the buffer; alone, members of the queue; for a bitmap, bits set so far."""
    buffer: str


def prepare(f: Emitter, node: ir.FrontierPush) -> Push:
    """Load what pushes need from the descriptor, once per loop."""
    frontier, alone = descriptor(f, node.frontier), f.serial or f.single
    sparse = node.layout is ir.Layout.SPARSE
    counter = f.field(FRONTIER, frontier, "count")
    array = f.load_field(FRONTIER, frontier, "queue" if sparse else "bits")
    flags = epoch = buffer = ""
    if sparse and node.frontier in f.scan.flags:
        flags = f.load_field(FRONTIER, frontier, "flags")
        epoch = f.op(f"trunc i32 {f.load_field(FRONTIER, frontier, 'epoch')} to i8")
    if sparse and not alone:
        buffer = _buffer(f, node.frontier)
    count = f.slot("i64", "pushed")
    begin = f.load_field(FRONTIER, frontier, "count") if sparse and alone else "0"
    f.do(f"store i64 {begin}, ptr {count}")
    return Push(node.layout, alone, counter, array, flags, epoch, count, buffer)


def _buffer(f: Emitter, frontier: str) -> str:
    """The thread's buffer for a frontier, shared by all parallel loops."""
    name = f"buffer {frontier}"
    if name not in f.pointers:
        f.pointers[name] = f.slot(f"[{BUFFER} x {f.types.id}]", "buffer", 64)
        text = _FLUSH.replace("<ID>", f.types.id).replace("<SIZE>", str(f.types.target.id_bits // 8))
        f.helpers["vg.flush"] = text
        f.declarations.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    return f.pointers[name]


def emit_push(f: Emitter, node: ir.FrontierPush) -> None:
    """`push next v`; outside a parallel loop one thread does it at once."""
    push = f.region.pushes.get((node.frontier, node.layout)) if f.region is not None else None
    if push is None:
        from vgraph.compiler.backends.llvm.parallel import once

        with once(f):
            single, f.single = f.single, True
            push = prepare(f, node)
            _push(f, node, push)
            _finish(f, push)
            f.single = single
    else:
        _push(f, node, push)


def _push(f: Emitter, node: ir.FrontierPush, push: Push) -> None:
    vertex, done = f.expr(node.vertex), f.label("pushed")
    atomic = node.atomic and not push.alone
    if node.layout is ir.Layout.BITMAP:
        _set_bit(f, push, f.index(vertex), atomic, done)
    else:
        if node.dedupe:
            _claim_flag(f, push, f.index(vertex), atomic, done)
        _append(f, push, vertex.text)
    f.start(done)


def _claim_flag(f: Emitter, push: Push, vertex: str, atomic: bool, done: str) -> None:
    """Go to `done` if the vertex is in the queue already."""
    place = f.item("i8", push.flags, vertex)
    order, alias = ("atomic ", " monotonic") if atomic else ("", ""), f.alias("flags")
    seen = f.op(f"load {order[0]}i8, ptr {place}{order[1]}, align 1{alias}")
    f.jump_if(f.op(f"icmp eq i8 {seen}, {push.epoch}"), done)
    if not atomic:
        f.do(f"store i8 {push.epoch}, ptr {place}, align 1{alias}")
        return
    before = f.op(f"atomicrmw xchg ptr {place}, i8 {push.epoch} monotonic, align 1{alias}")
    f.jump_if(f.op(f"icmp eq i8 {before}, {push.epoch}"), done, UNLIKELY)


def _append(f: Emitter, push: Push, vertex: str) -> None:
    size = f.types.target.id_bits // 8
    if push.alone:
        n, array, alias = f.op(f"load i64, ptr {push.count}"), push.array, f.alias("queues")
    else:
        n, alias, array = f.op(f"load i64, ptr {push.count}"), "", push.buffer
        with f.when(f.op(f"icmp eq i64 {n}, {BUFFER}"), "full", UNLIKELY):
            _flush(f, push, n)
            f.do(f"store i64 0, ptr {push.count}")
        n = f.op(f"load i64, ptr {push.count}")
    place = f.item(f.types.id, array, n)
    f.do(f"store {f.types.id} {vertex}, ptr {place}, align {size}{alias}")
    f.do(f"store i64 {f.op(f'add nuw nsw i64 {n}, 1')}, ptr {push.count}")


def _flush(f: Emitter, push: Push, n: str) -> None:
    args = f"ptr {push.counter}, ptr {push.array}, ptr {push.buffer}, i64 {n}"
    f.do(f"call void @vg.flush({args}){f.alias('queues')}")


def _set_bit(f: Emitter, push: Push, vertex: str, atomic: bool, done: str) -> None:
    alias = f.alias("bits")
    word = f.op(f"lshr i64 {vertex}, 6")
    bit = f.op(f"shl nuw i64 1, {f.op(f'and i64 {vertex}, 63')}")
    place = f.item("i64", push.array, word)
    atomically, order = ("atomic ", " monotonic") if atomic else ("", "")
    old = f.op(f"load {atomically}i64, ptr {place}{order}, align 8{alias}")
    f.jump_unless(f.op(f"icmp eq i64 {f.op(f'and i64 {old}, {bit}')}, 0"), done)
    if atomic:
        before = f.op(f"atomicrmw or ptr {place}, i64 {bit} monotonic, align 8{alias}")
        f.jump_unless(f.op(f"icmp eq i64 {f.op(f'and i64 {before}, {bit}')}, 0"), done, LIKELY)
    else:
        f.do(f"store i64 {f.op(f'or i64 {old}, {bit}')}, ptr {place}, align 8{alias}")
    n = f.op(f"load i64, ptr {push.count}")
    f.do(f"store i64 {f.op(f'add nuw nsw i64 {n}, 1')}, ptr {push.count}")


def finish(f: Emitter, region: Region) -> None:
    """At the end of a parallel loop: buffers are emptied into queues, counts added to the descriptors."""
    for push in region.pushes.values():
        _finish(f, push)


def _finish(f: Emitter, push: Push) -> None:
    n, alias = f.op(f"load i64, ptr {push.count}"), f.alias("ctx")
    if push.alone and push.layout is ir.Layout.SPARSE:
        f.do(f"store i64 {n}, ptr {push.counter}, align 8{alias}")
        return
    if push.alone:
        total = f.op(f"add i64 {f.op(f'load i64, ptr {push.counter}, align 8{alias}')}, {n}")
        f.do(f"store i64 {total}, ptr {push.counter}, align 8{alias}")
        return
    with f.unless(f.op(f"icmp eq i64 {n}, 0"), "rest"):
        if push.layout is ir.Layout.SPARSE:
            _flush(f, push, n)
        else:
            f.op(f"atomicrmw add ptr {push.counter}, i64 {n} monotonic, align 8{alias}")
