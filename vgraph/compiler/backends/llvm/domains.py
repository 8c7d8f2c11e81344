"""The domains of parallel loops: in what chunks threads take them, and what visits their items."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.slices import key_of
from vgraph.compiler.backends.abi import FRONTIER
from vgraph.compiler.backends.llvm import gathers, sell
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.expressions import descriptor
from vgraph.compiler.backends.llvm.loops import LoopBody, counted, set_bits
from vgraph.compiler.backends.llvm.parallel import barrier, chunk_size, poll, take_chunks
from vgraph.compiler.backends.llvm.words import emit_selected, fetch_ahead, selection
from vgraph.compiler.backends.scan import loop_depth
from vgraph.graph.layouts.segments import SEGMENTS

VERTEX_CHUNK: Final = (64, 64)
"""(chunks that each thread should get, fewest iterations of a chunk) of a loop over vertices: whole bitmap
words, and so few chunks that the counter's cache line is quiet."""
FLAT_CHUNK: Final = (16, 1024)
"""The same where no loop is nested: 64 vertices take such a loop less than the counter does."""
QUEUE_CHUNK: Final = (16, 64)
"""The same for queues. On road networks a queue has a thousand vertices, and taking a chunk costs as much as
visiting some ten of them: with at least 16 vertices, a search there takes 1.15 times as long as with 64. A queue of
fewer for each thread is shared out evenly, which needs no counter."""
QUEUE_FEWEST: Final = 16
"""Vertices of a queue from which on threads may share it: a search of a power-law graph has some tens of hubs in its
second round, and with them a large part of all arcs."""
EVEN: Final = 1 << 16
"""Vertices for each thread up to which they are shared out evenly where all take about as long: within some tens of
microseconds nobody helps a thread that is not run, and each finds its part in its own cache again."""
WORD_CHUNK: Final = (64, 1)
FLAT_WORD_CHUNK: Final = (16, 16)
"""The same for bitmaps, in words of 64 vertices."""
CELL_CHUNKS: Final = 16
"""Chunks of the cells of a phase that each thread should get."""
ARC_CHUNK: Final = 32
"""Fewest arcs of a chunk where each is a cell of its own."""
LARGEST_CHUNK: Final = (16384, 8192, 64)
"""Most vertices of a chunk, by how deep loops are nested in the body. Short chunks interrupt the streams that
the processor prefetches (1024 vertices: PageRank on a road network takes 1.3 times as long); but of nested
loops a few hubs next to each other may have most of the work."""

Visit = Callable[[str, str, str], None]
"""Emits what is done for an i64 vertex, given the block of the next one, and the vertex's place (i64)."""


class Walk:
    """The vertices of a graph, in chunks that a shared counter hands out until none is left."""

    per: ClassVar[int] = 1
    """Vertices of an item."""

    def size(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> str:
        """The number of items, of which a chunk has some."""
        return "%num_vertices"

    def rule(self, most: int) -> tuple[int, int]:
        """As `VERTEX_CHUNK`, where a chunk has at most so many vertices."""
        return FLAT_CHUNK if most == LARGEST_CHUNK[0] else VERTEX_CHUNK

    def fewest(self, most: int) -> int:
        """Items up to which no team is asked for, whatever they take."""
        return self.rule(most)[1]

    def even(self, most: int) -> tuple[int, int]:
        """Items for each thread up to which they are shared out evenly, and what they then come in multiples of."""
        return (EVEN if most == LARGEST_CHUNK[0] else 0), VERTEX_CHUNK[1]

    def vertex(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> Callable[[str], str]:
        """What gives the vertex of an item (both i64), where an item is one."""
        return str

    def item(self, f: Emitter, node: ir.ParFor, visit: Visit) -> LoopBody:
        """What visits the vertices of an item."""
        vertex = self.vertex(f, node)
        return lambda i, again, _: visit(vertex(i), again, i)

    def emit(self, f: Emitter, node: ir.ParFor, visit: Visit) -> None:
        """Visit all, then go to `f.region.leave`."""
        assert f.region is not None
        most = most_vertices(node)
        item, size = self.item(f, node, visit), self.size(f, node)
        chunk = chunk_size(f, size, self.rule(most), most // self.per, self.even(most))
        take_chunks(f, size, chunk, f.region.leave, lambda begin, end: counted(f, begin, end, item, "items"))


class _Queue(Walk):
    """The places of a queue."""

    def size(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> str:
        return f.load_field(FRONTIER, _frontier(f, node), "count")

    def rule(self, most: int) -> tuple[int, int]:
        return QUEUE_CHUNK[0], min(QUEUE_CHUNK[1], most // 4)

    def fewest(self, most: int) -> int:
        return min(QUEUE_FEWEST, self.rule(most)[1])

    def even(self, most: int) -> tuple[int, int]:
        return QUEUE_CHUNK[1], 1

    def item(self, f: Emitter, node: ir.ParFor, visit: Visit) -> LoopBody:
        vertex = self.vertex(f, node)
        last = f.op(f"sub i64 {self.size(f, node)}, 1")

        def item(i: str, again: str, _: str) -> None:
            gathers.fetch_entries(f, node, vertex, i, last)
            visit(vertex(i), again, i)

        return item

    def vertex(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> Callable[[str], str]:
        queue = f.load_field(FRONTIER, _frontier(f, node), "queue")
        return lambda i: f.widen(f.read(f.types.id, queue, i, "queues"))


class _Listed(Walk):
    """The ids in an array, or in a part of it."""

    def size(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> str:
        assert isinstance(node.domain, ir.Listed)
        start, stop = node.domain.start, node.domain.stop
        if start is None or stop is None:
            return f'%"length.{node.domain.array}"'
        return f.op(f"sub nuw nsw i64 {f.expr(stop).text}, {f.expr(start).text}")

    def item(self, f: Emitter, node: ir.ParFor, visit: Visit) -> LoopBody:
        assert isinstance(node.domain, ir.Listed)
        whole, start = super().item(f, node, visit), node.domain.start
        if start is None:
            return whole
        first = f.expr(start).text
        return lambda i, again, x: whole(f.op(f"add nuw nsw i64 {first}, {i}"), again, x)

    def vertex(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> Callable[[str], str]:
        assert isinstance(node.domain, ir.Listed)
        name = node.domain.array
        return lambda i: f.widen(f.read(f.types.id, f.pointers[name], i, name))


class _Words(Walk):
    """The words of a bitmap."""

    per = 64

    def size(self, f: Emitter, node: ir.ParFor | ir.Pipeline) -> str:
        return f.op(f"lshr i64 {f.op('add i64 %num_vertices, 63')}, 6")

    def rule(self, most: int) -> tuple[int, int]:
        return FLAT_WORD_CHUNK if most == LARGEST_CHUNK[0] else WORD_CHUNK

    def even(self, most: int) -> tuple[int, int]:
        return 0, 1

    def item(self, f: Emitter, node: ir.ParFor, visit: Visit) -> LoopBody:
        bits = f.load_field(FRONTIER, _frontier(f, node), "bits")

        def word(i: str, _: str, __: str) -> None:
            fetch_ahead(f, node, bits, i)
            set_bits(f, f.read("i64", bits, i, "bits"), i, lambda v, again, _: visit(v, again, v))

        return word


class _Selected(_Words):
    """Words into which a loop puts bits of its own vertices."""

    def item(self, f: Emitter, node: ir.ParFor, visit: Visit) -> LoopBody:
        return lambda i, _, __: emit_selected(f, node, i)


class _Ranges(Walk):
    """One range of a layout after the other: its items in chunks, then a barrier, which also resets the counter."""

    def ranges(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        """The layout's key, and its array of where ranges begin; its number `count` says how many there are."""
        raise NotImplementedError

    def bounds(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        """The first range, and the one behind the last."""
        return "0", f'%"{self.ranges(f, node)[0]}.count"'

    def chunk(self, f: Emitter, node: ir.ParFor, size: str) -> str:
        """Items of a chunk of a range."""
        return chunk_size(f, size, VERTEX_CHUNK, most_vertices(node))

    def visit_item(self, f: Emitter, node: ir.ParFor, i: str, again: str, visit: Visit) -> None:
        """Visit what item `i` of the layout has; `again` is the block of the next one."""
        raise NotImplementedError

    def emit(self, f: Emitter, node: ir.ParFor, visit: Visit) -> None:
        region, (key, bounds) = f.region, self.ranges(f, node)
        assert region is not None
        (first, count), name = self.bounds(f, node), f"{key}.{bounds}"
        before, head, drained, again = f.block, *map(f.label, ("segment", "segment.end", "segment.next"))
        f.start(head)
        segment, place = f"%s.{head}", len(f.lines)
        region.segment = segment
        begin = f.read("i64", f.pointers[name], segment, name)
        following = f.op(f"add nuw nsw i64 {segment}, 1")
        size = f.op(f"sub nuw nsw i64 {f.read('i64', f.pointers[name], following, name)}, {begin}")
        chunk = self.chunk(f, node, size)

        def item(i: str, following: str, _: str) -> None:
            self.visit_item(f, node, f.op(f"add nuw nsw i64 {begin}, {i}"), following, visit)

        take_chunks(f, size, chunk, drained, lambda first, end: counted(f, first, end, item, "items"))
        f.start(drained)
        f.branch(f.op(f"icmp eq i64 {following}, {count}"), region.leave, again)
        f.start(again)
        barrier(f)
        f.lines.insert(place, f"  {segment} = phi i64 [ {first}, %{before} ], [ {following}, %{f.block} ]")
        f.jump(head)


class _Segments(_Ranges):
    """The rows of one segment after the other."""

    def ranges(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        assert isinstance(node.domain, ir.Segments)
        return SEGMENTS.key(node.domain.count), "bounds"

    def visit_item(self, f: Emitter, node: ir.ParFor, i: str, again: str, visit: Visit) -> None:
        assert f.region is not None
        f.region.row, ids = i, f"{self.ranges(f, node)[0]}.vertices"
        wide = f.widen(f.read(f.types.id, f.pointers[ids], i, ids))
        visit(wide, again, wide)


class _Sliced(_Ranges):
    """The slices of one segment, or of the parts of one phase, after the other, in tasks of about as many arcs."""

    def ranges(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        return key_of(node, f.program.target), "bounds"

    def chunk(self, f: Emitter, node: ir.ParFor, size: str) -> str:
        return "1"

    def visit_item(self, f: Emitter, node: ir.ParFor, i: str, again: str, visit: Visit) -> None:
        sell.visit_task(f, node, i, visit)


class _Planned(_Ranges):
    """The cells of one phase after the other; without cells, each arc is one."""

    def ranges(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        assert isinstance(node.domain, ir.PlannedArcs)
        return node.domain.key, "phases"

    def bounds(self, f: Emitter, node: ir.ParFor) -> tuple[str, str]:
        assert isinstance(node.domain, ir.PlannedArcs)
        start, stop = node.domain.start, node.domain.stop
        if start is None or stop is None:
            return super().bounds(f, node)
        found, some = (f.expr(start).text, f.expr(stop).text), f.label("phases")
        assert f.region is not None
        f.branch(f.op(f"icmp slt i64 {', '.join(found)}"), some, f.region.leave)
        f.start(some)
        return found

    def chunk(self, f: Emitter, node: ir.ParFor, size: str) -> str:
        if f.serial:
            return str(most_vertices(node))
        few = f.op(f"udiv i64 {size}, {f.op(f'mul i64 %num_threads, {CELL_CHUNKS}')}")
        arcs = f.op(f'icmp eq i64 %"{self.ranges(f, node)[0]}.cells", 0')
        least = f.op(f"select i1 {arcs}, i64 {ARC_CHUNK}, i64 1")
        return f.call("i64", "llvm.umax.i64", f"i64 {few}", f"i64 {least}")

    def visit_item(self, f: Emitter, node: ir.ParFor, i: str, again: str, visit: Visit) -> None:
        assert isinstance(node.domain, ir.PlannedArcs)
        assert f.region is not None
        region, (key, _) = f.region, self.ranges(f, node)
        ends = [f"{key}.sources", f"{key}.targets"]
        near, region.columns = ends if node.domain.orientation is ir.Orientation.OUT else reversed(ends)
        arcs, name = f.op(f'icmp eq i64 %"{key}.cells", 0'), f"{key}.bounds"
        first, following = f.op(f"select i1 {arcs}, i64 0, i64 {i}"), f.op(f"add nuw nsw i64 {i}, 1")
        bounds = f.item("i64", f.pointers[name], first)
        begin, end = (f.read("i64", bounds, k, name) for k in ("0", "1"))
        begin, end = (
            f.op(f"select i1 {arcs}, i64 {arc}, i64 {cell}") for arc, cell in ((i, begin), (following, end))
        )

        def arc(k: str, next_arc: str, _: str) -> None:
            region.row = k
            wide = f.widen(f.read(f.types.id, f.pointers[near], k, near))
            visit(wide, next_arc, wide)

        poll(f)
        counted(f, begin, end, arc, "arcs")


DOMAINS: Final[dict[type[ir.Domain], Walk]] = {
    ir.Vertices: Walk(),
    ir.VertexWords: Walk(),
    ir.SparseMembers: _Queue(),
    ir.BitmapMembers: _Words(),
    ir.Segments: _Segments(),
    ir.SlicedSegments: _Sliced(),
    ir.PartedSegments: _Sliced(),
    ir.PlannedArcs: _Planned(),
    ir.Listed: _Listed(),
}
"""How each domain is walked."""


def most_vertices(node: ir.ParFor) -> int:
    """Most vertices of a chunk of a loop."""
    return LARGEST_CHUNK[min(loop_depth(node.body), 2)]


def walk_of(node: ir.ParFor | ir.Pipeline) -> Walk:
    """How the domain of a loop is walked."""
    if isinstance(node, ir.ParFor) and selection(node) is not None:
        return _Selected()
    return DOMAINS[type(node.domain)]


def _frontier(f: Emitter, node: ir.ParFor | ir.Pipeline) -> str:
    assert isinstance(node.domain, ir.Members)
    return descriptor(f, node.domain.frontier)
