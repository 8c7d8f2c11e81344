"""The rules of the verifier for statements: operands and what they declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import (
    ARC_SITES,
    BINARY,
    STATEMENTS,
    Place,
)
from vgraph.compiler.ir.rewrite import walk
from vgraph.compiler.ir.verify_expressions import check_queue, check_scratch
from vgraph.compiler.types import BOOL, EID, I64, VID, Vector, element_of

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


def _let(c: Checker, n: ir.Let) -> None:
    c.value(n, n.value, n.type, "the value")
    arc = c.locals[n.value.name].arc if isinstance(n.value, ir.Var) else None
    c.declare(n, n.name, n.type, arc=arc)


def _assign(c: Checker, n: ir.Assign) -> None:
    c.value(n, n.value, c.local(n, n.name).type, "the value")


def _accumulate(c: Checker, n: ir.Accumulate) -> None:
    c.reduction(n, c.local(n, n.name).type)


def _set_global(c: Checker, n: ir.SetGlobal) -> None:
    c.require(n.name in c.globals, f"no global is called {n.name}", n)
    c.value(n, n.value, c.globals[n.name], "the value")


def _reduce_global(c: Checker, n: ir.ReduceGlobal) -> None:
    c.require(n.name in c.globals, f"no global is called {n.name}", n)
    c.reduction(n, c.globals[n.name])


def _store(c: Checker, n: ir.Store) -> None:
    prop = c.writable(n)
    c.value(n, n.value, prop.type, "the value")
    c.order(n)
    if c.place is Place.EDGE:
        c.require(c.claimed, "an edge operator stores inside a claim only", n)
    elif c.place is Place.VERTEX and not c.claimed:
        own = isinstance(n.index, ir.Var) and n.index.name == c.own
        c.require(own, f"a vertex operator stores to its own vertex {c.own} only", n)


def _scratch_store(c: Checker, n: ir.ScratchStore) -> None:
    c.value(n, n.value, check_scratch(c, n, n.index), "the value")


def _scratch_clear(c: Checker, n: ir.ScratchClear) -> None:
    check_scratch(c, n, None)


def _reduce(c: Checker, n: ir.Reduce) -> None:
    c.reduction(n, c.writable(n).type)
    c.require(c.low or not (n.atomic or n.changed), "atomics are chosen at kernel level", n)
    if n.changed is not None:
        c.require(c.local(n, n.changed).type == BOOL, f"{n.changed} is not a bool", n)


def _if(c: Checker, n: ir.If) -> None:
    c.value(n, n.condition, BOOL, "the condition")
    c.body(n.then)
    c.body(n.other)


def _while(c: Checker, n: ir.While) -> None:
    c.value(n, n.condition, BOOL, "the condition")
    c.loop(n.body)


def _for(c: Checker, n: ir.For) -> None:
    for bound in (n.start, n.stop, n.step):
        c.value(n, bound, I64, "a bound")
    with c.scope():
        c.declare(n, n.name, I64, constant=True)
        c.loop(n.body)


def _for_neighbors(c: Checker, n: ir.ForNeighbors) -> None:
    c.value(n, n.of, VID, "the vertex")
    c.require(
        c.low or not (n.segments > 1 or n.prefetch or n.vectorize), "hints are chosen at kernel level", n
    )
    c.require(n.prefetch >= 0 and n.segments >= 1, "there is at least one segment", n)
    arc = ARC_SITES[n.orientation]
    if n.segments > 1:
        arc, around = ir.Site.EDGE_SEGMENTS, c.segmented
        own = around is not None and isinstance(n.of, ir.Var) and n.of.name == around.vertex
        ok = own and around is not None and around.segments == n.segments
        rule = "arcs of a segment are walked into the vertex of a parallel loop over as many segments"
        c.require(ok and n.orientation is ir.Orientation.IN, rule, n)
    with c.scope():
        c.declare(n, n.vertex, VID, constant=True)
        c.declare(n, n.edge, EID, arc=arc, constant=True)
        c.loop(n.body)


def _for_common(c: Checker, n: ir.ForCommon) -> None:
    c.value(n, n.left, VID, "the vertex")
    c.value(n, n.right, VID, "the vertex")
    with c.scope():
        c.declare(n, n.vertex, VID, constant=True)
        c.loop(n.body)


def _jump(c: Checker, n: ir.Stmt) -> None:
    c.require(c.loops > 0, "stands outside a sequential loop", n)


def _claim(c: Checker, n: ir.Claim) -> None:
    prop = c.writable(n)
    c.require(not isinstance(prop.type, Vector), "a vector is not claimed", n)
    c.value(n, n.expected, prop.type, "the expected value")
    c.value(n, n.value, prop.type, "the value")
    before, c.claimed = c.claimed, True
    c.body(n.body)
    c.claimed = before


def _union(c: Checker, n: ir.Union) -> None:
    c.require(c.prop(n).disjoint, f"{n.prop} does not hold disjoint sets", n)
    c.value(n, n.a, VID, "the first vertex")
    c.value(n, n.b, VID, "the second vertex")


def _fill(c: Checker, n: ir.Fill) -> None:
    prop = c.prop(n)
    c.require(prop.site is ir.Site.VERTEX, "only vertex properties are filled", n)
    if n.value is None:
        c.require(prop.type == VID, "only a property of type vid takes the vertex ids", n)
    else:
        c.value(n, n.value, prop.type, "the value")


def _apply(c: Checker, n: ir.EdgeApply | ir.VertexApply) -> None:
    op = c.operators.get(n.op)
    c.require(op is not None, f"no operator is called {n.op}", n)
    assert op is not None
    is_edge = isinstance(n, ir.EdgeApply)
    c.require(op.is_edge is is_edge, f"{n.op} is not {'an edge' if is_edge else 'a vertex'} operator", n)
    for name in (n.frontier, n.out):
        if name is not None:
            c.frontier(n, name)
    scheduled = c.subject.level is ir.Level.SCHEDULED
    rule = "has no schedule" if scheduled else "has a schedule although none was resolved"
    c.require((n.schedule is not None) is scheduled, rule, n)
    if not is_edge and n.out is not None:
        emits = bool(op.body) and isinstance(op.body[-1], ir.Emit)
        c.require(emits, f"{n.op} emits nothing that {n.out} could receive", n)


def _emit(c: Checker, n: ir.Emit) -> None:
    c.value(n, n.value, BOOL, "the value")


def _frontier_set(c: Checker, n: ir.FrontierSet) -> None:
    c.frontier(n, n.out)
    ok = (n.kind is ir.FrontierKind.SINGLE) == (n.vertex is not None)
    c.require(ok, "single takes a vertex, the others none", n)
    if n.vertex is not None:
        c.value(n, n.vertex, VID, "the vertex")
    ok = c.place is not Place.SINGLE or n.kind is not ir.FrontierKind.ALL
    c.require(ok, "all threads together fill a frontier", n)


def _list_get(c: Checker, n: ir.ListGet) -> None:
    c.list(n, n.list)
    c.frontier(n, n.out)
    c.value(n, n.index, I64, "the index")


def _cut(c: Checker, n: ir.ParFor | ir.BucketLoop) -> None:
    c.require(n.cut is not None or n.limit is None, "only a loop with pieces has a limit", n)
    if n.limit is not None:
        c.require(isinstance(n.limit, ir.Const | ir.Var), "the limit is a literal or a parameter", n)
        c.value(n, n.limit, I64, "the limit")


def _par_for(c: Checker, n: ir.ParFor) -> None:
    c.require((n.layout is None) == (n.frontier is None), "a frontier has a layout", n)
    if n.frontier is not None:
        c.frontier(n, n.frontier, n.layout)
    _cut(c, n)
    c.require(n.cut is None or not n.words, "pieces of a vertex are not owned by one thread", n)
    whole = n.segments > 1 and (n.layout is not None or n.words or n.cut is not None)
    c.require(n.segments >= 1 and not whole, "a loop by segments is over vertices, without whole words", n)
    outer_place, outer_loops = c.place, c.loops
    c.place, c.loops, c.cut = Place.PARFOR, 0, n.cut
    c.segmented = n if n.segments > 1 else None
    with c.scope():
        c.declare(n, n.vertex, VID, constant=True)
        if n.position is not None:
            c.declare(n, n.position, I64, constant=True)
        c.body(n.body)
    c.place, c.loops, c.cut, c.segmented = outer_place, outer_loops, None, None


def _pipeline(c: Checker, n: ir.Pipeline) -> None:
    c.require((n.layout is None) == (n.frontier is None), "a frontier has a layout", n)
    c.require(n.layout is not ir.Layout.BITMAP, "a pipeline runs over vertices or a queue", n)
    if n.frontier is not None:
        c.frontier(n, n.frontier, n.layout)
    c.require(n.buffers and n.chunks >= 1, "a channel has a buffer and room for a chunk", n)
    declared = [c.prop(n, name=name) for name in n.buffers]
    ok = all(p.origin is ir.Origin.LOCAL and p.site in _BUFFERS for p in declared)
    c.require(ok, "the buffers of a channel are local, of arcs or of a queue", n)
    c.require(len({p.site for p in declared}) <= 1, "the buffers of a channel have elements for the same", n)
    outer_place, outer_loops = c.place, c.loops
    c.place, c.loops = Place.PARFOR, 0
    with c.scope():
        c.declare(n, n.vertex, VID, constant=True)
        if n.position is not None:
            c.declare(n, n.position, I64, constant=True)
        c.body(n.producer)
        c.body(n.consumer)
    c.place, c.loops = outer_place, outer_loops


_BUFFERS = (ir.Site.EDGE, ir.Site.EDGE_IN, ir.Site.QUEUE)


def _single(c: Checker, n: ir.Single) -> None:
    outer_place, outer_loops = c.place, c.loops
    c.place, c.loops = Place.SINGLE, 0
    c.body(n.body)
    c.place, c.loops = outer_place, outer_loops


ONE_FOR_EACH = (
    ir.Alone, ir.Pipeline, ir.BucketsClear, ir.BucketAdvance, ir.BucketLoop, ir.BucketPush, ir.Fold,
)  # fmt: skip
"""What has a part for each thread, so that one cannot do it alone."""


def _alone(c: Checker, n: ir.Alone) -> None:
    outer_loops, c.loops = c.loops, 0
    c.body(n.body)
    c.loops = outer_loops
    each = [m for stmt in n.body for m in walk(stmt) if isinstance(m, ONE_FOR_EACH)]
    c.require(not each, "one thread has no part of others", each[0] if each else n)


def _compare_and_swap(c: Checker, n: ir.CompareAndSwap) -> None:
    prop = c.writable(n)
    c.require(not isinstance(prop.type, Vector), "a vector is not swapped", n)
    c.value(n, n.expected, prop.type, "the expected value")
    c.value(n, n.value, prop.type, "the value")
    c.require(c.local(n, n.ok).type == BOOL, f"{n.ok} is not a bool", n)


def _push(c: Checker, n: ir.FrontierPush) -> None:
    c.frontier(n, n.frontier, n.layout)
    c.value(n, n.vertex, VID, "the vertex")
    needs_flags = n.dedupe and n.layout is ir.Layout.SPARSE
    c.require(not needs_flags or c.frontiers[n.frontier].flags, f"{n.frontier} has no in-queue flags", n)


def _frontier_clear(c: Checker, n: ir.FrontierClear) -> None:
    c.frontier(n, n.frontier, n.layout)
    ok = c.place is not Place.SINGLE or n.layout is ir.Layout.SPARSE
    c.require(ok, "all threads together clear a bitmap", n)


def _fold(c: Checker, n: ir.Fold) -> None:
    prop, own = c.prop(n), c.prop(n, name=n.own)
    c.require(
        prop.site is ir.Site.VERTEX and own.site is ir.Site.THREAD, "copies are folded into a property", n
    )
    c.require(prop.type == own.type, f"{n.own} is {own.type}, not {prop.type}", n)
    c.require(element_of(prop.type).kind in BINARY["+"], f"+ does not reduce {prop.type}", n)


def _buckets(c: Checker, n: Any) -> None:
    c.require(n.buckets in c.buckets, f"no buckets are called {n.buckets}", n)


def _bucket_advance(c: Checker, n: ir.BucketAdvance) -> None:
    _buckets(c, n)
    c.require(c.local(n, n.more).type == BOOL, f"{n.more} is not a bool", n)


def _bucket_loop(c: Checker, n: ir.BucketLoop) -> None:
    _buckets(c, n)
    _cut(c, n)
    outer_place, outer_loops = c.place, c.loops
    c.place, c.loops, c.cut = Place.PARFOR, 0, n.cut
    with c.scope():
        c.declare(n, n.vertex, VID, constant=True)
        c.body(n.body)
    c.place, c.loops, c.cut = outer_place, outer_loops, None


def _trace(c: Checker, n: ir.Trace) -> None:
    c.value(n, n.active, I64, "the frontier size")
    c.value(n, n.edges, I64, "the number of arcs")


def _frontier(c: Checker, n: Any, name: str | None) -> None:
    if name is not None:
        c.frontier(n, name, getattr(n, "layout", None))


OPERANDS: dict[tuple[str, str], Callable[[Any, Any, Any], None]] = {
    **{("str", name): _frontier for name in ("frontier", "out", "source", "left", "right")},
    ("str | None", "frontier"): _frontier,
    ("str", "list"): lambda c, n, name: c.list(n, name),
    ("str", "queue"): lambda c, n, name: check_queue(c, n),
    ("str", "buckets"): lambda c, n, name: _buckets(c, n),
    ("Expr", "vertex"): lambda c, n, value: c.value(n, value, VID, "the vertex"),
    ("str", "message"): lambda c, n, text: None,
    ("Layout", "layout"): lambda c, n, layout: None,
}
"""What fields of a type and a name must be, in statements that have no rule of their own."""


def _by_operands(kind: type[ir.Stmt]) -> Callable[[Any, Any], None]:
    checks = [(f.name, OPERANDS[str(f.type), f.name]) for f in fields(kind) if f.name != "span"]

    def check(c: Checker, n: ir.Stmt) -> None:
        for name, rule in checks:
            rule(c, n, n.__dict__[name])

    return check


STATEMENT_CHECKS: dict[type[ir.Stmt], Callable[[Any, Any], None]] = {
    ir.Let: _let,
    ir.Assign: _assign,
    ir.Accumulate: _accumulate,
    ir.SetGlobal: _set_global,
    ir.ReduceGlobal: _reduce_global,
    ir.Store: _store,
    ir.ScratchStore: _scratch_store,
    ir.ScratchClear: _scratch_clear,
    ir.Reduce: _reduce,
    ir.If: _if,
    ir.While: _while,
    ir.For: _for,
    ir.ForNeighbors: _for_neighbors,
    ir.ForCommon: _for_common,
    ir.Break: _jump,
    ir.Continue: _jump,
    ir.Claim: _claim,
    ir.Union: _union,
    ir.Fill: _fill,
    ir.EdgeApply: _apply,
    ir.VertexApply: _apply,
    ir.Emit: _emit,
    ir.FrontierSet: _frontier_set,
    ir.ListGet: _list_get,
    ir.ParFor: _par_for,
    ir.Pipeline: _pipeline,
    ir.Single: _single,
    ir.Alone: _alone,
    ir.CompareAndSwap: _compare_and_swap,
    ir.FrontierPush: _push,
    ir.FrontierClear: _frontier_clear,
    ir.Fold: _fold,
    ir.Trace: _trace,
    ir.BucketAdvance: _bucket_advance,
    ir.BucketLoop: _bucket_loop,
}
STATEMENT_CHECKS |= {kind: _by_operands(kind) for kind in STATEMENTS if kind not in STATEMENT_CHECKS}
