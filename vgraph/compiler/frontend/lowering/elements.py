"""Writes of one element: of a vector, `v.x[i] = e`, reductions into one, `dst.x[i] += e`, and of local arrays."""

from __future__ import annotations

from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe, element
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import reductions, writes
from vgraph.compiler.frontend.lowering.access import stored
from vgraph.compiler.frontend.lowering.arithmetic import combine
from vgraph.compiler.frontend.lowering.context import Context, OperatorContext
from vgraph.compiler.frontend.lowering.entities import Place
from vgraph.compiler.frontend.lowering.values import int64, position, shared, sure, value, where_sure
from vgraph.compiler.types import BOOL, I64, VID, Vector


def store(ctx: Context, statement: s.Assign | s.Augment, target: s.Index, owner: en.Entity) -> None:
    """`u.x[i] = e`, or with `op=`, where `owner` is u: in the own vertex a store, elsewhere a reduction.

    Of a local array, `owner`, the element is what only this visit sees.
    """
    if isinstance(owner, Value) and isinstance(owner.kind, Vector):
        _store_local(ctx, statement, target, owner)
        return
    if not isinstance(ctx, OperatorContext) or not isinstance(target.value, s.Attribute):
        raise refusals.writes.NotAssignable(target.span)
    place = _place(ctx, target, writes.place_of(ctx, target.value, owner))
    found = reductions.of_augment(statement) if isinstance(statement, s.Augment) else None
    spreads = found is not None and ctx.spread.get(place.name) == found.op
    assert place.at is not None
    own = place.at.expr == ctx.own and not ctx.is_edge and not spreads
    if own or (place.alone and place.at.kind == VID):
        _store_alone(ctx, statement, place)
        return
    literal = isinstance(statement.value, s.Literal) and place.type != BOOL
    if isinstance(statement, s.Assign) and not literal:
        found = reductions.of_assign(target, statement.value, lambda e: writes.meaning(ctx, e))
    writes.reduce_by(ctx, statement, target, place, found)


def _place(ctx: OperatorContext, target: s.Index, vector: Place) -> Place:
    """The element as something to write to."""
    if vector.prop is None or not isinstance(vector.type, Vector):
        raise refusals.types.NoIndex(target.span, describe(vector.type))
    index = position(ctx, target.index, int64(vector.type.length, target.span), "the index of a vector")
    at = shared(ctx, Value(index, I64, target.index.span)).expr
    return replace(vector, type=vector.type.element, span=target.span, element=at)


def _store_alone(ctx: OperatorContext, statement: s.Assign | s.Augment, place: Place) -> None:
    """A write that meets no other: of a vertex operator's own vertex, of an end of an exclusive edge, ..."""
    assert place.prop is not None
    assert place.at is not None
    assert place.element is not None
    span = statement.span
    at = sure(ctx, place.at)
    whole = ir.Load(place.name, at.expr, place.prop.type, span=place.span)
    new = value(ctx, statement.value)
    if isinstance(statement, s.Augment):
        old = element(whole, place.element, place.span)
        new = combine(statement.op, old, new, span)
    if not place.alone:
        writes.note_own(ctx, place, span)
    changed = ir.Insert(whole, place.element, stored(ctx, new, place.type, place.text), span=span)
    where_sure(ctx, ir.Store(place.name, at.expr, changed, span=span), at)


def _store_local(ctx: Context, statement: s.Assign | s.Augment, target: s.Index, owner: Value) -> None:
    """`a[i] = e`, where a is a variable."""
    name = owner.expr.name if isinstance(owner.expr, ir.Var) else ""
    if name not in ctx.arrays:
        raise refusals.writes.ElementOfValue(target.span, target.value.span.text)
    if name in ctx.kept_arrays:
        ctx.no_writes_in_helpers(target.span)
    t, span = ctx.arrays[name], statement.span
    index = position(ctx, target.index, int64(t.length, target.span), "the index of an array")
    at = shared(ctx, Value(index, I64, target.index.span)).expr
    new = value(ctx, statement.value)
    if isinstance(statement, s.Augment):
        old = Value(ir.Element(owner.expr, at, span=target.span), t.element, target.span)
        new = combine(statement.op, old, new, span)
    kept = stored(ctx, new, t.element, f"`{target.span.text}`")
    ctx.emit(ir.Assign(name, ir.Insert(owner.expr, at, kept, span=span), span=span))
