"""The functions of the language that give values: min, max, abs, casts, and those of vgraph."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, describe, merge
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.arithmetic import smaller
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import arguments, entity, fit, only, truth, value
from vgraph.compiler.frontend.lowering.vectors import extreme_index, vector_dtype
from vgraph.compiler.frontend.lowering.vertices import numbered, vertex_of
from vgraph.compiler.types import BOOL, F16, F64, I64, VID, Scalar, Type, Vector, element_of
from vgraph.language import names as language
from vgraph.source import Span

_Rule = Callable[[Context, s.Call], en.Entity]


def _extreme(ctx: Context, e: s.Call, op: str) -> Value:
    """`min(a, b, ...)`, `max(a, b, ...)`."""
    if e.keywords:
        raise refusals.calls.UnexpectedKeyword(e.keywords[0].span, op, e.keywords[0].name, "")
    if len(e.args) < 2:
        raise refusals.calls.WrongArity(e.span, op, "two or more arguments", len(e.args))
    found = value(ctx, e.args[0])
    for arg in e.args[1:]:
        found = smaller(op, found, value(ctx, arg), e.span)
    return found


def _absolute(ctx: Context, e: s.Call) -> Value:
    """`abs(x)`."""
    x = only(ctx, e, "abs")
    if isinstance(x.kind, Weak) and isinstance(x.expr, ir.Const):
        return Value(ir.Const(abs(x.expr.value), x.expr.type, span=e.span), x.kind, e.span)
    t: Type = I64 if x.kind in (BOOL, VID) else x.type
    return Value(ir.Call("abs", (fit(x, t),), t, span=e.span), t, e.span)


def _float_function(ctx: Context, e: s.Call, name: str) -> Value:
    """sqrt, exp, log: of floats; integers are taken as float64."""
    x = only(ctx, e, f"vg.{name}")
    t = x.type
    if not element_of(t).is_float:
        t = Vector(F64, t.length) if isinstance(t, Vector) else F64
    return Value(ir.Call(name, (fit(x, t),), t, span=e.span), t, e.span)


def _rounding(ctx: Context, e: s.Call, name: str) -> Value:
    """floor, ceil: in the argument's own type."""
    x = only(ctx, e, f"vg.{name}")
    if not element_of(x.type).is_float:
        return x
    return Value(ir.Call(name, (x.expr,), x.type, span=e.span), x.type, e.span)


def _bit_function(ctx: Context, e: s.Call, name: str) -> Value:
    """popcount, ctz, clz: of integers, giving int64; bools and vertices count as int64."""
    x = only(ctx, e, f"vg.{name}")
    t: Type = I64 if x.kind in (BOOL, VID) else x.type
    if not element_of(t).is_integer:
        raise refusals.types.BitsOfWrongType(e.span, f"vg.{name}", "integers", describe(x.kind))
    count: Type = Vector(I64, t.length) if isinstance(t, Vector) else I64
    found = ir.Call(name, (fit(x, t),), t, span=e.span)
    return Value(found if t == count else ir.Cast(count, found, span=e.span), count, e.span)


def _float_test(ctx: Context, e: s.Call, name: str) -> Value:
    """isnan, isinf: false for integers."""
    x = only(ctx, e, f"vg.{name}")
    if isinstance(x.type, Vector):
        raise refusals.types.VectorComparison(e.span, name)
    if not x.type.is_float:
        return Value(ir.Const(False, BOOL, span=e.span), BOOL, e.span)
    return Value(ir.Call(name, (x.expr,), BOOL, span=e.span), BOOL, e.span)


def _dot(ctx: Context, e: s.Call) -> Value:
    """`vg.dot(a, b)` of two vectors."""
    a, b = (value(ctx, x) for x in arguments(e, "vg.dot", 2))
    kind = merge(a.kind, b.kind)
    if not (isinstance(a.kind, Vector) and isinstance(b.kind, Vector)) or not isinstance(kind, Vector):
        raise refusals.types.NotVectors(e.span, "vg.dot", f"{describe(a.kind)} and {describe(b.kind)}")
    args = (fit(a, kind), fit(b, kind))
    return Value(ir.Call("dot", args, kind.element, span=e.span), kind.element, e.span)


def _sum(ctx: Context, e: s.Call) -> Value:
    """`vg.sum(a)` of a vector."""
    x = only(ctx, e, "vg.sum")
    if not isinstance(x.kind, Vector):
        raise refusals.types.NotVectors(e.span, "vg.sum", describe(x.kind))
    return Value(ir.Call("sum", (x.expr,), x.kind.element, span=e.span), x.kind.element, e.span)


def _length(ctx: Context, e: s.Call) -> Value:
    """`len(x)` of a frontier, a list, an array, or neighbors."""
    (arg,) = arguments(e, "len", 1)
    found = ctx.only_named(lambda: entity(ctx, arg))
    size = ctx.uses(found).size
    if size is None:
        raise refusals.calls.NoLength(e.args[0].span, en.words(found))
    return Value(size(ctx, found, e.span), I64, e.span)


# --- casts


def cast(ctx: Context, x: Value, to: Type, span: Span) -> Value:
    """`vg.float32(x)`, `int(x)`: an explicit conversion."""
    if element_of(to) == F16:
        raise refusals.types.NoValues(span)
    if isinstance(x.type, Vector) and not (isinstance(to, Vector) and to.length == x.type.length):
        raise refusals.types.CannotCast(span, describe(x.kind), describe(to))
    integer = x.kind is Weak.INT or (isinstance(x.kind, Scalar) and x.kind.is_integer)
    if to == VID and x.kind != VID and integer:
        return numbered(ctx, x, span)
    if to == VID:
        return Value(vertex_of(ctx, x, span), VID, span, x.valid)
    exact = x.kind is Weak.INF or (x.kind is Weak.INT and isinstance(x.expr, ir.Const) and to != BOOL)
    if x.kind is Weak.FLOAT and element_of(to).is_float:
        exact = True
    if exact or x.expr.type == to:
        return Value(fit(x, to), to, span)
    return Value(ir.Cast(to, x.expr, span=span), to, span)


def _truth(ctx: Context, e: s.Call) -> Value:
    """`bool(x)`: whether a number is not 0, a frontier not empty."""
    (arg,) = arguments(e, "bool", 1)
    found = entity(ctx, arg)
    if isinstance(found, Value) and found.kind != BOOL:
        return cast(ctx, found, BOOL, e.span)
    return Value(truth(ctx, found, arg.span), BOOL, e.span)


def _outside_for(ctx: Context, e: s.Call, name: str) -> NoReturn:
    """range and reversed: loops know them."""
    raise refusals.calls.RangeOutsideFor(e.span, name)


FUNCTIONS: dict[object, _Rule] = {
    builtins.min: partial(_extreme, op="min"),
    builtins.max: partial(_extreme, op="max"),
    builtins.abs: _absolute,
    builtins.len: _length,
    builtins.int: lambda ctx, e: cast(ctx, only(ctx, e, "int"), I64, e.span),
    builtins.float: lambda ctx, e: cast(ctx, only(ctx, e, "float"), F64, e.span),
    builtins.bool: _truth,
    builtins.range: partial(_outside_for, name="range"),
    builtins.reversed: partial(_outside_for, name="reversed"),
    language.dot: _dot,
    language.sum: _sum,
    language.vector: lambda ctx, e: en.Static(vector_dtype(ctx, e, "vg.vector"), e.span),
    language.argmin: partial(extreme_index, name="argmin", op="<"),
    language.argmax: partial(extreme_index, name="argmax", op=">"),
    language.sqrt: partial(_float_function, name="sqrt"),
    language.exp: partial(_float_function, name="exp"),
    language.log: partial(_float_function, name="log"),
    language.floor: partial(_rounding, name="floor"),
    language.ceil: partial(_rounding, name="ceil"),
    language.popcount: partial(_bit_function, name="popcount"),
    language.ctz: partial(_bit_function, name="ctz"),
    language.clz: partial(_bit_function, name="clz"),
    language.isnan: partial(_float_test, name="isnan"),
    language.isinf: partial(_float_test, name="isinf"),
}
