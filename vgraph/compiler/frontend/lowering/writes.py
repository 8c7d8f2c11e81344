"""What operators write, how writes that meet combine, and the branches that decide writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, clamped, describe, operation
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import reductions
from vgraph.compiler.frontend.lowering.access import stored
from vgraph.compiler.frontend.lowering.arithmetic import combine, comparison, negated, smaller
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, EdgeUse, OperatorContext
from vgraph.compiler.frontend.lowering.entities import Place
from vgraph.compiler.frontend.lowering.graph import no_global, read_global, set_global, size, widen_global
from vgraph.compiler.frontend.lowering.reductions import Guarded, Reduction
from vgraph.compiler.frontend.lowering.statements import block
from vgraph.compiler.frontend.lowering.values import (
    arguments,
    checked,
    condition,
    entity,
    sure,
    value,
    where_sure,
)
from vgraph.compiler.frontend.lowering.vertices import (
    ENDS,
    alone_with,
    edge_attribute,
    note_edge,
    vertex_property,
)
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.types import BOOL, EID, F16, VID, Kind, Vector, element_of
from vgraph.refusals.base import Refusal
from vgraph.source import Span

# --- what is written to


def place_of(ctx: OperatorContext, target: s.Attribute, owner: en.Entity) -> Place:
    """What `target` names as something to write to."""
    match owner:
        case en.GraphRef():
            return _global_place(ctx, target)
        case en.Edge():
            return _edge_place(ctx, target, owner)
        case Value(kind=kind) if kind == VID:
            return _vertex_place(ctx, target, owner)
    raise refusals.writes.NotAssignable(target.span)


def _global_place(ctx: OperatorContext, target: s.Attribute) -> Place:
    """`graph.x` as something to write to."""
    found = read_global(ctx, target.name, target.span)
    if found is not None:
        return Place(target.name, found.type, target.span)
    if size(ctx, target.name, target.span) is not None:
        raise refusals.writes.ReadOnly(target.span, f"graph.{target.name}", "it belongs to the graph")
    raise no_global(target, list(ctx.unit.globals))


def _vertex_place(ctx: OperatorContext, target: s.Attribute, owner: Value) -> Place:
    """`u.x` as something to write to."""
    at_end = ctx.exclusive and (not ctx.is_edge or owner.expr in (ctx.src, ctx.own))
    if ctx.is_edge and owner.expr != ctx.own and not at_end:
        if owner.expr == ctx.src:
            raise refusals.writes.WriteToSource(target.span, target.name)
        raise refusals.writes.WriteElsewhere(target.span)
    if target.name == "id" or target.name.endswith(("degree", "neighbors", "_edges")):
        raise refusals.writes.ReadOnly(target.span, target.name, "it belongs to the graph")
    prop = vertex_property(ctx, target)
    if prop.origin not in (ir.Origin.LOCAL, ir.Origin.SCRATCH):
        what = "a property of the graph" if prop.origin is ir.Origin.GRAPH else "a parameter"
        raise refusals.writes.ReadOnly(target.span, target.name, f"it is {what}")
    if prop.disjoint:
        raise refusals.writes.DisjointSets(target.span, target.name)
    if at_end:
        ctx.written_ends.add(owner.expr)
    return Place(prop.name, prop.type, target.span, prop, owner, alone=at_end)


def _edge_place(ctx: OperatorContext, target: s.Attribute, edge: en.Edge) -> Place:
    """`edge.x` as something to write to."""
    prop = ctx.unit.edge_property(target.name, target.span) if target.name not in ENDS else None
    if prop is None:
        edge_attribute(ctx, target, edge)  # which refuses what there is not
        raise refusals.writes.ReadOnly(target.span, target.name, "it belongs to the graph")
    if prop.site is not ir.Site.NUMBERED:
        raise refusals.writes.WriteToEdge(target.span, target.name)
    elsewhere = edge.side is None and edge.arc.valid
    if ctx.is_edge and not ctx.between_ends(edge) and (elsewhere or ctx.exclusive):
        raise refusals.writes.WriteElsewhere(target.span)
    note_edge(ctx, prop, edge, target.span, writes=True)
    at = Value(ctx.unit.number_of(edge.arc.expr), EID, target.span, edge.arc.valid)
    return Place(prop.name, prop.type, target.span, prop, at, alone_with(ctx, edge))


# --- assignments


def store(ctx: Context, statement: s.Assign | s.Augment, target: s.Attribute, owner: en.Entity) -> None:
    """`u.x = e`, `graph.x = e`, or with `op=`: in operators a reduction where it may meet others."""
    if isinstance(ctx, OperatorContext):
        _store(ctx, statement, target, place_of(ctx, target, owner))
    elif isinstance(ctx, AlgorithmContext) and isinstance(owner, en.GraphRef):
        set_global(ctx, statement, target)
    elif isinstance(owner, Value) and owner.kind == VID:
        raise refusals.driver.AttributeInDriver(target.span, target.name)
    else:
        raise refusals.writes.NotAssignable(target.span)


def _store(ctx: OperatorContext, statement: s.Assign | s.Augment, target: s.Attribute, place: Place) -> None:
    found = reductions.of_augment(statement) if isinstance(statement, s.Augment) else None
    if place.alone or (place.prop is not None and place.prop.origin is ir.Origin.SCRATCH):
        _store_at(ctx, statement, target, place)
        return
    vertex = place.at.expr if place.at is not None else None
    spreads = found is not None and ctx.spread.get(target.name) == found.op  # `u.x op= e` of others meets it
    if vertex == ctx.own and not ctx.is_edge and not spreads:
        _store_at(ctx, statement, target, place)
        note_own(ctx, place, statement.span)
        return
    if isinstance(statement, s.Assign) and ctx.claiming is not None and vertex == ctx.claiming:
        _store_claimed(ctx, statement, place)
        return
    literal = isinstance(statement.value, s.Literal) and place.type != BOOL
    if isinstance(statement, s.Assign) and not literal:
        found = reductions.of_assign(target, statement.value, lambda e: meaning(ctx, e))
    reduce_by(ctx, statement, target, place, found)


def reduce_by(
    ctx: OperatorContext,
    statement: s.Assign | s.Augment,
    target: s.Expr,
    place: Place,
    found: Reduction | None,
) -> None:
    """The reduction that a statement was found to be. Refuses one that was found to be none."""
    if found is None:
        op = f" `{statement.op}=`" if isinstance(statement, s.Augment) else " plain"
        value(ctx, statement.value)  # a name that is wrong there is what to tell first
        raise _not_a_reduction(place)(statement.span, place.text, op)
    ctx.frame.typed.reductions[position_of(statement.span)] = found.op
    reduce(ctx, place, found, statement.span)
    for read in s.walk(statement.value):
        if read == target:
            ctx.frame.typed.again(target, read)


def _not_a_reduction(place: Place) -> Callable[[Span, str, str], Refusal]:
    if place.prop is None:
        return refusals.writes.GlobalNotReduced
    return (
        refusals.writes.SharedEdge if place.prop.site is ir.Site.NUMBERED else refusals.writes.NotAReduction
    )


def _store_at(
    ctx: OperatorContext, statement: s.Assign | s.Augment, target: s.Attribute, place: Place
) -> None:
    """A write that meets no other, or that only this visit sees."""
    assert place.at is not None
    assert place.prop is not None
    new = value(ctx, statement.value)
    if isinstance(statement, s.Augment):
        new = combine(statement.op, value(ctx, target), new, statement.span)
    store = ir.ScratchStore if place.prop.origin is ir.Origin.SCRATCH else ir.Store
    kept = stored(ctx, new, place.type, place.text)
    at = sure(ctx, place.at)
    where_sure(ctx, store(place.name, at.expr, kept, span=statement.span), at)


def _store_claimed(ctx: OperatorContext, statement: s.Assign, place: Place) -> None:
    """A further store of the one that claimed."""
    note_claim(ctx, place, statement.span)
    new = stored(ctx, value(ctx, statement.value), place.type, place.text)
    assert ctx.claiming is not None
    ctx.emit(ir.Store(place.name, ctx.claiming, new, span=statement.span))


# --- reductions


def reduce(ctx: OperatorContext, place: Place, found: Reduction, span: Span, *, tested: bool = False) -> None:
    """Emit a reduction; `tested`: one that a comparison decides, which is false for NaN."""
    _check_operation(place, found.op, span)
    truths = place.type == BOOL
    if isinstance(place.type, Vector):
        checked(Value(identity(found.op, place.type), place.type, place.span), place.span)
    values = [Value(condition(ctx, v), BOOL, v.span) if truths else value(ctx, v) for v in found.values]
    for v in values if place.prop is None else ():
        place = Place(place.name, widen_global(ctx, place.name, v, span), place.span)
    new = _combined(ctx, place, found, values, span)
    if place.prop is None:
        whole = ir.ReduceGlobal(found.op, place.name, new, span=span)
        ctx.emit(_unless_nan(whole) if tested else whole)
        return
    note_reduction(ctx, place, found.op, span)
    assert place.at is not None
    at = sure(ctx, place.at)
    if place.element is not None:
        new = ir.Insert(identity(found.op, place.prop.type), place.element, new, span=span)
    made = ir.Reduce(found.op, place.name, at.expr, new, span=span)
    where_sure(ctx, _unless_nan(made) if tested else made, at)


def _combined(
    ctx: OperatorContext, place: Place, found: Reduction, values: list[Value], span: Span
) -> ir.Expr:
    """The values that go into a place as one, in the place's type: sums wrap there, extremes are clamped to it."""
    if found.op in ("min", "max"):
        extreme = values[0]
        for more in values[1:]:
            extreme = smaller(found.op, extreme, more, span)
        if not (isinstance(extreme.kind, Weak) and isinstance(extreme.expr, ir.Const)):
            within = clamped(extreme.expr, place.type, ctx.unit.signature.target)
            extreme = replace(extreme, expr=within)
        return stored(ctx, extreme, place.type, place.text)
    whole: ir.Expr | None = None
    for v, negative in zip(values, found.negative + (False,) * len(values), strict=False):
        part = stored(ctx, v, place.type, place.text)
        if whole is not None:
            whole = ir.Binary("-" if negative else found.op, whole, part, span=span)
        else:
            whole = negated(v, place.type) if negative else part
    assert whole is not None
    return whole


def _check_operation(place: Place, op: str, span: Span) -> None:
    """Whether values of the place's type combine by `op`."""
    if element_of(place.type) == F16:
        raise refusals.types.StoredOnly(span, place.text)
    kind = element_of(place.type).kind
    bits = op in ("|", "&")
    ok = kind is not Kind.FLOAT and kind is not Kind.INDEX if bits else kind is not Kind.BOOL
    if not bits and op in ("+", "*"):
        ok = kind not in (Kind.BOOL, Kind.INDEX)
    if not ok:
        raise refusals.types.BadReduction(span, describe(place.type), op)


def _unless_nan(made: ir.Reduce | ir.ReduceGlobal) -> ir.Stmt:
    """A comparison with NaN is false, so `if e < x: x = e` leaves x alone, unlike `x = min(x, e)`."""
    if element_of(made.value.type).is_float:
        return ir.If(ir.Compare("==", made.value, made.value, span=made.span), (made,), span=made.span)
    return made


def meaning(ctx: Context, e: s.Expr) -> object:
    """The Python object that an expression stands for."""
    found = ctx.apart(lambda: entity(ctx, e))[1] if isinstance(e, (s.Name, s.Attribute)) else None
    return found.value if isinstance(found, en.Static) else None


# --- what goes together


def note_reduction(ctx: OperatorContext, place: Place, op: str, span: Span) -> None:
    """Remember a reduction; two of different kinds on one property depend on their order."""
    before = ctx.reduced.setdefault(place.name, (op, span))
    if before[0] != op:
        raise refusals.writes.MixedWrites(span, place.name, before[1])
    for others in (ctx.claimed, ctx.stored_own):
        if place.name in others:
            raise refusals.writes.MixedWrites(span, place.name, others[place.name])


def note_own(ctx: OperatorContext, place: Place, span: Span) -> None:
    """Remember a store that nothing else of the round meets."""
    ctx.stored_own[place.name] = span
    if place.name in ctx.reduced:
        raise refusals.writes.MixedWrites(span, place.name, ctx.reduced[place.name][1])


def note_claim(ctx: OperatorContext, place: Place, span: Span) -> None:
    """Remember a claim."""
    ctx.claimed.setdefault(place.name, span)
    if place.name in ctx.reduced:
        raise refusals.writes.MixedWrites(span, place.name, ctx.reduced[place.name][1])


def check_reads(ctx: OperatorContext) -> None:
    """Refuse reads of the own vertex that see some of the round's writes and not others."""
    for name, span in ctx.own_reads:
        if name in ctx.reduced:
            raise refusals.writes.ReadsWhatItReduces(span, name, ctx.reduced[name][1])
        if name in ctx.claimed and ctx.is_edge:
            raise refusals.writes.ReadsWhatItClaims(span, name, ctx.claimed[name])
    for writing in ctx.edge_uses:
        for use in ctx.edge_uses if writing.writes else ():
            if use.name == writing.name:
                _check_edge_uses(ctx, writing, use)


def check_ends(operator: ir.Operator) -> None:
    """Refuse reads at other vertices of what exclusive activations write: another one may be at it."""
    names = ir.fixed_copies(operator)
    ends = {operator.args[0], operator.args[-1]}
    written = {n.prop: n for n in ir.walk(operator) if isinstance(n, ir.Store) and n.index.type == VID}
    for n in ir.walk(operator):
        if not (isinstance(n, ir.Load) and n.prop in written):
            continue
        at = names.get(n.index.name, n.index) if isinstance(n.index, ir.Var) else n.index
        if not (isinstance(at, ir.Var) and at.name in ends):
            assert n.span is not None
            write = written[n.prop].span
            assert write is not None
            raise refusals.writes.ReadsBeyondEnds(n.span, n.prop, write)


def _check_edge_uses(ctx: OperatorContext, write: EdgeUse, use: EdgeUse) -> None:
    """Refuse an access of what the operator writes at the same edge in another visit, but for reductions of a kind."""
    if write.side is None and not use.writes:
        raise refusals.writes.ReadsWhatItReduces(use.span, write.name, write.span)
    if write.side != use.side:
        raise refusals.writes.EdgeOfTwoVisits(use.span, write.name, write.span)


# --- unions


def union(ctx: Context, call: s.Call) -> en.Made:
    """`vg.union(a.component, b.component)`."""
    done = (lambda: _union(ctx, call)) if isinstance(ctx, OperatorContext) else None
    return en.Made(en.refuse(lambda: refusals.calls.UnionIsAStatement(call.span)), done=done)


def _union(ctx: OperatorContext, call: s.Call) -> None:
    ctx.no_writes_in_helpers(call.span)
    if ctx.exclusive:
        raise (refusals.writes.UnionBesideBothEnds if ctx.is_edge else refusals.gathering.UnionOfGathered)(
            call.span
        )
    vertices, props = [], []
    for arg in arguments(call, "vg.union", 2):
        owner = entity(ctx, arg.value) if isinstance(arg, s.Attribute) else None
        if not (isinstance(arg, s.Attribute) and isinstance(owner, Value) and owner.kind == VID):
            raise refusals.writes.BadUnion(arg.span)
        prop = vertex_property(ctx, arg)
        if not prop.disjoint:
            raise refusals.writes.BadUnion(arg.span)
        vertices.append(sure(ctx, owner))
        props.append(prop)
    if props[0] != props[1]:
        raise refusals.writes.BadUnion(call.span)
    a, b = vertices
    where_sure(ctx, ir.Union(props[0].name, a.expr, b.expr, span=call.span), a, b)


# --- branches


def branch(ctx: Context, statement: s.If) -> None:
    """`if`, `elif`, `else`."""
    if isinstance(ctx, OperatorContext) and ctx.writing:
        guarded = reductions.of_if(statement, lambda e: _needs_reduction(ctx, e))
        if guarded is not None:
            _guarded_branch(ctx, statement, guarded)
            return
    test = condition(ctx, statement.test)
    then, other = block(ctx, statement.then), block(ctx, statement.other)
    ctx.emit(ir.If(test, then, other, span=statement.span))


def _needs_reduction(ctx: OperatorContext, e: s.Expr) -> bool:
    """Whether a write to `e` may meet another one."""
    if not isinstance(e, s.Attribute):
        return False
    owner = ctx.apart(lambda: entity(ctx, e.value))[1]
    if isinstance(owner, en.GraphRef):
        return e.name in ctx.unit.globals
    known = ctx.unit.properties.get(e.name)
    if known is not None and known.origin is ir.Origin.SCRATCH:
        return False
    if isinstance(owner, en.Edge):
        own = known is not None and known.site is ir.Site.NUMBERED
        return own and not alone_with(ctx, owner)
    alone = ctx.exclusive or (not ctx.is_edge and isinstance(owner, Value) and owner.expr == ctx.own)
    return isinstance(owner, Value) and owner.kind == VID and not alone


def _guarded_branch(ctx: OperatorContext, statement: s.If, guarded: Guarded) -> None:
    """A branch whose test decides a write."""
    if statement.other:
        raise refusals.writes.ElseOfUpdate(statement.other[0].span, guarded.place.span)
    if guarded.guard is None:
        _guarded_write(ctx, statement, guarded)
        return
    test = condition(ctx, guarded.guard)
    body, _ = ctx.apart(lambda: _guarded_write(ctx, statement, guarded))
    ctx.emit(ir.If(test, body, span=statement.span))


def _guarded_write(ctx: OperatorContext, statement: s.If, guarded: Guarded) -> None:
    """`if e < x: x = e`, or a claim."""
    place = place_of(ctx, guarded.place, entity(ctx, guarded.place.value))
    if guarded.op == "==":
        _claim(ctx, statement, guarded, place)
        return
    assert guarded.other is not None
    (write, *more) = [x for x in statement.then if not isinstance(x, s.Pass)]
    if more:
        raise refusals.writes.DependentWrites(more[0].span, place.text)
    if not (isinstance(write, s.Assign) and write.value == guarded.other):
        raise refusals.writes.GuardMismatch(write.span, place.text)
    reduction = Reduction("min" if guarded.op in (">", ">=") else "max", (guarded.other,))
    ctx.frame.typed.reductions[position_of(write.span)] = reduction.op
    reduce(ctx, place, reduction, statement.span, tested=True)
    ctx.frame.typed.again(guarded.place, write.target)
    ctx.frame.typed.again(guarded.other, write.value)


def _claim(ctx: OperatorContext, statement: s.If, guarded: Guarded, place: Place) -> None:
    """`if x == c: x = e; ...`."""
    if place.prop is None or place.at is None:
        raise refusals.writes.GlobalNotReduced(statement.span, place.text, " claiming")
    if place.prop.site is ir.Site.NUMBERED:
        raise refusals.writes.SharedEdge(statement.span, place.text, " claiming")
    if isinstance(place.type, Vector):
        raise refusals.writes.VectorClaim(statement.span, place.text)
    if place.type == F16:
        raise refusals.types.StoredOnly(statement.span, place.text)
    expected, held = _expected(ctx, guarded, place)
    ctx.frame.typed.claims.add(position_of(guarded.place.span))
    at = sure(ctx, place.at)
    position = next(
        i for i, x in enumerate(statement.then) if isinstance(x, s.Assign) and x.target == guarded.place
    )
    before = block(ctx, statement.then[:position])
    write = statement.then[position]
    assert isinstance(write, s.Assign)
    new = stored(ctx, value(ctx, write.value), place.type, place.text)
    note_claim(ctx, place, write.span)
    outer, ctx.claiming = ctx.claiming, at.expr
    body = block(ctx, statement.then[position + 1 :])
    ctx.claiming = outer
    ctx.frame.typed.again(guarded.place, write.target)
    made: ir.Stmt = ir.Claim(place.name, at.expr, expected, new, body, span=statement.span)
    if before:
        present = ir.Load(place.name, at.expr, place.type, span=guarded.place.span)
        test = ir.Compare("==", present, expected, span=statement.test.span)
        made = ir.If(test, (*before, made), span=statement.span)
    if held is not None:
        made = ir.If(held, (made,), span=statement.span)
    where_sure(ctx, made, at)


def _expected(ctx: OperatorContext, guarded: Guarded, place: Place) -> tuple[ir.Expr, ir.Expr | None]:
    """What a claim compares with, in the place's type; and a test for whether that type holds it, if it may not."""
    span = guarded.place.span
    if guarded.other is None:
        if place.type != BOOL:
            raise refusals.types.NotABool(span, describe(place.type), "compare it: `x == 0`")
        return ir.Const(False, BOOL, span=span), None
    other = value(ctx, guarded.other)
    expected = stored(ctx, other, place.type, place.text)
    if not _invariant(ctx, expected):
        raise refusals.writes.ClaimFromVariable(guarded.other.span, place.text)
    compared = operation("==", place.type, other.kind)
    if compared is not None and compared[0] == place.type:
        return expected, None
    return expected, comparison("==", Value(expected, place.type, other.span), other, span)


def _invariant(ctx: OperatorContext, e: ir.Expr) -> bool:
    """Whether an expression has one value in the whole round."""
    match e:
        case ir.Const() | ir.GlobalVar() | ir.GraphSize():
            return True
        case ir.Cast(operand=operand) | ir.Unary(operand=operand):
            return _invariant(ctx, operand)
        case ir.Binary(left=left, right=right):
            return _invariant(ctx, left) and _invariant(ctx, right)
    return ctx.unit.is_param(e)
