"""Operators on values: arithmetic, bits, comparisons, and choices."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import BITS, Value, ValueKind, Weak, default, describe, folded, operation
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import vectors
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.neighbors import membership
from vgraph.compiler.frontend.lowering.statics import UNKNOWN, static_value
from vgraph.compiler.frontend.lowering.values import checked, choice, condition, entity, fit, shared, value
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import BOOL, I64, VID, Type, Vector, element_of
from vgraph.source import Span


def unary(ctx: Context, e: s.Unary) -> Value:
    """`-x`, `+x`, `~x`, `not x`."""
    if e.op == "not":
        inner = condition(ctx, e.operand)
        if isinstance(inner, ir.Const):
            return Value(ir.Const(not inner.value, BOOL, span=e.span), BOOL, e.span)
        return Value(ir.Unary("not", inner, span=e.span), BOOL, e.span)
    x = value(ctx, e.operand)
    if isinstance(x.kind, Weak) and isinstance(x.expr, ir.Const) and e.op != "~":
        sign = -1 if e.op == "-" else 1
        return Value(ir.Const(sign * x.expr.value, x.expr.type, span=e.span), x.kind, e.span)
    if x.kind == VID or (x.kind == BOOL and e.op != "~"):
        x = Value(fit(x, I64), I64, x.span)
    if e.op == "+":
        return Value(x.expr, x.kind, e.span)
    if e.op == "~":
        if not element_of(x.type).is_integer:
            raise refusals.types.BitsOfWrongType(e.span, "~", "integers", describe(x.kind))
        return Value(ir.Unary("invert", x.expr, span=e.span), x.kind, e.span)
    return Value(ir.Unary("neg", x.expr, span=e.span), x.kind, e.span)


def binary(ctx: Context, e: s.Binary) -> en.Entity:
    """Arithmetic and bits of values, and sets."""
    left, right = entity(ctx, e.left), entity(ctx, e.right)
    sets = ctx.uses(left).combine or ctx.uses(right).combine
    if sets is not None:
        return sets(ctx, e.op, left, right, e.span)
    return combine(e.op, checked(left, e.left.span), checked(right, e.right.span), e.span)


def combine(op: str, left: Value, right: Value, span: Span) -> Value:
    """`left op right` with the operands in their common type."""
    if op == "@":
        raise refusals.types.MatrixProduct(span)
    if op in BITS:
        for side in (left, right):
            integer = element_of(side.type).is_integer or side.kind == VID
            if not (integer or left.kind == right.kind == BOOL):
                types = "integers and bools" if op in "&|^" else "integers"
                raise refusals.types.BitsOfWrongType(side.span, op, types, describe(side.kind))
    t, kind = _together(op, left, right, span)
    literal = _fold(op, left, right, span)
    if literal is not None:
        return literal
    return Value(ir.Binary(op, fit(left, t), fit(right, t), span=span), kind, span)


def _together(op: str, a: Value, b: Value, span: Span) -> tuple[Type, ValueKind]:
    """The type in which `a op b` is computed, and the kind of what comes out."""
    found = operation(op, a.kind, b.kind)
    if found is None:
        raise refusals.types.TypeMismatch(span, op, describe(a.kind), describe(b.kind))
    return found


def _fold(op: str, left: Value, right: Value, span: Span) -> Value | None:
    """Arithmetic of two literals."""
    a, b = left.expr, right.expr
    literals = all(x.kind in (Weak.INT, Weak.FLOAT) for x in (left, right))
    if not (literals and isinstance(a, ir.Const) and isinstance(b, ir.Const)):
        return None
    found = folded(op, a.value, b.value)
    if found is None:
        return None
    weak = Weak.FLOAT if isinstance(found, float) else Weak.INT
    return Value(ir.Const(found, default(weak), span=span), weak, span)


def smaller(op: str, a: Value, b: Value, span: Span) -> Value:
    """`min(a, b)` or `max(a, b)`."""
    t, kind = _together(op, a, b, span)
    valid = (a.valid or b.valid) if op == "min" else (a.valid and b.valid)
    return Value(ir.Binary(op, fit(a, t), fit(b, t), span=span), kind, span, valid and kind == VID)


def negated(value: Value, t: Type) -> ir.Expr:
    """`-value` in type `t`."""
    e = value.expr
    if isinstance(e, ir.Const) and isinstance(value.kind, Weak) and not element_of(t).name.startswith("u"):
        return fit(Value(ir.Const(-e.value, e.type, span=value.span), value.kind, value.span), t)
    return ir.Unary("neg", fit(value, t), span=value.span)


# --- comparisons and choices


def compare(ctx: Context, e: s.Compare) -> Value:
    """A comparison; a chain becomes the conjunction of its parts, each operand evaluated once."""
    folded = static_value(e, ctx)
    if isinstance(folded, bool):
        return Value(ir.Const(folded, BOOL, span=e.span), BOOL, e.span)
    if len(e.rest) == 1 and e.rest[0][0] in ("in", "not in"):
        return membership(ctx, e)
    for op, operand in e.rest:
        if op in ("in", "not in"):
            raise refusals.types.Membership(e.span, "part of a chain")
        if op in ("is", "is not"):
            raise refusals.types.Identity(e.first.span.to(operand.span))
    left, parts = value(ctx, e.first), []
    for position, (op, operand) in enumerate(e.rest):
        right = value(ctx, operand)
        if position < len(e.rest) - 1:
            right = shared(ctx, right)
        parts.append(_compared(ctx, op, left, right, left.span.to(operand.span)))
        left = right
    whole = parts[0]
    for part in parts[1:]:
        whole = ir.Logical("and", whole, part, span=e.span)
    return Value(whole, BOOL, e.span)


def _compared(ctx: Context, op: str, left: Value, right: Value, span: Span) -> ir.Expr:
    """`left op right`; vectors are equal if all elements are."""
    t, _ = _together(op, left, right, span)
    if not isinstance(t, Vector) or op not in ("==", "!="):
        return comparison(op, left, right, span)
    same = vectors.equal(ctx, fit(left, t), fit(right, t), span)
    return same if op == "==" else ir.Unary("not", same, span=span)


def comparison(op: str, left: Value, right: Value, span: Span) -> ir.Expr:
    """`left op right` in their common type."""
    t, _ = _together(op, left, right, span)
    if isinstance(t, Vector):
        raise refusals.types.VectorComparison(span, op)
    return ir.Compare(op, fit(left, t), fit(right, t), span=span)


def logical(ctx: Context, e: s.Bool) -> Value:
    """`a and b`, `a or b`; what the right side needs first is done only when it is evaluated."""
    whole = condition(ctx, e.values[0])
    for operand in e.values[1:]:
        if isinstance(whole, ir.Const):
            if whole.value == (e.op == "or"):
                break
            whole = condition(ctx, operand)
            continue
        before, right = ctx.apart(lambda operand=operand: condition(ctx, operand))  # type: ignore[misc]
        if before:
            name = ctx.temporary("test", BOOL, whole, e.span)
            test: ir.Expr = ir.Var(name, BOOL, span=e.span)
            test = test if e.op == "and" else ir.Unary("not", test, span=e.span)
            ctx.emit(ir.If(test, (*before, ir.Assign(name, right, span=e.span)), span=e.span))
            whole = ir.Var(name, BOOL, span=e.span)
        else:
            whole = ir.Logical(e.op, whole, right, span=e.span)
    return Value(whole, BOOL, e.span)


def conditional(ctx: Context, e: s.Conditional) -> en.Entity:
    """`a if test else b`: a constant test chooses at compile time."""
    known = static_value(e.test, ctx)
    if known is not UNKNOWN:
        return entity(ctx, e.then if known else e.other)
    test = condition(ctx, e.test)
    chosen = choice(ctx, test, lambda: value(ctx, e.then), lambda: value(ctx, e.other), e.span)
    ctx.frame.typed.kinds[position_of(e.span)] = chosen.kind
    return chosen
