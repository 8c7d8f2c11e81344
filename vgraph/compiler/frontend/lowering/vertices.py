"""Vertices, edges and neighbors: attributes, loops, and what may be taken for a vertex."""

from __future__ import annotations

from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, coerce, describe, loaded, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, EdgeUse, OperatorContext
from vgraph.compiler.frontend.lowering.values import fit, int64, some, sure, value
from vgraph.compiler.frontend.signature import EdgeArgument, EdgeConstant
from vgraph.compiler.types import EID, I64, VID, Vector
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

_NUMBERS = ("id", "out_degree", "in_degree", "degree")
ENDS, REVERSE = ("src", "dst"), "reverse"
OUT_OF_RANGE = "a vertex index is out of range"


def attribute(ctx: Context, e: s.Attribute, v: Value) -> en.Entity:
    """`v.name`: a number of the graph's, neighbors, or a property."""
    if isinstance(v.kind, Vector):
        raise refusals.types.VectorHasNoMethods(e.name_span, describe(v.kind), e.name)
    if v.kind != VID:
        raise refusals.types.NumberHasNoAttributes(e.name_span, describe(v.kind), e.name)
    both = ctx.unit.signature.directed and e.name in ("degree", "neighbors")
    if both and e.name == "degree":
        raise refusals.names.DirectedGraph(e.name_span, e.name)
    if e.name == "id":
        return Value(v.expr, VID, e.span, v.valid)
    way = ir.Orientation.IN if e.name.startswith("in_") else ir.Orientation.OUT
    if e.name in _NUMBERS:
        return degree(ctx, v, way, e.span)
    if both:
        v = sure(ctx, v)
        out, into = (en.Neighbors(v, side, False, e.span) for side in ir.Orientation)
        return en.NeighborSet("|", out, into, e.span)
    if e.name in NEIGHBORS:
        return en.Neighbors(v, way, e.name.endswith("edges"), e.span)
    return _load(ctx, vertex_property(ctx, e), v, e.span)


def vertex_property(ctx: Context, e: s.Attribute) -> ir.Property:
    """The property behind `v.name`."""
    prop = ctx.unit.vertex_property(e.name, e.span)
    if prop is None:
        known = [*ctx.unit.known_vertex_names(), *_NUMBERS, *NEIGHBORS]
        where = " (it is a property of edges)" if e.name in ctx.unit.signature.edge_properties else ""
        where = (
            f" (it is an array, of which `{e.name}[i]` is an element)" if e.name in ctx.unit.arrays else where
        )
        raise refusals.names.NoVertexProperty(e.name_span, e.name, where + did_you_mean(e.name, known))
    if isinstance(ctx, AlgorithmContext):
        raise refusals.driver.AttributeInDriver(e.span, e.name)
    if prop.origin is ir.Origin.SCRATCH and isinstance(ctx, OperatorContext) and ctx.is_edge:
        raise refusals.driver.ScratchOutside(e.span, e.name)
    return prop


def _load(ctx: Context, prop: ir.Property, v: Value, span: Span) -> Value:
    """A read at a vertex; at vg.none it gives zero, false or vg.none."""
    scratch = prop.origin is ir.Origin.SCRATCH
    if isinstance(ctx, OperatorContext) and v.expr == ctx.own and not scratch:
        ctx.own_reads.append((prop.name, span))
    node = ir.ScratchLoad if scratch else ir.Load
    at = sure(ctx, v)
    return _where_there(at, loaded(node(prop.name, at.expr, prop.type, span=span), span))


def edge_attribute(ctx: Context, e: s.Attribute, edge: en.Edge) -> en.Entity:
    """`edge.src`, `edge.dst`, `edge.reverse`, or a property of the edge."""
    if e.name in ENDS:
        end = edge.src if e.name == "src" else edge.dst
        return Value(end.expr, end.kind, e.span, end.valid)
    arc, declared = sure(ctx, edge.arc), ctx.unit.signature.arguments.get(e.name)
    if isinstance(declared, EdgeConstant):
        one = ir.Const(declared.value, declared.type, span=e.span)
        return _where_there(arc, Value(one, declared.type, e.span))
    prop = ctx.unit.edge_property(e.name, e.span)
    if prop is None and e.name == REVERSE and edge.arc.valid:
        return _opposite(ctx, e, edge)
    if prop is None:
        known = ctx.unit.known_edge_names()
        listed = ", ".join(f"`{n}`" for n in known) or "none"
        hint = did_you_mean(e.name, [*known, *ENDS, REVERSE])
        raise refusals.names.NoEdgeProperty(e.name_span, e.name, hint, listed)
    at = arc.expr
    if prop.site is ir.Site.NUMBERED:
        note_edge(ctx, prop, edge, e.span, writes=False)
        at = ctx.unit.number_of(at)
    read = _where_there(arc, loaded(ir.Load(prop.name, at, prop.type, span=e.span), e.span))
    if isinstance(declared, EdgeArgument) and prop.type != declared.type:
        return Value(ir.Cast(declared.type, read.expr, span=e.span), declared.type, e.span)
    return read


def _where_there(at: Value, read: Value) -> Value:
    """What is read at a vertex or an arc; zero, false or vg.none where there is no such one."""
    if at.valid:
        return read
    there, other = some(at.expr, read.span), zero(read.type, read.span)
    return replace(read, expr=ir.Select(there, read.expr, other, span=read.span))


def _opposite(ctx: Context, e: s.Attribute, edge: en.Edge) -> en.Edge:
    """`edge.reverse`."""
    if not ctx.unit.signature.directed:
        raise refusals.names.UndirectedReverse(e.name_span)
    arc = Value(ctx.unit.opposite_of(edge.arc.expr, e.span), EID, e.span)
    return en.Edge(arc, edge.dst, edge.src, e.span, None)


def alone_with(ctx: Context, edge: en.Edge) -> bool:
    """Whether no other visit comes to the edge by the arcs among which this one found it."""
    if isinstance(ctx, OperatorContext) and ctx.between_ends(edge):
        return True
    return ctx.unit.signature.directed and edge.side is not None


def note_edge(ctx: Context, prop: ir.Property, edge: en.Edge, span: Span, *, writes: bool) -> None:
    """Remember an access of an edge property of the algorithm."""
    assert isinstance(ctx, OperatorContext)
    side = edge.side if alone_with(ctx, edge) else None
    if ctx.exclusive and ctx.is_edge:
        side = ir.Orientation.OUT if ctx.between_ends(edge) else None
    ctx.edge_uses.append(EdgeUse(prop.name, writes, side, span))


# --- values as vertices


def vertex_of(ctx: Context, x: Value, span: Span) -> ir.Expr:
    """A vertex from a value that is to be one. Raises NotAVertex for a computed number in an operator."""
    if x.kind == VID:
        return x.expr
    literal = x.kind is Weak.INT and isinstance(x.expr, ir.Const)
    if not literal and (
        isinstance(ctx, OperatorContext) or isinstance(x.kind, (Weak, Vector)) or not x.kind.is_integer
    ):
        raise refusals.types.NotAVertex(span, describe(x.kind))
    return numbered(ctx, x, span).expr


def numbered(ctx: Context, x: Value, span: Span) -> Value:
    """The vertex of a number; vg.none where the graph has none of that number."""
    if isinstance(x.expr, ir.Const) and x.expr.value < 1:  # without vertices nobody can tell 0
        return Value(fit(x, VID), VID, span)
    number = sure(ctx, Value(coerce(Value(x.expr, x.type, span), I64), I64, span)).expr
    low = ir.Compare(">=", number, int64(0, span), span=span)
    high = ir.Compare("<", number, ir.GraphSize("num_vertices", span=span), span=span)
    inside = ir.Logical("and", low, high, span=span)
    vertex = ir.Select(inside, ir.Cast(VID, number, span=span), zero(VID, span), span=span)
    return Value(vertex, VID, span)


def vertex_index(ctx: Context, e: s.Expr) -> ir.Expr:
    """A vertex that the driver loop indexes a property with."""
    return checked_vertex(ctx, value(ctx, e), e.span)


def checked_vertex(ctx: Context, v: Value, span: Span) -> ir.Expr:
    """A vertex of the driver loop's: a computed number is checked when it runs."""
    if v.valid:
        return v.expr
    if isinstance(v.type, Vector) or not (v.type.is_integer or v.kind == VID):
        raise refusals.types.NotAVertex(span, describe(v.kind))
    name = ctx.temporary("index", I64, fit(v, I64), span)
    at = ir.Var(name, I64, span=span)
    low = ir.Compare("<", at, int64(0, span), span=span)
    high = ir.Compare(">=", at, ir.GraphSize("num_vertices", span=span), span=span)
    out = ir.Logical("or", low, high, span=span)
    ctx.emit(ir.If(out, (ir.Fail(OUT_OF_RANGE, span=span),), span=span))
    return ir.Cast(VID, at, span=span)


# --- neighbors


NEIGHBORS = ("out_neighbors", "in_neighbors", "neighbors", "out_edges", "in_edges")


def degree(ctx: Context, v: Value, way: ir.Orientation, span: Span) -> Value:
    """A degree; 0 for vg.none."""
    at = sure(ctx, v)
    return _where_there(at, Value(ir.Degree(at.expr, way, span=span), I64, span))
