"""`lower-queues`: priority queues become buckets by value.

before: `priority q: degree`; `f = pop q`; `requeue q changed`
after:  `buckets q(v): max(degree[v], @q.level) - 1`; `more = advance q; while more { @q.level = bucket(q) + 1;
         parbucket v in q { ...; push f.next v }; ... }`; `parfor v in changed { if not taken[v] { enqueue q v } }`

Bucketing as in Dhulipala, Blelloch and Shun 2017, "Julienne": a vertex is put anew wherever its value changes, and old
entries are passed over when their bucket comes.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, leading, scalar
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.records import dataclass

_SHIFT = ir.Const(1, I64)
"""Keys are less by it: the largest integer, which stands for infinity, is then none that buckets keep to themselves."""


@dataclass
class Queue:
    """What a queue is at kernel level: its buckets, who has left it, its level, and how many it holds."""

    decl: ir.QueueDecl
    taken: str
    level: str
    left: str

    @property
    def work(self) -> str:
        """The name of the buckets."""
        return self.decl.name


def _declare(low: Lowering, decl: ir.QueueDecl) -> Queue:
    """Declare what a queue needs."""
    taken, level, left = (low.fresh(f"{decl.name}.{what}") for what in ("taken", "level", "left"))
    for name in (level, left):
        low.declare("globals", ir.Global(name, I64))
    low.declare("properties", ir.Property(taken, BOOL, ir.Site.VERTEX, ir.Origin.LOCAL, span=decl.span))
    queue, v = Queue(decl, taken, level, left), low.fresh("v")
    key = ir.Binary("-", ir.Binary("max", queued_value(low, queue.decl, v), ir.GlobalVar(level, I64)), _SHIFT)
    low.declare("buckets", ir.BucketsDecl(decl.name, v, key, span=decl.span))
    return queue


def queued_value(low: Lowering, decl: ir.QueueDecl, v: str) -> ir.Expr:
    """The value of a vertex by which a queue has it, as i64."""
    t = low.program.property(decl.prop).type
    value = leading(ir.Load(decl.prop, ir.Var(v, VID), t))
    return value if value.type == I64 else ir.Cast(I64, value)


def _lower(low: Lowering, queues: dict[str, Queue], n: ir.Node) -> ir.Node | ir.Body | None:
    """The kernel-level form of a node that is about a queue; None for any other."""
    match n:
        case ir.QueueFill(queue=name):
            return _fill(low, queues[name])
        case ir.QueuePop(queue=name):
            return _pop(low, queues[name], n)
        case ir.QueueUpdate(queue=name, frontier=frontier):
            return _update(low, queues[name], frontier)
        case ir.QueueSize(queue=name):
            return ir.GlobalVar(queues[name].left, I64)
        case ir.QueueLevel(queue=name):
            return ir.GlobalVar(queues[name].level, I64)
    return None


def _fill(low: Lowering, queue: Queue) -> ir.Body:
    v = low.fresh("v")
    enter: ir.Body = (ir.Store(queue.taken, ir.Var(v, VID), FALSE), ir.BucketPush(queue.work, ir.Var(v, VID)))
    return (
        ir.SetGlobal(queue.level, scalar(0)),
        ir.SetGlobal(queue.left, ir.GraphSize("num_vertices")),
        ir.BucketsClear(queue.work),
        ir.ParFor(v, ir.Vertices(), enter),
    )


def _update(low: Lowering, queue: Queue, frontier: str | None) -> ir.Body:
    v = low.fresh("v")
    inside = ir.Unary("not", ir.Load(queue.taken, ir.Var(v, VID), BOOL))
    body: ir.Body = (ir.If(inside, (ir.BucketPush(queue.work, ir.Var(v, VID)),)),)
    if frontier is None:
        # In place of all entries so far.
        return (ir.BucketsClear(queue.work), ir.ParFor(v, ir.Vertices(), body))
    return (ir.FrontierConvert(frontier, ir.Layout.SPARSE), ir.ParFor(v, ir.SparseMembers(frontier), body))


def _pop(low: Lowering, queue: Queue, n: ir.QueuePop) -> ir.Body:
    """Buckets are tried in order until one has a vertex that still belongs there."""
    v, ok, more, found = low.fresh("v"), low.fresh("ok"), low.fresh("more"), low.hidden(f"{n.out}.next")
    here, level = ir.Var(v, VID), ir.GlobalVar(queue.level, I64)
    leave: ir.Body = (
        ir.Let(ok, BOOL, FALSE),
        ir.CompareAndSwap(ok, queue.taken, here, FALSE, TRUE),
        ir.If(ir.Var(ok, BOOL), (ir.FrontierPush(found, here, ir.Layout.SPARSE, False),)),
    )
    risen = ir.Compare(">", queued_value(low, queue.decl, v), level)
    visit: ir.Body = (ir.If(risen, (ir.BucketPush(queue.work, here),), leave),)
    rounds: ir.Body = (
        ir.SetGlobal(queue.level, ir.Binary("+", ir.BucketKey(queue.work), _SHIFT)),
        ir.BucketLoop(v, queue.work, visit),
        ir.If(ir.Compare(">", ir.FrontierSize(found), scalar(0)), (ir.Break(),)),
        ir.BucketAdvance(more, queue.work),
    )
    swap: tuple[ir.Stmt, ...] = (ir.FrontierSwap(n.out, found), ir.FrontierClear(found, ir.Layout.SPARSE))
    some = ir.Compare(
        ">", ir.GlobalVar(queue.left, I64), scalar(0)
    )  # else there may be entries that are out of date
    return (
        ir.Let(more, BOOL, FALSE),
        ir.If(some, (ir.BucketAdvance(more, queue.work),)),
        ir.While(ir.Var(more, BOOL), rounds),
        ir.Single(swap),
        ir.SetGlobal(queue.left, ir.Binary("-", ir.GlobalVar(queue.left, I64), ir.FrontierSize(n.out))),
    )


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not program.queues:
        return program
    low = Lowering(program, context)
    queues = {q.name: _declare(low, q) for q in program.queues}
    body = ir.transform_body(program.body, lambda n: _lower(low, queues, n))
    results = tuple(ir.transform(r, lambda n: _lower(low, queues, n)) for r in program.results)
    return ir.with_fields(low.finished(body), {"queues": (), "results": results})


lower_queues = Pass("lower-queues", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)
