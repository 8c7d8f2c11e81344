"""What buckets do once per block or round: functions emitted once per kernel, on demand.

`WORKER.field(%p)` and `CONTEXT.field(%p)` stand for the address of a field, as in `native.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vgraph.compiler.backends.abi import (
    BUCKETS_BEHIND,
    BUCKETS_CELLS,
    BUCKETS_NONE,
    CONTEXT,
    DECLARATIONS,
    WORKER,
    WORKER_STRIDE,
)

if TYPE_CHECKING:
    from vgraph.compiler.backends.llvm.emitter import Emitter

_LAYOUTS: Final = {"WORKER": WORKER, "CONTEXT": CONTEXT}
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "take": ("start", "free"), "open": ("start", "free"), "clear": ("start", "free"),
}  # fmt: skip


def helper(f: Emitter, name: str) -> str:
    """The name of helper `name`, which the kernel will define."""
    function = f"vg.buckets.{name}"
    if function not in f.helpers:
        size = f.types.target.id_bits // 8 * 512
        values = {
            "SIZE": size, "MASK": -size, "EIGHTH": size // 8, "STRIDE": WORKER_STRIDE, "CELLS": BUCKETS_CELLS,
            "WRAP": BUCKETS_CELLS - 1, "SHIFT": (size // 512).bit_length() - 1, "NONE": BUCKETS_NONE,
            "BEHIND": BUCKETS_BEHIND, "CIRCLE": WORKER.size,
        }  # fmt: skip
        text = _TEXTS[name]
        for key, value in values.items():
            text = text.replace(f"<{key}>", str(value))
        f.helpers[function] = re.sub(r"\b(WORKER|CONTEXT)\.(\w+)\((%\w+)\)", _address, text)
        for needed in _NEEDS.get(name, ()):
            helper(f, needed)
        if name == "take":
            f.declarations |= {f"declare i64 @llvm.{m}.i64(i64, i64)" for m in ("umin", "umax")}
        if name == "room":
            f.declarations.add(f"declare {DECLARATIONS['vg_buckets_grow']} nounwind")
    return function


def _address(match: re.Match[str]) -> str:
    layout, name, pointer = match.groups()
    return f"getelementptr inbounds i8, ptr {pointer}, i64 {_LAYOUTS[layout].offset(name)}"


_TEXTS: Final = {
    "start": """\
define internal ptr @vg.buckets.start(ptr %end) nounwind alwaysinline {
  %number = ptrtoint ptr %end to i64
  %last = sub i64 %number, 1
  %part = and i64 %last, <MASK>
  %back = sub i64 %part, %number
  %start = getelementptr i8, ptr %end, i64 %back
  ret ptr %start
}
""",
    "free": """\
define internal void @vg.buckets.free(ptr %worker, ptr %block) nounwind alwaysinline {
  %free.p = WORKER.free(%worker)
  %next = load ptr, ptr %free.p
  store ptr %next, ptr %block
  store ptr %block, ptr %free.p
  ret void
}
""",
    "room": """\
; The place of the first entry of a new block that follows the full one, or the empty cell's value, %end.
define internal ptr @vg.buckets.room(ptr %ctx, ptr %worker, ptr %end) nounwind cold noinline {
entry:
  %free.p = WORKER.free(%worker)
  %fresh.p = WORKER.fresh(%worker)
  %limit.p = WORKER.fresh_end(%worker)
  %free = load ptr, ptr %free.p
  %none = icmp eq ptr %free, null
  br i1 %none, label %look, label %reuse
reuse:
  %next = load ptr, ptr %free
  store ptr %next, ptr %free.p
  br label %link
look:
  %fresh = load ptr, ptr %fresh.p
  %limit = load ptr, ptr %limit.p
  %spent = icmp eq ptr %fresh, %limit
  br i1 %spent, label %grow, label %cut
grow:
  %ok = call i1 @vg_buckets_grow(ptr %ctx, ptr %worker, i64 <SIZE>)
  br i1 %ok, label %look, label %fail
cut:
  %following = getelementptr i8, ptr %fresh, i64 <SIZE>
  store ptr %following, ptr %fresh.p
  br label %link
link:
  %block = phi ptr [ %free, %reuse ], [ %fresh, %cut ]
  store ptr %end, ptr %block
  %place = getelementptr inbounds i8, ptr %block, i64 8
  ret ptr %place
fail:
  ret ptr null
}
""",
    "lowest": """\
define internal i64 @vg.buckets.lowest(ptr %worker, i64 %current) nounwind noinline {
entry:
  %behind.p = WORKER.behind(%worker)
  %behind = load ptr, ptr %behind.p
  %late = icmp ne ptr %behind, null
  %circle = getelementptr inbounds i8, ptr %worker, i64 <CIRCLE>
  br i1 %late, label %first, label %head
first:
  ret i64 <BEHIND>
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %key = add i64 %current, %i
  %slot = and i64 %key, <WRAP>
  %cell = getelementptr inbounds ptr, ptr %circle, i64 %slot
  %end = load ptr, ptr %cell
  %empty = icmp eq ptr %end, null
  br i1 %empty, label %next, label %found
next:
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, <CELLS>
  br i1 %more, label %head, label %none
found:
  ret i64 %key
none:
  ret i64 <NONE>
}
""",
    "minimum": """\
define internal i64 @vg.buckets.minimum(ptr %workers, i64 %count) nounwind noinline {
entry:
  %base = WORKER.lowest(%workers)
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %head ]
  %least = phi i64 [ <NONE>, %entry ], [ %lower, %head ]
  %row = mul nuw nsw i64 %i, <STRIDE>
  %place = getelementptr inbounds i8, ptr %base, i64 %row
  %value = load i64, ptr %place
  %less = icmp slt i64 %value, %least
  %lower = select i1 %less, i64 %value, i64 %least
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %head, label %done
done:
  ret i64 %lower
}
""",
    "clear": """\
; Back to no entries: all chains are given back, as after a run that left some.
define internal void @vg.buckets.clear(ptr %worker) nounwind cold noinline {
entry:
  %blocks.p = WORKER.blocks(%worker)
  %table.p = WORKER.table(%worker)
  %blocks = load i64, ptr %blocks.p
  %table = load ptr, ptr %table.p
  br label %shared
shared:
  %b = phi i64 [ 0, %entry ], [ %b.next, %give ]
  %left = icmp ult i64 %b, %blocks
  br i1 %left, label %give, label %cells
give:
  %place = getelementptr inbounds ptr, ptr %table, i64 %b
  %shared.end = load ptr, ptr %place
  %shared.block = call ptr @vg.buckets.start(ptr %shared.end)
  call void @vg.buckets.free(ptr %worker, ptr %shared.block)
  %b.next = add nuw nsw i64 %b, 1
  br label %shared
cells:
  store i64 0, ptr %blocks.p
  %lowest.p = WORKER.lowest(%worker)
  store i64 <NONE>, ptr %lowest.p
  %far.lowest.p = WORKER.far_lowest(%worker)
  store i64 <NONE>, ptr %far.lowest.p
  %length.p = WORKER.heap_length(%worker)
  store i64 0, ptr %length.p
  %circle = getelementptr inbounds i8, ptr %worker, i64 <CIRCLE>
  br label %head
head:
  %i = phi i64 [ -2, %cells ], [ %i.next, %next ]
  %first = icmp eq i64 %i, -2
  %second = icmp eq i64 %i, -1
  %behind.p = WORKER.behind(%worker)
  %far.p = WORKER.far(%worker)
  %normal = getelementptr inbounds ptr, ptr %circle, i64 %i
  %aside = select i1 %second, ptr %far.p, ptr %normal
  %cell = select i1 %first, ptr %behind.p, ptr %aside
  %begin = load ptr, ptr %cell
  store ptr null, ptr %cell
  br label %walk
walk:
  %end = phi ptr [ %begin, %head ], [ %link, %block ]
  %none = icmp eq ptr %end, null
  br i1 %none, label %next, label %block
block:
  %start = call ptr @vg.buckets.start(ptr %end)
  %link = load ptr, ptr %start
  call void @vg.buckets.free(ptr %worker, ptr %start)
  br label %walk
next:
  %i.next = add nsw i64 %i, 1
  %more = icmp slt i64 %i.next, <CELLS>
  br i1 %more, label %head, label %done
done:
  ret void
}
""",
    "open": """\
; Offer the blocks of the cell's chain to all threads; those offered before come back. Nothing is kept for a cancelled
; loop.
define internal void @vg.buckets.open(ptr %worker, ptr %cell) nounwind noinline {
entry:
  %cell.p = WORKER.cell(%worker)
  %blocks.p = WORKER.blocks(%worker)
  %table.p = WORKER.table(%worker)
  %turn.p = WORKER.turn(%worker)
  %base.p = WORKER.turn_base(%worker)
  %blocks = load i64, ptr %blocks.p
  %table = load ptr, ptr %table.p
  br label %old
old:
  %b = phi i64 [ 0, %entry ], [ %b.next, %give ]
  %left = icmp ult i64 %b, %blocks
  br i1 %left, label %give, label %new
give:
  %old.p = getelementptr inbounds ptr, ptr %table, i64 %b
  %old.end = load ptr, ptr %old.p
  %old.start = call ptr @vg.buckets.start(ptr %old.end)
  call void @vg.buckets.free(ptr %worker, ptr %old.start)
  %b.next = add nuw nsw i64 %b, 1
  br label %old
new:
  store ptr %cell, ptr %cell.p
  store i64 0, ptr %turn.p
  store i64 0, ptr %base.p
  %begin = load ptr, ptr %cell
  store ptr null, ptr %cell
  br label %walk
walk:
  %k = phi i64 [ 0, %new ], [ %k.next, %block ]
  %end = phi ptr [ %begin, %new ], [ %link, %block ]
  %entries = phi i64 [ 0, %new ], [ %entries.next, %block ]
  %none = icmp eq ptr %end, null
  br i1 %none, label %done, label %block
block:
  %place = getelementptr inbounds ptr, ptr %table, i64 %k
  store ptr %end, ptr %place
  %start = call ptr @vg.buckets.start(ptr %end)
  %link = load ptr, ptr %start
  %end.number = ptrtoint ptr %end to i64
  %start.number = ptrtoint ptr %start to i64
  %used = sub i64 %end.number, %start.number
  %filled = sub i64 %used, 8
  %ids = lshr exact i64 %filled, <SHIFT>
  %entries.next = add nuw nsw i64 %entries, %ids
  %k.next = add nuw nsw i64 %k, 1
  br label %walk
done:
  store i64 %k, ptr %blocks.p
  %entries.p = WORKER.entries(%worker)
  store i64 %entries, ptr %entries.p
  ret void
}
""",
    "take": """\
; The next range of entries: a ticket for shared blocks while there are any, then the blocks of this thread's cell, if
; it has no more than two. With %count = 0 this thread is the only one, and takes all there is.
define internal i1 @vg.buckets.take(ptr %ctx, ptr %workers, ptr %worker, i64 %count, ptr %range) nounwind noinline {
entry:
  %cancel.p = CONTEXT.cancel(%ctx)
  %turn.p = WORKER.turn(%worker)
  %base.p = WORKER.turn_base(%worker)
  %held.p = WORKER.held(%worker)
  %chain.p = WORKER.chain(%worker)
  %cell.p = WORKER.cell(%worker)
  %counter.p = CONTEXT.chunk_counter(%ctx)
  %to.p = getelementptr inbounds i8, ptr %range, i64 8
  %cancel = load atomic i32, ptr %cancel.p monotonic, align 4
  %stop = icmp ne i32 %cancel, 0
  br i1 %stop, label %leave, label %begin
begin:
  %turn = load i64, ptr %turn.p
  %base = load i64, ptr %base.p
  %open = icmp ult i64 %turn, %count
  br i1 %open, label %draw, label %own
draw:
  %turn.now = phi i64 [ %turn, %begin ], [ %t, %slice ]
  %base.now = phi i64 [ %base, %begin ], [ %first, %slice ]
  %ticket = atomicrmw add ptr %counter.p, i64 1 monotonic, align 8
  br label %find
find:
  %t = phi i64 [ %turn.now, %draw ], [ %t.next, %skip ]
  %first = phi i64 [ %base.now, %draw ], [ %last, %skip ]
  %inside = icmp ult i64 %t, %count
  br i1 %inside, label %look, label %drained
look:
  %row = mul nuw nsw i64 %t, <STRIDE>
  %other = getelementptr inbounds i8, ptr %workers, i64 %row
  %blocks.p = WORKER.blocks(%other)
  %blocks = load i64, ptr %blocks.p
  %tickets = shl i64 %blocks, 3
  %last = add i64 %first, %tickets
  %here = icmp ult i64 %ticket, %last
  br i1 %here, label %slice, label %skip
skip:
  %t.next = add nuw nsw i64 %t, 1
  br label %find
slice:
  %k = sub i64 %ticket, %first
  %b = lshr i64 %k, 3
  %part = and i64 %k, 7
  %table.p = WORKER.table(%other)
  %table = load ptr, ptr %table.p
  %shared.p = getelementptr inbounds ptr, ptr %table, i64 %b
  %shared.end = load ptr, ptr %shared.p
  %shared = call ptr @vg.buckets.start(ptr %shared.end)
  %low = mul nuw nsw i64 %part, <EIGHTH>
  %behind.link = call i64 @llvm.umax.i64(i64 %low, i64 8)
  %high = add nuw nsw i64 %low, <EIGHTH>
  %end.number = ptrtoint ptr %shared.end to i64
  %start.number = ptrtoint ptr %shared to i64
  %used = sub i64 %end.number, %start.number
  %limit = call i64 @llvm.umin.i64(i64 %high, i64 %used)
  %some = icmp ult i64 %behind.link, %limit
  br i1 %some, label %give, label %draw
give:
  store i64 %t, ptr %turn.p
  store i64 %first, ptr %base.p
  %from = getelementptr inbounds i8, ptr %shared, i64 %behind.link
  %to = getelementptr inbounds i8, ptr %shared, i64 %limit
  store ptr %from, ptr %range
  store ptr %to, ptr %to.p
  ret i1 true
drained:
  store i64 %count, ptr %turn.p
  br label %own
own:
  %held = load ptr, ptr %held.p
  %holding = icmp ne ptr %held, null
  br i1 %holding, label %done.block, label %next.block
done.block:
  call void @vg.buckets.free(ptr %worker, ptr %held)
  store ptr null, ptr %held.p
  br label %next.block
next.block:
  %chain = load ptr, ptr %chain.p
  %ended = icmp eq ptr %chain, null
  br i1 %ended, label %refill, label %walk
refill:
  %cell = load ptr, ptr %cell.p
  %mine = load ptr, ptr %cell
  %empty = icmp eq ptr %mine, null
  br i1 %empty, label %leave, label %weigh
weigh:
  %alone = icmp eq i64 %count, 0
  br i1 %alone, label %detach, label %second
second:
  %mine.start = call ptr @vg.buckets.start(ptr %mine)
  %mine.link = load ptr, ptr %mine.start
  %one = icmp eq ptr %mine.link, null
  br i1 %one, label %detach, label %third
third:
  %link.start = call ptr @vg.buckets.start(ptr %mine.link)
  %link.link = load ptr, ptr %link.start
  %two = icmp eq ptr %link.link, null
  br i1 %two, label %detach, label %leave
detach:
  store ptr null, ptr %cell
  br label %walk
walk:
  %end = phi ptr [ %chain, %next.block ], [ %mine, %detach ]
  %start = call ptr @vg.buckets.start(ptr %end)
  %link = load ptr, ptr %start
  store ptr %link, ptr %chain.p
  store ptr %start, ptr %held.p
  %entries = getelementptr inbounds i8, ptr %start, i64 8
  store ptr %entries, ptr %range
  store ptr %end, ptr %to.p
  ret i1 true
leave:
  ret i1 false
}
""",
}
