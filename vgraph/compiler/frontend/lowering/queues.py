"""Priority queues."""

from __future__ import annotations

from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, Uses
from vgraph.compiler.frontend.lowering.frontiers import made
from vgraph.compiler.frontend.lowering.names import alias, declared
from vgraph.compiler.frontend.lowering.values import arguments, entity
from vgraph.compiler.types import I32, I64, U32


def priority_queue(ctx: AlgorithmContext, call: s.Call, statement: s.Assign, target: s.Name) -> None:
    """`queue = graph.priority_queue(degree)`: declared again, it must be over the same property."""
    (arg,) = arguments(call, "graph.priority_queue", 1)
    found = entity(ctx, arg)
    prop = found.property if isinstance(found, en.PropertyRef) else None
    if prop is None or prop.type not in (I32, I64, U32) or prop.origin is not ir.Origin.LOCAL:
        what = en.words(found) if prop is None else f"a property of {describe(prop.type)}"
        raise refusals.queues.NotAPriority(arg.span, what)
    name = declared(ctx, target, en.QueueRef, lambda name: en.QueueRef(name, target.span)).name
    kept = ctx.unit.queues.setdefault(name, prop)
    if kept.name != prop.name:
        raise refusals.queues.OtherPriority(call.span, target.id, kept.name)
    ctx.emit(ir.QueueFill(name, span=call.span))


def pop(ctx: AlgorithmContext, e: s.Call, owner: en.QueueRef) -> en.Made:
    """`queue.pop()`."""
    arguments(e, "pop", 0)
    found = made(ctx, lambda out: ir.QueuePop(out, owner.name, span=e.span), e.span)
    return replace(found, done=found.held)


def _attribute(ctx: Context, e: s.Attribute, owner: en.QueueRef) -> en.Entity:
    """`queue.level`, or a method."""
    if e.name == "level":
        return Value(ir.QueueLevel(owner.name, span=e.span), I64, e.span)
    return en.Method(owner, e.name, e.span)


USES = Uses(
    attribute=_attribute,
    size=lambda ctx, owner, span: ir.QueueSize(owner.name, span=span),
    truth=True,
    bind=alias,
    no_method=lambda span, name: refusals.queues.QueueMethod(span, name),
)
