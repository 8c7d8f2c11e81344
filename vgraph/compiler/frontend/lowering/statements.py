"""Bodies, their statements, and loops."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context, rule_for
from vgraph.compiler.frontend.lowering.names import not_bound, set_local, zeros
from vgraph.compiler.frontend.lowering.values import arguments, condition, entity, int64, integer
from vgraph.compiler.types import BOOL, I64


def statement(ctx: Context, x: s.Stmt) -> None:
    """Lower one statement."""
    ctx.unit.at = x.span
    zeros(ctx, x)
    ctx.rules.statements[type(x)](ctx, x)


def body(ctx: Context, body: s.Body) -> None:
    """Lower statement after statement."""
    for position, x in enumerate(body):
        statement(ctx, x)
        if isinstance(x, (s.Break, s.Continue)) and position + 1 < len(body):
            raise refusals.calls.AfterReturn(body[position + 1].span)


def block(ctx: Context, statements: s.Body) -> ir.Body:
    """The statements of a nested body."""
    return ctx.apart(lambda: body(ctx, statements))[0]


# --- loops


def while_loop(ctx: Context, statement: s.While) -> None:
    """`while test:`; what the test needs first is done in every round."""
    before, test = ctx.apart(lambda: condition(ctx, statement.test))
    body = block(ctx, statement.body)
    if before:
        stop = ir.Unary("not", test, span=statement.span)
        leave = ir.If(stop, (ir.Break(span=statement.span),), span=statement.span)
        test = ir.Const(True, BOOL, span=statement.span)
        body = (*before, leave, *body)
    ctx.emit(ir.While(test, body, span=statement.span))


def for_loop(ctx: Context, statement: s.For) -> None:
    """`for x in ...:`."""
    call = statement.iterable
    rule = rule_for(ctx.rules.loops, entity(ctx, call.function)) if isinstance(call, s.Call) else None
    if rule is not None:
        assert isinstance(call, s.Call)
        rule(ctx, statement, call)
        return
    over = entity(ctx, statement.iterable)
    loop = ctx.uses(over).loop
    if loop is None:
        raise refusals.calls.NotIterable(statement.iterable.span, en.words(over), "")
    loop(ctx, statement, over)


def reversed_loop(ctx: Context, statement: s.For, call: s.Call) -> None:
    """`for x in reversed(...):`."""
    over = entity(ctx, arguments(call, "reversed", 1)[0])
    loop = ctx.uses(over).backwards
    if loop is None:
        advice = "; for a range, write range(n - 1, -1, -1)"
        raise refusals.calls.NotIterable(statement.iterable.span, f"reversed {en.words(over)}", advice)
    loop(ctx, statement, over)


def range_loop(ctx: Context, statement: s.For, call: s.Call) -> None:
    """`for i in range(...):`."""
    if call.keywords or not 1 <= len(call.args) <= 3:
        given = len(call.args) + len(call.keywords)
        raise refusals.calls.WrongArity(call.span, "range", "one to three arguments", given)
    bounds = [integer(ctx, a, "a bound of range") for a in call.args]
    zero, one = int64(0, call.span), int64(1, call.span)
    start, stop, step = (zero, *bounds, one) if len(bounds) == 1 else (*bounds, one)[:3]
    name = loop_name(ctx, statement)
    value = Value(ir.Var(name, I64, span=statement.target.span), I64, statement.target.span)
    body = loop_body(ctx, statement, value)
    ctx.emit(ir.For(name, start, stop, step, body, span=statement.span))


def loop_name(ctx: Context, statement: s.For) -> str:
    """The IR's name of a loop's variable."""
    return ctx.names.fresh(statement.target.id)


def loop_body(ctx: Context, statement: s.For, bound: en.Entity) -> ir.Body:
    """The body with the loop's variable bound, or assigned if it lives on after the loop."""
    name, span = statement.target.id, statement.target.span
    if name in ctx.frame.plan.names:
        if not isinstance(bound, Value):
            raise refusals.names.OutsideItsLoop(span, name)
        start, _ = ctx.apart(lambda: set_local(ctx, name, bound, statement, span))
        return (*start, *block(ctx, statement.body))
    not_bound(ctx, name, span)
    ctx.frame.bindings[name] = bound
    try:
        return block(ctx, statement.body)
    finally:
        del ctx.frame.bindings[name]
