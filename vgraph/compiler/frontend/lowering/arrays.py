"""Array parameters: elements by computed index, sizes, and loops over them."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, clamped, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.access import no_attribute, read_only
from vgraph.compiler.frontend.lowering.context import Context, Uses
from vgraph.compiler.frontend.lowering.names import alias
from vgraph.compiler.frontend.lowering.statements import loop_body, loop_name
from vgraph.compiler.frontend.lowering.values import int64, some, sure, value, whole
from vgraph.compiler.types import I64, U64, VID
from vgraph.source import Span


def _index(ctx: Context, e: s.Index, owner: en.ArrayRef) -> Value:
    """`table[i]`, `cost[i, j]`; at vg.none it gives zero, false or vg.none."""
    given = e.index.items if isinstance(e.index, s.Items) else (e.index,)
    if len(given) != owner.dimensions:
        wanted = ("one index", "two indices")[owner.dimensions - 1]
        raise refusals.types.WrongIndices(e.span, owner.property.name, wanted, len(given))
    prop, there, indices = owner.property, [], []
    for part in given:
        found = value(ctx, part)
        if found.kind == VID and not found.valid:
            found = sure(ctx, found)
            there.append(some(found.expr, part.span))
        elif found.kind == U64:  # what int64 does not hold is beyond the end
            found = Value(clamped(found.expr, I64, ctx.unit.signature.target), U64, part.span)
        indices.append(whole(found, part.span, "the index of an array"))
    read = element(owner, tuple(indices), e.span)
    for test in reversed(there):
        either = ir.Select(test, read.expr, zero(prop.type, e.span), span=e.span)
        read = Value(either, prop.type, e.span)
    return read


def element(array: en.ArrayRef, indices: tuple[ir.Expr, ...], span: Span) -> Value:
    """An element by indices of int64."""
    prop = array.property
    outside = zero(prop.type, span)
    assert isinstance(outside, ir.Const)
    return Value(ir.Lookup(prop.name, indices, outside, span=span), prop.type, span)


def _attribute(ctx: Context, e: s.Attribute, owner: en.ArrayRef) -> en.ArrayShape:
    """`cost.shape`."""
    if e.name != "shape":
        raise no_attribute(e, owner)
    return en.ArrayShape(owner, e.span)


def _size(ctx: Context, e: s.Index, owner: en.ArrayShape) -> Value:
    """`cost.shape[1]`."""
    axis = e.index.value if isinstance(e.index, s.Literal) else None
    if axis not in range(owner.array.dimensions):
        raise refusals.types.NoSuchDimension(e.index.span, owner.array.dimensions)
    node = ir.ArrayColumns if axis else ir.ArrayLength
    return Value(node(owner.array.property.name, span=e.span), I64, e.span)


def _length(ctx: Context, owner: en.ArrayRef, span: Span) -> ir.Expr:
    """`len(table)`: of two dimensions the first."""
    return ir.ArrayLength(owner.property.name, span=span)


def _loop(ctx: Context, statement: s.For, over: en.ArrayRef) -> None:
    """`for s in sources:`."""
    span, prop = statement.target.span, over.property
    if over.dimensions != 1:
        hint = ", but its rows have numbers: range(len(...))"
        raise refusals.calls.NotIterable(statement.iterable.span, "an array with two dimensions", hint)
    name = ctx.names.fresh("position")
    item = ir.Load(prop.name, ir.Var(name, I64, span=span), prop.type, span=span)
    valid = prop.type == VID
    if statement.target.id in ctx.frame.plan.names:
        body = loop_body(ctx, statement, Value(item, prop.type, span, valid))
    else:
        local = loop_name(ctx, statement)
        bound = Value(ir.Var(local, prop.type, span=span), prop.type, span, valid)
        body = (ir.Let(local, prop.type, item, span=span), *loop_body(ctx, statement, bound))
    start, stop, step = int64(0, span), _length(ctx, over, statement.iterable.span), int64(1, span)
    ctx.emit(ir.For(name, start, stop, step, body, span=statement.span))


USES = Uses(attribute=_attribute, index=_index, size=_length, loop=_loop, bind=alias, store_index=read_only)
SHAPE_USES = Uses(index=_size)
