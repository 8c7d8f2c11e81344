"""`lower-queues`: priority queues become buckets by value; part of `lower-applies`.

before: `priority q: degree`; `f = pop q`; `requeue q changed`
after:  `buckets q(v): max(degree[v], @q.level) - 1`; `more = advance q; while more { @q.level = bucket(q) + 1;
         parbucket v in q { ...; push f.next v }; ... }`; `parfor v in changed { if not taken[v] { enqueue q v } }`

Bucketing as in Dhulipala, Blelloch and Shun 2017, "Julienne": a vertex is put anew wherever its value changes, and old
entries are passed over when their bucket comes.
"""

from __future__ import annotations

from dataclasses import dataclass

from vgraph.compiler.ir import (
    Binary,
    Body,
    Break,
    BucketAdvance,
    BucketKey,
    BucketLoop,
    BucketPush,
    BucketsClear,
    BucketsDecl,
    Cast,
    Compare,
    CompareAndSwap,
    Const,
    Expr,
    FrontierClear,
    FrontierConvert,
    FrontierPush,
    FrontierSize,
    FrontierSwap,
    Global,
    GlobalVar,
    GraphSize,
    If,
    Layout,
    Let,
    Load,
    Node,
    Origin,
    ParFor,
    Property,
    QueueDecl,
    QueueFill,
    QueueLevel,
    QueuePop,
    QueueSize,
    QueueUpdate,
    SetGlobal,
    Single,
    Site,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, scalar
from vgraph.compiler.types import BOOL, I64, VID

_SHIFT = Const(1, I64)
"""Keys are less by it: the largest integer, which stands for infinity, is then none that buckets keep to themselves."""


@dataclass
class Queue:
    """What a queue is at kernel level: its buckets, who has left it, its level, and how many it holds."""

    decl: QueueDecl
    taken: str
    level: str
    left: str

    @property
    def work(self) -> str:
        """The name of the buckets."""
        return self.decl.name


def declare(low: Lowering, decl: QueueDecl) -> Queue:
    """Declare what a queue needs."""
    taken, level, left = (low.fresh(f"{decl.name}.{what}") for what in ("taken", "level", "left"))
    for name in (level, left):
        low.globals[name] = Global(name, I64)
    low.properties[taken] = Property(taken, BOOL, Site.VERTEX, Origin.LOCAL, span=decl.span)
    queue, v = Queue(decl, taken, level, left), low.fresh("v")
    key = Binary("-", Binary("max", _value(low, queue, v), GlobalVar(level, I64)), _SHIFT)
    low.buckets[decl.name] = BucketsDecl(decl.name, v, key, span=decl.span)
    return queue


def _value(low: Lowering, queue: Queue, v: str) -> Expr:
    t = low.program.property(queue.decl.prop).type
    value = Load(queue.decl.prop, Var(v, VID), t)
    return value if t == I64 else Cast(I64, value)


def lower_queue(low: Lowering, queues: dict[str, Queue], n: Node) -> Node | Body | None:
    """The kernel-level form of a node that is about a queue; None for any other."""
    match n:
        case QueueFill(queue=name):
            return _fill(low, queues[name])
        case QueuePop(queue=name):
            return _pop(low, queues[name], n)
        case QueueUpdate(queue=name, frontier=frontier):
            return _update(low, queues[name], frontier)
        case QueueSize(queue=name):
            return GlobalVar(queues[name].left, I64)
        case QueueLevel(queue=name):
            return GlobalVar(queues[name].level, I64)
    return None


def _fill(low: Lowering, queue: Queue) -> Body:
    v = low.fresh("v")
    enter: Body = (Store(queue.taken, Var(v, VID), FALSE), BucketPush(queue.work, Var(v, VID)))
    return (
        SetGlobal(queue.level, scalar(0)),
        SetGlobal(queue.left, GraphSize("num_vertices")),
        BucketsClear(queue.work),
        ParFor(v, None, None, enter),
    )


def _update(low: Lowering, queue: Queue, frontier: str | None) -> Body:
    v = low.fresh("v")
    inside = Unary("not", Load(queue.taken, Var(v, VID), BOOL))
    body: Body = (If(inside, (BucketPush(queue.work, Var(v, VID)),)),)
    if frontier is None:
        return (BucketsClear(queue.work), ParFor(v, None, None, body))  # in place of all entries so far
    return (FrontierConvert(frontier, Layout.SPARSE), ParFor(v, Layout.SPARSE, frontier, body))


def _pop(low: Lowering, queue: Queue, n: QueuePop) -> Body:
    """Buckets are tried in order until one has a vertex that still belongs there."""
    v, ok, more, found = low.fresh("v"), low.fresh("ok"), low.fresh("more"), low.target(n.out)
    here, level = Var(v, VID), GlobalVar(queue.level, I64)
    leave: Body = (
        Let(ok, BOOL, FALSE),
        CompareAndSwap(ok, queue.taken, here, FALSE, TRUE),
        If(Var(ok, BOOL), (FrontierPush(found, here, Layout.SPARSE, False),)),
    )
    risen = Compare(">", _value(low, queue, v), level)
    visit: Body = (If(risen, (BucketPush(queue.work, here),), leave),)
    rounds: Body = (
        SetGlobal(queue.level, Binary("+", BucketKey(queue.work), _SHIFT)),
        BucketLoop(v, queue.work, visit),
        If(Compare(">", FrontierSize(found), scalar(0)), (Break(),)),
        BucketAdvance(more, queue.work),
    )
    swap: tuple[Stmt, ...] = (FrontierSwap(n.out, found), FrontierClear(found, Layout.SPARSE))
    return (
        Let(more, BOOL, FALSE),
        BucketAdvance(more, queue.work),
        While(Var(more, BOOL), rounds),
        Single(swap),
        SetGlobal(queue.left, Binary("-", GlobalVar(queue.left, I64), FrontierSize(n.out))),
    )
