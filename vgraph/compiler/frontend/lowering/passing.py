"""What an algorithm that is called is given: the types that it is compiled for, and what stands for its parameters."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, Weak, describe
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.arithmetic import comparison
from vgraph.compiler.frontend.lowering.context import AlgorithmContext
from vgraph.compiler.frontend.lowering.names import captured
from vgraph.compiler.frontend.lowering.properties import not_scratch
from vgraph.compiler.frontend.lowering.values import entity, fit, shared
from vgraph.compiler.frontend.lowering.vertices import checked_vertex
from vgraph.compiler.frontend.signature import (
    ArgumentType,
    ArrayType,
    EdgeArgument,
    NotAccepted,
    PropertyArgument,
    accepts,
    type_of,
)
from vgraph.compiler.types import BOOL, I32, I64, U32, VID, Scalar, Target, Type, Vector, element_of, limits
from vgraph.language.decorators import AlgorithmDef
from vgraph.language.names import BoundsAnnotation, EdgePropertyAnnotation, dtype_of, inf
from vgraph.records import dataclass
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span


@dataclass(frozen=True)
class Passed:
    """One argument: the type that it has for the algorithm that is called, and what it is for the one that calls."""

    type: ArgumentType
    span: Span
    value: Value | None = None
    prop: ir.Property | None = None
    frontier: str | None = None
    edges: str | None = None
    """The property of edges that is read by the name of the parameter."""
    known: tuple[str, Any] | None = None
    """What it is before the run: ("value", a constant) or ("parameter", the name of one of the program's)."""


def passed(ctx: AlgorithmContext, e: s.Call, callee: AlgorithmDef) -> dict[str, Passed]:
    """All arguments of a call, by the names of the parameters."""
    parameters = callee.signature.parameters
    given = _by_name(ctx, e, callee)
    found: dict[str, Passed] = {}
    for name, parameter in parameters.items():
        if name in given:
            found[name] = _one(ctx, given[name], callee, parameter)
        elif parameter.default is inspect.Parameter.empty:
            raise refusals.programs.ArgumentMissing(e.span, callee.name, name, callee.describe())
        else:
            found[name] = _constant(parameter.default, e.span, callee, parameter)
    return found


def _by_name(ctx: AlgorithmContext, e: s.Call, callee: AlgorithmDef) -> dict[str, s.Expr]:
    """The arguments that are written, but for the graph."""
    names = list(callee.signature.parameters)
    if not e.args or not isinstance(entity(ctx, e.args[0]), en.GraphRef):
        raise refusals.programs.NotTheGraph((e.args[0] if e.args else e).span, callee.name, callee.describe())
    if len(e.args) > len(names) + 1:
        wanted = f"the graph and at most {len(names)} arguments"
        raise refusals.calls.WrongArity(e.span, callee.name, wanted, len(e.args))
    given = dict(zip(names, e.args[1:], strict=False))
    for keyword in e.keywords:
        if keyword.name not in names or keyword.name in given:
            hint = did_you_mean(keyword.name, names) if keyword.name not in names else "; it is given before"
            raise refusals.calls.UnexpectedKeyword(keyword.span, callee.name, keyword.name, hint)
        given[keyword.name] = keyword.value
    return given


def _one(ctx: AlgorithmContext, e: s.Expr, callee: AlgorithmDef, parameter: inspect.Parameter) -> Passed:
    """What an expression is as an argument."""
    bound = ctx.frame.bindings.get(e.id) if isinstance(e, s.Name) else None
    match bound if isinstance(bound, en.PropertyRef) else entity(ctx, e):  # a set has no element per vertex
        case en.Static(value=value):
            return _named_edges(ctx, _constant(value, e.span, callee, parameter), value)
        case Value(expr=ir.Const(value=number), kind=kind) as value:
            plain = inf if kind is Weak.INF and number > 0 else -inf if kind is Weak.INF else number
            return _constant(plain, e.span, callee, parameter, value)
        case Value() as value:
            return _computed(ctx, value, e, callee, parameter)
        case en.EdgeArgumentRef(name=name):
            return _handed_on(ctx, name, e.span, callee, parameter)
        case en.PropertyRef(property=prop) | en.ArrayRef(property=prop) as found:
            not_scratch(prop, e.span)
            return _array(prop, found, e.span, callee, parameter)
        case en.GraphProperty(name=name) as found:
            of_graph = ctx.unit.graph_property(name, ir.Site.VERTEX, e.span)
            if of_graph is not None:
                return _array(of_graph, found, e.span, callee, parameter)
            raise _refused(e.span, callee, parameter.name, "a property of edges: give its name, in quotes")
        case en.FrontierRef(name=name):
            return Passed(ArrayType(I64), e.span, frontier=name)
        case found:
            raise _refused(e.span, callee, parameter.name, en.words(found))


def _refused(span: Span, callee: AlgorithmDef, name: str, what: str) -> refusals.programs.NotAnArgument:
    return refusals.programs.NotAnArgument(
        span, name, callee.name, what, accepts(callee.annotations.get(name))
    )


def _typed(
    value: Any, span: Span, callee: AlgorithmDef, parameter: inspect.Parameter, words: str
) -> ArgumentType:
    """The type that `vg.run` would give a parameter for a value, `words` in messages."""
    try:
        return type_of(value, callee.annotations.get(parameter.name), parameter.default)
    except NotAccepted as problem:
        text = str(problem)
        raise refusals.programs.NotAnArgument(span, parameter.name, callee.name, words, text) from None


def _constant(
    value: Any, span: Span, callee: AlgorithmDef, parameter: inspect.Parameter, given: Value | None = None
) -> Passed:
    """A constant, checked as `vg.run` checks it."""
    t = _typed(value, span, callee, parameter, f"`{value!r}`")
    if isinstance(t, (ArrayType, PropertyArgument)):
        raise _refused(span, callee, parameter.name, "an array that is a constant")
    if given is None and isinstance(t, Scalar):
        found = captured(value, span)
        assert isinstance(found, Value)
        given = found
    return Passed(t, span, value=given if isinstance(t, Scalar) else None, known=("value", value))


def _named_edges(ctx: AlgorithmContext, found: Passed, name: object) -> Passed:
    """The property of edges that a constant names, if it is for a parameter of that kind."""
    if not isinstance(found.type, EdgeArgument):
        return found
    types = ctx.unit.signature.edge_properties
    if name not in types:
        listed = ", ".join(f"`{n}`" for n in types) or "none"
        hint = did_you_mean(str(name), list(types))
        raise refusals.names.NoEdgeProperty(found.span, str(name), hint, listed)
    held, t = types[str(name)], found.type.type
    if isinstance(held, Vector) or (held.is_float and not t.is_float) or (held == BOOL) != (t == BOOL):
        raise refusals.programs.OtherType(found.span, str(name), describe(held), describe(t))
    return Passed(found.type, found.span, edges=str(name), known=found.known)


def _handed_on(
    ctx: AlgorithmContext, name: str, span: Span, callee: AlgorithmDef, parameter: inspect.Parameter
) -> Passed:
    """A property of edges that is a parameter of the caller's, too."""
    annotation, own = callee.annotations.get(parameter.name), ctx.unit.signature.arguments[name]
    if not isinstance(annotation, EdgePropertyAnnotation) or not isinstance(own, EdgeArgument):
        raise _refused(span, callee, parameter.name, "a property of edges")
    if own.type != annotation.dtype.type:
        raise refusals.programs.OtherType(span, name, describe(own.type), describe(annotation.dtype.type))
    return Passed(own, span, edges=name, known=("parameter", name))


def _array(
    prop: ir.Property, found: en.Thing, span: Span, callee: AlgorithmDef, parameter: inspect.Parameter
) -> Passed:
    """A property or an array, which the algorithm that is called reads in its place."""
    annotation, name, words = callee.annotations.get(parameter.name), parameter.name, en.words(found)
    shape = [1] * found.dimensions if isinstance(found, en.ArrayRef) else [1]
    shape += [prop.type.length] if isinstance(prop.type, Vector) else []
    plain = isinstance(prop.type, Scalar) and len(shape) == 1
    t: ArgumentType | None = ArrayType(element_of(prop.type)) if plain else None
    if annotation is not None or parameter.default not in (inspect.Parameter.empty, None):
        t = _typed(np.zeros(shape, _numpy(prop.type)), span, callee, parameter, words)
    wanted = t.type if isinstance(t, PropertyArgument) else t.element if isinstance(t, ArrayType) else None
    if t is None or wanted is None:
        raise _refused(span, callee, name, words)
    if VID not in (wanted, prop.type) and wanted != prop.type:
        raise refusals.programs.OtherType(span, name, describe(prop.type), describe(wanted))
    known = ("parameter", prop.name) if prop.origin is ir.Origin.PARAM else None
    return Passed(t, span, prop=prop, known=known)


def _computed(
    ctx: AlgorithmContext, value: Value, e: s.Expr, callee: AlgorithmDef, parameter: inspect.Parameter
) -> Passed:
    """A number of the run: it takes the type that one of its kind would have in `vg.run`."""
    words, annotation = en.words(value), callee.annotations.get(parameter.name)
    if isinstance(value.type, Vector):
        raise _refused(e.span, callee, parameter.name, words)
    t = _typed(_specimen(value.type, annotation), e.span, callee, parameter, words)
    if not isinstance(t, Scalar):
        raise _refused(e.span, callee, parameter.name, "known in the run only")
    known = ("parameter", value.expr.name) if ctx.unit.is_param(value.expr) else None
    return Passed(t, e.span, value=value, known=known)


def _numpy(t: Any) -> Any:
    return np.dtype(np.int64 if t == VID else Target().numpy_name(element_of(t)))


def _specimen(t: Any, annotation: object) -> Any:
    """A number of a type that is certainly in range."""
    number = min(max(annotation.low, 0), annotation.high) if isinstance(annotation, BoundsAnnotation) else 0
    return int(number) if t == VID else _numpy(t).type(number)


# --- when it runs


def fitted(ctx: AlgorithmContext, name: str, t: Scalar, given: Passed, callee: AlgorithmDef) -> ir.Expr:
    """A number in the type of its parameter. What `vg.run` would refuse ends the run."""
    assert given.value is not None
    if t == VID:
        return checked_vertex(ctx, given.value, given.span)
    if isinstance(given.value.expr, ir.Const):
        return fit(given.value, t)
    value, span = shared(ctx, given.value), given.span
    annotation = callee.annotations.get(name)
    wide = Value(fit(value, I64), I64, span) if value.type in (I32, U32, VID) else value
    for op, bound in _bounds(annotation, t, value.type):
        limit = captured(bound, span)
        assert isinstance(limit, Value)
        inside = comparison(op, wide, limit, span)
        text = f"{callee.name} was called with a {name} that is not {accepts(annotation or dtype_of(t))}"
        outside = ir.Unary("not", inside, span=span)  # so that NaN is outside, too
        ctx.emit(ir.If(outside, (ir.Fail(text, span=span),), span=span))
    return fit(value, t)


def _bounds(annotation: object, t: Scalar, given: Type) -> list[tuple[str, int | float]]:
    """The comparisons that have to hold for what a parameter takes, so far as they may fail for a type."""
    tests: list[tuple[str, int | float]] = []
    integers = isinstance(given, Scalar) and given.is_integer
    if isinstance(annotation, BoundsAnnotation):
        tests = [(">=", annotation.low), ("<=", annotation.high)]
        tests = [(op, bound) for op, bound in tests if not (integers and math.isinf(bound))]
    if isinstance(given, Scalar) and integers and t.is_integer and given != t:
        (least, most), (low, high) = limits(given), limits(t)
        tests += [(">=", low)] * (least < low) + [("<=", high)] * (most > high)
    return tests
