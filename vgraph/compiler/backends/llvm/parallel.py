"""What all threads enter together: parallel loops, `single`, barriers, and global reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import CONTEXT, DECLARATIONS, FRONTIER, MAIL, SLOTS, Way
from vgraph.compiler.backends.llvm import hub_counts, pushes
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter, Region
from vgraph.compiler.backends.llvm.expressions import descriptor
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.memory import combine, load_at, store_at
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import Unit
from vgraph.compiler.backends.scan import reductions, slot_words, walk_body, written_alone
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import I64, VID, Type, Vector, element_of

# --- barriers -----------------------------------------------------------------------------------------------


def barrier(f: Emitter, *, ends: bool = False) -> None:
    """All threads meet, and leave the kernel together if the run was stopped. Nothing inside `single`.

    `ends`: no thread holds anything that the others have not been told, so that some may be dismissed.
    """
    if f.single:
        return
    if f.serial:
        cancel = f.load_field(CONTEXT, "%ctx", "cancel", "monotonic")
        status = f.load_field(CONTEXT, "%ctx", "status", "monotonic")
        stop = f.op(f"or i32 {cancel}, {status}")
        leave = f.op(f"icmp ne i32 {stop}, 0")
    else:
        last = "true" if ends else "false"
        team = f.native("vg_barrier", "ptr %ctx", "i32 %tid", "i32 %generation", f"i1 {last}")
        f.do(f"store i64 {f.op(f'zext i32 {team} to i64')}, ptr %team")
        leave = f.op(f"icmp eq i32 {team}, 0")
    f.jump_if(leave, f.exit, UNLIKELY)


@contextmanager
def once(f: Emitter) -> Iterator[None]:
    """Code for one thread only."""
    if f.serial or f.single:
        yield
        return
    with f.when(f.op("icmp eq i32 %tid, 0"), "once"):
        yield


@contextmanager
def my_part(f: Emitter, size: str) -> Iterator[str]:
    """A loop over this thread's share of 0 .. size, in ascending order of threads; gives the counter."""
    begin, end = "0", size
    if not (f.serial or f.single):
        team = f.op("load i64, ptr %team")
        begin = f.op(f"udiv i64 {f.op(f'mul i64 {size}, %thread')}, {team}")
        following = f.op("add i64 %thread, 1")
        end = f.op(f"udiv i64 {f.op(f'mul i64 {size}, {following}')}, {team}")
    before, head, inside, leave = f.block, *map(f.label, ("part", "part.body", "part.end"))
    f.start(head)
    i = f"%i.{head}"
    place = len(f.lines)
    f.branch(f.op(f"icmp ult i64 {i}, {end}"), inside, leave)
    f.start(inside)
    yield i
    following = f.op(f"add nuw nsw i64 {i}, 1")
    f.lines.insert(place, f"  {i} = phi i64 [ {begin}, %{before} ], [ {following}, %{f.block} ]")
    f.jump(head)
    f.start(leave)


def poll(f: Emitter) -> None:
    """In a loop that may run for long inside a parallel loop: leave that early when the run is cancelled."""
    assert f.region is not None
    f.jump_if(f.cancelled(), f.region.leave, UNLIKELY)


def emit_barrier(f: Emitter, node: ir.Barrier) -> None:
    """`barrier`."""
    barrier(f)


def emit_single(f: Emitter, node: ir.Single) -> None:
    """`single { ... }`."""
    loops, f.loops = f.loops, []
    outer, region = f.single, Region(f.label("single.end"))
    _prepare_partials(f, node.body, region)
    with once(f):
        f.single, f.region = True, region
        f.body(node.body)
        f.start(region.leave)
        f.single, f.region = outer, None
    f.loops = loops
    combine_partials(f, region)


def emit_alone(f: Emitter, node: ir.Alone) -> None:
    """`alone { ... }`: the first thread runs it as code for one thread does, then tells a team's others its scalars.

    A run that is stopped there stops in all threads, at the barrier that they wait at.
    """
    if f.serial:
        with _no_forks(f):
            f.body(node.body)
        return
    base, places, words = next_slots(f), [], 0
    for kind, name, t in written_alone(node):
        pointer = f.globals[name].pointer if kind == "global" else f.locals[name].pointer
        places.append((t, pointer, 8 * words))
        words += slot_words(t)
    loops, f.loops = f.loops, []
    outside, f.exit = f.exit, f.label("alone.stopped")
    with once(f):
        f.serial = True
        with _no_forks(f):
            f.body(node.body)
        for t, pointer, offset in places:
            value = f.op(f"load {f.types.register(t)}, ptr {pointer}")
            store_at(f, thread_slot(f, base, "0", offset), value, t, "ctx")
        f.start(f.exit)
        f.serial = False
    f.exit, f.loops = outside, loops
    barrier(f)
    for t, pointer, offset in places:
        value = load_at(f, thread_slot(f, base, "0", offset), t, "ctx")
        f.do(f"store {f.types.register(t)} {value}, ptr {pointer}")


@contextmanager
def _no_forks(f: Emitter) -> Iterator[None]:
    f.alone = True
    yield
    f.alone = False


def emit_all_to_all(f: Emitter, node: ir.AllToAll) -> None:
    """`all_to_all (a) to (b) by (owners)`: the first thread calls the channel of the run's set of devices."""
    barrier(f)
    with once(f):
        mails = f.slot(f"[{len(node.outs) * MAIL.size} x i8]", "mails", align=8)
        types = {p.name: p.type for p in f.program.properties}
        for k, (out, got, way) in enumerate(zip(node.outs, node.gots, node.ways, strict=True)):
            mail = f.op(f"getelementptr inbounds i8, ptr {mails}, i64 {k * MAIL.size}")
            t = types[out]
            bytes_ = f.types.size(element_of(t)) * (t.length if isinstance(t, Vector) else 1)
            number = str(int(Way[way.upper()]))
            if node.turn is not None and way == "turns":
                number = f.op(f"add i64 {f.expr(node.turn).text}, {number}")
            values = (f.pointers[out], f.pointers[got], number, str(bytes_))
            for name, value in zip(MAIL.fields, values, strict=True):
                f.store_field(MAIL, mail, name, value)
        channel = f.load_field(CONTEXT, "%ctx", "channel")
        f.do(f"call void {channel}(ptr %ctx, ptr {mails}, i64 {len(node.outs)})")
    barrier(f)


def emit_take(f: Emitter, node: ir.Take) -> None:
    """`take sources.taken of n`: the first thread asks whoever divides the loop."""
    barrier(f)
    with once(f):
        share = f.load_field(CONTEXT, "%ctx", "share")
        count = f.expr(node.count).text
        f.do(f"call void {share}(ptr %ctx, i64 {count}, ptr {f.pointers[node.got]})")
    barrier(f)


# --- parallel loops -----------------------------------------------------------------------------------------


def end_region(f: Emitter, body: ir.Body, region: Region) -> None:
    """The end of a parallel loop: what this thread has done becomes known to all."""
    pushes.finish(f, region)
    for counts in region.counts.values():
        hub_counts.finish(f, counts)
    publish_buckets(f, body)
    f.region = None
    combine_partials(f, region)


def publish_buckets(f: Emitter, body: ir.Body) -> None:
    """Before the barrier that ends a loop: the lowest bucket of this thread among those the loop pushed to."""
    from vgraph.compiler.backends.llvm import buckets

    for name in dict.fromkeys(n.buckets for n in walk_body(body) if isinstance(n, ir.BucketPush)):
        buckets.publish(f, name)


def prepare(f: Emitter, body: ir.Body, region: Region) -> None:
    """Partials of reductions, queue buffers, and the addresses of bitmaps."""
    _prepare_partials(f, body, region)
    for inner in walk_body(body):
        if isinstance(inner, ir.FrontierPush) and (inner.frontier, inner.layout) not in region.pushes:
            region.pushes[inner.frontier, inner.layout] = pushes.prepare(f, inner)
        elif isinstance(inner, ir.InFrontier) and inner.frontier not in region.bits:
            region.bits[inner.frontier] = f.load_field(FRONTIER, descriptor(f, inner.frontier), "bits")
        elif isinstance(inner, ir.ForMarkedHubs) and inner.late:
            region.counts[id(inner)] = hub_counts.prepare(f, inner)


def _prepare_partials(f: Emitter, body: ir.Body, region: Region) -> None:
    for op, name in reductions(body):
        t = f.globals[name].type
        slot = region.partials[op, name] = f.slot(f.types.register(t), f"partial.{name}")
        f.do(f"store {f.types.register(t)} {f.types.constant(neutral(op, t), t)}, ptr {slot}")


def chunk_size(
    f: Emitter, size: str, rule: tuple[int, int], most: int, even: tuple[int, int] = (0, 1)
) -> str:
    """Items of a chunk, for a domain of `size` items; the largest allowed where one thread runs alone. Up to `even`
    items for each thread they are shared out evenly, in multiples of its second number."""
    (parts, least), (limit, multiple) = rule, even
    if f.serial:
        return str(most)
    share = f.op(f"udiv i64 {size}, {f.op(f'mul i64 %num_threads, {parts}')}")
    above = f.call("i64", "llvm.umax.i64", f"i64 {share}", f"i64 {least}")
    chunk = f.call("i64", "llvm.umin.i64", f"i64 {above}", f"i64 {most}")
    if least > 1:
        chunk = f.op(f"and i64 {chunk}, {-least}")
    if not limit:
        return chunk
    each = f.op(f"udiv i64 {size}, {f.op(f'mul i64 %num_threads, {multiple}')}")
    equal = f.op(f"mul i64 {f.op(f'add i64 {each}, 1')}, {multiple}")
    few = f.op(f"icmp ule i64 {size}, {f.op(f'mul i64 %num_threads, {limit}')}")
    return f.op(f"select i1 {few}, i64 {equal}, i64 {chunk}")


def take_chunks(f: Emitter, size: str, chunk: str, drained: str, work: Callable[[str, str], None]) -> None:
    """Take chunks until none is left; the request to stop is looked at before each."""
    if not f.serial:
        _share_chunks(f, size, chunk, drained, work)
        return
    before, head = f.block, f.label("chunk")
    f.start(head)
    place, begin = len(f.lines), f"%begin.{head}"
    f.jump_if(f.cancelled(), drained, UNLIKELY)
    f.jump_unless(f.op(f"icmp ult i64 {begin}, {size}"), drained)
    end = f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw i64 {begin}, {chunk}')}", f"i64 {size}")
    work(begin, end)
    f.lines.insert(place, f"  {begin} = phi i64 [ 0, %{before} ], [ {end}, %{f.block} ]")
    f.jump(head)


NO_CHUNK: Final = (1 << 64) - 1
MANY_CHUNKS: Final = 4
"""Chunks for each thread from which on pairs of threads have a block of them and a counter each. With one counter for
16 threads a chunk took 60 ns, and a loop over 65,536 vertices 61 us instead of the 12 of one thread."""
CHUNKS: Final = Unit("chunks", numbers={"NONE": NO_CHUNK, "LOW": (1 << 32) - 1, "MANY": MANY_CHUNKS})


def _share_chunks(f: Emitter, size: str, chunk: str, drained: str, work: Callable[[str, str], None]) -> None:
    """Each thread asks for its next chunk (`prelude/chunks.loops`)."""
    last = f.op(f"sub i64 {f.op(f'add i64 {size}, {chunk}')}, 1")
    chunks = f.op(f"udiv i64 {last}, {chunk}")
    following = functions(CHUNKS, "next", DECLARATIONS, f.helpers, f.declarations)
    helped = f.slot("i64", "helped")
    f.do(f"store i64 0, ptr {helped}")
    head = f.label("chunk")
    f.start(head)
    number = f.op(
        f"call i64 @{following}(ptr %ctx, i64 %thread, i64 %num_threads, i64 {chunks}, ptr {helped})"
    )
    f.jump_if(f.op(f"icmp eq i64 {number}, -1"), drained)
    begin = f.op(f"mul nuw i64 {number}, {chunk}")
    end = f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw i64 {begin}, {chunk}')}", f"i64 {size}")
    work(begin, end)
    f.jump(head)


def visit(f: Emitter, node: ir.ParFor, vertex: str, again: str, place: str = "") -> None:
    """The body for i64 `vertex`; `again` is where `continue` leads."""
    with f.turn(again):
        f.bind(node.vertex, f.narrow(vertex, VID))
        if place and node.position is not None:
            f.bind(node.position, Value(place, I64))
        f.body(node.body)


# --- global reductions --------------------------------------------------------------------------------------


def combine_partials(f: Emitter, region: Region) -> None:
    """Fold the partials of all threads, meet, and do what one thread is to do behind that (`Emitter.following`).

    In a team all threads but the first leave theirs in slots at their seats; the first adds them up in the order of
    threads, and the others find the results in its slots.
    """
    if f.serial:
        for (op, name), slot in region.partials.items():
            t = f.globals[name].type
            _fold(f, op, name, f.op(f"load {f.types.register(t)}, ptr {slot}"))
        barrier(f)
        return
    if f.single:
        return
    following, f.following = f.following, ()
    f.done_early = len(following)
    if not (region.partials or following):
        barrier(f, ends=True)
        return
    places, words = [], 0
    base = next_slots(f) if region.partials else ""
    for (op, name), slot in region.partials.items():
        t = f.globals[name].type
        places.append((op, name, t, slot, 8 * words))
        words += slot_words(t)

    def leave_partials() -> None:
        for _, _, t, slot, offset in places:
            value = f.op(f"load {f.types.register(t)}, ptr {slot}")
            store_at(f, thread_slot(f, base, "%thread", offset), value, t, "ctx")

    with held(f, leave_partials, ends=True):
        _fold_all(f, base, places)
        for statement in following:
            f.table[type(statement)](f, statement)
    for _, name, t, _, offset in places:
        value = load_at(f, thread_slot(f, base, "0", offset), t, "ctx")
        f.do(f"store {f.types.register(t)} {value}, ptr {f.globals[name].pointer}")


@contextmanager
def held(f: Emitter, before: Callable[[], None] = lambda: None, *, ends: bool = False) -> Iterator[None]:
    """A barrier of a team, at which the first thread does what is emitted inside while the others wait; `before` emits
    what these do before they arrive."""
    lead, arrive, met, go = map(f.label, ("lead", "arrive", "met", "go"))
    f.branch(f.op("icmp eq i32 %tid, 0"), lead, arrive)
    f.start(arrive)
    before()
    others, last = f.native("vg_arrive", "ptr %ctx", "i32 %tid", "i32 %generation"), f.block
    f.jump(met)
    f.start(lead)
    f.native("vg_gather", "ptr %ctx", f"i1 {'true' if ends else 'false'}")
    f.single = True
    yield
    f.single = False
    first, end = f.native("vg_resume", "ptr %ctx"), f.block
    f.jump(met)
    f.start(met)
    team = f.op(f"phi i32 [ {others}, %{last} ], [ {first}, %{end} ]")
    f.do(f"store i64 {f.op(f'zext i32 {team} to i64')}, ptr %team")
    f.branch(f.op(f"icmp eq i32 {team}, 0"), f.exit, go, UNLIKELY)
    f.start(go)


def _fold_all(f: Emitter, base: str, places: Sequence[tuple[str, str, Type, str, int]]) -> None:
    """The first thread folds what all have, and leaves the results in its slots."""
    if not places:
        return
    for op, name, t, slot, _ in places:
        _fold(f, op, name, f.op(f"load {f.types.register(t)}, ptr {slot}"))
    met = f.op(f"zext i32 {f.load_field(CONTEXT, '%ctx', 'members')} to i64")

    def each(thread: str, _: str, __: str) -> None:
        for op, name, t, _slot, offset in places:
            _fold(f, op, name, load_at(f, thread_slot(f, base, thread, offset), t, "ctx"))

    counted(f, "1", met, each, "threads", f.loop_metadata("!3", "!4"))
    for _, name, t, _, offset in places:
        value = f.op(f"load {f.types.register(t)}, ptr {f.globals[name].pointer}")
        store_at(f, thread_slot(f, base, "0", offset), value, t, "ctx")


def next_slots(f: Emitter) -> str:
    """The address of the set of slots whose turn it is; thread t's are `partials_stride * t` further."""
    turn = f.op("load i64, ptr %turn")
    f.do(f"store i64 {f.op(f'xor i64 {turn}, {4 * f.interface.num_slots}')}, ptr %turn")
    partials = f.load_field(CONTEXT, "%ctx", "partials")
    slots = f.op(f"getelementptr inbounds i8, ptr {partials}, i64 {SLOTS}")
    return f.op(f"getelementptr inbounds i8, ptr {slots}, i64 {turn}")


def thread_slot(f: Emitter, base: str, thread: str, offset: int) -> str:
    """The address of a slot of thread `thread` (i64) in the set of slots at `base`."""
    stride = f.load_field(CONTEXT, "%ctx", "partials_stride")
    row = f.op(f"mul i64 {stride}, {thread}")
    place = f.op(f"getelementptr inbounds i8, ptr {base}, i64 {row}")
    return f.op(f"getelementptr inbounds i8, ptr {place}, i64 {offset}") if offset else place


def _fold(f: Emitter, op: str, name: str, value: str) -> None:
    """`@name op= value` on this thread's copy."""
    binding = f.globals[name]
    t = f.types.register(binding.type)
    old = f.op(f"load {t}, ptr {binding.pointer}")
    f.do(f"store {t} {combine(f, op, old, value, binding.type)}, ptr {binding.pointer}")
