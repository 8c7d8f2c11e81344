"""Arrays of an operator's own, `stack = vg.local(vg.int32, 32)`: variables with vectors whose elements are written."""

from __future__ import annotations

from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.access import stored
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context
from vgraph.compiler.frontend.lowering.names import not_bound, widen
from vgraph.compiler.frontend.lowering.values import value
from vgraph.compiler.frontend.lowering.vectors import vector_dtype
from vgraph.compiler.types import Vector
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

LIMIT: Final = 16_384
"""Bytes of all arrays of an operator: a GPU has room for them for each thread that it can hold, up to 270,000."""


def local(ctx: Context, e: s.Call) -> en.Made:
    """`vg.local(dtype, length, fill=value)`."""
    refused = en.refuse(lambda: refusals.calls.LocalInExpression(e.span))
    return en.Made(refused, lambda statement, target: _declare(ctx, e, statement, target))


def spend_bytes(ctx: Context, t: Vector, span: Span) -> None:
    """Count the memory of a visit's arrays. Raises LocalsTooLong where that becomes too much."""
    ctx.array_bytes += t.length * ctx.unit.signature.target.width(t.element) // 8
    if ctx.array_bytes > LIMIT:
        raise refusals.limits.LocalsTooLong(span, ctx.array_bytes, LIMIT)


def _declare(ctx: Context, e: s.Call, statement: s.Stmt, target: s.Name) -> None:
    """`a = vg.local(...)`, which makes the array anew each time."""
    if isinstance(ctx, AlgorithmContext):
        raise refusals.calls.LocalInAlgorithm(e.span)
    not_bound(ctx, target.id, target.span)
    t = vector_dtype(ctx, e, "vg.local").type
    assert isinstance(t, Vector)
    start = zero(t, e.span)
    for keyword in e.keywords:
        if keyword.name != "fill":
            hint = did_you_mean(keyword.name, ["fill"])
            raise refusals.calls.UnexpectedKeyword(keyword.span, "vg.local", keyword.name, hint)
        first = stored(ctx, value(ctx, keyword.value), t.element, f"`{target.id}`")
        start = ir.Cast(t, first, span=keyword.span)
    name = ctx.ir_name(target.id)
    if target.id in ctx.frame.assigned and ctx.arrays.get(name) != t:
        raise refusals.names.LocalReplaced(target.span, target.id)
    if ctx.arrays.pop(name, None) is None:  # else it is made in another place, too
        spend_bytes(ctx, t, e.span)
    widen(ctx, target.id, Value(start, t, e.span), target.span)
    ctx.arrays[name] = t
    ctx.frame.assigned.add(target.id)
    declares = id(statement) in ctx.frame.plan.declares
    ctx.emit(ir.Let(name, t, start, span=e.span) if declares else ir.Assign(name, start, span=e.span))
