"""`graph.frontier(...)`: what a new frontier is made of."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import APPLY, AlgorithmContext
from vgraph.compiler.frontend.lowering.frontiers import frontier, made
from vgraph.compiler.frontend.lowering.generated import add_operator, at_vertex, kept
from vgraph.compiler.frontend.lowering.properties import not_scratch
from vgraph.compiler.frontend.lowering.values import arguments, condition, entity
from vgraph.compiler.frontend.lowering.vertices import checked_vertex
from vgraph.compiler.frontend.signature import ArrayType
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import BOOL, VID
from vgraph.source import Span


def new(ctx: AlgorithmContext, e: s.Call, graph: en.GraphRef) -> en.Made:
    """`graph.frontier()`, of a vertex, an array, a property of bools, or of vertices that are chosen."""
    span = e.span
    if not e.args and not e.keywords:
        return made(ctx, lambda out: ir.FrontierSet(out, ir.FrontierKind.EMPTY, span=span), span)
    (arg,) = arguments(e, "graph.frontier", 1)
    if isinstance(arg, s.Comprehension):
        return _chosen(ctx, arg)
    bound = ctx.frame.bindings.get(arg.id) if isinstance(arg, s.Name) else None
    # a set has no element per vertex
    found = bound if isinstance(bound, en.PropertyRef) else entity(ctx, arg)
    if isinstance(found, Value):
        vertex = checked_vertex(ctx, found, arg.span)
        return made(ctx, lambda out: ir.FrontierSet(out, ir.FrontierKind.SINGLE, vertex, span=span), span)
    marks = _marks(ctx, found, arg.span).name
    return made(ctx, lambda out: ir.FrontierWhere(out, marks, span=span), span)


def _marks(ctx: AlgorithmContext, found: en.Entity, span: Span) -> ir.Property:
    """The property of bools that tells which vertices are meant."""
    prop: ir.Property | None = None
    if isinstance(found, (en.PropertyRef, en.ArrayRef)):
        prop = found.property
        not_scratch(prop, span)
    elif isinstance(found, en.GraphProperty):
        prop = ctx.unit.graph_property(found.name, ir.Site.VERTEX, span)
    if prop is None:
        raise refusals.driver.NotVertices(span, en.words(found))
    if prop.type == BOOL and prop.site is ir.Site.VERTEX:
        return ctx.unit.parameter_property(prop.name, span) or prop
    given = ctx.unit.signature.arguments.get(prop.name) if prop.origin is ir.Origin.PARAM else None
    if not isinstance(given, ArrayType) or given.dimensions == 2:
        raise refusals.driver.NotVertices(span, f"{en.words(found)} of {describe(prop.type)}")
    if not (given.element.is_integer or given.element == VID):
        raise refusals.driver.NotVertices(span, f"an array of {describe(given.element)}")
    return ctx.unit.members(prop.name, span)


# --- chosen by a condition


def _chosen(ctx: AlgorithmContext, e: s.Comprehension) -> en.Made:
    """`v for v in graph.vertices if v.x > 0`: a vertex operator of its own, by which vertices are filtered."""
    if e.element != e.target:
        raise refusals.driver.NotTheVertex(e.element.span, e.target.id)
    ctx.spend(e.span, APPLY)
    over = _domain(ctx, e.iterable)
    op = _operator(ctx, e)
    return made(ctx, lambda out: ir.VertexApply(op, over, out, op, span=e.span), e.span)


def _domain(ctx: AlgorithmContext, e: s.Expr) -> str | None:
    """The frontier that is chosen from; None: all vertices."""
    if isinstance(e, s.Attribute) and e.name == "vertices" and isinstance(entity(ctx, e.value), en.GraphRef):
        return None
    return frontier(ctx, e)


def _operator(ctx: AlgorithmContext, e: s.Comprehension) -> str:
    """The operator that is true at the vertices which are chosen."""
    v = e.target.id
    inner = at_vertex(ctx, v, e.target.span, _seen(ctx, e))
    inner.frame.bindings[v] = Value(inner.own, VID, e.target.span, valid=True)
    test = condition(inner, s.Bool(e.span, "and", e.tests)) if e.tests else ir.Const(True, BOOL, span=e.span)
    ctx.calls = inner.calls
    name = add_operator(ctx, "frontier", inner.own, (*inner.out, ir.Emit(test, span=e.span)), e.span)
    ctx.frame.typed.labels[position_of(e.element.span)] = name
    return name


def _seen(ctx: AlgorithmContext, e: s.Comprehension) -> dict[str, en.Entity]:
    """What the condition sees of the algorithm's names: numbers as they are when it is evaluated."""
    found: dict[str, en.Entity] = {}
    for n in (n for test in e.tests for n in s.walk(test) if isinstance(n, s.Name)):
        if n.id == e.target.id or n.id in found or n.id not in ctx.frame.own_names:
            continue
        meant = entity(ctx, n)
        if isinstance(meant, (en.FrontierRef, en.ListRef, en.QueueRef)):
            raise refusals.driver.NotInCondition(n.span, en.words(meant))
        if isinstance(meant, Value) and not isinstance(meant.expr, (ir.Const, ir.GlobalVar)):
            base = meant.expr.name if isinstance(meant.expr, ir.Var) else n.id
            meant = kept(ctx, f"{base}.now", meant, n.span)
        found[n.id] = meant
    return found


def elsewhere(ctx: AlgorithmContext, e: s.Comprehension) -> en.Entity:
    """A comprehension that is no condition of a frontier."""
    raise refusals.syntax.Comprehension(e.span)
