"""`lower-ordered`: a loop to the fixpoint whose active vertices are taken by priority.

before: `while size(f) > 0 { f = edge_apply(relax, f) schedule(order=delta(64), ...) }`
after:  `clear work buckets; parfor v in sparse f { enqueue work v }; f = empty; more = advance work; while more {
         parbucket v in work { for (u, e) in out(v) { dist[u] min= ... -> hit; if hit { enqueue work u } } }
         more = advance work }` with `buckets work(v): cast<i64>(dist[v] * (1 / 64))`

Delta-stepping (Meyer and Sanders 2003). Every order of updates ends in the same fixpoint, so the key only has to be
monotone in the value: it is computed in f64, and rounding does no harm. A value that rises (max) is mirrored.
`strict` (Dijkstra 1959, with lazy deletion) takes the value itself as key.

With `tiles=1024` the loop over entries is all there is: `parbucket v in work { ... }` with `buckets work(v): ... tiles
1024`. Without an order all keys are 0.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, effects, is_fixpoint_loop
from vgraph.compiler.passes.cut_loops import arcs_of, once, with_pieces
from vgraph.compiler.passes.lowering import (
    FALSE,
    Lowering,
    count_of,
    hoist_loads,
    leading,
    rewriting,
    scalar,
    shared_writes,
)
from vgraph.compiler.types import BOOL, F64, I64, U64, VID, Kind, Scalar
from vgraph.graph.order import EDGE_NUMBER, EDGE_REVERSE
from vgraph.schedule import UNORDERED, Order

FARTHEST = 1 << 62
"""Keys are kept within it, so that the distance of two keys is an i64 and infinities have a bucket."""


def ordering_property(low: Lowering, apply: ir.EdgeApply) -> ir.Property:
    """The one property that the operator writes, which orders the vertices."""
    (name,) = effects(low.program.operator(apply.op)).written
    return low.program.property(name)


def delta_param(low: Lowering, apply: ir.EdgeApply) -> str:
    """The hidden parameter with 1 / delta; delta follows from the edge property that the operator reads, if any."""
    reads = effects(low.program.operator(apply.op)).reads
    weight = next((r.prop for r in reads if r.role is Role.EDGE and _of_graph(low, r.prop)), "")
    return f"policy.delta:{apply.label}:{weight}"


def _of_graph(low: Lowering, prop: str) -> bool:
    return prop not in (EDGE_NUMBER, EDGE_REVERSE) and low.program.property(prop).origin is ir.Origin.GRAPH


def bucket_key(low: Lowering, apply: ir.EdgeApply, vertex: str, order: Order) -> ir.Expr:
    """The number of the vertex's bucket: its value in units of delta, mirrored where large values come first."""
    if order == UNORDERED:
        return scalar(0)
    declared = ordering_property(low, apply)
    value = leading(ir.Load(declared.name, ir.Var(vertex, VID), declared.type))
    if order.kind == "strict":
        return _mirrored(low, apply, _sortable(value))
    if order.delta is None:
        name = delta_param(low, apply)
        scale: ir.Expr = low.number(name, F64)
    else:
        scale = ir.Const(1.0 / order.delta, F64)
    scaled = ir.Binary("*", value if value.type == F64 else ir.Cast(F64, value), scale)
    key: ir.Expr = ir.Cast(I64, scaled)
    key = ir.Binary("max", ir.Binary("min", key, ir.Const(FARTHEST, I64)), ir.Const(-FARTHEST, I64))
    return _mirrored(low, apply, key)


def _sortable(value: ir.Expr) -> ir.Expr:
    """The value as an f64 or an i64 of the same order."""
    t = value.type
    assert isinstance(t, Scalar)
    if t.is_float:
        return value if t == F64 else ir.Cast(F64, value)
    if t.kind is Kind.SIGNED:
        return value if t == I64 else ir.Cast(I64, value)
    wide = value if t == U64 else ir.Cast(U64, value)
    return ir.Cast(I64, ir.Binary("^", wide, ir.Const(1 << 63, U64)))


def _mirrored(low: Lowering, apply: ir.EdgeApply, key: ir.Expr) -> ir.Expr:
    (write,) = {w.op for w in effects(low.program.operator(apply.op)).writes}
    if write == "min":
        return key
    return ir.Unary("neg" if key.type == F64 else "invert", key)


def _visit(low: Lowering, apply: ir.EdgeApply, work: str, v: str) -> tuple[ir.Body, str, str, ir.Body]:
    """The vertex operator's loop over out-arcs; its counters of arcs and vertices, and how they begin."""
    operator = low.operator(apply.op)
    src, edge, dst = operator.args
    hit = low.fresh("hit")
    inner: list[ir.Stmt] = [
        ir.Let(hit, BOOL, FALSE),
        *shared_writes(low, operator.body, hit),
        ir.If(ir.Var(hit, BOOL), (ir.BucketPush(work, ir.Var(dst, VID)),)),
    ]
    hoisted, walked = hoist_loads(low, tuple(inner), src)
    arcs, visited = low.counter(), low.counter("visited")
    body: ir.Body = (
        *once(apply, ir.ReduceGlobal("+", visited, scalar(1))),
        ir.ReduceGlobal("+", arcs, arcs_of(apply, src, apply.leaving)),
        *hoisted,
        ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, walked, span=apply.span),
    )
    assert v != src
    begin: ir.Body = (ir.SetGlobal(arcs, scalar(0)), ir.SetGlobal(visited, scalar(0)))
    loop = ir.BucketLoop(src, work, body, apply.label, span=apply.span)
    return (with_pieces(low, apply, loop, apply.leaving),), arcs, visited, begin


def _lower(low: Lowering, loop: ir.While) -> ir.Body:
    """What takes the place of the whole `while` loop."""
    (apply,) = loop.body
    assert isinstance(apply, ir.EdgeApply)
    assert apply.frontier is not None
    assert is_fixpoint_loop(low.program, apply)
    order, tiles = apply.chosen.order, apply.chosen.tiles
    strict = order.kind == "strict"
    work, v, more = low.fresh(f"{apply.label}.work"), low.fresh("v"), low.fresh("more")
    key_vertex = low.fresh("v")
    key = bucket_key(low, apply, key_vertex, order)
    mirrored = tiles > 0 and not low.context.facts.directed
    low.declare("buckets", ir.BucketsDecl(work, key_vertex, key, strict, tiles, mirrored))
    visit, arcs, visited, begin = _visit(low, apply, work, v)
    trace = ir.Trace(
        apply.label, "tiles" if tiles else order.kind, count_of(visited), count_of(arcs), span=apply.span
    )
    head: ir.Body = (
        ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE, span=apply.span),
        ir.BucketsClear(work, span=apply.span),
        ir.ParFor(
            v, ir.SparseMembers(apply.frontier), (ir.BucketPush(work, ir.Var(v, VID)),), span=apply.span
        ),
        ir.FrontierSet(apply.frontier, ir.FrontierKind.EMPTY, span=apply.span),
    )
    if strict or tiles:
        return (*head, *begin, *visit, trace)
    advance = ir.BucketAdvance(more, work, span=apply.span)
    rounds = ir.While(ir.Var(more, BOOL), (*begin, *visit, trace, advance), span=apply.span)
    return (*head, ir.Let(more, BOOL, FALSE, span=apply.span), advance, rounds)


def _has_order(n: ir.Stmt) -> bool:
    match n:
        case ir.While(body=(ir.EdgeApply(schedule=schedule),)):
            return schedule is not None and (schedule.order != UNORDERED or schedule.tiles > 0)
    return False


lower_ordered = rewriting("lower-ordered", _has_order, _lower)
