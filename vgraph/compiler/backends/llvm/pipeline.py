"""A pipeline: two groups of threads, producers and consumers, and a bounded FIFO of chunks between them.

The channel has `chunks` slots, each with room for the buffers' elements of a piece of the domain. It is a bounded queue
for many producers and consumers (Vyukov): tickets are drawn from `head` and `tail`, ticket t uses slot t mod chunks
in its round t div chunks, and a word of the slot says what it holds: 2r while free for round r, 2r + 1 once filled.

Memory ordering. A producer fills a slot's elements with plain stores and publishes it by a *release* store of 2r + 1;
the consumer that reads this word with *acquire* therefore sees them all. A consumer frees the slot by a *release*
store of 2r + 2, which the next producer reads with *acquire*: it overwrites nothing that is still being read. `head`
and `tail` only hand out tickets, so their compare-and-swaps are relaxed; no thread waits while it holds a ticket.
`finished` counts the items that were published, added with *release* behind their publication and read with
*acquire*: who sees all of them and no ticket left may leave. So it does not matter how many threads take part, nor
when they come. Reads and writes of other properties by both sides are relaxed atomics (`insert-atomics`); the barrier
at the end orders everything.

Nobody waits for another thread to go on: each looks at the request to stop before each step, a producer that finds
the channel full consumes a piece itself, and producers that are done consume what is left. So one thread alone, or
threads that the system does not run at the same time, get to the end. Compiled for one thread, a piece is produced
into the first slot and consumed at once.

To put producer and consumer on two devices, this file is what another backend replaces: tickets, the three orderings
above, and where the slots lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import CHANNEL_LINES, CONTEXT, LINE
from vgraph.compiler.backends.llvm import pushes
from vgraph.compiler.backends.llvm.domains import LARGEST_CHUNK, VERTEX_CHUNK, walk_of
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter, Region
from vgraph.compiler.backends.llvm.expressions import row_offset
from vgraph.compiler.backends.llvm.forks import fork_point
from vgraph.compiler.backends.llvm.parallel import chunk_size, combine_partials, prepare, take_chunks
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.types import I64, VID
from vgraph.records import dataclass

_SITES: Final = {ir.Site.EDGE: ir.Orientation.OUT, ir.Site.EDGE_IN: ir.Orientation.IN}


@dataclass(frozen=True)
class _Channel:
    """What is known of the channel before its loop: sizes and addresses, as registers."""

    node: ir.Pipeline
    side: ir.Orientation | None
    """Which arcs of a vertex its elements belong to; None: one element per place of the domain."""
    size: str
    """Items of the domain."""
    room: str
    """Elements of one slot of each buffer."""
    control: str
    vertex_at: Callable[[str], str]


def emit_pipeline(f: Emitter, node: ir.Pipeline) -> None:
    """`pipeline v in ... through (...) { produce } then { consume }`."""
    fork_point(f, VERTEX_CHUNK[1], lambda: walk_of(node).size(f, node))
    loops, f.loops = f.loops, []
    region = f.region = Region(f.label("drained"))
    prepare(f, (*node.producer, *node.consumer), region)
    channel = _open(f, node)
    if f.serial:
        _alternate(f, channel, region)
    else:
        _Shared(f, channel, region).emit()
    f.start(region.leave)
    pushes.finish(f, region)
    f.region, f.loops = None, loops
    combine_partials(f, region)


def prologue(f: Emitter) -> None:
    """How many items have gone through each channel before the loop under way."""
    for name in f.scan.channels:
        slot = f.pointers[f"through {name}"] = f.slot("i64", "through")
        f.do(f"store i64 0, ptr {slot}")
        f.hand_on("i64", slot)


def _open(f: Emitter, node: ir.Pipeline) -> _Channel:
    site = f.program.property(node.buffers[0]).site
    room = f.op(f'udiv i64 %"length.{node.buffers[0]}", {node.chunks}')
    control = f.pointers[f"channel {node.buffers[0]}"]
    vertex, size = walk_of(node).vertex(f, node), walk_of(node).size(f, node)
    return _Channel(node, _SITES.get(site), size, room, control, vertex)


def _range_size(f: Emitter, channel: _Channel) -> str:
    """Items that a producer takes from the domain at once; no more than a slot has room for."""
    most = LARGEST_CHUNK[1]
    chunk = chunk_size(f, channel.size, walk_of(channel.node).rule(most), most)
    if channel.side is not None:
        return chunk
    return f.call("i64", "llvm.umin.i64", f"i64 {chunk}", f"i64 {channel.room}")


def _walk(
    f: Emitter, channel: _Channel, slot: str, begin: str, end: str, body: ir.Body, *, fill: bool
) -> str:
    """Run `body` for the items begin .. end, their elements in slot number `slot`; gives where it ended.

    With `fill` it ends before the first item whose elements do not fit any more; the first always does.
    """
    before, head, look, inside, again, leave = (
        f.block,
        *map(f.label, ("item", "item.look", "item.do", "item.next", "items.end")),
    )
    f.start(head)
    i, used = f"%i.{head}", f"%u.{head}"
    f.lines.append(f"  {i} = phi i64 [ {begin}, %{before} ], [ %n.{head}, %{again} ]")
    f.lines.append(f"  {used} = phi i64 [ 0, %{before} ], [ %m.{head}, %{again} ]")
    f.branch(f.op(f"icmp ult i64 {i}, {end}"), look, leave)
    f.start(look)
    vertex = channel.vertex_at(i)
    base = f.op(f"mul i64 {slot}, {channel.room}")
    if channel.side is None:
        after = f.op(f"add i64 {used}, 1")
        shift = f.op(f"sub i64 {base}, {begin}")
    else:
        first = row_offset(f, channel.side, vertex)
        degree = f.op(f"sub i64 {row_offset(f, channel.side, vertex, next_one=True)}, {first}")
        after = f.op(f"add i64 {used}, {degree}")
        shift = f.op(f"sub i64 {f.op(f'add i64 {base}, {used}')}, {first}")
    if fill and channel.side is not None:
        f.branch(f.op(f"icmp ugt i64 {after}, {channel.room}"), leave, inside, UNLIKELY)
    f.start(inside)
    _visit(f, channel, body, vertex, i, shift, again)
    f.start(again)
    f.do(f"%n.{head} = add nuw nsw i64 {i}, 1")
    f.do(f"%m.{head} = add i64 {after}, 0")
    f.jump(head)
    f.start(leave)
    return i


def _visit(
    f: Emitter, channel: _Channel, body: ir.Body, vertex: str, place: str, shift: str, again: str
) -> None:
    node = channel.node
    f.shifts = dict.fromkeys(node.buffers, shift)
    with f.turn(again):
        f.bind(node.vertex, f.narrow(vertex, VID))
        if node.position is not None:
            f.bind(node.position, Value(place, I64))
        f.body(body)
    f.shifts = {}


def _alternate(f: Emitter, channel: _Channel, region: Region) -> None:
    """One thread: produce a piece, consume it."""

    def work(begin: str, end: str) -> None:
        at = f.slot("i64", "piece")
        f.do(f"store i64 {begin}, ptr {at}")
        head = f.label("piece")
        f.start(head)
        first = f.op(f"load i64, ptr {at}")
        with f.when(f.op(f"icmp ult i64 {first}, {end}"), "piece.do"):
            last = _walk(f, channel, "0", first, end, channel.node.producer, fill=True)
            _walk(f, channel, "0", first, last, channel.node.consumer, fill=False)
            f.do(f"store i64 {last}, ptr {at}")
            f.jump(head)

    take_chunks(f, channel.size, _range_size(f, channel), region.leave, work)


class _Shared:
    """The loop of many threads; a step is one attempt to produce a piece or else to consume one."""

    def __init__(self, f: Emitter, channel: _Channel, region: Region) -> None:
        self.f, self.channel, self.region = f, channel, region
        self.producing, self.at, self.end, self.tries = (
            f.slot(t, hint)
            for t, hint in (("i1", "producing"), ("i64", "at"), ("i64", "end"), ("i64", "tries"))
        )
        names = ("head", "tail", "finished")
        self.words = {name: self.line(str(number)) for number, name in enumerate(names)}
        self.head, self.take = f.label("step"), f.label("take")

    def line(self, number: str) -> str:
        """The address of a cache line of the channel's control block."""
        return self.f.item(f"[{LINE} x i8]", self.channel.control, number)

    def load(self, address: str, order: str = "monotonic") -> str:
        """An atomic read of the control block."""
        return self.f.op(f"load atomic i64, ptr {address} {order}, align 8{self.f.alias('ctx')}")

    def release(self, address: str, value: str) -> None:
        """A release store to the control block: it orders accesses of every scope, so it carries none."""
        self.f.do(f"store atomic i64 {value}, ptr {address} release, align 8")

    def emit(self) -> None:
        f = self.f
        odd = f.op("trunc i64 %thread to i1")
        f.do(f"store i1 {f.op(f'xor i1 {odd}, true')}, ptr {self.producing}")
        for slot in (self.at, self.end, self.tries):
            f.do(f"store i64 0, ptr {slot}")
        through = f.pointers[f"through {self.channel.node.buffers[0]}"]
        done = f.op(f"add i64 {f.op(f'load i64, ptr {through}')}, {self.channel.size}")
        f.do(f"store i64 {done}, ptr {through}")
        chunk = _range_size(f, self.channel)
        f.start(self.head)
        f.jump_if(f.cancelled(), self.region.leave, UNLIKELY)
        f.jump_unless(f.op(f"load i1, ptr {self.producing}"), self.take)
        self.refill(chunk)
        self.produce()
        f.start(self.take)
        self.consume(done)

    def refill(self, chunk: str) -> None:
        """Take a range of the domain when the last one is used up; who finds none left only consumes from now on."""
        f = self.f
        used = f.op(f"icmp ult i64 {f.op(f'load i64, ptr {self.at}')}, {f.op(f'load i64, ptr {self.end}')}")
        with f.unless(used, "fetch"):
            counter = f.field(CONTEXT, "%ctx", "chunk_counter")
            begin = f.op(f"atomicrmw add ptr {counter}, i64 {chunk} monotonic, align 8{f.alias('ctx')}")
            with f.unless(f.op(f"icmp ult i64 {begin}, {self.channel.size}"), "over"):
                f.do(f"store i1 false, ptr {self.producing}")
                f.jump(self.take)
            end = f.call(
                "i64",
                "llvm.umin.i64",
                f"i64 {f.op(f'add nuw i64 {begin}, {chunk}')}",
                f"i64 {self.channel.size}",
            )
            f.do(f"store i64 {begin}, ptr {self.at}")
            f.do(f"store i64 {end}, ptr {self.end}")

    def ticket(self, word: str, full: int, missed: str) -> tuple[str, str, str]:
        """Draw a ticket if its slot is free (`full` 0) or filled (1), else go to `missed`.

        Gives the slot's number, the address of its line, and the word that it held.
        """
        f, chunks = self.f, self.channel.node.chunks
        at = self.load(self.words[word])
        slot, turn = f.op(f"urem i64 {at}, {chunks}"), f.op(f"udiv i64 {at}, {chunks}")
        line = self.line(f.op(f"add i64 {slot}, {CHANNEL_LINES}"))
        wanted = f.op(f"or disjoint i64 {f.op(f'shl i64 {turn}, 1')}, {full}")
        seen = f.op(f"load atomic i64, ptr {line} acquire, align 8")
        f.jump_unless(f.op(f"icmp eq i64 {seen}, {wanted}"), missed)
        pair = f.op(
            f"cmpxchg ptr {self.words[word]}, i64 {at}, i64 {f.op(f'add i64 {at}, 1')} monotonic monotonic, align 8"
            f"{f.alias('ctx')}"
        )
        f.jump_unless(f.op(f"extractvalue {{ i64, i1 }} {pair}, 1"), self.head)
        return slot, line, wanted

    def bounds(self, line: str) -> tuple[str, str]:
        """Where a slot keeps which items it holds."""
        return self.f.item("i64", line, "1"), self.f.item("i64", line, "2")

    def produce(self) -> None:
        """Fill a slot with as many items as fit, and publish it."""
        f = self.f
        slot, line, word = self.ticket("head", 0, self.take)
        first, end = (f.op(f"load i64, ptr {place}") for place in (self.at, self.end))
        last = _walk(f, self.channel, slot, first, end, self.channel.node.producer, fill=True)
        for place, value in zip(self.bounds(line), (first, last), strict=True):
            f.do(f"store i64 {value}, ptr {place}, align 8{f.alias('ctx')}")
        f.do(f"store i64 {last}, ptr {self.at}")
        self.release(line, f.op(f"add i64 {word}, 1"))
        items = f.op(f"sub i64 {last}, {first}")
        f.op(f"atomicrmw add ptr {self.words['finished']}, i64 {items} release, align 8")
        f.do(f"store i64 0, ptr {self.tries}")
        f.jump(self.head)

    def consume(self, done: str) -> None:
        """Empty a slot; if none is filled, leave when all items have been published, else look again in a while."""
        f = self.f
        idle = f.label("idle")
        slot, line, word = self.ticket("tail", 1, idle)
        first, last = (f.op(f"load i64, ptr {p}, align 8{f.alias('ctx')}") for p in self.bounds(line))
        _walk(f, self.channel, slot, first, last, self.channel.node.consumer, fill=False)
        self.release(line, f.op(f"add i64 {word}, 1"))
        f.do(f"store i64 0, ptr {self.tries}")
        f.jump(self.head)
        f.start(idle)
        wait = f.label("wait")
        f.jump_unless(f.op(f"icmp eq i64 {self.load(self.words['finished'], 'acquire')}, {done}"), wait)
        left = f.op(f"icmp eq i64 {self.load(self.words['tail'])}, {self.load(self.words['head'])}")
        f.branch(left, self.region.leave, wait)
        f.start(wait)
        tries = f.op(f"add i64 {f.op(f'load i64, ptr {self.tries}')}, 1")
        f.do(f"store i64 {tries}, ptr {self.tries}")
        f.native("vg_pause", "ptr %ctx", f"i64 {tries}")
        f.jump(self.head)
