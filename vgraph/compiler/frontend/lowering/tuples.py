"""The value that goes with the best: `a, b = min((a, b), (c, d))`, lexicographic minima and maxima.

Where the update may meet others it is a reduction over a tuple of places, else a comparison and assignments.
"""

from __future__ import annotations

import builtins
from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, clamped, describe
from vgraph.compiler.frontend.lowering import access
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context, OperatorContext
from vgraph.compiler.frontend.lowering.entities import Place
from vgraph.compiler.frontend.lowering.graph import widen_global
from vgraph.compiler.frontend.lowering.names import not_bound, widen
from vgraph.compiler.frontend.lowering.values import entity, fit, sure, value, where_sure
from vgraph.compiler.frontend.lowering.writes import meaning, note_reduction, place_of
from vgraph.compiler.frontend.typed import TupleUpdate, position_of
from vgraph.compiler.types import F16, WIDEST_WORD, Type, Vector, element_of

_OPS = {builtins.min: "min", builtins.max: "max"}


def assign(ctx: Context, x: s.AssignTuple) -> None:
    """`a, b = min((a, b), (c, d), ...)`."""
    function = meaning(ctx, x.value.function)
    op = _OPS.get(function) if callable(function) else None
    at = x.targets[0].span.to(x.targets[-1].span)
    places = s.Items(at, "tuple", x.targets)
    if op is None or x.value.keywords or x.value.args.count(places) != 1:
        raise refusals.syntax.TupleAssignment(at)
    if any(target in x.targets[:k] for k, target in enumerate(x.targets)):
        raise refusals.writes.TuplePlaces(at, "the same place twice")
    same = next(a for a in x.value.args if a == places)
    assert isinstance(same, s.Items)
    for candidate in x.value.args:
        if candidate is same:
            continue
        if not (isinstance(candidate, s.Items) and len(candidate.items) == len(x.targets)):
            raise refusals.writes.TupleShape(candidate.span, len(x.targets))
        _update(ctx, x, op, candidate.items)
    for target, again in zip(x.targets, same.items, strict=True):
        ctx.frame.typed.again(target, again)


def _update(ctx: Context, x: s.AssignTuple, op: str, items: tuple[s.Expr, ...]) -> None:
    """The places become what is there or `items`, whichever comes first."""
    shared_places = _shared_places(ctx, x)
    if shared_places is None:
        _alone(ctx, x, op, items)
        return
    assert isinstance(ctx, OperatorContext)
    places = []
    new: list[ir.Expr] = []
    for place, item in zip(shared_places, items, strict=True):
        found = value(ctx, item)
        if place.prop is None:
            place = replace(place, type=widen_global(ctx, place.name, found, x.span))
        places.append(place)
        new.append(_converted(ctx, found, place.type, place.text))
    types = tuple(p.type for p in places)
    check(ctx, x, types)
    ctx.frame.typed.tuples[position_of(x.span)] = TupleUpdate(op, types, True)
    names = tuple(p.name for p in places)
    if places[0].prop is None:
        ctx.emit(ir.ReduceGlobalTuple(op, names, tuple(new), span=x.span))
        return
    for place in places:
        note_reduction(ctx, place, op, x.span)
    assert places[0].at is not None
    at = sure(ctx, places[0].at)
    where_sure(ctx, ir.ReduceTuple(op, names, at.expr, tuple(new), span=x.span), at)


def _converted(ctx: Context, found: Value, t: Type, place: str) -> ir.Expr:
    """A value in the type of its place, integers clamped as for any minimum."""
    if isinstance(t, Vector):
        raise refusals.writes.TupleType(found.span, place, describe(t))
    if not (isinstance(found.kind, Weak) and isinstance(found.expr, ir.Const)):
        found = replace(found, expr=clamped(found.expr, t, ctx.unit.signature.target))
    return access.stored(ctx, found, t, place)


def check(ctx: Context, x: s.AssignTuple, types: tuple[Type, ...]) -> None:
    """Refuse what one step cannot compare."""
    for target, t in zip(x.targets, types, strict=True):
        if isinstance(t, Vector):
            raise refusals.writes.TupleType(target.span, f"`{target.span.text}`", describe(t))
        if t == F16:
            raise refusals.types.StoredOnly(target.span, f"`{target.span.text}`")
    bits = ctx.unit.signature.target.bits_of(tuple(element_of(t) for t in types))
    if bits > WIDEST_WORD:
        fields = ", ".join(f"`{e.span.text}` is {describe(t)}" for e, t in zip(x.targets, types, strict=True))
        raise refusals.writes.TupleTooWide(
            x.targets[0].span.to(x.targets[-1].span), bits, WIDEST_WORD, fields
        )


# --- places that others reach, too


def _shared_places(ctx: Context, x: s.AssignTuple) -> list[Place] | None:
    """The places if others may update them in the same round; None if nobody else does."""
    if not isinstance(ctx, OperatorContext):
        return None
    owners: list[tuple[s.Expr, en.Entity]] = []
    found = [_shared_place(ctx, target, owners) for target in x.targets]
    places = [p for p in found if p is not None]
    if not places:
        return None
    vertices = {p.at.expr if p.at is not None else None for p in places}
    if len(places) < len(found):
        raise refusals.writes.TuplePlaces(places[0].span, "other visits write this one, but not all of them")
    if len(vertices) > 1:
        raise refusals.writes.TuplePlaces(
            x.targets[0].span.to(x.targets[-1].span), "they belong to different owners"
        )
    return places


def _shared_place(
    ctx: OperatorContext, target: s.Expr, owners: list[tuple[s.Expr, en.Entity]]
) -> Place | None:
    """A place if others may update it; an owner that is named again is the one that it was, found once."""
    if isinstance(target, s.Name):
        return None
    if not isinstance(target, s.Attribute):
        raise refusals.writes.NotAssignable(target.span)
    ctx.no_writes_in_helpers(target.span)
    owner = next((known for e, known in owners if e == target.value), None) or entity(ctx, target.value)
    owners.append((target.value, owner))
    place = place_of(ctx, target, owner)
    scratch = place.prop is not None and place.prop.origin is ir.Origin.SCRATCH
    own = place.at is not None and place.at.expr == ctx.own and not ctx.is_edge
    if scratch or own or place.alone:
        return None
    if isinstance(owner, en.Edge):
        raise refusals.writes.TuplePlaces(target.span, "another visit may come to the edge")
    return place


# --- places that nobody else writes


def _alone(ctx: Context, x: s.AssignTuple, op: str, items: tuple[s.Expr, ...]) -> None:
    """Compare, and assign where the new values come first."""
    old = [value(ctx, target) for target in x.targets]
    new = [value(ctx, item) for item in items]
    kept = [_as_place(ctx, *row) for row in zip(x.targets, old, new, strict=True)]
    check(ctx, x, tuple(v.type for v in kept))
    ctx.frame.typed.tuples[position_of(x.span)] = TupleUpdate(op, tuple(v.kind for v in kept), False)
    before = tuple(fit(v, k.type) for v, k in zip(old, kept, strict=True))
    words = ir.Pack(tuple(k.expr for k in kept), span=x.span), ir.Pack(before, span=x.span)
    better = ir.Compare("<" if op == "min" else ">", *words, span=x.span)
    ctx.emit(ir.If(better, ctx.apart(lambda: _assign_all(ctx, x, kept))[0], span=x.span))


def _as_place(ctx: Context, target: s.Expr, old: Value, new: Value) -> Value:
    """A new value in the type of its place, in a variable of its own: what is assigned first may be read by it."""
    if isinstance(target, s.Name):
        not_bound(ctx, target.id, target.span)
        t = widen(ctx, target.id, new, target.span)
        e = fit(new, t)
    else:
        t = old.type
        if isinstance(target, s.Attribute) and isinstance(entity(ctx, target.value), en.GraphRef):
            t = widen_global(ctx, target.name, new, target.span)
        e = _converted(ctx, new, t, f"`{target.span.text}`")
    name = ctx.temporary("new", t, e, new.span)
    return Value(ir.Var(name, t, span=new.span), t, new.span, new.valid)


def _assign_all(ctx: Context, x: s.AssignTuple, kept: list[Value]) -> None:
    """Assign to each place, as an assignment of its own would."""
    for k, (target, new) in enumerate(zip(x.targets, kept, strict=True)):
        name = f"value {k}"  # which no variable of the user's has
        ctx.frame.bindings[name] = new
        access.assign(ctx, s.Assign(x.span, target, s.Name(new.span, name)))
        del ctx.frame.bindings[name]


# --- the whole program


def check_updates(program: ir.Program) -> None:
    """Raise a Refusal where what is updated together in one place is updated in another way elsewhere."""
    together: dict[tuple[str, str], ir.ReduceTuple | ir.ReduceGlobalTuple] = {}
    nodes = [n for operator in program.operators for n in ir.walk(operator)]
    for n in nodes:
        if isinstance(n, ir.ReduceTuple | ir.ReduceGlobalTuple):
            kind, names = _names(n)
            for name in names:
                first = together.setdefault((kind, name), n)
                if _names(first) != (kind, names):
                    _apart(name, first, "with others", n)
    if not together:
        return
    for operator in program.operators:
        for n in ir.walk(operator):
            match n:
                case ir.Reduce(prop=name) | ir.Claim(prop=name):
                    _apart(name, together.get(("vertex", name)), "alone", n)
                case ir.Store(prop=name) if operator.is_edge:
                    _apart(name, together.get(("vertex", name)), "under a claim", n)
                case ir.ReduceGlobal(name=name):
                    _apart(name, together.get(("graph", name)), "alone", n)
    for queue in program.queues:
        update = together.get(("vertex", queue.prop))
        if isinstance(update, ir.ReduceTuple) and update.props[0] != queue.prop:
            _apart(queue.prop, update, "behind another, and a priority queue needs what comes first", queue)


def _names(n: ir.ReduceTuple | ir.ReduceGlobalTuple) -> tuple[str, tuple[str, ...]]:
    return ("vertex", n.props) if isinstance(n, ir.ReduceTuple) else ("graph", n.names)


def _apart(name: str, first: ir.ReduceTuple | ir.ReduceGlobalTuple | None, how: str, n: ir.Node) -> None:
    if first is not None:
        others = ", ".join(other for other in _names(first)[1] if other != name)
        assert n.span is not None
        assert first.span is not None
        raise refusals.writes.TupleApart(n.span, name, others, how, first.span)
