"""What names, attributes and indices stand for."""

from __future__ import annotations

import enum
from abc import abstractmethod
from types import ModuleType

import numpy as np

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import (
    Value,
    Weak,
    describe,
    zero,
)
from vgraph.compiler.frontend.scoping import Scoping
from vgraph.compiler.types import BOOL, F64, I64, NUMPY_NAMES, VID, Vector, element_of
from vgraph.errors import shown
from vgraph.language.names import Infinity, NoVertex, dtype_of
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

_VERTEX_NUMBERS = ("id", "out_degree", "in_degree", "degree")
_NEIGHBORS = {
    "out_neighbors": (ir.Orientation.OUT, False),
    "in_neighbors": (ir.Orientation.IN, False),
    "neighbors": (ir.Orientation.OUT, False),
    "out_edges": (ir.Orientation.OUT, True),
    "in_edges": (ir.Orientation.IN, True),
}
_EDGE_ENDS = ("src", "dst")


class Access(Scoping):
    """Lowers attributes and indices."""

    @abstractmethod
    def entity(self, e: s.Expr) -> Entity:
        """Whatever an expression stands for."""

    @abstractmethod
    def integer(self, e: s.Expr, what: str) -> ir.Expr:
        """An int64."""

    @abstractmethod
    def shared(self, value: Value) -> Value:
        """`value` in a form that may be evaluated twice."""

    def captured(self, value: object, span: Span) -> Entity:
        """A Python value of the module or a closure: numbers become constants."""
        if isinstance(value, enum.Enum):
            value = value.value
        if isinstance(value, Infinity):
            return Value(ir.Const(float(value), F64, span=span), Weak.INF, span)
        if isinstance(value, NoVertex):
            return Value(ir.Const(-1, VID, span=span), VID, span)
        if isinstance(value, np.generic) and value.dtype.name in NUMPY_NAMES:
            t = NUMPY_NAMES[value.dtype.name]
            return Value(ir.Const(value.item(), t, span=span), t, span)
        if isinstance(value, bool):
            return Value(ir.Const(value, BOOL, span=span), BOOL, span)
        if isinstance(value, int):
            return literal_value(s.Literal(span, int(value)))
        if isinstance(value, float):
            return Value(ir.Const(value, F64, span=span), Weak.FLOAT, span)
        return en.Static(value, span)

    def attribute(self, e: s.Attribute) -> Entity:
        """`owner.name`."""
        owner = self.entity(e.value)
        match owner:
            case Value(kind=kind) if kind == VID:
                return self.vertex_attribute(e, owner)
            case Value(kind=kind):
                raise refusals.types.NumberHasNoAttributes(e.name_span, describe(kind), e.name)
            case en.GraphRef():
                return self.graph_attribute(e, owner)
            case en.Edge():
                return self.edge_attribute(e, owner)
            case en.QueueRef() if e.name == "level":
                return Value(ir.QueueLevel(owner.name, span=e.span), I64, e.span)
            case en.ListRef() | en.QueueRef():
                return en.Method(owner, e.name, e.span)
            case en.GraphProperty():
                return self.property_attribute(e, owner)
            case en.PropertyRef(property=p) if e.name == "dtype":
                return en.Static(dtype_of(p.type), e.span)
            case en.Static(value=value):
                return self.static_attribute(e, value)
        raise refusals.names.NoAttribute(e.name_span, e.name, en.words(owner), "")

    def static_attribute(self, e: s.Attribute, owner: object) -> Entity:
        """`module.name` or `Enum.member`."""
        if isinstance(owner, (ModuleType, type)):
            try:
                return self.captured(getattr(owner, e.name), e.span)
            except AttributeError:
                hint = did_you_mean(e.name, [n for n in dir(owner) if not n.startswith("_")])
                raise refusals.names.NoAttribute(e.name_span, e.name, f"`{owner.__name__}`", hint) from None
        raise refusals.names.NoAttribute(e.name_span, e.name, en.words(en.Static(owner, e.span)), "")

    def property_attribute(self, e: s.Attribute, owner: en.GraphProperty) -> Entity:
        """`graph.weight.dtype` and `graph.weight.path_dtype`."""
        types = {**self.unit.signature.vertex_properties, **self.unit.signature.edge_properties}
        if e.name == "dtype":
            return en.Static(dtype_of(types[owner.name]), e.span)
        if e.name == "path_dtype" and owner.name in self.unit.signature.path_types:
            return en.Static(dtype_of(self.unit.signature.path_types[owner.name]), e.span)
        raise refusals.names.NoAttribute(
            e.name_span, e.name, f"`graph.{owner.name}`", "; it has dtype and path_dtype"
        )

    def vertex_attribute(self, e: s.Attribute, v: Value) -> Entity:
        """`v.name`: a number of the graph's, neighbors, or a property."""
        span = e.span
        if e.name in ("degree", "neighbors") and self.unit.signature.directed:
            raise refusals.names.DirectedGraph(e.name_span, e.name)
        if e.name == "id":
            return Value(v.expr, VID, span, v.valid)
        if e.name in _VERTEX_NUMBERS:
            way = ir.Orientation.IN if e.name == "in_degree" else ir.Orientation.OUT
            return self.degree(v, way, span)
        if e.name in _NEIGHBORS:
            way, edges = _NEIGHBORS[e.name]
            return en.Neighbors(v, way, edges, span)
        prop = self.vertex_property(e)
        return self.load(prop, v, span)

    def load(self, prop: ir.Property, v: Value, span: Span) -> Value:
        """A read at a vertex; at vg.none it gives zero, false or vg.none."""
        node = ir.ScratchLoad if prop.origin is ir.Origin.SCRATCH else ir.Load
        if v.valid:
            return Value(node(prop.name, v.expr, prop.type, span=span), prop.type, span)
        at = self.shared(v).expr
        read = node(prop.name, at, prop.type, span=span)
        return Value(ir.Select(some(at, span), read, zero(prop.type, span), span=span), prop.type, span)

    def degree(self, v: Value, way: ir.Orientation, span: Span) -> Value:
        """A degree; 0 for vg.none."""
        at = v if v.valid else self.shared(v)
        degree: ir.Expr = ir.Degree(at.expr, way, span=span)
        if not v.valid:
            degree = ir.Select(some(at.expr, span), degree, _int(0, span), span=span)
        return Value(degree, I64, span)

    def neighbor(self, v: Value, way: ir.Orientation, k: ir.Expr, span: Span) -> Value:
        """The k-th neighbor; vg.none of vg.none."""
        if v.valid:
            return Value(ir.Neighbor(v.expr, way, k, span=span), VID, span, valid=True)
        at = self.shared(v).expr
        found = ir.Select(some(at, span), ir.Neighbor(at, way, k, span=span), zero(VID, span), span=span)
        return Value(found, VID, span)

    def vertex_property(self, e: s.Attribute) -> ir.Property:
        """The property behind `v.name`."""
        prop = self.unit.vertex_property(e.name, e.span)
        if prop is None:
            known = [*self.unit.known_vertex_names(), *_VERTEX_NUMBERS, *_NEIGHBORS]
            where = " (it is a property of edges)" if e.name in self.unit.signature.edge_properties else ""
            raise refusals.names.NoVertexProperty(e.name_span, e.name, where + did_you_mean(e.name, known))
        return prop

    def edge_attribute(self, e: s.Attribute, edge: en.Edge) -> Entity:
        """`edge.src`, `edge.dst`, or a property of the edge."""
        if e.name in _EDGE_ENDS:
            end = edge.src if e.name == "src" else edge.dst
            return Value(end.expr, end.kind, e.span, end.valid)
        prop = self.unit.graph_property(e.name, ir.Site.EDGE, e.span)
        if prop is None:
            known = list(self.unit.signature.edge_properties)
            raise refusals.names.NoEdgeProperty(
                e.name_span, e.name, did_you_mean(e.name, [*known, *_EDGE_ENDS]), _listed(known)
            )
        return Value(ir.Load(prop.name, edge.arc, prop.type, span=e.span), prop.type, e.span)

    def index(self, e: s.Index) -> Entity:
        """`vector[i]`, `v.out_neighbors[k]`; the driver loop knows more."""
        owner = self.entity(e.value)
        match owner:
            case Value(kind=Vector()):
                index = self.integer(e.index, "the index of a vector")
                return Value(ir.Element(owner.expr, index, span=e.span), element_of(owner.type), e.span)
            case en.Neighbors(edges=False, vertex=v, orientation=way):
                k = self.integer(e.index, "the position of a neighbor")
                return self.neighbor(v, way, k, e.span)
        return self.indexed(e, owner)

    def indexed(self, e: s.Index, owner: Entity) -> Entity:
        """An index into anything else."""
        raise refusals.types.NoIndex(e.span, en.words(owner))

    @abstractmethod
    def graph_attribute(self, e: s.Attribute, graph: en.GraphRef) -> Entity:
        """`graph.name`."""


def some(vertex: ir.Expr, span: Span) -> ir.Expr:
    """Whether a vertex is not vg.none."""
    return ir.Compare("!=", vertex, ir.Const(-1, VID, span=span), span=span)


def invariant(e: ir.Expr) -> bool:
    """Whether an expression has one value in the whole round."""
    match e:
        case ir.Const() | ir.GlobalVar() | ir.GraphSize():
            return True
        case ir.Cast(operand=operand) | ir.Unary(operand=operand):
            return invariant(operand)
        case ir.Binary(left=left, right=right):
            return invariant(left) and invariant(right)
    return False


def literal_value(e: s.Literal) -> Entity:
    """What a literal stands for."""
    value = e.value
    if isinstance(value, bool):
        return Value(ir.Const(value, BOOL, span=e.span), BOOL, e.span)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise refusals.types.LiteralOutOfRange(e.span, shown(value), "int64")
        return Value(ir.Const(value, I64, span=e.span), Weak.INT, e.span)
    if isinstance(value, float):
        return Value(ir.Const(value, F64, span=e.span), Weak.FLOAT, e.span)
    return en.Static(value, e.span)


def _int(value: int, span: Span) -> ir.Const:
    return ir.Const(value, I64, span=span)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names) or "none"
