"""Attributes, indices and assignments: what they mean is a matter of the owner."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, describe, merge
from vgraph.compiler.frontend.kinds import element as element_at
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import vectors
from vgraph.compiler.frontend.lowering.arithmetic import combine, negated
from vgraph.compiler.frontend.lowering.context import Context, OperatorContext
from vgraph.compiler.frontend.lowering.graph import WHOLE
from vgraph.compiler.frontend.lowering.names import captured, not_bound, set_local, widen
from vgraph.compiler.frontend.lowering.values import checked, entity, fit, int64, position, produce, value
from vgraph.compiler.frontend.lowering.vertices import vertex_of
from vgraph.compiler.types import BOOL, F16, VID, Kind, Type, Vector, computed, element_of
from vgraph.refusals.base import Refusal, did_you_mean


def attribute(ctx: Context, e: s.Attribute) -> en.Entity:
    """`owner.name`."""
    owner = entity(ctx, e.value)
    rule = ctx.uses(owner).attribute
    if rule is None:
        raise no_attribute(e, owner)
    return rule(ctx, e, owner)


def no_attribute(e: s.Attribute, owner: en.Entity) -> Refusal:
    """The refusal of an attribute that there is not."""
    hint = f"; write `graph.{e.name}(x)`" if isinstance(owner, en.PropertyRef) and e.name in WHOLE else ""
    return refusals.names.NoAttribute(e.name_span, e.name, en.words(owner), hint)


def static_attribute(ctx: Context, e: s.Attribute, owner: en.Static) -> en.Entity:
    """`module.name` or `Enum.member`."""
    value = owner.value
    if not isinstance(value, (ModuleType, type)):
        raise no_attribute(e, owner)
    try:
        return captured(getattr(value, e.name), e.span)
    except AttributeError:
        hint = did_you_mean(e.name, [n for n in dir(value) if not n.startswith("_")])
        if e.name == "debug":
            hint = '; `print(...)` prints with device="python", and `vg.run(..., debug=[3, 7])` shows vertices anywhere'
        raise refusals.names.NoAttribute(e.name_span, e.name, f"`{value.__name__}`", hint) from None


def index(ctx: Context, e: s.Index) -> en.Entity:
    """`owner[i]`, `owner[a:b]`."""
    owner = entity(ctx, e.value)
    if isinstance(e.index, s.Slice) and isinstance(owner, Value) and isinstance(owner.kind, Vector):
        return vectors.part(ctx, e.index, owner, e.span)
    rule = ctx.uses(owner).index
    if rule is None:
        raise refusals.types.NoIndex(e.span, en.words(owner))
    return rule(ctx, e, owner)


def element(ctx: Context, e: s.Index, owner: Value) -> Value:
    """`vector[i]`."""
    if not isinstance(owner.kind, Vector):
        raise refusals.types.NoIndex(e.span, describe(owner.kind))
    index = position(ctx, e.index, int64(owner.kind.length, e.span), "the index of a vector")
    return element_at(owner.expr, index, e.span)


def store(ctx: Context, statement: s.Assign | s.Augment, target: s.Expr) -> None:
    """`owner.name = e`, `owner[i] = e`, or with `op=`."""
    if not isinstance(target, (s.Attribute, s.Index)):
        raise refusals.writes.NotAssignable(target.span)
    if isinstance(target, s.Index) and isinstance(target.index, s.Slice):
        raise refusals.syntax.Slice(target.index.span, "a slice is not written")
    of = target.value
    if isinstance(ctx, OperatorContext) and isinstance(target, s.Index) and isinstance(of, s.Attribute):
        of = of.value  # the vertex: its vector is written, not read
    owner = entity(ctx, of)
    if not (isinstance(owner, Value) and isinstance(owner.kind, Vector)):
        ctx.no_writes_in_helpers(target.span)
    uses = ctx.uses(owner)
    rule: Callable[..., None] | None = uses.store if isinstance(target, s.Attribute) else uses.store_index
    if rule is None:
        raise refusals.writes.NotAssignable(target.span)
    rule(ctx, statement, target, owner)


def read_only(
    ctx: Context, statement: s.Assign | s.Augment, target: s.Index, owner: en.GraphProperty | en.ArrayRef
) -> None:
    """`graph.height[v] = e`."""
    name = owner.property.name if isinstance(owner, en.ArrayRef) else f"graph.{owner.name}"
    raise refusals.writes.ReadOnly(target.span, name, "the algorithm did not make it")


# --- assignments


_ACCUMULATING = {"+": "+", "-": "+", "*": "*", "|": "|", "&": "&"}


def assign(ctx: Context, statement: s.Assign) -> None:
    """`target = value`."""
    target = statement.target
    if not isinstance(target, s.Name):
        store(ctx, statement, target)
        return
    bind(ctx, statement, target, produce(ctx, statement.value))


def bind(ctx: Context, statement: s.Assign, target: s.Name, found: en.Entity) -> None:
    """`name = ` what an expression was found to stand for."""
    if isinstance(found, en.Made) and found.whole is not None:
        found = found.whole()
    if isinstance(found, en.Made):
        if found.put is not None:
            found.put(statement, target)
            return
        found = found.held()
    rule = ctx.uses(found).bind
    if isinstance(found, Value):
        set_local(ctx, target.id, checked(found, statement.value.span), statement, target.span)
    elif rule is not None:
        rule(ctx, statement, target, found)
    else:
        raise refusals.types.NotAVariable(statement.value.span, en.words(found))


def augment(ctx: Context, statement: s.Augment) -> None:
    """`target op= value`: of a variable an accumulation where `op` is one, else an assignment."""
    target = statement.target
    if not isinstance(target, s.Name):
        store(ctx, statement, target)
        return
    not_bound(ctx, target.id, target.span)
    found = entity(ctx, target)
    sets = ctx.uses(found).combine
    if sets is not None:
        made = sets(ctx, statement.op, found, entity(ctx, statement.value), statement.span)
        assert isinstance(made, en.Made)
        assert made.put is not None
        made.put(statement, target)
        return
    old, change = checked(found, target.span), value(ctx, statement.value)
    new = combine(statement.op, old, change, statement.span)
    t = widen(ctx, target.id, new, target.span)
    name, op = ctx.ir_name(target.id), _ACCUMULATING.get(statement.op)
    numbers = element_of(t).kind is not Kind.BOOL or statement.op in ("|", "&")
    if op is None or t != old.type or merge(new.kind, t) != t or not numbers:
        ctx.emit(ir.Assign(name, fit(new, t), span=statement.span))
        return
    added = negated(change, t) if statement.op == "-" else fit(change, t)
    ctx.emit(ir.Accumulate(op, name, added, span=statement.span))


def stored(ctx: Context, value: Value, t: Type, place: str) -> ir.Expr:
    """`value` as it is stored in a place of type `t`. Refuses what would lose its meaning."""
    kind, source, wanted = value.kind, element_of(value.type), element_of(t)
    advice = None
    if isinstance(value.type, Vector) and not (isinstance(t, Vector) and t.length == value.type.length):
        advice = "the shapes differ"
    elif wanted == VID and kind != VID:
        return vertex_of(ctx, value, value.span)
    elif source.is_float and not wanted.is_float and kind is not Weak.INF:
        advice = "write int(x) to cut off the fraction" if wanted != BOOL else "write a comparison"
    elif wanted == BOOL and source != BOOL:
        advice = "write a comparison, such as `x != 0`"
        if kind is Weak.INF:
            advice = "bools have no infinity: use a type of numbers"
    if advice is not None:
        raise refusals.types.LossyStore(value.span, place, describe(t), describe(kind), advice)
    return _rounded(value, t) if wanted == F16 else fit(value, t)


def _rounded(value: Value, t: Type) -> ir.Expr:
    """`value` as float16: of float32, to nearest even. What is stored elsewhere is copied as it is."""
    if isinstance(value.expr, ir.Cast) and value.expr.operand.type == t:
        return value.expr.operand
    each = t if isinstance(value.type, Vector) else F16
    number = ir.Cast(each, fit(value, computed(each)), span=value.span)
    return number if each == t else ir.Cast(t, number, span=value.span)
