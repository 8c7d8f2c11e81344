"""`lower-ordered`: a loop to the fixpoint whose active vertices are taken by priority; part of `lower-applies`.

before: `while size(f) > 0 { f = edge_apply(relax, f) schedule(order=delta(64), ...) }`
after:  `clear work buckets; parfor v in sparse f { enqueue work v }; f = empty; more = advance work; while more {
         parbucket v in work { for (u, e) in out(v) { dist[u] min= ... -> hit; if hit { enqueue work u } } }
         more = advance work }` with `buckets work(v): cast<i64>(dist[v] * (1 / 64))`

Delta-stepping (Meyer and Sanders 2003). Every order of updates ends in the same fixpoint, so the key only has to be
monotone in the value: it is computed in f64, and rounding does no harm. A value that rises (max) is mirrored.
`strict` (Dijkstra 1959, with lazy deletion) takes the value itself as key.
"""

from __future__ import annotations

from vgraph.compiler.effects import Role, effects, is_fixpoint_loop
from vgraph.compiler.ir import (
    Binary,
    Body,
    BucketAdvance,
    BucketLoop,
    BucketPush,
    BucketsClear,
    BucketsDecl,
    Cast,
    Const,
    EdgeApply,
    Expr,
    ForNeighbors,
    FrontierConvert,
    FrontierKind,
    FrontierSet,
    If,
    Layout,
    Let,
    Load,
    Node,
    Param,
    ParFor,
    Property,
    ReduceGlobal,
    SetGlobal,
    Stmt,
    Trace,
    Unary,
    Var,
    While,
)
from vgraph.compiler.passes.balance_load import arcs_of, once, with_pieces
from vgraph.compiler.passes.lowering import (
    FALSE,
    Lowering,
    count_of,
    hoist_loads,
    scalar,
    shared_writes,
)
from vgraph.compiler.rewrite import transform_body
from vgraph.compiler.types import BOOL, F64, I64, U64, VID, Kind, Scalar
from vgraph.schedule import UNORDERED, Order

FARTHEST = 1 << 62
"""Keys are kept within it, so that the distance of two keys is an i64 and infinities have a bucket."""


def ordering_property(low: Lowering, apply: EdgeApply) -> Property:
    """The one property that the operator writes, which orders the vertices."""
    (name,) = effects(low.program.operator(apply.op)).written
    return low.program.property(name)


def delta_param(low: Lowering, apply: EdgeApply) -> str:
    """The hidden parameter with 1 / delta; delta follows from the edge property that the operator reads, if any."""
    reads = effects(low.program.operator(apply.op)).reads
    weight = next((r.prop for r in reads if r.role is Role.EDGE), "")
    return f"policy.delta:{apply.label}:{weight}"


def bucket_key(low: Lowering, apply: EdgeApply, vertex: str, order: Order) -> Expr:
    """The number of the vertex's bucket: its value in units of delta, mirrored where large values come first."""
    declared = ordering_property(low, apply)
    value: Expr = Load(declared.name, Var(vertex, VID), declared.type)
    if order.kind == "strict":
        return _mirrored(low, apply, _sortable(value))
    if order.delta is None:
        name = delta_param(low, apply)
        low.params[name] = Param(name, F64)
        scale: Expr = Var(name, F64)
    else:
        scale = Const(1.0 / order.delta, F64)
    scaled = Binary("*", value if value.type == F64 else Cast(F64, value), scale)
    key: Expr = Cast(I64, scaled)
    key = Binary("max", Binary("min", key, Const(FARTHEST, I64)), Const(-FARTHEST, I64))
    return _mirrored(low, apply, key)


def _sortable(value: Expr) -> Expr:
    """The value as an f64 or an i64 of the same order."""
    t = value.type
    assert isinstance(t, Scalar)
    if t.is_float:
        return value if t == F64 else Cast(F64, value)
    if t.kind is Kind.SIGNED:
        return value if t == I64 else Cast(I64, value)
    wide = value if t == U64 else Cast(U64, value)
    return Cast(I64, Binary("^", wide, Const(1 << 63, U64)))


def _mirrored(low: Lowering, apply: EdgeApply, key: Expr) -> Expr:
    (write,) = {w.op for w in effects(low.program.operator(apply.op)).writes}
    if write == "min":
        return key
    return Unary("neg" if key.type == F64 else "invert", key)


def _visit(low: Lowering, apply: EdgeApply, work: str, v: str) -> tuple[Body, str, str, Body]:
    """The vertex operator's loop over out-arcs; its counters of arcs and vertices, and how they begin."""
    operator = low.operator(apply.op)
    src, edge, dst = operator.args
    hit = low.fresh("hit")
    inner: list[Stmt] = [
        Let(hit, BOOL, FALSE),
        *shared_writes(low, operator.body, hit),
        If(Var(hit, BOOL), (BucketPush(work, Var(dst, VID)),)),
    ]
    hoisted, walked = hoist_loads(low, tuple(inner), src)
    arcs, visited = low.counter(), low.counter("visited")
    body: Body = (
        *once(apply, ReduceGlobal("+", visited, scalar(1))),
        ReduceGlobal("+", arcs, arcs_of(apply, src, apply.leaving)),
        *hoisted,
        ForNeighbors(dst, edge, Var(src, VID), apply.leaving, walked, span=apply.span),
    )
    assert v != src
    begin: Body = (SetGlobal(arcs, scalar(0)), SetGlobal(visited, scalar(0)))
    loop = BucketLoop(src, work, body, apply.label, span=apply.span)
    return (with_pieces(low, apply, loop, apply.leaving),), arcs, visited, begin


def lower_ordered(low: Lowering, apply: EdgeApply) -> Body:
    """What takes the place of the whole `while` loop."""
    assert apply.schedule is not None
    assert apply.frontier is not None
    order = apply.schedule.order
    strict = order.kind == "strict"
    work, v, more = low.fresh(f"{apply.label}.work"), low.fresh("v"), low.fresh("more")
    key_vertex = low.fresh("v")
    low.buckets[work] = BucketsDecl(work, key_vertex, bucket_key(low, apply, key_vertex, order), strict)
    loop, arcs, visited, begin = _visit(low, apply, work, v)
    trace = Trace(apply.label, order.kind, count_of(visited), count_of(arcs), span=apply.span)
    head: Body = (
        FrontierConvert(apply.frontier, Layout.SPARSE, span=apply.span),
        BucketsClear(work, span=apply.span),
        ParFor(v, Layout.SPARSE, apply.frontier, (BucketPush(work, Var(v, VID)),), span=apply.span),
        FrontierSet(apply.frontier, FrontierKind.EMPTY, span=apply.span),
    )
    if strict:
        return (*head, *begin, *loop, trace)
    advance = BucketAdvance(more, work, span=apply.span)
    rounds = While(Var(more, BOOL), (*begin, *loop, trace, advance), span=apply.span)
    return (*head, Let(more, BOOL, FALSE, span=apply.span), advance, rounds)


def lower_ordered_loops(low: Lowering, body: Body) -> Body:
    """`body` with every loop whose apply has an order lowered; the rest is left as it is."""

    def rule(n: Node) -> Body | None:
        match n:
            case While(body=(EdgeApply(schedule=schedule) as apply,)):
                if schedule is not None and schedule.order != UNORDERED:
                    assert is_fixpoint_loop(low.program, apply)
                    return lower_ordered(low, apply)
        return None

    return transform_body(body, rule)
