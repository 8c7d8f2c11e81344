"""Vertex operators that are made of expressions in an algorithm: conditions of frontiers, and whole properties."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import Value
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Frame, OperatorContext
from vgraph.compiler.frontend.lowering.graph import widen_global
from vgraph.compiler.frontend.lowering.values import fit
from vgraph.compiler.frontend.unit import Names
from vgraph.compiler.types import VID
from vgraph.source import Span


def at_vertex(
    ctx: AlgorithmContext,
    v: str,
    span: Span,
    bindings: dict[str, en.Entity],
    beside: OperatorContext | None = None,
) -> OperatorContext:
    """Where an expression of the algorithm is lowered as it is at one vertex, perhaps `beside` another one."""
    names = Names(ctx.unit.names.taken | ctx.unit.driver_names) if beside is None else beside.names
    own = ir.Var(names.fresh(v), VID, span=span) if beside is None else beside.own
    inner = OperatorContext(
        ctx.unit, ctx.rules, ctx.function, names, own=own, src=None, spread={}, calls=ctx.calls
    )
    inner.frame = Frame(ctx.definition, ctx.frame.typed, bindings, own_names=ctx.frame.own_names)
    inner.writing = False
    return inner


def add_operator(ctx: AlgorithmContext, base: str, own: ir.Var, body: ir.Body, span: Span) -> str:
    """An operator of that body in the program; its name, which is `base` or like it, and no other operator's."""
    operators = ctx.unit.operators
    while base in ctx.unit.operator_names:
        base += "_"
    name = Names(o.name for o in operators.values()).fresh(base)
    operators[name] = ir.Operator(name, (own.name,), body, span=span)
    return name


def kept(ctx: AlgorithmContext, name: str, value: Value, span: Span) -> Value:
    """A number of the algorithm's as a global, which is what operators see."""
    ctx.unit.globals.setdefault(name, span)
    t = widen_global(ctx, name, value, span)
    ctx.emit(ir.SetGlobal(name, fit(value, t), span=span))
    return Value(ir.GlobalVar(name, t, span=span), value.kind, span, value.valid)
