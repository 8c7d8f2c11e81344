"""Loops with hops: a block goes on alone with what it finds, from a queue in shared memory (`local.cuh`)."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import own_arcs
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import EID, VID, Vector
from vgraph.records import dataclass

LANES: Final = 4
"""Lanes that visit a vertex together."""
PART_LANES: Final = 32
"""The same where an entry of the block's queue is a part of a vertex's arcs. Core numbers of R-MAT of scale 22 on an
H200 take 12.1 ms with 8 and 9.7 with 32."""
PARTS: Final = 32
"""With how many of them a block goes on alone, and leaves more to all."""
BYTES: Final = 1024 * 36
"""The block's queue: two hops of 1024 entries of 16 bytes, and as many ids."""


@dataclass(frozen=True)
class Carried:
    """What a visit reads at its vertex, in `let`, is what `reduce` wrote there when the vertex was found.

    It may be out of date by then; whoever wrote what is there now has queued the vertex again.
    """

    let: ir.Let
    reduce: ir.Reduce

    @property
    def new(self) -> str:
        """The local that holds what is written."""
        return f"new {self.reduce.prop}"


@dataclass(frozen=True)
class Ahead:
    """A loop that goes on with what it pushes to `target`, a frontier or a set of buckets."""

    target: str
    side: ir.Orientation
    arrays: tuple[str, ...]
    """What is read of arcs there."""
    carried: Carried | None
    parts: bool = False
    """Whether an entry is a part of a vertex's arcs: all the grid shares those of hubs."""
    rows: dict[str, str] = field(default_factory=dict)
    """By vertex: the variable that says where its arcs are."""


def ahead_of(f: Emitter, node: ir.ParFor | ir.BucketLoop, side: ir.Orientation) -> Ahead:
    """How a loop with hops goes on."""
    own = [
        n for n in walk_body(node.body) if isinstance(n, ir.ForNeighbors) and own_arcs(n, node.vertex, side)
    ]
    read = {f.array(f"{side.value}.column_indices"): None}
    for loop in own:
        at_arc = (n.prop for n in walk(loop) if isinstance(n, ir.Load) and n.index == ir.Var(loop.edge, EID))
        read |= {f.prop(name): None for name in at_arc if name not in f.written}
    pushes = [n for n in walk_body(node.body) if isinstance(n, ir.FrontierPush | ir.BucketPush)]
    (target,) = {n.frontier if isinstance(n, ir.FrontierPush) else n.buckets for n in pushes}
    parts = node.limit is not None
    carried = _carried(f, node, own[0]) if len(own) == len(pushes) == 1 and not parts else None
    return Ahead(target, side, tuple(read), carried, parts)


def _carried(f: Emitter, node: ir.ParFor | ir.BucketLoop, loop: ir.ForNeighbors) -> Carried | None:
    """What is written where one reduction alone decides that the far end is pushed."""
    at = ir.Var(loop.vertex, VID)
    found = [n for n in walk(loop) if isinstance(n, ir.Reduce | ir.CompareAndSwap)]
    match loop.body:
        case (ir.Let(), ir.Reduce(index=index) as reduce, ir.If()) if found == [reduce] and index == at:
            for let in node.body:
                match let:
                    case ir.Let(value=ir.Load(prop=prop, index=ir.Var(name=name), type=t)) if (
                        prop,
                        name,
                    ) == (reduce.prop, node.vertex) and not isinstance(t, Vector):
                        return Carried(let, reduce) if f.program.target.width(t) <= 64 else None
    return None


def parameter(f: Emitter, ahead: Ahead) -> str:
    """The parameter of a visit that is carried to it."""
    if ahead.parts:
        return ""
    if ahead.carried is None:
        return ", Nothing"
    return f", {type_name(ahead.carried.let.type)} {f.local(ahead.carried.let.name)}"


def declare(f: Emitter, ahead: Ahead) -> None:
    """The thread's view of the queue."""
    t = "Nothing" if ahead.carried is None else type_name(ahead.carried.let.type)
    t = "bool" if ahead.parts else t
    f.shared = max(f.shared, BYTES)
    f.line(f"LocalQueue<vid, eid, {t}> local_queue;")


def balance(f: Emitter, node: ir.ParFor | ir.BucketLoop, ahead: Ahead, domain: str) -> None:
    """The call of the balancer."""
    rest = (f.buckets if isinstance(node, ir.BucketLoop) else f.frontier)(ahead.target)
    rows = f.array(f"{ahead.side.value}.row_offsets")
    if node.limit is not None:
        hubs, limit = f.names.of("workspace", "vg.hubs"), f.expr(node.limit)
        work = f"{domain}, {rows}, {hubs}, {limit}"
        f.stops(
            f"by_cascade<{PART_LANES}, {PARTS}>(team, hub_turn, local_queue, {work}, {node.hops}, {rest}, visit)"
        )
        return
    values = "(const Nothing*)nullptr" if ahead.carried is None else f.prop(ahead.carried.reduce.prop)
    f.line(f"by_hops<{LANES}>(local_queue, {domain}, {rows}, {values}, {node.hops}, {rest}, visit);")


def far_end(f: Emitter, ahead: Ahead, node: ir.ForNeighbors) -> None:
    """Behind an arc that leads to a vertex: where its own arcs are."""
    if ahead.parts:
        return  # few arcs lead to what is taken
    row = ahead.rows[node.vertex] = f.temporary(f"{node.vertex} row")
    f.line(f"auto {row} = row_of({f.array(f'{ahead.side.value}.row_offsets')}, {f.local(node.vertex)});")


def push(f: Emitter, ahead: Ahead, node: ir.FrontierPush | ir.BucketPush, v: str, *rest: str) -> None:
    """An entry for `v`; `rest`: where it goes if there is no room."""
    known = ahead.rows.get(node.vertex.name) if isinstance(node.vertex, ir.Var) else None
    row = known or f"row_of({f.array(f'{ahead.side.value}.row_offsets')}, {v})"
    if ahead.parts:
        f.line(f"take_on(local_queue, {', '.join((row, *rest, *ahead.arrays))});")
        return
    value = "Nothing()" if ahead.carried is None else f.local(ahead.carried.new)
    f.line(f"go_on(local_queue, {', '.join((row, value, *rest, *ahead.arrays))});")


__all__ = ["Ahead", "Carried", "ahead_of", "balance", "declare", "far_end", "parameter", "push"]
