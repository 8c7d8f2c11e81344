"""Collectives on frontiers and lists of frontiers; inside `single` one thread does them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import CONTEXT, FRONTIER, LIST, FrontierLayoutCode
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter
from vgraph.compiler.backends.llvm.expressions import descriptor
from vgraph.compiler.backends.llvm.loops import counted, set_bits
from vgraph.compiler.backends.llvm.parallel import barrier, held, my_part, next_slots, once, thread_slot
from vgraph.compiler.types import VID

SPARSE, BITMAP = ir.Layout.SPARSE, ir.Layout.BITMAP
_CODES: Final = {SPARSE: int(FrontierLayoutCode.SPARSE), BITMAP: int(FrontierLayoutCode.BITMAP)}
_LAST_EPOCH: Final = 255
FEW_IDS: Final = 4096
"""Ids of a list that one thread copies, for that is sooner done than another barrier."""


def _has(f: Emitter, frontier: str, layout: ir.Layout) -> bool:
    """Whether the frontier can ever be in this layout; one never asked for any is a queue."""
    return layout in (f.scan.layouts[frontier] or {SPARSE})


def _words(f: Emitter) -> str:
    return f.op(f"lshr i64 {f.op('add i64 %num_vertices, 63')}, 6")


def _set(f: Emitter, frontier: str, layout: ir.Layout, count: str | None) -> None:
    """Store the layout and, unless None, the count: one thread only."""
    target = descriptor(f, frontier)
    f.store_field(FRONTIER, target, "layout", str(_CODES[layout]))
    if count is not None:
        f.store_field(FRONTIER, target, "count", count)


def _new_epoch(f: Emitter, frontier: str) -> str:
    """Forget all in-queue flags; they are wiped when epochs run out. One thread only; returns the epoch."""
    target = descriptor(f, frontier)
    following = f.op(f"add i32 {f.load_field(FRONTIER, target, 'epoch')}, 1")
    before, wipe, done = f.block, f.label("wipe"), f.label("epoch")
    f.branch(f.op(f"icmp ugt i32 {following}, {_LAST_EPOCH}"), wipe, done, UNLIKELY)
    f.start(wipe)
    flags = f.load_field(FRONTIER, target, "flags")
    f.call("void", "llvm.memset.p0.i64", f"ptr {flags}", "i8 0", "i64 %num_vertices", "i1 false")
    f.start(done)
    epoch = f.op(f"phi i32 [ {following}, %{before} ], [ 1, %{wipe} ]")
    f.store_field(FRONTIER, target, "epoch", epoch)
    return epoch


def _forget(f: Emitter, frontier: str) -> None:
    if frontier in f.scan.flags:
        _new_epoch(f, frontier)


def _copy(f: Emitter, t: str, target: str, source: str, size: str, scope: str) -> None:
    """This thread's share of `size` elements from one array to another."""
    with my_part(f, size) as i:
        f.write(t, target, i, f.read(t, source, i, scope), scope)


def _fill_bits(f: Emitter, frontier: str, every: bool) -> None:
    """This thread's share of the bitmap: no vertex, or every one."""
    bits = f.load_field(FRONTIER, descriptor(f, frontier), "bits")
    size, last = _words(f), ""
    if every:
        tail = f.op(f"and i64 {f.op('sub i64 0, %num_vertices')}, 63")
        last = f.op(f"lshr i64 -1, {tail}")
    with my_part(f, size) as i:
        word = "0"
        if every:
            end = f.op(f"icmp eq i64 {f.op(f'add i64 {i}, 1')}, {size}")
            word = f.op(f"select i1 {end}, i64 {last}, i64 -1")
        f.write("i64", bits, i, word, "bits")


# --- making frontiers ---------------------------------------------------------------------------------------


def emit_clear(f: Emitter, node: ir.FrontierClear) -> None:
    """`clear f`."""
    if node.layout is BITMAP:
        _fill_bits(f, node.frontier, every=False)
    with once(f):
        _set(f, node.frontier, node.layout, "0")
        if node.layout is SPARSE:
            _forget(f, node.frontier)
    barrier(f)


def emit_set(f: Emitter, node: ir.FrontierSet) -> None:
    """`f = empty`, `single(v)` or `all`."""
    if node.kind is ir.FrontierKind.ALL:
        _set_all(f, node.out)
    elif node.kind is ir.FrontierKind.EMPTY:
        emit_clear(f, ir.FrontierClear(node.out, SPARSE if _has(f, node.out, SPARSE) else BITMAP))
    else:
        assert node.vertex is not None
        _set_single(f, node.out, f.index(f.expr(node.vertex)))


def _set_all(f: Emitter, frontier: str) -> None:
    layout = BITMAP if _has(f, frontier, BITMAP) else SPARSE
    if layout is BITMAP:
        _fill_bits(f, frontier, every=True)
    else:
        queue = f.load_field(FRONTIER, descriptor(f, frontier), "queue")
        with my_part(f, "%num_vertices") as i:
            f.write(f.types.id, queue, i, f.narrow(i, VID).text, "queues")
    with once(f):
        _set(f, frontier, layout, "%num_vertices")
        _forget(f, frontier)
    barrier(f)


def _set_single(f: Emitter, frontier: str, vertex: str) -> None:
    sparse = _has(f, frontier, SPARSE)
    target = descriptor(f, frontier)
    if not sparse:
        _fill_bits(f, frontier, every=False)
        barrier(f)
    with once(f):
        if sparse:
            queue = f.load_field(FRONTIER, target, "queue")
            f.write(f.types.id, queue, "0", f.narrow(vertex, VID).text, "queues")
            if frontier in f.scan.flags:
                epoch = f.op(f"trunc i32 {_new_epoch(f, frontier)} to i8")
                f.write("i8", f.load_field(FRONTIER, target, "flags"), vertex, epoch, "flags")
        else:
            _set_bit(f, f.load_field(FRONTIER, target, "bits"), vertex, alone=True)
        _set(f, frontier, SPARSE if sparse else BITMAP, "1")
    barrier(f)


def _set_bit(f: Emitter, bits: str, vertex: str, alone: bool) -> None:
    place = f.item("i64", bits, f.op(f"lshr i64 {vertex}, 6"))
    bit = f.op(f"shl i64 1, {f.op(f'and i64 {vertex}, 63')}")
    if alone:
        old = f.op(f"load i64, ptr {place}, align 8{f.alias('bits')}")
        f.do(f"store i64 {f.op(f'or i64 {old}, {bit}')}, ptr {place}, align 8{f.alias('bits')}")
    else:
        f.op(f"atomicrmw or ptr {place}, i64 {bit} monotonic, align 8{f.alias('bits')}")


def emit_copy(f: Emitter, node: ir.FrontierCopy) -> None:
    """`a = copy b`: in the layout that b has."""
    source, target = descriptor(f, node.source), descriptor(f, node.out)
    if node.source != node.out:
        count = f.load_field(FRONTIER, source, "count")
        layout = f.load_field(FRONTIER, source, "layout")
        arrays: dict[ir.Layout, Callable[[], None]] = {
            SPARSE: lambda: _copy_array(f, f.types.id, "queue", source, target, count, "queues"),
            BITMAP: lambda: _copy_array(f, "i64", "bits", source, target, _words(f), "bits"),
        }
        for choice, copy in arrays.items():
            if not _has(f, node.source, choice):
                continue
            with f.when(f.op(f"icmp eq i32 {layout}, {_CODES[choice]}"), "copy"):
                copy()
        with once(f):
            f.store_field(FRONTIER, target, "layout", layout)
            f.store_field(FRONTIER, target, "count", count)
            _forget(f, node.out)
    barrier(f)


def _copy_array(f: Emitter, t: str, name: str, source: str, target: str, size: str, scope: str) -> None:
    _copy(f, t, f.load_field(FRONTIER, target, name), f.load_field(FRONTIER, source, name), size, scope)


def emit_swap(f: Emitter, node: ir.FrontierSwap) -> None:
    """`swap f g`: the descriptors change places, the arrays stay where they are."""
    left, right = descriptor(f, node.left), descriptor(f, node.right)
    with once(f):
        for offset in range(0, FRONTIER.size, 64):
            places = [f.op(f"getelementptr inbounds i8, ptr {d}, i64 {offset}") for d in (left, right)]
            values = [f.op(f"load <8 x i64>, ptr {p}, align 64{f.alias('ctx')}") for p in places]
            for place, value in zip(places, reversed(values), strict=True):
                f.do(f"store <8 x i64> {value}, ptr {place}, align 64{f.alias('ctx')}")
    barrier(f)


# --- layouts ------------------------------------------------------------------------------------------------


def emit_convert(f: Emitter, node: ir.FrontierConvert) -> None:
    """`convert f to bitmap`: nothing if it has that layout."""
    source = descriptor(f, node.frontier)
    layout = f.load_field(FRONTIER, source, "layout")
    with f.unless(f.op(f"icmp eq i32 {layout}, {_CODES[node.layout]}"), "convert"):
        if node.layout is SPARSE:
            _queue_from_bits(f, node.frontier)
        else:
            _bits_from_queue(f, node.frontier)
        with once(f):
            _set(f, node.frontier, node.layout, None)
            if node.layout is SPARSE:
                _forget(f, node.frontier)
    barrier(f)


def _bits_from_queue(f: Emitter, frontier: str) -> None:
    source, alone = descriptor(f, frontier), f.serial or f.single
    _fill_bits(f, frontier, every=False)
    barrier(f)
    queue, bits = f.load_field(FRONTIER, source, "queue"), f.load_field(FRONTIER, source, "bits")
    with my_part(f, f.load_field(FRONTIER, source, "count")) as i:
        _set_bit(f, bits, f.widen(f.read(f.types.id, queue, i, "queues")), alone)


def _queue_from_bits(f: Emitter, frontier: str) -> None:
    """Write the queue in ascending order; every thread counts its words first, then knows where to begin."""
    source = descriptor(f, frontier)
    bits, queue = f.load_field(FRONTIER, source, "bits"), f.load_field(FRONTIER, source, "queue")
    at, size = f.slot("i64", "at"), _words(f)
    f.do(f"store i64 0, ptr {at}")

    def advance(step: str) -> str:
        old = f.op(f"load i64, ptr {at}")
        f.do(f"store i64 {f.op(f'add nuw nsw i64 {old}, {step}')}, ptr {at}")
        return old

    def word(i: str) -> str:
        return f.read("i64", bits, i, "bits")

    def write(vertex: str, _: str, __: str) -> None:
        f.write(f.types.id, queue, advance("1"), f.narrow(vertex, VID).text, "queues")

    if not (f.serial or f.single):
        with my_part(f, size) as i:
            advance(f.call("i64", "llvm.ctpop.i64", f"i64 {word(i)}"))
        base = next_slots(f)
        mine = f.op(f"load i64, ptr {at}")
        f.do(f"store i64 {mine}, ptr {thread_slot(f, base, '%thread', 0)}, align 8{f.alias('ctx')}")
        barrier(f)
        f.do(f"store i64 0, ptr {at}")

        def add(thread: str, _: str, __: str) -> None:
            advance(f.op(f"load i64, ptr {thread_slot(f, base, thread, 0)}, align 8{f.alias('ctx')}"))

        counted(f, "0", "%thread", add, "threads", f.loop_metadata("!3", "!4"))
    with my_part(f, size) as i:
        set_bits(f, word(i), i, write)


# --- lists --------------------------------------------------------------------------------------------------


def emit_list_clear(f: Emitter, node: ir.ListClear) -> None:
    """`clear levels`."""
    with once(f):
        f.native("vg_list_clear", f"ptr {f.pointers[f'list {node.list}']}")
    barrier(f)


def emit_list_append(f: Emitter, node: ir.ListAppend) -> None:
    """`append levels f`: the list keeps queues; a bitmap is written out as one, and stays what it is."""
    source = descriptor(f, node.frontier)
    if _has(f, node.frontier, BITMAP):
        layout = f.load_field(FRONTIER, source, "layout")
        with f.when(f.op(f"icmp eq i32 {layout}, {_CODES[BITMAP]}"), "convert"):
            _queue_from_bits(f, node.frontier)
            barrier(f)
    with once(f):
        queue, count = f.load_field(FRONTIER, source, "queue"), f.load_field(FRONTIER, source, "count")
        width = f.types.target.id_bits // 8
        target = f.pointers[f"list {node.list}"]
        f.native(
            "vg_list_append", "ptr %ctx", f"ptr {target}", f"ptr {queue}", f"i64 {count}", f"i32 {width}"
        )
    barrier(f)


def emit_list_get(f: Emitter, node: ir.ListGet) -> None:
    """`f = levels[i]`: from the end when i is negative, empty when out of range."""
    _take(f, node, *_listed(f, node))
    barrier(f)


def list_get_at_barrier(f: Emitter, node: ir.ListGet) -> None:
    """A barrier, and the same behind it: the first thread copies few ids while the others wait."""
    with held(f):
        count, ids = _listed(f, node)
        with f.when(f.op(f"icmp ule i64 {count}, {FEW_IDS}"), "few"):
            _take(f, node, count, ids)
    count, ids = _listed(f, node)
    with f.when(f.op(f"icmp ugt i64 {count}, {FEW_IDS}"), "many"):
        _take(f, node, count, ids)
        barrier(f)


def _listed(f: Emitter, node: ir.ListGet) -> tuple[str, str]:
    """How many ids the wanted frontier of a list has (i64), and where they are."""
    source = f.pointers[f"list {node.list}"]
    index = f.i64(node.index)
    length = f.load_field(LIST, source, "length")
    negative = f.op(f"icmp slt i64 {index}, 0")
    shifted = f.op(f"select i1 {negative}, i64 {f.op(f'add i64 {index}, {length}')}, i64 {index}")
    before = f.block
    with f.when(f.op(f"icmp ult i64 {shifted}, {length}"), "inside"):
        count = f.native("vg_list_count", f"ptr {source}", f"i64 {shifted}")
        ids = f.native("vg_list_ids", f"ptr {source}", f"i64 {shifted}")
        inside = f.block
    size = f.op(f"phi i64 [ 0, %{before} ], [ {count}, %{inside} ]")
    return size, f.op(f"phi ptr [ null, %{before} ], [ {ids}, %{inside} ]")


def _take(f: Emitter, node: ir.ListGet, count: str, ids: str) -> None:
    target = descriptor(f, node.out)
    _copy(f, f.types.id, f.load_field(FRONTIER, target, "queue"), ids, count, "queues")
    with once(f):
        _set(f, node.out, SPARSE, count)
        _forget(f, node.out)


def emit_trace(f: Emitter, node: ir.Trace) -> None:
    """`trace`: thread 0 records the round; its time runs from the record before it to when all had met."""
    active, edges = f.i64(node.active), f.i64(node.edges)
    numbers = f"i32 {f.scan.labels[node.label]}", f"i32 {f.scan.directions[node.direction]}"
    with once(f):
        now = f.native("vg_now") if f.serial else f.load_field(CONTEXT, "%ctx", "met")
        spent = f.op(f"sub i64 {now}, {f.op('load i64, ptr %last_trace')}")
        f.do(f"store i64 {now}, ptr %last_trace")
        counts = f"i64 {active}", f"i64 {edges}"
        f.native("vg_trace", "ptr %ctx", *numbers, *counts, f"i64 {spent}", f"i64 {now}")
