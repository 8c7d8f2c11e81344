"""What loops over the elements of vectors: whether two are equal, and where the extreme of one is."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import int64, only
from vgraph.compiler.types import BOOL, I64, Type, Vector
from vgraph.source import Span


def equal(ctx: Context, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Whether all elements of two vectors of one type are equal."""
    names = [ctx.temporary("vector", e.type, e, span) for e in (left, right)]
    same = ctx.temporary("same", BOOL, ir.Const(True, BOOL, span=span), span)
    i = ctx.names.fresh("i")
    a, b = (_element(name, left.type, ir.Var(i, I64), span) for name in names)
    leave = (ir.Assign(same, ir.Const(False, BOOL, span=span), span=span), ir.Break(span=span))
    _loop(ctx, i, 0, left.type, ir.If(ir.Compare("!=", a, b, span=span), leave, span=span), span)
    return ir.Var(same, BOOL, span=span)


def extreme_index(ctx: Context, e: s.Call, name: str, op: str) -> Value:
    """`vg.argmin(x)`, `vg.argmax(x)`: the first of several; of NaN the first, if there is one, as in NumPy."""
    x, span = only(ctx, e, f"vg.{name}"), e.span
    if not isinstance(x.type, Vector):
        raise refusals.types.NotVectors(span, f"vg.{name}", describe(x.kind))
    vector, t = ctx.temporary("vector", x.type, x.expr, span), x.type.element
    found = ctx.temporary("found", I64, int64(0, span), span)
    best = ctx.temporary("best", t, _element(vector, x.type, int64(0, span), span), span)
    i = ctx.names.fresh("i")
    new, old = _element(vector, x.type, ir.Var(i, I64), span), ir.Var(best, t, span=span)
    better: ir.Expr = ir.Compare(op, new, old, span=span)
    if t.is_float:
        is_nan = ir.Compare("!=", new, new, span=span)
        first = ir.Logical("and", is_nan, ir.Compare("==", old, old, span=span), span=span)
        better = ir.Logical("or", better, first, span=span)
    take = (ir.Assign(best, new, span=span), ir.Assign(found, ir.Var(i, I64), span=span))
    _loop(ctx, i, 1, x.type, ir.If(better, take, span=span), span)
    return Value(ir.Var(found, I64, span=span), I64, span)


def _element(vector: str, t: Type, index: ir.Expr, span: Span) -> ir.Expr:
    return ir.Element(ir.Var(vector, t), index, span=span)


def _loop(ctx: Context, i: str, start: int, t: Type, body: ir.Stmt, span: Span) -> None:
    """Over the elements from the one with the number `start` on."""
    assert isinstance(t, Vector)
    ends = int64(start, span), int64(t.length, span)
    ctx.emit(ir.For(i, *ends, int64(1, span), (body,), span=span))
