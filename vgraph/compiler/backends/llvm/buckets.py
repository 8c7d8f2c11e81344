"""Emit functions of buckets: each thread pushes into its own, and all agree on the one to visit.

Keys from the bucket under way on stand in a circle of cells; lower ones go to the cell `behind`, to be visited next,
and higher ones to the cell `far`, dealt out anew when their turn comes. What the threads have in the bucket under
way is shared in tickets of an eighth of a block; each thread takes its own first, then the others'. Then it goes on
alone with what it pushes into that bucket, while it is little ("bucket fusion": Zhang et al. 2020, Optimizing ordered
graph algorithms with GraphIt).

Buckets belong to ranks of the team. When it has become smaller, the ranks that are left advance the buckets of those
without a thread as well, so that nothing in them is forgotten, and whoever joins finds those of its rank in order.

A byte per vertex tells whether it was pushed since its last visit; entries of others are passed over. It is set after
the value that the push is about was written, and taken before the visit reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import (
    BUCKETS_BEHIND,
    BUCKETS_CELLS,
    BUCKETS_NONE,
    CONTEXT,
    DECLARATIONS,
    WORKER,
    WORKER_STRIDE,
)
from vgraph.compiler.backends.llvm import gathers, heaps
from vgraph.compiler.backends.llvm.emitter import LIKELY, UNLIKELY, Binding, Emitter, Region
from vgraph.compiler.backends.llvm.forks import fork_point
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.parallel import barrier, end_region, once, prepare
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import RECORDS, Record, Unit
from vgraph.compiler.types import VID

BLOCK_IDS: Final = 512
"""Places of vertex ids in a block; the link takes 8 bytes of them."""
NOWHERE: Final = -(1 << 63)
"""The bucket under way when there is none: no key lies in the circle."""


def block_bytes(f: Emitter) -> int:
    """Bytes of a block."""
    return BLOCK_IDS * f.types.target.id_bits // 8


def unit(id_bits: int) -> Unit:
    """`prelude/buckets.loops` for vertex ids of so many bits."""
    numbers = {
        "SIZE": BLOCK_IDS * id_bits // 8, "SHIFT": id_bits // 32 + 1, "CELLS": BUCKETS_CELLS, "CIRCLE": WORKER.size,
        "NONE": BUCKETS_NONE, "BEHIND": BUCKETS_BEHIND, "EIGHTH": BLOCK_IDS * id_bits // 64, "STRIDE": WORKER_STRIDE,
    }  # fmt: skip
    span = Record({"first": (0, "*u8"), "last": (8, "*u8")}, 16)
    return Unit("buckets", numbers=numbers, records={**RECORDS, "SPAN": span})


def helper(f: Emitter, name: str) -> str:
    """The symbol of a function of the prelude, which the kernel will define."""
    return functions(unit(f.types.target.id_bits), name, DECLARATIONS, f.helpers, f.declarations)


def prologue(f: Emitter) -> None:
    """Find this thread's workers; declare each thread's copy of the bucket under way."""
    if not f.program.buckets:
        return
    base = f.load_field(CONTEXT, "%ctx", "buckets")
    for index, decl in enumerate(f.program.buckets):
        place = f.op(f"getelementptr inbounds i8, ptr {base}, i64 {8 * index}") if index else base
        workers = f.op(f"load ptr, ptr {place}{f.alias('ctx')}")
        offset = f.op(f"mul nuw nsw i64 %thread, {WORKER_STRIDE}")
        f.pointers[f"workers {decl.name}"] = workers
        f.pointers[f"worker {decl.name}"] = f.op(f"getelementptr inbounds i8, ptr {workers}, i64 {offset}")
        f.pointers[f"queued {decl.name}"] = f.load_field(WORKER, workers, "queued")
        slot = f.pointers[f"current {decl.name}"] = f.slot("i64", "current")
        f.do(f"store i64 {NOWHERE}, ptr {slot}")
        f.hand_on("i64", slot)


def key_of(f: Emitter, decl: ir.BucketsDecl, vertex: Value) -> Value:
    """The key of a vertex now."""
    saved = dict(f.locals)
    f.locals[decl.vertex] = Binding(VID, value=vertex)
    key = f.expr(decl.key)
    f.locals = saved
    return key


# --- pushes ---------------------------------------------------------------------------------------------------


def emit_push(f: Emitter, node: ir.BucketPush) -> None:
    """`enqueue work v`."""
    decl = f.program.bucket_set(node.buckets)
    vertex = f.expr(node.vertex)
    key = key_of(f, decl, vertex)
    if decl.strict:
        heaps.push(f, decl, key, vertex)
    else:
        set_flag(f, decl, vertex)
        put(f, decl, key.text, vertex.text)


def set_flag(f: Emitter, decl: ir.BucketsDecl, vertex: Value) -> None:
    """A vertex is pushed; what the push is about was written before."""
    flag = f.item("i8", f.pointers[f"queued {decl.name}"], f.index(vertex))
    order = ("", "") if f.serial else ("atomic ", " release")
    f.do(f"store {order[0]}i8 1, ptr {flag}{order[1]}, align 1{f.alias('queued')}")


def put(f: Emitter, decl: ir.BucketsDecl, key: str, vertex: str) -> None:
    """An entry in this thread's bucket `key`."""
    worker = f.pointers[f"worker {decl.name}"]
    current = f.op(f"load i64, ptr {f.pointers[f'current {decl.name}']}")
    near, far, store = f.label("near"), f.label("far"), f.label("enqueue")
    ahead = f.op(f"sub i64 {key}, {current}")
    f.branch(f.op(f"icmp ult i64 {ahead}, {BUCKETS_CELLS}"), near, far, LIKELY)
    f.start(near)
    place = _cell(f, worker, key)
    f.jump(store)
    f.start(far)
    lower = f.op(f"icmp slt i64 {key}, {current}")
    cells = [f.field(WORKER, worker, name) for name in ("behind", "far")]
    aside = f.op(f"select i1 {lower}, ptr {cells[0]}, ptr {cells[1]}")
    before = f.load_field(WORKER, worker, "far_lowest")
    least = f.call("i64", "llvm.smin.i64", f"i64 {before}", f"i64 {key}")
    f.store_field(WORKER, worker, "far_lowest", f.op(f"select i1 {lower}, i64 {before}, i64 {least}"))
    f.start(store)
    cell = f.op(f"phi ptr [ {place}, %{near} ], [ {aside}, %{far} ]")
    _append(f, worker, cell, vertex)


def _cell(f: Emitter, worker: str, key: str) -> str:
    slot = f.op(f"and i64 {key}, {BUCKETS_CELLS - 1}")
    cells = f.op(f"getelementptr inbounds i8, ptr {worker}, i64 {WORKER.size}")
    return f.item("ptr", cells, slot)


def _append(f: Emitter, worker: str, cell: str, vertex: str) -> None:
    """Put a vertex at the end of the last block, or into a new one; nothing when memory is out."""
    size, alias = f.types.target.id_bits // 8, f.alias("cells")
    end = f.op(f"load ptr, ptr {cell}, align 8{alias}")
    number = f.op(f"ptrtoint ptr {end} to i64")
    full, room, done = f.label("full"), f.label("room"), f.label("enqueued")
    part = f.op(f"and i64 {number}, {block_bytes(f) - 1}")
    before = f.block
    f.branch(f.op(f"icmp eq i64 {part}, 0"), full, room, UNLIKELY)
    f.start(full)
    fresh = f.op(f"call ptr @{helper(f, 'room')}(ptr %ctx, ptr {worker}, ptr {end})")
    f.branch(f.op(f"icmp eq ptr {fresh}, null"), done, room, UNLIKELY)
    f.start(room)
    at = f.op(f"phi ptr [ {end}, %{before} ], [ {fresh}, %{full} ]")
    f.do(f"store {f.types.id} {vertex}, ptr {at}, align {size}{f.alias('entries')}")
    following = f.op(f"getelementptr inbounds i8, ptr {at}, i64 {size}")
    f.do(f"store ptr {following}, ptr {cell}, align 8{alias}")
    f.start(done)


def publish(f: Emitter, name: str) -> None:
    """Tell the other threads, before the barrier that comes, which bucket is this thread's lowest."""
    decl = f.program.bucket_set(name)
    if decl.strict or decl.tiles:
        return
    worker = f.pointers[f"worker {name}"]
    current = f.op(f"load i64, ptr {f.pointers[f'current {name}']}")
    f.store_field(WORKER, worker, "lowest", _lowest(f, worker, current))


def _lowest(f: Emitter, worker: str, current: str) -> str:
    """The lowest bucket in which a rank has entries."""
    near = f.op(f"call i64 @{helper(f, 'lowest')}(ptr {worker}, i64 {current})")
    far = f.load_field(WORKER, worker, "far_lowest")
    return f.call("i64", "llvm.smin.i64", f"i64 {near}", f"i64 {far}")


# --- collectives ----------------------------------------------------------------------------------------------


def emit_clear(f: Emitter, node: ir.BucketsClear) -> None:
    """`clear work buckets`: what a run that ended early, or the last round, may have left is given up."""
    _mine(f, node.buckets, lambda worker, _: f.do(f"call void @{helper(f, 'clear')}(ptr {worker})"))
    f.do(f"store i64 {NOWHERE}, ptr {f.pointers[f'current {node.buckets}']}")
    barrier(f)


def _mine(f: Emitter, name: str, action: Callable[[str, str], None]) -> None:
    """`action` on the buckets of this thread's rank, and on those of ranks without a thread that fall to it."""
    if f.lone:
        action(f.pointers[f"worker {name}"], "0")
    else:
        _ranks(f, name, "%thread", "1" if f.serial else f.op("load i64, ptr %team"), action)


def _ranks(f: Emitter, name: str, first: str, step: str, action: Callable[[str, str], None]) -> None:
    """`action` on the buckets of the ranks `first`, `first + step` and so on; it gets the rank, too (i64 texts)."""
    head = f.label("ranks")
    at = f.slot("i64", "rank")
    f.do(f"store i64 {first}, ptr {at}")
    f.start(head)
    rank = f.op(f"load i64, ptr {at}")
    with f.when(f.op(f"icmp ult i64 {rank}, %num_threads"), "rank"):
        offset = f.op(f"mul nuw nsw i64 {rank}, {WORKER_STRIDE}")
        action(f.op(f"getelementptr inbounds i8, ptr {f.pointers[f'workers {name}']}, i64 {offset}"), rank)
        f.do(f"store i64 {f.op(f'add i64 {rank}, {step}')}, ptr {at}")
        f.jump(head)


def emit_advance(f: Emitter, node: ir.BucketAdvance) -> None:
    """`more = advance work`: the lowest bucket of any thread comes next, with what is due of what was put aside."""
    decl = f.program.bucket_set(node.buckets)
    more = f.locals[node.more].pointer
    current = f.pointers[f"current {decl.name}"]
    least = _minimum(f, decl)
    f.do(f"store i1 false, ptr {more}")
    with f.unless(f.op(f"icmp eq i64 {least}, {BUCKETS_NONE}"), "advance", UNLIKELY):
        behind = f.op(f"icmp eq i64 {least}, {BUCKETS_BEHIND}")
        now = f.op(f"select i1 {behind}, i64 {f.op(f'load i64, ptr {current}')}, i64 {least}")
        f.do(f"store i64 {now}, ptr {current}")
        f.do(f"store i1 true, ptr {more}")
        _mine(f, decl.name, lambda worker, rank: _open(f, decl, worker, rank, now, behind))
    barrier(f)
    if not f.lone:
        _settle(f, decl, more)


def _open(f: Emitter, decl: ir.BucketsDecl, worker: str, rank: str, now: str, behind: str) -> None:
    """Offer what a rank has in bucket `now`, or in what came too late for it, with what is due of what it put aside."""
    aside = f.load_field(WORKER, worker, "far_lowest")
    with f.unless(f.op(f"icmp sgt i64 {aside}, {now}"), "advance.due", LIKELY):
        _deal(f, decl, worker)
    cell = cell_of(f, worker, now, behind)
    if f.lone:
        f.store_field(WORKER, worker, "cell", cell)
    else:
        f.do(f"call void @{helper(f, 'open')}(ptr {worker}, ptr {cell})")
        with f.unless(f.op(f"icmp eq i64 {rank}, %thread"), "rank.foreign"):
            f.store_field(WORKER, worker, "after", _lowest(f, worker, now))


def cell_of(f: Emitter, worker: str, now: str, behind: str) -> str:
    """The cell of bucket `now`, or that of what came too late for it."""
    cells = (f.field(WORKER, worker, "behind"), _cell(f, worker, now))
    return f.op(f"select i1 {behind}, ptr {cells[0]}, ptr {cells[1]}")


def _settle(f: Emitter, decl: ir.BucketsDecl, more: str) -> None:
    """The first thread says which bucket is the lowest of ranks without a thread, now that all know the one under way.

    Each of the others says so itself, when the loop ends (`publish`).
    """

    def say(worker: str, _: str) -> None:
        f.store_field(WORKER, worker, "lowest", f.load_field(WORKER, worker, "after"))

    with f.when(f.op(f"load i1, ptr {more}"), "settle"), once(f):
        _ranks(f, decl.name, "1" if f.serial else f.op("load i64, ptr %team"), "1", say)


def _minimum(f: Emitter, decl: ir.BucketsDecl) -> str:
    """The lowest bucket of all ranks."""
    workers = f.pointers[f"workers {decl.name}"]
    if f.lone:
        return f.load_field(WORKER, workers, "lowest")
    return f.op(f"call i64 @{helper(f, 'minimum')}(ptr {workers}, i64 %num_threads)")


def _deal(f: Emitter, decl: ir.BucketsDecl, worker: str) -> None:
    """Put what a rank holds beyond the circle into that of this thread, where it is near enough now; stale entries are
    dropped."""
    cell = f.field(WORKER, worker, "far")
    chain = f.op(f"load ptr, ptr {cell}, align 8{f.alias('cells')}")
    f.do(f"store ptr null, ptr {cell}, align 8{f.alias('cells')}")
    f.store_field(WORKER, worker, "far_lowest", str(BUCKETS_NONE))

    def deal(vertex: str) -> None:
        order = ("", "") if f.serial else ("atomic ", " monotonic")
        flag = f.item("i8", f.pointers[f"queued {decl.name}"], f.widen(vertex))
        seen = f.op(f"load {order[0]}i8, ptr {flag}{order[1]}, align 1{f.alias('queued')}")
        with f.unless(f.op(f"icmp eq i8 {seen}, 0"), "pending"):
            put(f, decl, key_of(f, decl, Value(vertex, VID)).text, vertex)

    _walk(f, worker, chain, deal)


def _walk(f: Emitter, worker: str, chain: str, body: Callable[[str], None]) -> None:
    """A loop over all entries of a chain of this thread's blocks, which are given back."""
    rest, head, inside, leave = f.slot("ptr", "chain"), *map(f.label, ("chain", "chain.block", "chain.end"))
    f.do(f"store ptr {chain}, ptr {rest}")
    f.start(head)
    end = f.op(f"load ptr, ptr {rest}")
    f.branch(f.op(f"icmp eq ptr {end}, null"), leave, inside)
    f.start(inside)
    start = f.op(f"call ptr @{helper(f, 'start')}(ptr {end})")
    f.do(f"store ptr {f.op(f'load ptr, ptr {start}, align 8')}, ptr {rest}")
    _entries(f, f.op(f"getelementptr inbounds i8, ptr {start}, i64 8"), end, lambda v, _: body(v))
    f.do(f"call void @{helper(f, 'free')}(ptr {worker}, ptr {start})")
    f.jump(head)
    f.start(leave)


def _entries(
    f: Emitter, begin: str, end: str, body: Callable[[str, str], None], node: ir.BucketLoop | None = None
) -> None:
    """A loop over the vertex ids from `begin` to `end`; the body gets the id and the block of the next round.
    What those further on touch in a loop is asked for."""
    size = f.types.target.id_bits // 8
    numbers = [f.op(f"ptrtoint ptr {p} to i64") for p in (begin, end)]
    count = f.op(f"lshr exact i64 {f.op(f'sub nuw i64 {numbers[1]}, {numbers[0]}')}, {size.bit_length() - 1}")

    def entry(i: str) -> str:
        place = f.item(f.types.id, begin, i)
        return f.op(f"load {f.types.id}, ptr {place}, align {size}{f.alias('entries')}")

    def each(i: str, again: str, _: str) -> None:
        if node is not None:
            gathers.fetch_entries(f, node, lambda k: f.widen(entry(k)), i, last)
        body(entry(i), again)

    last = f.op(f"sub i64 {count}, 1")
    counted(f, "0", count, each, "entries")


# --- the loop -------------------------------------------------------------------------------------------------


def emit_loop(f: Emitter, node: ir.BucketLoop) -> None:
    """`parbucket v in work`."""
    decl = f.program.bucket_set(node.buckets)
    if decl.strict:
        heaps.emit_drain(f, node, decl, key_of)
        return
    fork_point(f, BLOCK_IDS // 8, lambda: _entries_of_all(f, decl))
    loops, f.loops = f.loops, []
    region = f.region = Region(f.label("drained"))
    prepare(f, node.body, region)
    visit_all(f, decl, node, "0" if f.lone else "%num_threads", region.leave)
    f.start(region.leave)
    f.loops = loops
    end_region(f, node.body, region)


def visit_all(f: Emitter, decl: ir.BucketsDecl, node: ir.BucketLoop, shared: str, leave: str) -> None:
    """Visit the entries that all threads offer, then (or only, if `shared` is 0) this thread's; go to `leave`."""
    worker, workers = f.pointers[f"worker {decl.name}"], f.pointers[f"workers {decl.name}"]
    ends = f.slot("[2 x ptr]", "range")
    head = f.label("take")

    def visit(vertex: str, again: str) -> None:
        _take_flag(f, decl, vertex, again)
        with f.turn(again):
            f.bind(node.vertex, Value(vertex, VID))
            f.body(node.body)

    f.start(head)
    some = f.op(
        f"call i1 @{helper(f, 'take')}(ptr %ctx, ptr {workers}, ptr {worker}, i64 {shared}, ptr {ends})"
    )
    f.jump_unless(some, leave)
    begin = f.op(f"load ptr, ptr {ends}")
    end = f.op(f"load ptr, ptr {f.op(f'getelementptr inbounds i8, ptr {ends}, i64 8')}")
    _entries(f, begin, end, visit, node)
    f.jump(head)


def _entries_of_all(f: Emitter, decl: ir.BucketsDecl) -> str:
    """How many entries are offered in the bucket under way."""
    total, workers = f.slot("i64", "offered"), f.pointers[f"workers {decl.name}"]
    f.do(f"store i64 0, ptr {total}")

    def add(rank: str, _: str, __: str) -> None:
        offset = f.op(f"mul nuw nsw i64 {rank}, {WORKER_STRIDE}")
        worker = f.op(f"getelementptr inbounds i8, ptr {workers}, i64 {offset}")
        entries = f.load_field(WORKER, worker, "entries")
        so_far = f.op(f"load i64, ptr {total}")
        f.do(f"store i64 {f.op(f'add i64 {so_far}, {entries}')}, ptr {total}")

    counted(f, "0", "%num_threads", add, "ranks", f.loop_metadata("!3", "!4"))
    return f.op(f"load i64, ptr {total}")


def _take_flag(f: Emitter, decl: ir.BucketsDecl, vertex: str, passed: str) -> None:
    """Go to `passed` if the vertex was visited since it was last pushed."""
    flag, alias = f.item("i8", f.pointers[f"queued {decl.name}"], f.widen(vertex)), f.alias("queued")
    if f.serial:
        seen = f.op(f"load i8, ptr {flag}, align 1{alias}")
        f.jump_if(f.op(f"icmp eq i8 {seen}, 0"), passed)
        f.do(f"store i8 0, ptr {flag}, align 1{alias}")
        return
    seen = f.op(f"load atomic i8, ptr {flag} monotonic, align 1{alias}")
    f.jump_if(f.op(f"icmp eq i8 {seen}, 0"), passed)
    before = f.op(f"atomicrmw xchg ptr {flag}, i8 0 acq_rel, align 1{alias}")
    f.jump_if(f.op(f"icmp eq i8 {before}, 0"), passed, UNLIKELY)
