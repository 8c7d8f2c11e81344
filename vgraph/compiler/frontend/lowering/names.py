"""Names: what they stand for, and the local variables that they are."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import control
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, default, describe, settled, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, OperatorContext
from vgraph.compiler.frontend.lowering.scope import plan
from vgraph.compiler.frontend.lowering.statics import parameter, prune, resolved
from vgraph.compiler.frontend.lowering.values import entity, fit
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import BOOL, F64, I64, NUMPY_NAMES, VID, Type
from vgraph.errors import shown
from vgraph.language.names import Infinity, NoVertex
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span

_T = TypeVar("_T", bound=en.Thing)


def enter(
    ctx: Context, body: s.Body, arrange: Callable[[s.Body, control.IsEnumerate], s.Body] = control.arranged
) -> s.Body:
    """Prepare the frame for a function's body: constant branches taken, returns arranged, declarations planned."""
    ctx.frame.own_names = frozenset(assigned(body)) | ctx.frame.bindings.keys()
    kept = arrange(prune(body, ctx), lambda e: isinstance(e, s.Name) and resolved(e.id, ctx) is enumerate)
    ctx.frame.plan = plan(kept, set(ctx.frame.bindings))
    return kept


def assigned(body: s.Body) -> set[str]:
    """All names that a body assigns or loops over, branches never taken included."""
    found: set[str] = set()
    for statement in body:
        targets: tuple[s.Expr, ...] = ()
        if isinstance(statement, (s.Assign, s.Augment, s.For)):
            targets = (statement.target,)
        if isinstance(statement, s.For) and statement.counter is not None:
            targets = (*targets, statement.counter)
        elif isinstance(statement, s.AssignTuple):
            targets = statement.targets
        found |= {target.id for target in targets if isinstance(target, s.Name)}
        for inner in s.bodies(statement):
            found |= assigned(inner)
    return found


# --- reads


def name(ctx: Context, e: s.Name) -> en.Entity:
    """A variable, an argument, or what the name means in the module."""
    found = _local(ctx, e)
    if found is None:
        found = parameter(ctx, e)
        if isinstance(ctx, OperatorContext) and isinstance(found, en.PropertyRef):
            raise refusals.names.ArrayInOperator(e.span, e.id)
    if found is not None:
        return en.again(found, e.span)
    try:
        return captured(ctx.definition.resolve(e.id), e.span)
    except KeyError:
        raise _undefined(ctx, e) from None


def _local(ctx: Context, e: s.Name) -> en.Entity | None:
    """What a name of the function itself stands for; None for other names."""
    frame = ctx.frame
    if e.id in frame.objects:
        return en.again(frame.objects[e.id], e.span)
    bound = frame.bindings.get(e.id)
    if bound is not None:
        if isinstance(bound, en.PropertyRef):  # declared on first use
            ctx.unit.parameter_property(e.id, bound.property.span or e.span)
        return en.again(bound, e.span)
    if e.id not in frame.plan.names:
        if e.id in frame.own_names:
            raise refusals.names.OutsideItsLoop(e.span, e.id)
        return None
    if e.id not in frame.assigned:
        raise refusals.names.UsedBeforeAssignment(e.span, e.id)
    state = ctx.unit.inference.read(ctx.key(e.id))
    if state is None:
        raise refusals.names.UsedBeforeAssignment(e.span, e.id)
    var = ir.Var(ctx.ir_name(e.id), default(state.kind), span=e.span)
    return Value(var, state.kind, e.span, state.valid)


def _undefined(ctx: Context, e: s.Name) -> Refusal:
    """The refusal for a name that means nothing."""
    if e.id in ctx.unit.driver_names and ctx.definition is not ctx.unit.definition:
        advice = (
            f"make it a global: `graph.{e.id} = {e.id}` in the algorithm, `graph.{e.id}` in the operator (with the "
            "parameter `graph`)"
        )
        if e.id == "graph":
            advice = (
                "let it have a further parameter `graph`, as in `def visit(v, graph):`, for the graph's numbers; "
                "properties and frontiers are made in the algorithm"
            )
        elif e.id in ctx.unit.properties:
            advice = f"read a property at a vertex: `v.{e.id}`, or `vg.vertex(i).{e.id}` by its number"
        return refusals.names.AlgorithmsVariable(e.span, e.id, ctx.unit.definition.name, advice)
    own = [*ctx.frame.bindings, *ctx.frame.assigned]
    known = [*own, *ctx.unit.parameters, *ctx.definition.visible_names()]
    return refusals.names.UndefinedName(e.span, e.id, did_you_mean(e.id, known))


def captured(value: object, span: Span) -> en.Entity:
    """A Python value of the module or a closure: numbers become constants."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, Infinity):
        return Value(ir.Const(float(value), F64, span=span), Weak.INF, span)
    if isinstance(value, NoVertex):
        return Value(ir.Const(-1, VID, span=span), VID, span)
    if isinstance(value, (np.ndarray, list, tuple, dict, set)):
        raise refusals.names.CapturedArray(span, type(value).__name__)
    if isinstance(value, np.generic) and value.dtype.name in NUMPY_NAMES:
        t = NUMPY_NAMES[value.dtype.name]
        return Value(ir.Const(value.item(), t, span=span), t, span)
    return _constant(value, span)


def literal(ctx: Context, e: s.Literal) -> en.Entity:
    """What a literal stands for."""
    return _constant(e.value, e.span)


def _constant(value: object, span: Span) -> en.Entity:
    if isinstance(value, bool):
        return Value(ir.Const(value, BOOL, span=span), BOOL, span)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise refusals.types.LiteralOutOfRange(span, shown(int(value)), "int64")
        return Value(ir.Const(int(value), I64, span=span), Weak.INT, span)
    if isinstance(value, float):
        return Value(ir.Const(value, F64, span=span), Weak.FLOAT, span)
    return en.Static(value, span)


# --- writes


def zeros(ctx: Context, statement: s.Stmt) -> None:
    """Declare the variables that must be there before `statement`."""
    for name in ctx.frame.plan.zeros.get(id(statement), ()):
        state = ctx.unit.inference.read(ctx.key(name))
        if state is not None:
            t = default(state.kind)
            if t == VID:  # it may still hold vg.none where it is read
                ctx.unit.inference.assign(ctx.key(name), VID)
            ctx.emit(ir.Let(ctx.ir_name(name), t, zero(t, statement.span), span=statement.span))


def set_local(ctx: Context, name: str, value: Value, statement: s.Stmt, span: Span) -> None:
    """`name = value`, which declares the variable where the plan says so."""
    frame = ctx.frame
    declares = id(statement) in frame.plan.declares
    if name in frame.objects:
        raise refusals.driver.KindChanged(span, name, en.words(frame.objects[name]))
    if isinstance(ctx, OperatorContext) and value.expr == ctx.own and declares and name in frame.plan.once:
        frame.typed.names.add(position_of(span))  # another name of the operator's own vertex
        frame.typed.kinds[position_of(span)] = VID
        frame.bindings[name] = value
        return
    not_bound(ctx, name, span)
    t = widen(ctx, name, value, span)
    stored = fit(value, t)
    if declares:
        ctx.emit(ir.Let(ctx.ir_name(name), t, stored, span=statement.span))
    else:
        ctx.emit(ir.Assign(ctx.ir_name(name), stored, span=statement.span))
    frame.assigned.add(name)


def not_bound(ctx: Context, name: str, span: Span) -> None:
    """Refuse an assignment to an argument or a loop's variable."""
    if name in ctx.frame.bindings:
        raise refusals.names.ArgumentAssigned(span, name, en.words(ctx.frame.bindings[name]))


def widen(ctx: Context, name: str, value: Value, span: Span) -> Type:
    """Let a variable hold `value`, too; gives the type that it has."""
    inference, key = ctx.unit.inference, ctx.key(name)
    if ctx.frame.ir_names.get(name) in ctx.arrays:
        raise refusals.names.LocalReplaced(span, name)
    state = inference.assign(key, settled(value.kind), value.valid)
    if state is None:
        old = inference.current[key].kind
        raise refusals.types.IncompatibleAssignment(span, name, describe(old), describe(value.kind))
    inference.read(key)
    ctx.frame.typed.kinds[position_of(span)] = state.kind
    return default(state.kind)


# --- variables of an algorithm that hold no numbers


def declared(ctx: AlgorithmContext, target: s.Name, wanted: type[_T], make: Callable[[str], _T]) -> _T:
    """The object that a variable holds for good: on first use what `make` gives for its name in the IR."""
    objects = ctx.frame.objects
    held = objects.get(target.id)
    if held is None:
        if target.id in ctx.frame.assigned or target.id in ctx.frame.bindings:
            raise refusals.driver.KindChanged(target.span, target.id, en.words(entity(ctx, target)))
        held = objects[target.id] = make(ctx.names.fresh(target.id))
    if not isinstance(held, wanted):
        raise refusals.driver.KindChanged(target.span, target.id, en.words(held))
    return held


def alias(ctx: Context, statement: s.Assign, target: s.Name, found: en.Thing) -> None:
    """`x = y` where y holds such an object."""
    raise refusals.driver.Alias(statement.value.span, target.id, en.words(found))
