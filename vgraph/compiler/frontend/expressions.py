"""Lowering of expressions: operators, comparisons, conditions, names and attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.access import Access, literal_value
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import (
    BITS,
    OutOfRange,
    Value,
    Weak,
    coerce,
    default,
    describe,
    folded,
    merge,
    operation,
    zero,
)
from vgraph.compiler.frontend.statics import UNKNOWN, static_value
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import BOOL, I64, VID, Kind, Scalar, Type, Vector, element_of
from vgraph.source import Span


class Expressions(Access):
    """Lowers expressions; statements that they need first go to `self.out`."""

    # --- what the two kinds of functions do in their own way

    @abstractmethod
    def call(self, e: s.Call) -> Entity:
        """A call."""

    # --- entry points

    def value(self, e: s.Expr) -> Value:
        """A typed value. Raises NotAValue for anything else."""
        found = self.entity(e)
        if not isinstance(found, Value):
            raise refusals.types.NotAValue(e.span, en.words(found), _advice(found))
        return found

    def typed(self, e: s.Expr, to: Type) -> ir.Expr:
        """A value in type `to`."""
        return self.fit(self.value(e), to)

    def fit(self, value: Value, to: Type) -> ir.Expr:
        """`value` in type `to`, which both operands of something share."""
        try:
            return coerce(value, to)
        except OutOfRange:
            raise refusals.types.LiteralOutOfRange(value.span, _shown(value), describe(to)) from None

    def condition(self, e: s.Expr) -> ir.Expr:
        """A truth value: a bool, or whether a frontier or list is not empty."""
        found = self.entity(e)
        match found:
            case en.FrontierRef(name=name):
                return ir.Compare(">", ir.FrontierSize(name, span=e.span), _int(0, e.span), span=e.span)
            case en.ListRef(name=name):
                return ir.Compare(">", ir.ListSize(name, span=e.span), _int(0, e.span), span=e.span)
            case en.QueueRef(name=name):
                return ir.Compare(">", ir.QueueSize(name, span=e.span), _int(0, e.span), span=e.span)
            case Value(kind=kind, expr=expr) if kind == BOOL:
                return expr
            case Value(kind=kind):
                advice = (
                    "write `x != vg.none`" if kind == VID else "write what makes it true, such as `x != 0`"
                )
                raise refusals.types.NotABool(e.span, describe(kind), advice)
        raise refusals.types.NotABool(
            e.span, en.words(found), "a condition is a bool, or a frontier (true if not empty)"
        )

    def entity(self, e: s.Expr) -> Entity:
        """Whatever an expression stands for."""
        self.spend(e.span)
        match e:
            case s.Name():
                return self.name(e)
            case s.Literal():
                return literal_value(e)
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
        raise refusals.types.NotAValue(
            e.span, "a list or tuple", "only `levels = []` and `return a, b` take one"
        )

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

    def integer(self, e: s.Expr, what: str) -> ir.Expr:
        """An int64."""
        found = self.value(e)
        t = found.type
        if not isinstance(t, Scalar) or t.kind not in (Kind.SIGNED, Kind.UNSIGNED, Kind.INDEX):
            raise refusals.types.NotAnInteger(e.span, what, describe(found.kind))
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
        if x.kind == VID or (x.kind == BOOL and e.op != "~"):
            x = Value(self.fit(x, I64), I64, x.span)
        if e.op == "+":
            return Value(x.expr, x.kind, e.span)
        if e.op == "~":
            if not element_of(x.type).is_integer:
                raise refusals.types.BitsOfWrongType(e.span, "~", "integers", describe(x.kind))
            return Value(ir.Unary("invert", x.expr, span=e.span), x.kind, e.span)
        return Value(ir.Unary("neg", x.expr, span=e.span), x.kind, e.span)

    def binary(self, e: s.Binary) -> Entity:
        """Arithmetic, bits, and `&` of neighbors."""
        left, right = self.entity(e.left), self.entity(e.right)
        if e.op == "&" and isinstance(left, en.Neighbors) and isinstance(right, en.Neighbors):
            return en.Common(left, right, e.span)
        for side, found in ((e.left, left), (e.right, right)):
            if not isinstance(found, Value):
                raise refusals.types.NotAValue(side.span, en.words(found), _advice(found))
        assert isinstance(left, Value)
        assert isinstance(right, Value)
        return self.combine(e.op, left, right, e.span)

    def combine(self, op: str, left: Value, right: Value, span: Span) -> Value:
        """`left op right` with the operands in their common type."""
        if op == "@":
            raise refusals.types.MatrixProduct(span)
        found = operation(op, left.kind, right.kind)
        if op in BITS:
            for side in (left, right):
                if not (
                    element_of(side.type).is_integer or side.kind == VID or left.kind == right.kind == BOOL
                ):
                    types = "integers and bools" if op in "&|^" else "integers"
                    raise refusals.types.BitsOfWrongType(side.span, op, types, describe(side.kind))
        if found is None:
            raise refusals.types.TypeMismatch(span, op, describe(left.kind), describe(right.kind))
        t, kind = found
        literal = _fold(op, left, right, span)
        if literal is not None:
            return literal
        return Value(ir.Binary(op, self.fit(left, t), self.fit(right, t), span=span), kind, span)

    def compare(self, e: s.Compare) -> Entity:
        """A comparison; a chain becomes the conjunction of its parts, each operand evaluated once."""
        folded = static_value(e, self)
        if isinstance(folded, bool):
            return Value(ir.Const(folded, BOOL, span=e.span), BOOL, e.span)
        for op, operand in e.rest:
            if op in ("in", "not in"):
                raise refusals.types.Membership(e.span)
            if op in ("is", "is not"):
                raise refusals.types.Identity(e.first.span.to(operand.span))
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
        found = operation(op, left.kind, right.kind)
        if found is None:
            raise refusals.types.TypeMismatch(span, op, describe(left.kind), describe(right.kind))
        t = found[0]
        if isinstance(t, Vector):
            raise refusals.types.VectorComparison(span, op)
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
        chosen = self.choice(test, lambda: self.value(e.then), lambda: self.value(e.other), e.span)
        self.frame.typed.kinds[position_of(e.span)] = chosen.kind
        return chosen

    def choice(
        self, test: ir.Expr, then: Callable[[], Value], other: Callable[[], Value], span: Span
    ) -> Value:
        """`then()` or `other()`, only one of which is evaluated."""
        first, a = self.apart(then)
        second, b = self.apart(other)
        kind = merge(a.kind, b.kind)
        if kind is None:
            raise refusals.types.ChoiceMismatch(span, describe(a.kind), describe(b.kind))
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


def _fold(op: str, left: Value, right: Value, span: Span) -> Value | None:
    """Arithmetic of two literals."""
    a, b = left.expr, right.expr
    if Weak.INF in (left.kind, right.kind) or not (_is_literal(left) and _is_literal(right)):
        return None
    assert isinstance(a, ir.Const)
    assert isinstance(b, ir.Const)
    found = folded(op, a.value, b.value)
    if found is None:
        return None
    weak = Weak.FLOAT if isinstance(found, float) else Weak.INT
    return Value(ir.Const(found, default(weak), span=span), weak, span)


def _is_literal(value: Value) -> bool:
    return isinstance(value.kind, Weak) and isinstance(value.expr, ir.Const)


def _int(value: int, span: Span) -> ir.Const:
    return ir.Const(value, I64, span=span)


def _shown(value: Value) -> str:
    if value.kind is Weak.INF:
        return "vg.inf"
    return str(value.expr.value) if isinstance(value.expr, ir.Const) else "this"


def _advice(found: Entity) -> str:
    """What to write where a value was wanted."""
    match found:
        case en.FrontierRef() | en.FrontierAt():
            return "a frontier is used by applies, as a condition, and by len(frontier)"
        case en.QueueRef():
            return "a priority queue is used by queue.pop(), queue.level, as a condition, and by len(queue)"
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
