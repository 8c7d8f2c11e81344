"""Properties in algorithms: declared, read and written one by one."""

from __future__ import annotations

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe, loaded, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.access import no_attribute, read_only, stored
from vgraph.compiler.frontend.lowering.arithmetic import combine
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, OperatorContext, Uses
from vgraph.compiler.frontend.lowering.names import alias, declared
from vgraph.compiler.frontend.lowering.values import arguments, entity, value
from vgraph.compiler.frontend.lowering.vertices import vertex_index
from vgraph.compiler.types import F16, VID, Type, Vector, computed, element_of
from vgraph.language.names import DType, dtype_of, meant
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

# --- declarations


def vertex_property(ctx: AlgorithmContext, call: s.Call, statement: s.Assign, target: s.Name) -> None:
    """`x = graph.vertex_property(dtype, fill=value)`."""
    _filled(ctx, call, target, "graph.vertex_property", ir.Site.VERTEX)


def edge_property(ctx: AlgorithmContext, call: s.Call, statement: s.Assign, target: s.Name) -> None:
    """`x = graph.edge_property(dtype, fill=value)`."""
    _filled(ctx, call, target, "graph.edge_property", ir.Site.NUMBERED)


def _filled(ctx: AlgorithmContext, call: s.Call, target: s.Name, name: str, site: ir.Site) -> None:
    """A property of vertices or edges, filled."""
    given = dict(zip(("dtype", "fill"), call.args, strict=False))
    if len(call.args) > 2:
        raise refusals.calls.WrongArity(call.span, name, "a type and fill=...", len(call.args))
    for keyword in call.keywords:
        if keyword.name not in ("dtype", "fill"):
            hint = did_you_mean(keyword.name, ["dtype", "fill"])
            raise refusals.calls.UnexpectedKeyword(keyword.span, name, keyword.name, hint)
        given[keyword.name] = keyword.value
    t = _dtype(ctx, given.get("dtype"), call)
    number = computed(element_of(t))
    first = Value(zero(number, call.span), number, call.span)
    if "fill" in given:
        first = value(ctx, given["fill"])
    fill = stored(ctx, first, t, f"`{target.id}`")
    prop = own_property(ctx, target, t, call.span, site=site)
    if site is ir.Site.NUMBERED:
        ctx.unit.declare_numbers(call.span)
    ctx.emit(ir.Fill(prop.name, fill, span=call.span))


def scratch(ctx: AlgorithmContext, call: s.Call, statement: s.Assign, target: s.Name) -> None:
    """`x = graph.scratch(dtype)`."""
    (given,) = arguments(call, "graph.scratch", 1)
    t = _dtype(ctx, given, call)
    if t == F16:
        raise refusals.types.NoValues(given.span)
    if isinstance(t, Vector) or t == VID:
        raise refusals.driver.ScratchType(given.span, describe(t))
    own_property(ctx, target, t, call.span, origin=ir.Origin.SCRATCH)


def disjoint_sets(ctx: AlgorithmContext, call: s.Call, statement: s.Assign, target: s.Name) -> None:
    """`x = graph.disjoint_sets()`."""
    arguments(call, "graph.disjoint_sets", 0)
    prop = own_property(ctx, target, VID, call.span, disjoint=True)
    ctx.emit(ir.Fill(prop.name, None, span=statement.span))


def _dtype(ctx: Context, given: s.Expr | None, call: s.Call) -> Type:
    """The type that the argument of a declaration names."""
    dtype = entity(ctx, given) if given is not None else None
    if not isinstance(dtype, en.Static) or not isinstance(dtype.value, DType):
        at = given.span if given is not None else call.span
        hint = meant(dtype.value) if isinstance(dtype, en.Static) else ""
        raise refusals.driver.NotADtype(at, en.words(dtype) if dtype else "nothing", hint)
    return dtype.value.type


def own_property(
    ctx: AlgorithmContext,
    target: s.Name,
    t: Type,
    span: Span,
    disjoint: bool = False,
    origin: ir.Origin = ir.Origin.LOCAL,
    site: ir.Site = ir.Site.VERTEX,
) -> ir.Property:
    """A property of the algorithm; declared again, it must have the same type, and is filled again."""
    _not_in_helper(ctx, span)
    kind: type[en.PropertyRef | en.EdgePropertyRef]
    kind = en.PropertyRef if site is ir.Site.VERTEX else en.EdgePropertyRef

    def make(name: str) -> en.PropertyRef | en.EdgePropertyRef:
        if any(p.name == name for p in ctx.unit.from_graph.values()):
            raise refusals.names.NameClash(target.span, name)
        prop = ir.Property(name, t, site, origin, disjoint, span=target.span)
        ctx.unit.properties[target.id] = prop
        return kind(prop, target.span)

    kept = declared(ctx, target, kind, make).property
    if (kept.type, kept.disjoint, kept.origin) != (t, disjoint, origin):
        old = describe(kept.type)
        raise refusals.driver.Redeclared(span, target.id, describe(t), old, kept.span or span)
    return kept


def _not_in_helper(ctx: AlgorithmContext, span: Span) -> None:
    """Operators find properties by the names that the algorithm gives them."""
    if ctx.stack:
        raise refusals.programs.PropertyInHelper(span, ctx.definition.name)


def name_result(
    ctx: AlgorithmContext, statement: s.Assign, target: s.Name, found: en.PropertyRef | en.EdgePropertyRef
) -> None:
    """`level = bfs(graph, source).level`: the variable's own from now on. Of other properties there is one name."""
    if not found.free or target.id in ctx.frame.objects:
        if found.result:
            raise refusals.programs.EdgeResult(statement.value.span, target.id)
        alias(ctx, statement, target, found)
    _not_in_helper(ctx, statement.span)
    prop = found.property
    declared(ctx, target, type(found), lambda name: type(found)(prop, target.span))
    ctx.unit.properties[target.id] = prop


# --- uses


def _attribute(ctx: Context, e: s.Attribute, owner: en.PropertyRef | en.EdgePropertyRef) -> en.Entity:
    """`x.dtype`."""
    if e.name != "dtype":
        raise no_attribute(e, owner)
    return en.Static(dtype_of(owner.property.type), e.span)


def _index(ctx: Context, e: s.Index, owner: en.PropertyRef) -> Value:
    """`x[v]`."""
    prop = owner.property
    not_scratch(prop, e.span)
    at = vertex_index(ctx, e.index)
    return loaded(ir.Load(prop.name, at, prop.type, span=e.span), e.span)


def _store(ctx: Context, statement: s.Assign | s.Augment, target: s.Index, owner: en.PropertyRef) -> None:
    """`x[v] = e`."""
    prop = owner.property
    not_scratch(prop, target.span)
    if prop.origin is not ir.Origin.LOCAL or owner.result:
        raise refusals.writes.ReadOnly(
            target.span, prop.name, "it is the result of a call" if owner.result else "it is a parameter"
        )
    at = vertex_index(ctx, target.index)
    new = value(ctx, statement.value)
    if isinstance(statement, s.Augment):
        old = loaded(ir.Load(prop.name, at, prop.type, span=target.span), target.span)
        new = combine(statement.op, old, new, statement.span)
    kept = stored(ctx, new, prop.type, f"`{prop.name}`")
    ctx.emit(ir.Store(prop.name, at, kept, span=statement.span))


def not_scratch(prop: ir.Property, span: Span) -> None:
    """The driver loop has no scratch memory."""
    if prop.origin is ir.Origin.SCRATCH:
        raise refusals.driver.ScratchOutside(span, prop.name)


USES = Uses(attribute=_attribute, index=_index, store_index=_store)
EDGE_USES = Uses(attribute=_attribute, bind=name_result)


# --- properties of the graph


def _graph_dtype(ctx: Context, e: s.Attribute, owner: en.GraphProperty) -> en.Entity:
    """`graph.weight.dtype` and `graph.weight.path_dtype`."""
    signature = ctx.unit.signature
    if e.name == "dtype":
        types = {**signature.vertex_properties, **signature.edge_properties}
        return en.Static(dtype_of(types[owner.name]), e.span)
    if e.name == "path_dtype" and owner.name in signature.path_types:
        return en.Static(dtype_of(signature.path_types[owner.name]), e.span)
    advice = "; it has dtype and path_dtype"
    raise refusals.names.NoAttribute(e.name_span, e.name, f"`graph.{owner.name}`", advice)


def _graph_index(ctx: Context, e: s.Index, owner: en.GraphProperty) -> Value:
    """`graph.height[v]` in the driver loop."""
    if isinstance(ctx, OperatorContext):
        raise refusals.types.NoIndex(e.span, owner.words)
    prop = ctx.unit.graph_property(owner.name, ir.Site.VERTEX, e.span)
    if prop is None:
        raise refusals.types.NoIndex(e.span, "a property of edges")
    at = vertex_index(ctx, e.index)
    return Value(ir.Load(prop.name, at, prop.type, span=e.span), prop.type, e.span)


GRAPH_USES = Uses(attribute=_graph_dtype, index=_graph_index, store_index=read_only)
