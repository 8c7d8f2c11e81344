"""Local lists, `cavity = vg.local_list(vg.vertex, 64)`: the vertices that a visit takes for itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context, OperatorContext, Uses
from vgraph.compiler.frontend.lowering.graph import widen_global
from vgraph.compiler.frontend.lowering.locals import spend_bytes
from vgraph.compiler.frontend.lowering.statements import loop_body
from vgraph.compiler.frontend.lowering.values import arguments, int64, integer, position, some, value
from vgraph.compiler.frontend.lowering.vectors import known_number, vector_dtype
from vgraph.compiler.frontend.lowering.vertices import vertex_of
from vgraph.compiler.types import BOOL, I64, LONGEST_VECTOR, VID, Vector, element_of
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span


class Gathers(Exception):
    """The operator has a local list: its visits come one after the other, and it is lowered again as such a one."""


def local_list(ctx: Context, e: s.Call) -> en.Made:
    """`vg.local_list(vg.vertex, room)`."""
    refused = en.refuse(lambda: refusals.gathering.ListInExpression(e.span))
    return en.Made(refused, lambda statement, target: _declare(ctx, e, target))


def _declare(ctx: Context, e: s.Call, target: s.Name) -> None:
    if not isinstance(ctx, OperatorContext) or ctx.is_edge:
        where = "an edge operator" if isinstance(ctx, OperatorContext) else "an algorithm"
        raise refusals.gathering.ListElsewhere(e.span, where)
    if not ctx.exclusive:
        raise Gathers
    if ctx.out is not ctx.top:
        raise refusals.gathering.ListElsewhere(e.span, "a branch or a loop")
    t = vector_dtype(ctx, e, "vg.local_list").type
    if element_of(t) != VID:
        raise refusals.gathering.ListOfNumbers(e.args[0].span, describe(element_of(t)))
    assert isinstance(t, Vector)
    more = _more(ctx, e, t.length)
    if ctx.second and more:
        t, more = Vector(VID, more), 0
    if target.id in {*ctx.frame.objects, *ctx.frame.assigned, *ctx.frame.bindings}:
        raise refusals.names.LocalReplaced(target.span, target.id)
    spend_bytes(ctx, t, e.span)
    full = "" if more else ctx.unit.names.fresh(f"{target.id}.full")
    if full:
        ctx.unit.globals.setdefault(full, e.span)
        widen_global(ctx, full, Value(int64(0, e.span), I64, e.span), e.span)
    elif not ctx.late:
        ctx.late = ctx.unit.names.fresh(f"{target.id}.late")
        made = ir.Property(ctx.late, BOOL, ir.Site.VERTEX, ir.Origin.LOCAL, span=e.span)
        ctx.unit.properties[ctx.late] = made
    array = ir.Var(ctx.names.fresh(target.id), t, span=e.span)
    count = ir.Var(ctx.names.fresh(f"{target.id}.count"), I64, span=e.span)
    ctx.frame.objects[target.id] = found = en.Gathered(array, count, full, e.span)
    ctx.gathered.append(found)


def _more(ctx: Context, e: s.Call, room: int) -> int:
    """The room in a second pass; 0 where there is none."""
    found = 0
    for keyword in e.keywords:
        if keyword.name != "more":
            hint = did_you_mean(keyword.name, ["more"])
            raise refusals.calls.UnexpectedKeyword(keyword.span, "vg.local_list", keyword.name, hint)
        number = known_number(ctx, integer(ctx, keyword.value, "the room in a second pass"))
        if number is None or not room < number <= LONGEST_VECTOR:
            raise refusals.gathering.NoMoreRoom(keyword.value.span, room + 1, LONGEST_VECTOR)
        found = int(number)
    return found


def declarations(ctx: OperatorContext) -> Iterator[ir.Stmt]:
    """The lists of an operator, empty: what it begins with."""
    for x in ctx.gathered:
        for var in (x.list, x.count):
            yield ir.Let(var.name, var.type, zero(var.type, x.span), span=x.span)


FULL: Final = "a local list with room for {} vertices is full, and a visit gathers more"


def with_second(ctx: Context, apply: ir.VertexApply) -> ir.Body:
    """An apply, with what its local lists need: where one was full the run ends, or visits come again."""
    gathered = [x for x in ctx.unit.gathered.get(apply.op, ()) if x.full]
    tests = (
        (x, ir.Compare(">", ir.GlobalVar(x.full, I64, span=x.span), int64(0, x.span), span=x.span))
        for x in gathered
    )
    return (
        *(ir.SetGlobal(x.full, int64(0, x.span), span=x.span) for x in gathered),
        apply,
        *(ir.If(test, (ir.Fail(FULL.format(_room(x)), span=x.span),), span=x.span) for x, test in tests),
        *(_second(ctx, apply) if apply.op in ctx.unit.seconds else ()),
    )


def _second(ctx: Context, apply: ir.VertexApply) -> ir.Body:
    """The second pass, of the visits that come again."""
    (operator, prop), span = ctx.unit.seconds[apply.op], apply.span
    assert span is not None
    late, out, both = (ctx.names.fresh(n) for n in ("late", "late.out", "late.both"))
    ctx.unit.frontiers += [late, *((out, both) if apply.out else ())]
    joined: ir.Body = ()
    if apply.out:
        union = ir.FrontierCombine(both, apply.out, "|", out, span=span)
        joined = (union, ir.FrontierCopy(apply.out, both, span=span))
    changes = {"op": operator, "frontier": late, "out": out if apply.out else None, "untraced": True}
    again = with_second(ctx, ir.with_fields(apply, changes))
    body = (ir.Fill(prop, ir.Const(False, BOOL, span=span), span=span), *again, *joined)
    some_late = ir.Compare(">", ir.FrontierSize(late, span=span), int64(0, span), span=span)
    return (ir.FrontierWhere(late, prop, span=span), ir.If(some_late, body, span=span))


def _room(x: en.Gathered) -> int:
    assert isinstance(x.list.type, Vector)
    return x.list.type.length


def append(ctx: Context, call: s.Call, owner: en.Gathered) -> en.Made:
    """`cavity.append(u)`; of vg.none nothing is appended."""
    refused = en.refuse(lambda: refusals.calls.UselessStatement(call.span))
    return en.Made(refused, done=lambda: _append(ctx, call, owner))


def _append(ctx: Context, call: s.Call, x: en.Gathered) -> None:
    ctx.no_writes_in_helpers(call.span)
    (arg,) = arguments(call, "append", 1)
    given, span = value(ctx, arg), call.span
    u = vertex_of(ctx, given, arg.span)
    if not isinstance(u, ir.Var):
        u = ir.Var(ctx.temporary("gathered", VID, u, span), VID, span=span)
    full = ir.Compare(">=", x.count, int64(_room(x), span), span=span)
    assert isinstance(ctx, OperatorContext)
    late: ir.Stmt = ir.ReduceGlobal("max", x.full, int64(1, span), span=span)
    if not x.full:
        late = ir.Store(ctx.late, ctx.own, ir.Const(True, BOOL, span=span), span=span)
    leave = (late, ir.Leave(span=span))
    body: ir.Body = (
        ir.If(full, leave, span=span),
        ir.Acquire(u, x.list.name, x.count.name, span=span),
        ir.Assign(x.list.name, ir.Insert(x.list, x.count, u, span=span), span=span),
        ir.Accumulate("+", x.count.name, int64(1, span), span=span),
    )
    ctx.emit(*(body if given.valid else (ir.If(some(u, span), body, span=span),)))


# --- reading


def _index(ctx: Context, e: s.Index, x: en.Gathered) -> Value:
    """`cavity[i]`, i modulo the length; vg.none where it is empty."""
    at = ir.Binary("%", position(ctx, e.index, x.count, "the position in a list"), x.count, span=e.span)
    there = ir.Compare(">", x.count, int64(0, e.span), span=e.span)
    found = ir.Select(there, ir.Element(x.list, at, span=e.span), zero(VID, e.span), span=e.span)
    return Value(found, VID, e.span)


def _loop(ctx: Context, statement: s.For, x: en.Gathered) -> None:
    """`for u in cavity:`, with those that are appended meanwhile."""
    span = statement.target.span
    i = ir.Var(ctx.temporary("i", I64, int64(0, span), span), I64, span=span)
    u = ir.Var(ctx.names.fresh(statement.target.id), VID, span=span)
    body = (
        ir.Let(u.name, VID, ir.Element(x.list, i, span=span), span=span),
        ir.Accumulate("+", i.name, int64(1, span), span=span),
        *loop_body(ctx, statement, Value(u, VID, span, valid=True)),
    )
    ctx.emit(ir.While(ir.Compare("<", i, x.count, span=span), body, span=statement.span))


def _contains(ctx: Context, x: en.Gathered, vertex: ir.Expr, span: Span) -> ir.Expr:
    """`u in cavity`."""
    found, i = ctx.temporary("found", BOOL, ir.Const(False, BOOL, span=span), span), ctx.names.fresh("i")
    there = ir.Element(x.list, ir.Var(i, I64, span=span), span=span)
    hit = (ir.Assign(found, ir.Const(True, BOOL, span=span), span=span), ir.Break(span=span))
    test = ir.If(ir.Compare("==", there, vertex, span=span), hit, span=span)
    ctx.emit(ir.For(i, int64(0, span), x.count, int64(1, span), (test,), span=span))
    return ir.Var(found, BOOL, span=span)


def _element(ctx: Context, statement: s.Assign | s.Augment, target: s.Index, x: en.Gathered) -> None:
    raise refusals.gathering.ElementOfList(target.span)


USES: Final = Uses(
    attribute=lambda ctx, e, x: en.Method(x, e.name, e.span),
    index=_index,
    size=lambda ctx, x, span: x.count,
    truth=True,
    loop=_loop,
    contains=_contains,
    store_index=_element,
    no_method=lambda span, name: refusals.gathering.ListMethod(span, name),
)
