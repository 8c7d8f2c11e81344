"""What expressions stand for, and the values of them in the types that are wanted: the ground of all other rules."""

from __future__ import annotations

from collections.abc import Callable

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import OutOfRange, Value, Weak, coerce, default, describe, merge, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.types import BOOL, EID, I64, LONGEST_VECTOR, U64, VID, Kind, Scalar, Type, Vector
from vgraph.source import Span


def produce(ctx: Context, e: s.Expr) -> en.Entity:
    """Whatever an expression stands for; what an assignment makes in its variable is not made yet."""
    ctx.spend(e.span)
    return ctx.rules.expressions[type(e)](ctx, e)


def entity(ctx: Context, e: s.Expr) -> en.Entity:
    """Whatever an expression stands for."""
    ctx.spend(e.span)  # as `produce`, a call of which would be one frame more for each level of nesting
    found = ctx.rules.expressions[type(e)](ctx, e)
    return found.held() if isinstance(found, en.Made) else found


def value(ctx: Context, e: s.Expr) -> Value:
    """A typed value. Raises NotAValue for anything else."""
    return checked(entity(ctx, e), e.span)


def checked(found: en.Entity, span: Span) -> Value:
    """What an expression stands for as a value. Raises NotAValue if it is none."""
    if isinstance(found, Value):
        if isinstance(found.kind, Vector):
            only_elements(found.kind, span)
        return found
    raise refusals.types.NotAValue(span, en.words(found), en.advice(found))


def only_elements(t: Vector, span: Span) -> None:
    """Refuse vectors that have elements only."""
    if t.element == VID:
        raise refusals.types.NotAValue(span, "an array of vertices", "use its elements one by one: `a[i]`")
    if t.length > LONGEST_VECTOR:
        raise refusals.types.VectorTooLong(span, t.length, LONGEST_VECTOR)


def fit(value: Value, to: Type) -> ir.Expr:
    """`value` in type `to`, which both operands of something share."""
    try:
        return coerce(value, to)
    except OutOfRange:
        e = value.expr
        shown = "vg.inf" if value.kind is Weak.INF else str(e.value) if isinstance(e, ir.Const) else "this"
        raise refusals.types.LiteralOutOfRange(value.span, shown, describe(to)) from None


def integer(ctx: Context, e: s.Expr, what: str) -> ir.Expr:
    """An int64."""
    return whole(value(ctx, e), e.span, what)


def position(ctx: Context, e: s.Expr, length: ir.Expr, what: str) -> ir.Expr:
    """An index that is taken modulo `length`, as an int64: of a uint64 beyond that one that comes to the same."""
    found = value(ctx, e)
    if found.kind != U64:
        return whole(found, e.span, what)
    found = shared(ctx, found)
    index = whole(found, e.span, what)
    rest = ir.Binary("%", found.expr, ir.Cast(U64, length, span=e.span), span=e.span)
    outside = ir.Binary("+", ir.Cast(I64, rest, span=e.span), length, span=e.span)
    return ir.Select(ir.Compare("<", index, ir.Const(0, I64), span=e.span), outside, index, span=e.span)


def whole(found: Value, span: Span, what: str) -> ir.Expr:
    """An integer as an int64."""
    t = found.type
    if not isinstance(t, Scalar) or t.kind not in (Kind.SIGNED, Kind.UNSIGNED, Kind.INDEX):
        raise refusals.types.NotAnInteger(span, what, describe(found.kind))
    return fit(found, I64)


def condition(ctx: Context, e: s.Expr) -> ir.Expr:
    """A truth value: a bool, or whether a frontier, a list or a queue is not empty."""
    return truth(ctx, entity(ctx, e), e.span)


def truth(ctx: Context, found: en.Entity, span: Span) -> ir.Expr:
    """The same of what an expression stands for."""
    if isinstance(found, Value):
        if found.kind == BOOL:
            return found.expr
        vertex = found.kind == VID
        advice = "write `x != vg.none`" if vertex else "write what makes it true, such as `x != 0`"
        raise refusals.types.NotABool(span, describe(found.kind), advice)
    uses = ctx.uses(found)
    if uses.size is None or not uses.truth:
        advice = "a condition is a bool, or a frontier (true if not empty)"
        raise refusals.types.NotABool(span, en.words(found), advice)
    return ir.Compare(">", uses.size(ctx, found, span), int64(0, span), span=span)


def choice(
    ctx: Context, test: ir.Expr, then: Callable[[], Value], other: Callable[[], Value], span: Span
) -> Value:
    """`then()` or `other()`, only one of which is evaluated."""
    first, a = ctx.apart(then)
    second, b = ctx.apart(other)
    kind = merge(a.kind, b.kind)
    if kind is None:
        raise refusals.types.ChoiceMismatch(span, describe(a.kind), describe(b.kind))
    t, valid = default(kind), a.valid and b.valid
    x, y = fit(a, t), fit(b, t)
    if not first and not second:
        return Value(ir.Select(test, x, y, span=span), kind, span, valid)
    name = ctx.temporary("chosen", t, zero(t, span), span)
    then_body = (*first, ir.Assign(name, x, span=span))
    ctx.emit(ir.If(test, then_body, (*second, ir.Assign(name, y, span=span)), span=span))
    return Value(ir.Var(name, t, span=span), kind, span, valid)


def shared(ctx: Context, value: Value) -> Value:
    """`value` in a form that may be evaluated twice: a variable unless it is as good as one."""
    e = value.expr
    if isinstance(e, (ir.Var, ir.Const, ir.GlobalVar)):
        return value
    if isinstance(e, ir.Load) and isinstance(e.index, ir.Var):
        return value
    name = ctx.temporary("value", value.type, e, value.span)
    return Value(ir.Var(name, value.type, span=value.span), value.kind, value.span, value.valid)


def some(vertex: ir.Expr, span: Span) -> ir.Expr:
    """Whether a vertex is not vg.none, and an arc one of the graph."""
    if vertex.type == EID:
        number = ir.Cast(I64, vertex, span=span)
        return ir.Compare("<", number, ir.GraphSize("num_arcs", span=span), span=span)
    return ir.Compare("!=", vertex, ir.Const(-1, VID, span=span), span=span)


def sure(ctx: Context, vertex: Value) -> Value:
    """A vertex in a form in which it may be tested for vg.none before it is used, if it has to be."""
    return vertex if vertex.valid else shared(ctx, vertex)


def where_sure(ctx: Context, made: ir.Stmt, *vertices: Value) -> None:
    """Emit what is done only where none of `vertices` is vg.none."""
    assert made.span is not None
    for vertex in vertices:
        if not vertex.valid:
            made = ir.If(some(vertex.expr, made.span), (made,), span=made.span)
    ctx.emit(made)


def int64(value: int, span: Span) -> ir.Const:
    """An int64."""
    return ir.Const(value, I64, span=span)


# --- arguments of calls


def arguments(e: s.Call, name: str, count: int) -> tuple[s.Expr, ...]:
    """Exactly `count` positional arguments."""
    if e.keywords:
        raise refusals.calls.UnexpectedKeyword(e.keywords[0].span, name, e.keywords[0].name, "")
    if len(e.args) != count:
        number = ("no", "one", "two", "three")[count] if count < 4 else count
        raise refusals.calls.WrongArity(e.span, name, f"{number} argument{'s' * (count != 1)}", len(e.args))
    return e.args


def only(ctx: Context, e: s.Call, name: str) -> Value:
    """The value of the one argument."""
    return value(ctx, arguments(e, name, 1)[0])
