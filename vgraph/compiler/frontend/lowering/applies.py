"""Applies, and the operators that they apply."""

from __future__ import annotations

from collections.abc import Callable

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import control
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import reductions
from vgraph.compiler.frontend.lowering.calls import returned
from vgraph.compiler.frontend.lowering.cautious import check_cautious
from vgraph.compiler.frontend.lowering.context import APPLY, AlgorithmContext, Context, OperatorContext
from vgraph.compiler.frontend.lowering.frontiers import frontier, made
from vgraph.compiler.frontend.lowering.gathered import Gathers, declarations, with_second
from vgraph.compiler.frontend.lowering.names import enter
from vgraph.compiler.frontend.lowering.round_start import of_round_start, put_by
from vgraph.compiler.frontend.lowering.statements import body
from vgraph.compiler.frontend.lowering.statics import static_value
from vgraph.compiler.frontend.lowering.values import condition, entity
from vgraph.compiler.frontend.lowering.writes import check_ends, check_reads
from vgraph.compiler.frontend.unit import Names, syntax_of
from vgraph.compiler.types import BOOL, EID, VID
from vgraph.language.decorators import OperatorDef
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span


def vertex_apply(ctx: AlgorithmContext, e: s.Call, graph: en.GraphRef) -> en.Made:
    """`graph.vertex_apply(op, frontier, label=...)`, which gives nothing."""
    refused = en.refuse(lambda: refusals.driver.ReturnsNothing(e.span))
    return en.Made(refused, done=lambda: ctx.emit(*_apply(ctx, e, "vertex_apply")("")))


def making(ctx: AlgorithmContext, e: s.Call, graph: en.GraphRef, kind: str) -> en.Made:
    """`graph.edge_apply(...)`, `graph.vertex_filter(...)`: a frontier, which a statement does not make."""
    make = _apply(ctx, e, kind)
    return made(ctx, make, e.span, lambda: ctx.emit(*make("")))


def _apply(ctx: AlgorithmContext, e: s.Call, kind: str) -> Callable[[str], ir.Body]:
    """The apply that puts the frontier it makes into a variable, or with "" makes none, and what belongs to it."""
    ctx.spend(e.span, APPLY)
    given = _arguments(e, kind)
    found = entity(ctx, given["op"]) if "op" in given else None
    if not isinstance(found, en.Static) or not isinstance(found.value, OperatorDef):
        at = given.get("op", e).span
        raise refusals.driver.NotAnOperator(at, kind, en.words(found) if found else "nothing")
    try:
        op = _operator(ctx, found.value, kind, given["op"].span)
    except Refusal as refusal:
        if refusal.span.source is not e.span.source:
            refusal.through(e.span, f"`{found.value.name}` is applied here")
        raise
    over = given.get("frontier")
    source = None if over is None or over == s.Literal(e.span, None) else frontier(ctx, over)
    label = given.get("label")
    named = op.name if label is None else static_value(label, ctx)
    if not isinstance(named, str):
        assert label is not None
        raise refusals.driver.LabelNotLiteral(label.span)
    if kind != "edge_apply":
        return lambda out: (
            *put_by(ctx, op.name, e.span),
            *with_second(ctx, ir.VertexApply(op.name, source, out or None, named, span=e.span)),
        )
    reverse = _reversed(ctx, given.get("reverse"))
    return lambda out: (
        *put_by(ctx, op.name, e.span),
        ir.EdgeApply(op.name, source, out or None, named, reverse=reverse, span=e.span),
    )


def _arguments(e: s.Call, kind: str) -> dict[str, s.Expr]:
    """The arguments of an apply by name."""
    names = ("op", "frontier", "label", "reverse")[: 4 if kind == "edge_apply" else 3]
    if len(e.args) > 3:
        wanted = "an operator, a frontier and label=..."
        raise refusals.calls.WrongArity(e.span, f"graph.{kind}", wanted, len(e.args))
    given = dict(zip(names, e.args, strict=False))
    for keyword in e.keywords:
        if keyword.name not in names or keyword.name in given:
            hint = did_you_mean(keyword.name, list(names))
            raise refusals.calls.UnexpectedKeyword(keyword.span, f"graph.{kind}", keyword.name, hint)
        given[keyword.name] = keyword.value
    return given


def _reversed(ctx: Context, given: s.Expr | None) -> bool:
    """Whether an edge operator runs against the arcs; in an undirected graph that is the same as along them."""
    if given is None:
        return False
    known = static_value(given, ctx)
    if not isinstance(known, bool):
        raise refusals.driver.ReverseNotConstant(given.span)
    return known and ctx.unit.signature.directed


def _operator(ctx: Context, definition: OperatorDef, kind: str, span: Span) -> ir.Operator:
    """The operator, if it is one for applies of that kind."""
    op = operator_of(ctx, definition)
    if op.is_edge != (kind == "edge_apply"):
        what = "an edge operator" if op.is_edge else "a vertex operator"
        how = "graph.edge_apply" if op.is_edge else "graph.vertex_apply"
        raise refusals.driver.WrongOperatorKind(span, kind, op.name, what, how)
    returns = bool(op.body) and isinstance(op.body[-1], ir.Emit)
    if returns and kind == "vertex_apply":
        raise refusals.driver.ResultIgnored(span, op.name)
    if not returns and kind == "vertex_filter":
        raise refusals.driver.FilterWithoutResult(span, op.name)
    return op


# --- operators


GRAPH = "graph"


def operator_of(ctx: Context, definition: OperatorDef) -> ir.Operator:
    """The operator, lowered on first use."""
    unit = ctx.unit
    if definition not in unit.operators:
        inner, unit.operators[definition] = _either(ctx, definition)
        unit.typed[definition] = inner.frame.typed
    return unit.operators[definition]


def _either(ctx: Context, definition: OperatorDef) -> tuple[OperatorContext, ir.Operator]:
    """The operator, its writes as reductions; or, where it writes both ends of its edge or gathers vertices, as one
    whose activations exclude each other."""
    inner, args = _bound(ctx, definition)
    try:
        return inner, _lowered(inner, definition, args)
    except Gathers:
        return _cautious(ctx, definition)
    except Refusal as refused:
        alone, args = _bound(ctx, definition, exclusive=inner.is_edge)
        ends = {alone.src, alone.own}
        try:
            operator = _lowered(alone, definition, args) if alone.exclusive else None
        except Refusal as other:
            raise (other if ends == alone.written_ends else refused) from None
        if operator is None or ends != alone.written_ends:
            raise
    check_ends(operator)
    return alone, of_round_start(ctx, operator)


def _cautious(ctx: Context, definition: OperatorDef) -> tuple[OperatorContext, ir.Operator]:
    """A vertex operator whose visits are alone with what they gather."""
    alone, args = _bound(ctx, definition, exclusive=True)
    operator = _lowered(alone, definition, args)
    check_cautious(operator, alone.gathered[0].span)
    unit = ctx.unit
    unit.gathered[operator.name] = alone.gathered
    if alone.late:
        again, args = _bound(ctx, definition, exclusive=True)
        again.second = True
        more = ir.with_fields(_lowered(again, definition, args), {"name": f"{operator.name}.more"})
        unit.gathered[more.name] = again.gathered
        unit.operators[definition, "more"] = of_round_start(ctx, more)
        unit.seconds[operator.name] = more.name, alone.late
    return alone, of_round_start(ctx, operator)


def _bound(
    ctx: Context, definition: OperatorDef, *, exclusive: bool = False
) -> tuple[OperatorContext, tuple[str, ...]]:
    """The context of an operator with its parameters bound, and their names in the IR."""
    unit, text = ctx.unit, syntax_of(definition)
    plain = [p for p in text.parameters if p.name != GRAPH]
    outer = [p.name for p in text.parameters][:: max(1, len(text.parameters) - 1)]  # the first and the last
    if len(plain) not in (1, 3) or (len(plain) != len(text.parameters) and GRAPH not in outer):
        shown = ", ".join(p.name for p in text.parameters)
        raise refusals.driver.OperatorParameters(text.span, text.name, shown)
    names = Names(unit.names.taken | unit.driver_names)
    args = tuple(names.fresh(p.name) for p in plain)
    ends = [ir.Var(args[i], VID, span=plain[i].span) for i in (0, -1)]
    src, own = (ends[0], ends[1]) if len(plain) == 3 else (None, ends[0])
    spread = reductions.at_others(text.body, plain[0].name) if src is None else {}
    inner = OperatorContext(unit, ctx.rules, definition, names, own=own, src=src, spread=spread)
    inner.exclusive = inner.frame.typed.exclusive = exclusive
    vertices = [Value(v, VID, p.span, valid=True) for v, p in zip(ends, (plain[0], plain[-1]), strict=True)]
    bound: list[en.Entity] = [vertices[0]]
    if src is not None:
        arc = Value(ir.Var(args[1], EID, span=plain[1].span), EID, plain[1].span, valid=True)
        edge = en.Edge(arc, vertices[0], vertices[1], plain[1].span, ir.Orientation.OUT)
        bound += [edge, vertices[1]]
    inner.frame.bindings |= {p.name: en.GraphRef(p.span) for p in text.parameters if p.name == GRAPH}
    inner.frame.bindings |= zip((p.name for p in plain), bound, strict=True)
    return inner, args


def _lowered(ctx: OperatorContext, definition: OperatorDef, args: tuple[str, ...]) -> ir.Operator:
    """The operator in the IR."""
    text = syntax_of(definition)
    name = Names(o.name for o in ctx.unit.operators.values()).fresh(definition.name)
    statements = enter(ctx, text.body)
    given = [r.value for r in control.returns(statements) if r.value is not None]
    if given and ctx.is_edge:
        raise refusals.driver.EdgeOperatorReturns(given[0].span, definition.name)
    if given:
        chosen = returned(ctx, statements, text.span, lambda x, e: Value(condition(ctx, e), BOOL, x.span))
        ctx.emit(ir.Emit(chosen.expr, span=given[-1].span))
    else:
        body(ctx, statements)
    check_reads(ctx)
    return ir.Operator(name, args, (*declarations(ctx), *ctx.out), span=text.span)
