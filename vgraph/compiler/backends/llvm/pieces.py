"""Parallel loops, and those with `cut`: node splitting, and shares of equally many arcs.

Splitting: vertices above the limit are set aside into a list that all threads share; when the others are done, the
pieces of each are handed out by a counter of its own. Shares: the work is laid out on a line, one unit for each
vertex and one for each arc, as on a merge path (Merrill and Garland 2016); a chunk finds its first and its last
vertex by binary search, and only those two can be cut.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import domains, parallel
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter, Piece, Region
from vgraph.compiler.backends.llvm.expressions import arcs_of, row, row_offset
from vgraph.compiler.backends.llvm.forks import fork_point
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import loop_depth
from vgraph.compiler.types import I64

WORK_CHUNK: Final = (64, 1024)
"""(chunks that each thread should get, fewest units of work of a chunk)."""
LARGEST_WORK: Final = (1 << 17, 1 << 16, 1 << 12)
"""Most units of a chunk, by how deep loops are nested in the body, as `domains.LARGEST_CHUNK`."""
HEAD: Final = 8
"""Words before the entries of the list of hubs: its length, on a cache line of its own."""


def emit_piece(f: Emitter, node: ir.Piece) -> Value:
    """`piece.size()`, `piece.whole()`, `piece.first()`."""
    assert f.piece is not None
    if node.share is ir.Share.SIZE:
        size = f.op(f"sub i64 {f.piece.end}, {f.piece.begin}")
        return Value(size, I64, size)
    return Value(f.piece.whole if node.share is ir.Share.WHOLE else f.piece.first, node.type)


def prologue(f: Emitter) -> None:
    """How long the list of hubs was when the present loop began: it is never emptied."""
    if "vg.hubs" in f.scan.workspace:
        slot = f.pointers["vg.hubs.base"] = f.slot("i64", "vg.hubs.base")
        f.do(f"store i64 0, ptr {slot}")
        f.hand_on("i64", slot)


def emit_parfor(f: Emitter, node: ir.ParFor) -> None:
    """`parfor`: a fork point, then chunks of the domain or pieces of its vertices."""
    walk = domains.walk_of(node)
    if node.cut is not None and node.limit is None:
        share_point(f, node)
    else:
        fork_point(f, walk.fewest(domains.most_vertices(node)), lambda: walk.size(f, node))
    loops, f.loops = f.loops, []
    region = f.region = Region(f.label("drained"))
    parallel.prepare(f, node.body, region)
    if node.cut is None:
        walk.emit(f, node, partial(parallel.visit, f, node))
    elif node.limit is None:
        _shares(f, node, region)
    else:
        _split(f, node, region)
    f.piece = None
    f.start(region.leave)
    f.loops = loops
    parallel.end_region(f, node.body, region)


def _arcs(f: Emitter, node: ir.ParFor, vertex: str) -> tuple[str, str]:
    assert node.cut is not None
    return row(f, node.cut, vertex)


def _run(f: Emitter, node: ir.ParFor, vertex: str, piece: Piece, again: str) -> None:
    """The body for one piece of i64 `vertex`; `again` is where `continue` leads."""
    f.piece = piece
    parallel.visit(f, node, vertex, again)


# --- node splitting -------------------------------------------------------------------------------------------


def _split(f: Emitter, node: ir.ParFor, region: Region) -> None:
    assert node.limit is not None
    limit, hubs = f.i64(node.limit), f.pointers["vg.hubs"]
    base = f.pointers["vg.hubs.base"]
    before = f.op(f"load i64, ptr {base}")
    last, region.leave = region.leave, f.label("set.aside")

    def visit(vertex: str, again: str, _: str) -> None:
        begin, end = _arcs(f, node, vertex)
        degree = f.op(f"sub i64 {end}, {begin}")
        with f.when(f.op(f"icmp ugt i64 {degree}, {limit}"), "hub", UNLIKELY):
            at = f.op(f"sub i64 {_fetch_add(f, hubs)}, {before}")
            entry = _entry(f, hubs, at)
            f.do(f"store i64 {vertex}, ptr {entry}, align 8{f.alias('vg.hubs')}")
            f.do(f"store i64 0, ptr {f.item('i64', entry, '1')}, align 8{f.alias('vg.hubs')}")
            f.jump(again)
        _run(f, node, vertex, Piece(node.vertex, node.cut, begin, end, "true", "true"), again)

    domains.walk_of(node).emit(f, node, visit)
    f.start(region.leave)
    parallel.barrier(f)
    region.leave = last
    total = f.op(f"load i64, ptr {hubs}, align 8{f.alias('vg.hubs')}")
    f.do(f"store i64 {total}, ptr {base}")
    count = f.op(f"sub i64 {total}, {before}")
    _hubs(f, node, hubs, count, limit)


def _fetch_add(f: Emitter, place: str) -> str:
    """The counter at `place`, which goes up by one."""
    alias = f.alias("vg.hubs")
    if not f.serial:
        return f.op(f"atomicrmw add ptr {place}, i64 1 monotonic, align 8{alias}")
    old = f.op(f"load i64, ptr {place}, align 8{alias}")
    f.do(f"store i64 {f.op(f'add i64 {old}, 1')}, ptr {place}, align 8{alias}")
    return old


def _entry(f: Emitter, hubs: str, index: str) -> str:
    """The address of entry `index` of the list of hubs: the vertex, and its next piece."""
    words = f.op(f"add nuw i64 {f.op(f'shl nuw i64 {index}, 1')}, {HEAD}")
    return f.item("i64", hubs, words)


def _divide_up(f: Emitter, a: str, b: str) -> str:
    """a / b, rounded up, for i64 a > 0."""
    last = f.op(f"sub i64 {a}, 1")
    return f.op(f"add i64 {f.op(f'udiv i64 {last}, {b}')}, 1")


def _hubs(f: Emitter, node: ir.ParFor, hubs: str, count: str, limit: str) -> None:
    """All threads take pieces of all hubs, each beginning with another hub."""
    start = "0"
    if not f.serial:
        start = f.op(f"udiv i64 {f.op(f'mul i64 {count}, %thread')}, %num_threads")

    def hub(k: str, again: str, _: str) -> None:
        moved = f.op(f"add i64 {k}, {start}")
        over = f.op(f"icmp uge i64 {moved}, {count}")
        h = f.op(f"select i1 {over}, i64 {f.op(f'sub i64 {moved}, {count}')}, i64 {moved}")
        entry = _entry(f, hubs, h)
        vertex = f.op(f"load i64, ptr {entry}, align 8{f.alias('vg.hubs')}")
        begin, end = _arcs(f, node, vertex)
        degree = f.op(f"sub i64 {end}, {begin}")
        size = _divide_up(f, degree, _divide_up(f, degree, limit))
        following = f.item("i64", entry, "1")
        take = f.label("take")
        f.start(take)
        parallel.poll(f)
        j = _fetch_add(f, following)
        skip = f.op(f"mul i64 {j}, {size}")
        f.jump_unless(f.op(f"icmp ult i64 {skip}, {degree}"), again)
        first_arc = f.op(f"add i64 {begin}, {skip}")
        until = f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add i64 {first_arc}, {size}')}", f"i64 {end}")
        first = f.op(f"icmp eq i64 {j}, 0")
        _run(f, node, vertex, Piece(node.vertex, node.cut, first_arc, until, "false", first), take)
        f.jump(take)
        f.open = False

    counted(f, "0", count, hub, "hubs", f.loop_metadata("!3", "!4"))


# --- equal shares ---------------------------------------------------------------------------------------------

Position = Callable[[str], str]
"""Where item k of a loop's domain begins on the line of its work."""


def share_point(f: Emitter, node: ir.ParFor) -> None:
    """The fork point of a loop of equal shares: behind what lays out the work of a queue, in which each thread of the
    team has a part."""
    if isinstance(node.domain, ir.Vertices):
        assert node.cut is not None
        side = node.cut
        fork_point(f, WORK_CHUNK[1], lambda: f.op(f"add i64 %num_vertices, {arcs_of(f, side)}"))
        return
    walk = domains.walk_of(node)
    vertex = walk.vertex(f, node)
    _lay_out(f, node, walk.size(f, node), vertex)
    fork_point(f, WORK_CHUNK[1], lambda: _laid_out(f, node))


def _laid_out(f: Emitter, node: ir.ParFor) -> str:
    """The length of the line on which the queue's work lies."""
    return f.read("i64", f.pointers["vg.work"], domains.walk_of(node).size(f, node), "vg.work")


def _shares(f: Emitter, node: ir.ParFor, region: Region) -> None:
    assert node.cut is not None
    side, walk = node.cut, domains.walk_of(node)
    vertex, items = walk.vertex(f, node), walk.size(f, node)
    if isinstance(node.domain, ir.Vertices):
        total = f.op(f"add i64 %num_vertices, {arcs_of(f, side)}")

        def position(k: str) -> str:
            return f.op(f"add i64 {row_offset(f, side, k)}, {k}")
    else:
        total = _laid_out(f, node)

        def position(k: str) -> str:
            return f.read("i64", f.pointers["vg.work"], k, "vg.work")

    most = LARGEST_WORK[min(loop_depth(node.body), 2)]
    chunk = parallel.chunk_size(f, total, WORK_CHUNK, most)
    share = _Share(f, node, items, position, vertex)
    parallel.take_chunks(f, total, chunk, region.leave, share.emit)


def _lay_out(f: Emitter, node: ir.ParFor, items: str, vertex: Callable[[str], str]) -> None:
    """Write where each vertex of a queue begins on the line of the work, and behind them all the line's length."""
    work, at = f.pointers["vg.work"], f.slot("i64", "at")
    f.do(f"store i64 0, ptr {at}")

    def here() -> str:
        return f.op(f"load i64, ptr {at}")

    with parallel.my_part(f, items) as k:
        begin, end = _arcs(f, node, vertex(k))
        units = f.op(f"add i64 {f.op(f'sub i64 {end}, {begin}')}, 1")
        f.write("i64", work, k, here(), "vg.work")
        f.do(f"store i64 {f.op(f'add i64 {here()}, {units}')}, ptr {at}")
    total = here()
    if not f.serial:
        total = _offset_parts(f, items, total)
    with parallel.once(f):
        f.write("i64", work, items, total, "vg.work")
    parallel.barrier(f)


def _offset_parts(f: Emitter, items: str, mine: str) -> str:
    """Add to this thread's part what the parts of the threads before it have; gives the sum of all."""
    base = parallel.next_slots(f)
    f.do(f"store i64 {mine}, ptr {parallel.thread_slot(f, base, '%thread', 0)}, align 8{f.alias('ctx')}")
    parallel.barrier(f)
    earlier, everyone = f.slot("i64", "earlier"), f.slot("i64", "everyone")
    for slot in (earlier, everyone):
        f.do(f"store i64 0, ptr {slot}")

    def add(thread: str, _: str, __: str) -> None:
        value = f.op(f"load i64, ptr {parallel.thread_slot(f, base, thread, 0)}, align 8{f.alias('ctx')}")
        counts = f.op(f"select i1 {f.op(f'icmp ult i64 {thread}, %thread')}, i64 {value}, i64 0")
        for slot, step in ((earlier, counts), (everyone, value)):
            old = f.op(f"load i64, ptr {slot}")
            f.do(f"store i64 {f.op(f'add i64 {old}, {step}')}, ptr {slot}")

    counted(f, "0", f.op("load i64, ptr %team"), add, "threads", f.loop_metadata("!3", "!4"))
    shift = f.op(f"load i64, ptr {earlier}")
    with parallel.my_part(f, items) as k:
        moved = f.op(f"add i64 {f.read('i64', f.pointers['vg.work'], k, 'vg.work')}, {shift}")
        f.write("i64", f.pointers["vg.work"], k, moved, "vg.work")
    return f.op(f"load i64, ptr {everyone}")


class _Share:
    """Emits a chunk of the line: the two vertices that may be cut, and the whole ones between them."""

    def __init__(
        self, f: Emitter, node: ir.ParFor, items: str, position: Position, vertex: Callable[[str], str]
    ) -> None:
        self.f, self.node, self.items, self.position, self.vertex = f, node, items, position, vertex

    def search(self, place: str) -> str:
        """The last item that begins at `place` or before; the number of items when `place` is the line's end."""
        f = self.f
        before, head, look, low, high, leave = (
            f.block, *map(f.label, ("search", "search.look", "search.low", "search.high", "search.end")),
        )  # fmt: skip
        f.start(head)
        lo, hi, up, down = (f"%{name}.{head}" for name in ("lo", "hi", "up", "down"))
        f.lines.append(f"  {lo} = phi i64 [ 0, %{before} ], [ {up}, %{low} ], [ {lo}, %{high} ]")
        f.lines.append(f"  {hi} = phi i64 [ {self.items}, %{before} ], [ {hi}, %{low} ], [ {down}, %{high} ]")
        f.branch(f.op(f"icmp ult i64 {lo}, {hi}"), look, leave)
        f.start(look)
        both = f.op(f"add i64 {lo}, {hi}")
        f.do(f"{up} = lshr i64 {f.op(f'add i64 {both}, 1')}, 1")
        f.branch(f.op(f"icmp ule i64 {self.position(up)}, {place}"), low, high)
        f.start(low)
        f.jump(head)
        f.start(high)
        f.do(f"{down} = sub i64 {up}, 1")
        f.jump(head)
        f.start(leave)
        return lo

    def emit(self, begin: str, end: str) -> None:
        f = self.f
        head, tail = self.search(begin), self.search(end)
        cut_head = f.op(f"icmp ult i64 {self.position(head)}, {begin}")
        inside = f.op(f"and i1 {cut_head}, {f.op(f'icmp eq i64 {head}, {tail}')}")
        reaches = f.op(f"icmp ult i64 {self.position(tail)}, {end}")
        cut_tail = f.op(f"and i1 {reaches}, {f.op(f'xor i1 {inside}, true')}")

        def ends(k: str, again: str, _: str) -> None:
            last = f.op(f"icmp eq i64 {k}, 1")
            wanted = f.op(f"select i1 {last}, i1 {cut_tail}, i1 {cut_head}")
            f.jump_unless(wanted, again)
            self.piece(f.op(f"select i1 {last}, i64 {tail}, i64 {head}"), begin, end, last, again)

        counted(f, "0", "2", ends, "ends", f.loop_metadata("!3", "!4"))
        start = f.op(f"add i64 {head}, {f.op(f'zext i1 {cut_head} to i64')}")
        stop = f.call("i64", "llvm.umax.i64", f"i64 {start}", f"i64 {tail}")

        def whole(k: str, again: str, _: str) -> None:
            v = self.vertex(k)
            first, until = _arcs(f, self.node, v)
            _run(f, self.node, v, Piece(self.node.vertex, self.node.cut, first, until, "true", "true"), again)

        counted(f, start, stop, whole, "items")

    def piece(self, item: str, begin: str, end: str, first: str, again: str) -> None:
        """The part of an item's arcs that lies within the chunk."""
        f = self.f
        v = self.vertex(item)
        arcs, until = _arcs(f, self.node, v)
        line = f.op(f"add i64 {self.position(item)}, 1")  # where its first arc lies
        skipped = f.op(f"select i1 {first}, i64 0, i64 {f.op(f'sub i64 {begin}, {line}')}")
        from_arc = f.op(f"add i64 {arcs}, {skipped}")
        room = f.op(f"add i64 {arcs}, {f.op(f'sub i64 {end}, {line}')}")
        to_arc = f.call("i64", "llvm.umin.i64", f"i64 {until}", f"i64 {room}")
        _run(f, self.node, v, Piece(self.node.vertex, self.node.cut, from_arc, to_arc, "false", first), again)
