"""`graph.name`: methods, sizes, globals, and the graph's own properties."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, default, describe, settled
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.arithmetic import combine
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, OperatorContext
from vgraph.compiler.frontend.lowering.frontiers import whole
from vgraph.compiler.frontend.lowering.values import fit, value
from vgraph.compiler.types import BOOL, I64, Type
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span

_SIZES = ("num_vertices", "num_edges", "directed")
WHOLE = ("sum", "min", "max", "any", "all", "count", "where")
"""Methods whose names globals and properties may have: only what is called is the method."""
_BEST = "in a vertex operator, `graph.best, graph.where = {}((graph.best, graph.where), (v.x, v))`"
_INSTEAD = {
    "mean": "`graph.sum(x) / graph.num_vertices`",
    "argmax": _BEST.format("max"),
    "argmin": _BEST.format("min"),
    **{
        name: f"it is a number of a vertex: `v.{name}` in an operator"
        for name in ("out_degree", "in_degree", "degree", "id")
    },
}
_DECLARES = "declare it in the algorithm, by `x = graph.{}(...)`; operators see it as `{}`"
_ELSEWHERE = {
    "vertex_property": _DECLARES.format("vertex_property", "v.x"),
    "edge_property": _DECLARES.format("edge_property", "edge.x"),
    "scratch": _DECLARES.format("scratch", "v.x"),
    "vertices": (
        "an operator is applied to all vertices by the algorithm; its own loop goes over `range(graph.num_vertices)`, "
        "and takes `vg.vertex(i)`"
    ),
}
_APPLIES = "apply operators from the algorithm; an operator may loop over neighbors"


def attribute(ctx: Context, e: s.Attribute, graph: en.GraphRef) -> en.Entity:
    """`graph.name`."""
    if isinstance(ctx, AlgorithmContext):
        if e.name == "vertices":
            return whole(ctx, e.span)
        if (en.GraphRef, e.name) in ctx.rules.functions and e.name not in WHOLE:
            ctx.spend(e.span, -3)  # graph, name and call: an apply has a price, the others are no operations
            return en.Method(graph, e.name, e.span)
    found = size(ctx, e.name, e.span) or read_global(ctx, e.name, e.span)
    if found is not None:
        return found
    if isinstance(ctx, OperatorContext) and e.name in (*_methods(ctx), "vertices"):
        raise refusals.driver.AppliesInOperator(e.span, e.name, _ELSEWHERE.get(e.name, _APPLIES))
    graph_owned = (*ctx.unit.signature.edge_properties, *ctx.unit.signature.vertex_properties)
    if e.name in graph_owned:
        return en.GraphProperty(e.name, e.span)
    more = () if isinstance(ctx, OperatorContext) else (*graph_owned, *_methods(ctx), "vertices")
    known = [*ctx.unit.globals, *more, *_SIZES]
    raise no_global(e, known)


def no_global(e: s.Attribute, known: list[str]) -> Refusal:
    """The refusal of `graph.name` that there is not."""
    advice = _INSTEAD.get(e.name, f"set it in the algorithm before it is used: `graph.{e.name} = 0`")
    return refusals.names.NoSuchGlobal(e.name_span, e.name, did_you_mean(e.name, known), advice)


def is_graph(ctx: Context, e: s.Expr) -> bool:
    """Whether a name stands for the graph."""
    return isinstance(e, s.Name) and isinstance(ctx.frame.bindings.get(e.id), en.GraphRef)


def _methods(ctx: Context) -> tuple[str, ...]:
    return tuple(k[1] for k in ctx.rules.functions if isinstance(k, tuple) and k[0] is en.GraphRef)


def size(ctx: Context, name: str, span: Span) -> Value | None:
    """`graph.num_vertices`, `graph.num_edges`, `graph.directed`; None for another name."""
    directed = ctx.unit.signature.directed
    if name == "directed":
        return Value(ir.Const(directed, BOOL, span=span), BOOL, span)
    if name == "num_vertices":
        return Value(ir.GraphSize(name, span=span), I64, span)
    if name != "num_edges":
        return None
    if directed:
        return Value(ir.GraphSize("num_arcs", span=span), I64, span)
    return Value(ctx.unit.graph_param("graph.num_edges", I64, span), I64, span)


# --- globals


def read_global(ctx: Context, name: str, span: Span) -> Value | None:
    """`graph.name`; None if no such global was set before."""
    state = ctx.unit.inference.read(("global", name)) if name in ctx.unit.globals else None
    if state is None:
        return None
    t = default(state.kind)
    return Value(ir.GlobalVar(name, t, span=span), t, span, state.valid)


def widen_global(ctx: Context, name: str, value: Value, span: Span) -> Type:
    """Let a global hold `value`, too; gives its type."""
    inference, key = ctx.unit.inference, ("global", name)
    state = inference.assign(key, settled(value.kind), value.valid)
    if state is None:
        old = describe(inference.current[key].kind)
        raise refusals.types.IncompatibleAssignment(span, f"graph.{name}", old, describe(value.kind))
    inference.read(key)
    return default(state.kind)


def set_global(ctx: AlgorithmContext, statement: s.Assign | s.Augment, target: s.Attribute) -> None:
    """`graph.name = e` in the driver loop."""
    name = target.name
    if name in (*_methods(ctx), "vertices", *_SIZES) and name not in WHOLE:
        raise refusals.writes.ReadOnly(target.span, f"graph.{name}", "it belongs to the graph")
    new = value(ctx, statement.value)
    if isinstance(statement, s.Augment):
        new = combine(statement.op, value(ctx, target), new, statement.span)
    ctx.unit.globals.setdefault(name, target.span)
    t = widen_global(ctx, name, new, target.span)
    ctx.emit(ir.SetGlobal(name, fit(new, t), span=statement.span))
