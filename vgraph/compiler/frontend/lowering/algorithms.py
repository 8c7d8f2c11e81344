"""Algorithms: their parameters and what these are used for, their bodies, and what they return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from types import ModuleType
from typing import get_args

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import control
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context
from vgraph.compiler.frontend.lowering.graph import is_graph
from vgraph.compiler.frontend.lowering.names import assigned, enter
from vgraph.compiler.frontend.lowering.properties import not_scratch
from vgraph.compiler.frontend.lowering.statements import body
from vgraph.compiler.frontend.lowering.values import arguments, entity
from vgraph.compiler.frontend.signature import (
    ArgumentType,
    ArrayType,
    EdgeArgument,
    EdgeConstant,
    PropertyArgument,
    StaticValue,
)
from vgraph.compiler.frontend.unit import syntax_of
from vgraph.compiler.types import BOOL, I64, VID, Kind, Type, Vector
from vgraph.language.decorators import AlgorithmDef, Definition, FunctionDef
from vgraph.language.names import ArrayAnnotation, vertex
from vgraph.records import dataclass

RESERVED = (
    *("algorithm", "converged", "finished", "made_from", "names", "of_edges", "of_frontiers", "origin"),
    *("reordered", "schedule", "stats", "trace"),
)
"""The names that `vgraph.runtime.result.Result` has of its own; a bool `converged` may be returned."""


def lower_algorithm(ctx: AlgorithmContext) -> None:
    """Lower the whole algorithm into `ctx.out` and `ctx.results`."""
    text = syntax_of(ctx.definition)
    bindings, given = ctx.frame.bindings, ctx.unit.signature.arguments
    if not text.parameters:
        raise refusals.driver.AlgorithmParameters(text.span, text.name)
    graph, *parameters = text.parameters
    bindings[graph.name] = en.GraphRef(graph.span)
    for p in parameters:  # their types follow once their uses are known
        bindings[p.name] = _known(given[p.name], p) or Value(zero(I64, p.span), I64, p.span)
    statements = enter(ctx, text.body, control.of_algorithm)
    arrays = [name for name, a in given.items() if isinstance(a, ArrayType) and a.dimensions]
    used = usage(statements, ctx.definition, arrays)
    for p in parameters:
        _parameter(ctx, p, used)
    ctx.unit.parameters = {p.name: bindings[p.name] for p in parameters}
    ctx.unit.driver_names = frozenset(ctx.frame.own_names)
    last = statements[-1] if statements else None
    if not isinstance(last, s.Return) or last.value is None:
        raise refusals.driver.NoResult(last.span if last else text.span, text.name)
    body(ctx, statements[:-1])
    for item in last.value.items if isinstance(last.value, s.Items) else (last.value,):
        _result(ctx, item)


def _known(given: ArgumentType, parameter: s.Parameter) -> en.Entity | None:
    """What a parameter stands for if nothing is passed at run time by its name."""
    span = parameter.span
    match given:
        case StaticValue(value=value):
            return en.Static(value, span)
        case EdgeConstant(type=t, value=number):
            return Value(ir.Const(number, t, span=span), t, span)
        case EdgeArgument():
            return en.EdgeArgumentRef(parameter.name, span)
    return None


def _parameter(ctx: AlgorithmContext, parameter: s.Parameter, used: Usage) -> None:
    """Declare a parameter; an int that indexes properties is a vertex."""
    given, name, span = ctx.unit.signature.arguments[parameter.name], parameter.name, parameter.span
    if isinstance(given, (StaticValue, EdgeConstant, EdgeArgument)):
        return
    if isinstance(given, (ArrayType, PropertyArgument)):
        ctx.frame.bindings[name] = _array(ctx, parameter, given, used)
        return
    t: Type = VID if given.kind in (Kind.SIGNED, Kind.UNSIGNED) and name in used.vertices else given
    ctx.unit.names.taken.add(name)
    ctx.unit.params.append(ir.Param(name, t, span=span))
    ctx.frame.bindings[name] = Value(ir.Var(name, t, span=span), t, span, valid=t == VID)


def _array(
    ctx: AlgorithmContext, parameter: s.Parameter, given: ArrayType | PropertyArgument, used: Usage
) -> en.Thing:
    """What an array is: annotated, that; else a vertex property, or an array if a loop runs over it."""
    name, span = parameter.name, parameter.span
    if isinstance(given, PropertyArgument):
        declared = ctx.unit.parameter_property(name, span)
        assert declared is not None
        return en.PropertyRef(declared, span)
    if not given.dimensions and name not in used.looped:
        prop = ir.Property(name, given.element, ir.Site.VERTEX, ir.Origin.PARAM, span=span)
        return en.PropertyRef(prop, span)
    by_use = not given.dimensions and given.element.is_integer and name in used.vertex_arrays
    element = VID if by_use else given.element
    ctx.unit.names.taken.add(name)
    prop = ir.Property(name, element, ir.Site.ARRAY, ir.Origin.PARAM, span=span)
    ctx.unit.arrays.add(name)
    ctx.unit.properties[name] = prop
    return en.ArrayRef(prop, span, given.dimensions or 1)


def _is_result(ctx: Context, e: s.Expr) -> bool:
    if isinstance(e, s.Name):
        return isinstance(ctx.frame.objects.get(e.id), en.Results)
    return isinstance(e, s.Call) and isinstance(_meaning(e.function, ctx.definition), AlgorithmDef)


def _result(ctx: AlgorithmContext, e: s.Expr) -> None:
    """One of the values that the algorithm returns."""
    if isinstance(e, s.Name):
        name = e.id
    elif isinstance(e, s.Attribute) and (is_graph(ctx, e.value) or _is_result(ctx, e.value)):
        name = e.name
    else:
        raise refusals.driver.UnnamedResult(e.span)
    if any(r.name == name for r in ctx.results):
        raise refusals.driver.ResultTwice(e.span, name)
    found = entity(ctx, e)
    flag = name == "converged" and isinstance(found, Value) and found.type == BOOL
    if name in RESERVED and not flag:
        raise refusals.driver.ReservedResult(e.span, name)
    match found:
        case en.PropertyRef(property=prop) | en.EdgePropertyRef(property=prop):
            not_scratch(prop, e.span)
            ctx.results.append(ir.Result(name, "property", prop.name, span=e.span))
        case en.FrontierRef():
            marks = ctx.unit.marks(name, e.span)
            ctx.emit(ir.FrontierMark(marks.name, found.name, span=e.span))
            ctx.results.append(ir.Result(name, "members", marks.name, span=e.span))
        case Value(type=t) if not isinstance(t, Vector):
            ctx.results.append(ir.Result(name, "scalar", found.expr, span=e.span))
        case _:
            raise refusals.driver.NotAResult(e.span, en.words(found))


def leave(ctx: Context, statement: s.Leave) -> None:
    """`return a, b` before the end: what is returned there has to be there here."""
    value = statement.value
    for item in value.items if isinstance(value, s.Items) else (value,):
        entity(ctx, item)


def fail(ctx: Context, call: s.Call) -> en.Made:
    """`vg.fail("message")`."""
    done = (lambda: _fail(ctx, call)) if isinstance(ctx, AlgorithmContext) else None
    return en.Made(en.refuse(lambda: refusals.calls.FailInOperator(call.span)), done=done)


def _fail(ctx: AlgorithmContext, call: s.Call) -> None:
    (message,) = arguments(call, "vg.fail", 1)
    if not (isinstance(message, s.Literal) and isinstance(message.value, str)):
        raise refusals.driver.FailMessage(message.span)
    ctx.no_writes_in_helpers(call.span)
    ctx.emit(ir.Fail(message.value, span=call.span))


@dataclass
class Usage:
    """Names by use: `vertices` index properties or start a frontier, `looped` are arrays that a loop or index reads,
    `vertex_arrays` those of them whose elements are vertices."""

    vertices: set[str] = field(default_factory=set)
    looped: set[str] = field(default_factory=set)
    vertex_arrays: set[str] = field(default_factory=set)


def usage(
    body: s.Body, definition: Definition, arrays: Iterable[str], callers: tuple[Definition, ...] = ()
) -> Usage:
    """What the names in an algorithm's body are used for; what it calls uses them as it uses its parameters. `arrays`
    are indexed by numbers."""
    found = Usage()
    nodes = [n for statement in body for n in s.walk(statement)]
    lists = {
        n.target.id
        for n in nodes
        if isinstance(n, s.Assign) and isinstance(n.target, s.Name) and isinstance(n.value, s.Items)
    }.union(arrays)
    for n in nodes:
        match n:
            case s.Index(value=s.Name(id=owner), index=s.Name(id=index)) if owner not in lists:
                found.vertices.add(index)
            case s.Attribute(value=s.Name(id=vertex), name=name) if name != "dtype":
                found.vertices.add(vertex)
            case s.Call(function=s.Attribute(name="frontier"), args=(s.Name(id=vertex),)):
                found.vertices.add(vertex)
            case s.Call(function=s.Name(id="len"), args=(s.Name(id=array),)):
                found.looped.add(array)
            case s.Call(function=function):
                callee = _meaning(function, definition)
                if isinstance(callee, AlgorithmDef | FunctionDef) and callee not in callers:
                    _used_by(n, callee, lists, callers, found)
    loops = [n for n in nodes if isinstance(n, s.For) and isinstance(n.iterable, s.Name)]
    for loop in loops:
        assert isinstance(loop.iterable, s.Name)
        found.looped.add(loop.iterable.id)
        if loop.target.id in found.vertices:
            found.vertex_arrays.add(loop.iterable.id)
    return found


def _meaning(e: s.Expr, definition: Definition) -> object:
    """What a name, or a name in a module, means; None if nothing."""
    match e:
        case s.Name(id=name):
            try:
                return definition.resolve(name)
            except KeyError:
                return None
        case s.Attribute(value=owner, name=name):
            module = _meaning(owner, definition)
            return getattr(module, name, None) if isinstance(module, ModuleType) else None
    return None


def _used_by(
    call: s.Call,
    callee: AlgorithmDef | FunctionDef,
    arrays: Iterable[str],
    callers: tuple[Definition, ...],
    found: Usage,
) -> None:
    """Note what arguments of a call are used for, where the caller indexes `arrays` by numbers."""
    text = syntax_of(callee)
    given = dict(zip((p.name for p in text.parameters), call.args, strict=False))
    given |= {keyword.name: keyword.value for keyword in call.keywords}
    names = {name: argument.id for name, argument in given.items() if isinstance(argument, s.Name)}
    annotations = callee.annotations if isinstance(callee, AlgorithmDef) else {}
    tables = {name for name, a in annotations.items() if isinstance(a, ArrayAnnotation)}
    if isinstance(callee, FunctionDef):  # a helper makes no properties, and sees its caller's parameters
        tables = {*arrays, *assigned(text.body), *(name for name, of in names.items() if of in arrays)}
    its = usage(text.body, callee, tables, (*callers, callee))
    for name, of in names.items():
        annotation = annotations.get(name)
        if name in its.vertices or annotation == vertex:
            found.vertices.add(of)
        if name in its.looped:
            found.looped.add(of)
        if name in its.vertex_arrays or get_args(annotation) == (vertex,):
            found.vertex_arrays.add(of)
