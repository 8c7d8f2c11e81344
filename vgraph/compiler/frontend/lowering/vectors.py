"""Vectors: their types and lengths, and what loops over their elements: comparisons, where the extreme of one is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe, element, folded, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import arguments, entity, int64, integer, only, only_elements
from vgraph.compiler.types import BOOL, I64, VID, Type, Vector, is_long
from vgraph.errors import DeclarationError
from vgraph.language.names import DType, vector_of
from vgraph.source import Span

_REFUSED: Final = {
    "vg.vector": ("BadVectorType", "vg.float32, 16"),
    "vg.local": ("BadLocal", "vg.float32, 16"),
    "vg.local_list": ("BadLocalList", "vg.vertex, 64"),
}


def vector_dtype(ctx: Context, e: s.Call, function: str) -> DType:
    """The type that the first two arguments of a function name: `vg.vector(vg.float32, 4)`."""
    dtype, length = (entity(ctx, a) for a in arguments(replace(e, keywords=()), function, 2))
    number = known_number(ctx, length.expr) if isinstance(length, Value) else None
    name, example = _REFUSED[function]
    example = f"{function}({example})"
    if isinstance(dtype, en.Static) and number is not None:
        try:
            return vector_of(dtype.value, number, function)
        except DeclarationError as error:
            raise getattr(refusals.calls, name)(e.span, str(error), example) from None
    wanted = f"{function} takes a type and a length that is known before the run: of numbers and parameters"
    raise getattr(refusals.calls, name)(e.span, wanted, example)


def known_number(ctx: Context, e: ir.Expr) -> float | None:
    """The value of a length, which may be made of parameters and the number of vertices; None if it is not known."""
    lengths = ctx.unit.signature.lengths
    match e:
        case ir.Const(value=value):
            return value
        case ir.Cast(operand=operand):
            return known_number(ctx, operand)
        case ir.Var(name=name) if ctx.unit.is_param(e):
            return lengths.get(name)
        case ir.GraphSize(what=name):
            return lengths.get(name)
        case ir.Binary(op=op, left=left, right=right):
            a, b = known_number(ctx, left), known_number(ctx, right)
            return None if a is None or b is None else folded(op, a, b)
    return None


def length(ctx: Context, owner: Value, span: Span) -> ir.Expr:
    """`len(x)`."""
    if not isinstance(owner.kind, Vector):
        raise refusals.calls.NoLength(span, describe(owner.kind))
    return int64(owner.kind.length, span)


def part(ctx: Context, bounds: s.Slice, owner: Value, span: Span) -> Value:
    """`x[a:b]`: a vector of the elements from a to b - 1, as of Python's lists."""
    t = owner.kind
    assert isinstance(t, Vector)
    if bounds.step is not None:
        raise refusals.syntax.Slice(bounds.span, "a slice has no step")
    start, stop, _ = slice(_bound(ctx, bounds.start), _bound(ctx, bounds.stop)).indices(t.length)
    if stop <= start:
        raise refusals.syntax.Slice(bounds.span, f"no element of {t.length} is in it")
    made = Vector(t.element, stop - start)
    only_elements(t if t.element == VID else made, span)
    source = owner.expr if is_long(t) else ir.Var(_held(ctx, owner.expr, span), t, span=span)
    name, i = ctx.temporary("part", made, zero(made, span), span), ctx.names.fresh("i")
    at = ir.Binary("+", ir.Var(i, I64), int64(start, span), span=span)
    whole, found = ir.Var(name, made, span=span), element(source, at, span).expr
    put = ir.Assign(name, ir.Insert(whole, ir.Var(i, I64), found, span=span), span=span)
    _loop(ctx, i, 0, made, put, span)
    return Value(whole, made, span)


def _bound(ctx: Context, e: s.Expr | None) -> int | None:
    """The bound of a slice."""
    found = None if e is None else known_number(ctx, integer(ctx, e, "the bound of a slice"))
    if e is not None and found is None:
        raise refusals.syntax.Slice(e.span, "this is known in the run only")
    return None if found is None else int(found)


def equal(ctx: Context, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Whether all elements of two vectors of one type are equal."""
    names = [_held(ctx, e, span) for e in (left, right)]
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
    vector, t = _held(ctx, x.expr, span), x.type.element
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


def _held(ctx: Context, vector: ir.Expr, span: Span) -> str:
    """The name of a variable that holds a vector."""
    return vector.name if isinstance(vector, ir.Var) else ctx.temporary("vector", vector.type, vector, span)


def _element(vector: str, t: Type, index: ir.Expr, span: Span) -> ir.Expr:
    return ir.Element(ir.Var(vector, t), index, span=span)


def _loop(ctx: Context, i: str, start: int, t: Type, body: ir.Stmt, span: Span) -> None:
    """Over the elements from the one with the number `start` on."""
    assert isinstance(t, Vector)
    ends = int64(start, span), int64(t.length, span)
    ctx.emit(ir.For(i, *ends, int64(1, span), (body,), span=span))
