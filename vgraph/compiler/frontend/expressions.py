"""Lowering of expressions: operators, comparisons, conditions, names and attributes."""

from __future__ import annotations

import enum
import operator
from abc import abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import (
    OutOfRange,
    Value,
    Weak,
    arithmetic,
    coerce,
    default,
    describe,
    merge,
    zero,
)
from vgraph.compiler.frontend.scoping import Scoping
from vgraph.compiler.frontend.statics import UNKNOWN, static_value
from vgraph.compiler.ir import Orientation, Site
from vgraph.compiler.types import BOOL, F64, I64, NUMPY_NAMES, VID, Kind, Scalar, Type, Vector, element_of
from vgraph.language import Infinity, NoVertex, dtype_of
from vgraph.refusals import names as bad_name
from vgraph.refusals import types as bad_type
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_VERTEX_NUMBERS = ("id", "out_degree", "in_degree", "degree")
_NEIGHBORS = {
    "out_neighbors": (Orientation.OUT, False),
    "in_neighbors": (Orientation.IN, False),
    "neighbors": (Orientation.OUT, False),
    "out_edges": (Orientation.OUT, True),
    "in_edges": (Orientation.IN, True),
}
_EDGE_ENDS = ("src", "dst")


class Expressions(Scoping):
    """Lowers expressions; statements that they need first go to `self.out`."""

    # --- what the two kinds of functions do in their own way

    @abstractmethod
    def graph_attribute(self, e: s.Attribute, graph: en.GraphRef) -> Entity:
        """`graph.name`."""

    @abstractmethod
    def call(self, e: s.Call) -> Entity:
        """A call."""

    # --- entry points

    def value(self, e: s.Expr) -> Value:
        """A typed value. Raises NotAValue for anything else."""
        found = self.entity(e)
        if not isinstance(found, Value):
            raise bad_type.NotAValue(e.span, en.words(found), _advice(found))
        return found

    def typed(self, e: s.Expr, to: Type) -> ir.Expr:
        """A value in type `to`."""
        return self.fit(self.value(e), to)

    def fit(self, value: Value, to: Type) -> ir.Expr:
        """`value` in type `to`, which both operands of something share."""
        try:
            return coerce(value, to)
        except OutOfRange:
            raise bad_type.LiteralOutOfRange(value.span, _shown(value), describe(to)) from None

    def condition(self, e: s.Expr) -> ir.Expr:
        """A truth value: a bool, or whether a frontier or list is not empty."""
        found = self.entity(e)
        match found:
            case en.FrontierRef(name=name):
                return ir.Compare(">", ir.FrontierSize(name, span=e.span), _int(0, e.span), span=e.span)
            case en.ListRef(name=name):
                return ir.Compare(">", ir.ListSize(name, span=e.span), _int(0, e.span), span=e.span)
            case Value(kind=kind, expr=expr) if kind == BOOL:
                return expr
            case Value(kind=kind):
                advice = (
                    "write `x != vg.none`" if kind == VID else "write what makes it true, such as `x != 0`"
                )
                raise bad_type.NotABool(e.span, describe(kind), advice)
        raise bad_type.NotABool(
            e.span, en.words(found), "a condition is a bool, or a frontier (true if not empty)"
        )

    def entity(self, e: s.Expr) -> Entity:
        """Whatever an expression stands for."""
        match e:
            case s.Name():
                return self.name(e)
            case s.Literal():
                return _literal(e)
            case s.Attribute():
                return self.attribute(e)
            case s.Index():
                return self.index(e)
            case s.Call():
                return self.call(e)
            case s.Unary():
                return self.unary(e)
            case s.Binary():
                return self.binary(e)
            case s.Compare():
                return self.compare(e)
            case s.Bool():
                return self.logical(e)
            case s.Conditional():
                return self.conditional(e)
        raise bad_type.NotAValue(e.span, "a list or tuple", "only `levels = []` and `return a, b` take one")

    # --- names and attributes

    def name(self, e: s.Name) -> Entity:
        """A variable, an argument, or what the name means in the module."""
        found = self.local(e)
        if found is not None:
            return found
        try:
            return self.captured(self.definition.resolve(e.id), e.span)
        except KeyError:
            raise self.undefined(e) from None

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
            return _literal(s.Literal(span, int(value)))
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
                raise bad_type.NumberHasNoAttributes(e.name_span, describe(kind), e.name)
            case en.GraphRef():
                return self.graph_attribute(e, owner)
            case en.Edge():
                return self.edge_attribute(e, owner)
            case en.ListRef():
                return en.Method(owner, e.name, e.span)
            case en.GraphProperty():
                return self.property_attribute(e, owner)
            case en.PropertyRef(property=p) if e.name == "dtype":
                return en.Static(dtype_of(p.type), e.span)
            case en.Static(value=value):
                return self.static_attribute(e, value)
        raise bad_name.NoAttribute(e.name_span, e.name, en.words(owner), "")

    def static_attribute(self, e: s.Attribute, owner: object) -> Entity:
        """`module.name` or `Enum.member`."""
        if isinstance(owner, (ModuleType, enum.EnumMeta)):
            try:
                return self.captured(getattr(owner, e.name), e.span)
            except AttributeError:
                hint = did_you_mean(e.name, [n for n in dir(owner) if not n.startswith("_")])
                raise bad_name.NoAttribute(e.name_span, e.name, f"`{owner.__name__}`", hint) from None
        raise bad_name.NoAttribute(e.name_span, e.name, en.words(en.Static(owner, e.span)), "")

    def property_attribute(self, e: s.Attribute, owner: en.GraphProperty) -> Entity:
        """`graph.weight.dtype` and `graph.weight.path_dtype`."""
        types = {**self.unit.signature.vertex_properties, **self.unit.signature.edge_properties}
        if e.name == "dtype":
            return en.Static(dtype_of(types[owner.name]), e.span)
        if e.name == "path_dtype" and owner.name in self.unit.signature.path_types:
            return en.Static(dtype_of(self.unit.signature.path_types[owner.name]), e.span)
        raise bad_name.NoAttribute(
            e.name_span, e.name, f"`graph.{owner.name}`", "; it has dtype and path_dtype"
        )

    def vertex_attribute(self, e: s.Attribute, v: Value) -> Entity:
        """`v.name`: a number of the graph's, neighbors, or a property."""
        span = e.span
        if e.name in ("degree", "neighbors") and self.unit.signature.directed:
            raise bad_name.DirectedGraph(e.name_span, e.name)
        if e.name == "id":
            return Value(v.expr, VID, span, v.valid)
        if e.name in _VERTEX_NUMBERS:
            way = Orientation.IN if e.name == "in_degree" else Orientation.OUT
            return self.degree(v, way, span)
        if e.name in _NEIGHBORS:
            way, edges = _NEIGHBORS[e.name]
            return en.Neighbors(v, way, edges, span)
        prop = self.vertex_property(e)
        return self.load(prop, v, span)

    def degree(self, v: Value, way: Orientation, span: Span) -> Value:
        """A degree; 0 for vg.none."""
        at = v if v.valid else self.shared(v)
        degree: ir.Expr = ir.Degree(at.expr, way, span=span)
        if not v.valid:
            degree = ir.Select(some(at.expr, span), degree, _int(0, span), span=span)
        return Value(degree, I64, span)

    def neighbor(self, v: Value, way: Orientation, k: ir.Expr, span: Span) -> Value:
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
            raise bad_name.NoVertexProperty(e.name_span, e.name, where + did_you_mean(e.name, known))
        return prop

    def load(self, prop: ir.Property, v: Value, span: Span) -> Value:
        """A read at a vertex; at vg.none it gives zero, false or vg.none."""
        if v.valid:
            return Value(ir.Load(prop.name, v.expr, prop.type, span=span), prop.type, span)
        at = self.shared(v).expr
        read = ir.Load(prop.name, at, prop.type, span=span)
        return Value(ir.Select(some(at, span), read, zero(prop.type, span), span=span), prop.type, span)

    def edge_attribute(self, e: s.Attribute, edge: en.Edge) -> Entity:
        """`edge.src`, `edge.dst`, or a property of the edge."""
        if e.name in _EDGE_ENDS:
            end = edge.src if e.name == "src" else edge.dst
            return Value(end.expr, end.kind, e.span, end.valid)
        prop = self.unit.graph_property(e.name, Site.EDGE, e.span)
        if prop is None:
            known = list(self.unit.signature.edge_properties)
            raise bad_name.NoEdgeProperty(
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
        raise bad_type.NoIndex(e.span, en.words(owner))

    def integer(self, e: s.Expr, what: str) -> ir.Expr:
        """An int64."""
        found = self.value(e)
        t = found.type
        if not isinstance(t, Scalar) or t.kind not in (Kind.SIGNED, Kind.UNSIGNED, Kind.INDEX):
            raise bad_type.NotAnInteger(e.span, what, describe(found.kind))
        return self.fit(found, I64)

    # --- operators

    def unary(self, e: s.Unary) -> Entity:
        """`-x`, `+x`, `~x`, `not x`."""
        if e.op == "not":
            inner = self.condition(e.operand)
            if isinstance(inner, ir.Const):
                return Value(ir.Const(not inner.value, BOOL, span=e.span), BOOL, e.span)
            return Value(ir.Unary("not", inner, span=e.span), BOOL, e.span)
        x = self.value(e.operand)
        if isinstance(x.kind, Weak) and isinstance(x.expr, ir.Const) and e.op != "~":
            sign = -1 if e.op == "-" else 1
            return Value(ir.Const(sign * x.expr.value, x.expr.type, span=e.span), x.kind, e.span)
        if x.kind in (BOOL, VID) and e.op != "~":
            x = Value(self.fit(x, I64), I64, x.span)
        if e.op == "+":
            return Value(x.expr, x.kind, e.span)
        if e.op == "~":
            if not element_of(x.type).is_integer:
                raise bad_type.BitsOfWrongType(e.span, "~", describe(x.kind))
            return Value(ir.Unary("invert", x.expr, span=e.span), x.kind, e.span)
        return Value(ir.Unary("neg", x.expr, span=e.span), x.kind, e.span)

    def binary(self, e: s.Binary) -> Entity:
        """Arithmetic, bits, and `&` of neighbors."""
        left, right = self.entity(e.left), self.entity(e.right)
        if e.op == "&" and isinstance(left, en.Neighbors) and isinstance(right, en.Neighbors):
            return en.Common(left, right, e.span)
        for side, found in ((e.left, left), (e.right, right)):
            if not isinstance(found, Value):
                raise bad_type.NotAValue(side.span, en.words(found), _advice(found))
        assert isinstance(left, Value)
        assert isinstance(right, Value)
        return self.combine(e.op, left, right, e.span)

    def combine(self, op: str, left: Value, right: Value, span: Span) -> Value:
        """`left op right` with the operands in their common type."""
        if op == "@":
            raise bad_type.MatrixProduct(span)
        if op in ("&", "|", "^", "<<", ">>"):
            return self.bits(op, left, right, span)
        kind = arithmetic(left.kind, right.kind)
        if kind is None:
            raise bad_type.TypeMismatch(span, op, describe(left.kind), describe(right.kind))
        folded = _fold(op, left, right, kind, span)
        if folded is not None:
            return folded
        t = default(kind)
        if op == "/" and not element_of(t).is_float:
            t = kind = Vector(F64, t.length) if isinstance(t, Vector) else F64
        return Value(ir.Binary(op, self.fit(left, t), self.fit(right, t), span=span), kind, span)

    def bits(self, op: str, left: Value, right: Value, span: Span) -> Value:
        """`& | ^` of bools or integers, shifts of integers."""
        kind = BOOL if left.kind == right.kind == BOOL and op in "&|^" else arithmetic(left.kind, right.kind)
        for side in (left, right):
            if not (element_of(side.type).is_integer or side.kind == VID or kind == BOOL):
                raise bad_type.BitsOfWrongType(side.span, op, describe(side.kind))
        if kind is None:
            raise bad_type.TypeMismatch(span, op, describe(left.kind), describe(right.kind))
        t = default(kind)
        return Value(ir.Binary(op, self.fit(left, t), self.fit(right, t), span=span), kind, span)

    def compare(self, e: s.Compare) -> Entity:
        """A comparison; a chain becomes the conjunction of its parts, each operand evaluated once."""
        folded = static_value(e, self)
        if isinstance(folded, bool):
            return Value(ir.Const(folded, BOOL, span=e.span), BOOL, e.span)
        for op, operand in e.rest:
            if op in ("in", "not in"):
                raise bad_type.Membership(e.span)
            if op in ("is", "is not"):
                raise bad_type.Identity(e.first.span.to(operand.span))
        left, parts = self.value(e.first), []
        for position, (op, operand) in enumerate(e.rest):
            right = self.value(operand)
            if position < len(e.rest) - 1:
                right = self.shared(right)
            parts.append(self.comparison(op, left, right, left.span.to(operand.span)))
            left = right
        whole = parts[0]
        for part in parts[1:]:
            whole = ir.Logical("and", whole, part, span=e.span)
        return Value(whole, BOOL, e.span)

    def comparison(self, op: str, left: Value, right: Value, span: Span) -> ir.Expr:
        """`left op right` in their common type."""
        kind = merge(left.kind, right.kind)
        if kind is None:
            raise bad_type.TypeMismatch(span, op, describe(left.kind), describe(right.kind))
        if isinstance(kind, Vector):
            raise bad_type.VectorComparison(span, op)
        t = default(kind)
        return ir.Compare(op, self.fit(left, t), self.fit(right, t), span=span)

    def logical(self, e: s.Bool) -> Entity:
        """`a and b`, `a or b`; what the right side needs first is done only when it is evaluated."""
        whole = self.condition(e.values[0])
        for operand in e.values[1:]:
            if isinstance(whole, ir.Const):
                if whole.value == (e.op == "or"):
                    break
                whole = self.condition(operand)
                continue
            before, right = self.apart(lambda operand=operand: self.condition(operand))  # type: ignore[misc]
            if before:
                name = self.temporary("test", BOOL, whole, e.span)
                test: ir.Expr = ir.Var(name, BOOL, span=e.span)
                test = test if e.op == "and" else ir.Unary("not", test, span=e.span)
                self.emit(ir.If(test, (*before, ir.Assign(name, right, span=e.span)), span=e.span))
                whole = ir.Var(name, BOOL, span=e.span)
            else:
                whole = ir.Logical(e.op, whole, right, span=e.span)
        return Value(whole, BOOL, e.span)

    def conditional(self, e: s.Conditional) -> Entity:
        """`a if test else b`: a constant test chooses at compile time."""
        known = static_value(e.test, self)
        if known is not UNKNOWN:
            return self.entity(e.then if known else e.other)
        test = self.condition(e.test)
        return self.choice(test, lambda: self.value(e.then), lambda: self.value(e.other), e.span)

    def choice(
        self, test: ir.Expr, then: Callable[[], Value], other: Callable[[], Value], span: Span
    ) -> Value:
        """`then()` or `other()`, only one of which is evaluated."""
        first, a = self.apart(then)
        second, b = self.apart(other)
        kind = merge(a.kind, b.kind)
        if kind is None:
            raise bad_type.ChoiceMismatch(span, describe(a.kind), describe(b.kind))
        t, valid = default(kind), a.valid and b.valid
        x, y = self.fit(a, t), self.fit(b, t)
        if not first and not second:
            return Value(ir.Select(test, x, y, span=span), kind, span, valid)
        name = self.temporary("chosen", t, zero(t, span), span)
        then_body = (*first, ir.Assign(name, x, span=span))
        self.emit(ir.If(test, then_body, (*second, ir.Assign(name, y, span=span)), span=span))
        return Value(ir.Var(name, t, span=span), kind, span, valid)

    def shared(self, value: Value) -> Value:
        """`value` in a form that may be evaluated twice: a variable unless it is as good as one."""
        e = value.expr
        if isinstance(e, (ir.Var, ir.Const, ir.GlobalVar)):
            return value
        if isinstance(e, ir.Load) and isinstance(e.index, ir.Var):
            return value
        name = self.temporary("value", value.type, e, value.span)
        return Value(ir.Var(name, value.type, span=value.span), value.kind, value.span, value.valid)

    def temporary(self, base: str, t: Type, value: ir.Expr, span: Span) -> str:
        """Declare a local of the compiler's own."""
        name = self.names.fresh(base)
        self.emit(ir.Let(name, t, value, span=span))
        return name


def some(vertex: ir.Expr, span: Span) -> ir.Expr:
    """Whether a vertex is not vg.none."""
    return ir.Compare("!=", vertex, ir.Const(-1, VID, span=span), span=span)


def _literal(e: s.Literal) -> Entity:
    value = e.value
    if isinstance(value, bool):
        return Value(ir.Const(value, BOOL, span=e.span), BOOL, e.span)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise bad_type.LiteralOutOfRange(e.span, str(value), "int64")
        return Value(ir.Const(value, I64, span=e.span), Weak.INT, e.span)
    if isinstance(value, float):
        return Value(ir.Const(value, F64, span=e.span), Weak.FLOAT, e.span)
    return en.Static(value, e.span)


def _fold(op: str, left: Value, right: Value, kind: Any, span: Span) -> Value | None:
    """Arithmetic of two literals."""
    a, b = left.expr, right.expr
    if (
        not (isinstance(kind, Weak) and isinstance(a, ir.Const) and isinstance(b, ir.Const))
        or op not in _FOLD
    ):
        return None
    if (op in ("/", "//", "%") and not b.value) or Weak.INF in (left.kind, right.kind):
        return None
    found = _FOLD[op](a.value, b.value)
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        return None
    weak = Weak.FLOAT if isinstance(found, float) else Weak.INT
    return Value(ir.Const(found, default(weak), span=span), weak, span)


def _int(value: int, span: Span) -> ir.Const:
    return ir.Const(value, I64, span=span)


def _shown(value: Value) -> str:
    if value.kind is Weak.INF:
        return "vg.inf"
    return str(value.expr.value) if isinstance(value.expr, ir.Const) else "this"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names) or "none"


def _advice(found: Entity) -> str:
    """What to write where a value was wanted."""
    match found:
        case en.FrontierRef() | en.FrontierAt():
            return "a frontier is used by applies, as a condition, and by len(frontier)"
        case en.PropertyRef():
            return "read one vertex with x[v]; inside operators, v.x"
        case en.Neighbors(edges=True):
            return "loop over them: `for e in v.out_edges:`"
        case en.Neighbors() | en.Common():
            return "loop over them: `for u in v.out_neighbors:`; their number is len(...) or v.out_degree"
        case en.Edge():
            return "use its parts: edge.src, edge.dst, edge.weight"
        case en.GraphProperty():
            return "it is read at an edge (edge.weight) or a vertex (v.height)"
        case en.Static(value=str()):
            return "text may stand in label=... and vg.fail(...) only"
        case en.Static(value=None):
            return "there is no None at run time; test parameters with `is None`, vertices with `== vg.none`"
    return "a number, a bool or a vertex is needed here"
