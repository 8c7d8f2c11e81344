"""Calls of algorithms by algorithms: the program of the one becomes a part of that of the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.frontend.lengths import names_of_lengths
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Uses
from vgraph.compiler.frontend.lowering.names import alias, declared
from vgraph.compiler.frontend.lowering.passing import Passed, fitted, passed
from vgraph.compiler.frontend.lowering.vectors import known_number
from vgraph.compiler.frontend.typed import Part, position_of
from vgraph.compiler.ir.inline import placed
from vgraph.compiler.types import Scalar
from vgraph.graph import members
from vgraph.language.decorators import AlgorithmDef
from vgraph.language.names import DType
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span


def call(ctx: AlgorithmContext, e: s.Call, callee: AlgorithmDef) -> en.Made:
    """`bfs(graph, source)`."""

    def put(statement: s.Assign, target: s.Name) -> None:
        found = _results(ctx, e, callee)
        if declared(ctx, target, en.Results, lambda name: found) is not found:
            raise refusals.driver.KindChanged(target.span, target.id, "the results of another call")
        for name, value in found.values.items():
            found.values[name] = _lasting(ctx, f"{found.prefix}.{name}.result", value)

    return en.Made(lambda: _results(ctx, e, callee), put)


def _lasting(ctx: AlgorithmContext, name: str, found: en.Entity) -> en.Entity:
    """A result that is read by the name of the call's variable: scalars as globals, which are there everywhere."""
    match found:
        case Value(expr=expr, span=span):
            return Value(kept(ctx, name, expr, span), expr.type, span)
        case en.PropertyRef(property=prop, span=span):
            return en.PropertyRef(prop, span, result=True)
        case en.EdgePropertyRef(property=prop, span=span):
            return en.EdgePropertyRef(prop, span, result=True)
        case en.FrontierRef(name=held, span=span):
            return en.FrontierRef(held, span)
    return found


def _results(ctx: AlgorithmContext, e: s.Call, callee: AlgorithmDef) -> en.Results:
    """The results of a call; what is done for them comes before the present statement."""
    unit = ctx.unit
    unit.at = e.span
    if callee in unit.within:
        raise refusals.calls.Recursion(e.span, callee.name)
    if callee.endings:
        raise refusals.programs.Finished(e.span, callee.name, callee.endings[0].__name__)
    given = passed(ctx, e, callee)
    renamed = {name: p.edges for name, p in given.items() if p.edges is not None}
    try:
        types = {name: p.type for name, p in given.items()}
        typed = unit.called(callee, types, renamed, _lengths(ctx, callee, given))
    except Refusal as refusal:
        raise refusal.through(e.span, f"`{callee.name}` is called here") from None
    ctx.spend(e.span, typed.operations)
    prefix = unit.prefixes.fresh(callee.name)
    ctx.frame.typed.calls[position_of(e.span)] = Part(callee, typed, prefix)
    _hooks(ctx, e, callee, given, typed.program)
    part = _placed(ctx, typed.program, prefix, given, callee)
    marked = {r.value: r.name for r in part.results if r.kind == "members"}
    sets: dict[str, str] = {}
    for statement in part.body:
        if isinstance(statement, ir.FrontierMark) and statement.prop in marked:
            sets[marked[statement.prop]] = statement.frontier
        else:
            ctx.emit(statement)
    unit.parts.append(part)
    found = {r.name: _result(part, r, sets, e.span) for r in part.results}
    return en.Results(callee, prefix, found, e.span)


def _lengths(ctx: AlgorithmContext, callee: AlgorithmDef, given: Mapping[str, Passed]) -> dict[str, int]:
    """What the lengths of the callee's vectors are made of, as far as it is known."""
    names = names_of_lengths(callee)
    numbers = {name: given[name].value for name in sorted(names) if name in given}
    known = {name: known_number(ctx, v.expr) for name, v in numbers.items() if v is not None}
    size = ctx.unit.signature.lengths.get("num_vertices")
    sizes = {"num_vertices": size} if size is not None and "num_vertices" in names else {}
    return sizes | {name: int(number) for name, number in known.items() if number is not None}


def _result(part: ir.Program, r: ir.Result, sets: dict[str, str], span: Span) -> en.Entity:
    """One of the values that a part returns."""
    if r.name in sets:
        return en.FrontierRef(sets[r.name], span, free=True)
    if not isinstance(r.value, str):
        return Value(r.value, r.value.type, span)
    prop = part.property(r.value)
    free = prop.origin is ir.Origin.LOCAL and not prop.disjoint
    if prop.site is ir.Site.NUMBERED:
        return en.EdgePropertyRef(prop, span, result=True, free=free)
    return en.PropertyRef(prop, span, result=True, free=free)


def _placed(
    ctx: AlgorithmContext, program: ir.Program, prefix: str, given: Mapping[str, Passed], callee: AlgorithmDef
) -> ir.Program:
    """The program with names of its own in that of the caller, and what it is given in place of its parameters."""
    unit = ctx.unit
    names: dict[str, str] = {}
    for p in program.properties:
        match p.origin:
            case ir.Origin.GRAPH:
                of = given[p.name].edges if p.name in given and p.site is ir.Site.EDGE else None
                names[p.name] = of or p.name
                there = ir.with_fields(p, {"name": names[p.name]})
                unit.from_graph.setdefault((there.name, p.site), there)
            case ir.Origin.PARAM:
                names[p.name] = _array(ctx, p, given[p.name], callee)
            case ir.Origin.MEMBERS:
                array = members.array_name(p.name)
                names[p.name] = _members(ctx, f"{prefix}.{array}", given[array])
    values: dict[str, ir.Expr] = {}
    for param in program.params:
        if param.name not in given:  # a number of the graph or of the run
            values[param.name] = unit.graph_param(param.name, param.type, param.span or ctx.unit.at)
            continue
        assert isinstance(param.type, Scalar)
        number = fitted(ctx, param.name, param.type, given[param.name], callee)
        values[param.name] = _visible(ctx, f"{prefix}.{param.name}.given", number)
    return placed(program, prefix, names, values)


def _visible(ctx: AlgorithmContext, name: str, number: ir.Expr) -> ir.Expr:
    """A number that operators see, too."""
    if isinstance(number, ir.Const) or ctx.unit.is_param(number):
        return number
    assert number.span is not None
    return kept(ctx, name, number, number.span)


def kept(ctx: AlgorithmContext, name: str, number: ir.Expr, span: Span) -> ir.GlobalVar:
    """A number in a global of the compiler's own."""
    ctx.unit.kept.append(ir.Global(name, number.type, span=span))
    ctx.emit(ir.SetGlobal(name, number, span=span))
    return ir.GlobalVar(name, number.type, span=span)


def _array(ctx: AlgorithmContext, p: ir.Property, given: Passed, callee: AlgorithmDef) -> str:
    """The caller's property or array that is read in the place of a parameter."""
    prop = given.prop
    if prop is None or prop.site is not p.site:
        what = "a frontier" if prop is None else "an array" if prop.site is ir.Site.ARRAY else "a property"
        wanted = "an array that loops run over" if p.site is ir.Site.ARRAY else "a property of vertices"
        raise refusals.programs.NotAnArgument(given.span, p.name, callee.name, what, wanted)
    if prop.type != p.type:
        raise refusals.programs.OtherType(given.span, p.name, describe(prop.type), describe(p.type))
    ctx.unit.parameter_property(prop.name, given.span)  # which is read, too, where it is one
    return prop.name


def _members(ctx: AlgorithmContext, name: str, given: Passed) -> str:
    """The property that tells which vertices are in an array or frontier."""
    if given.frontier is not None:
        marks = ctx.unit.marks(name, given.span)
        ctx.emit(ir.FrontierMark(marks.name, given.frontier, span=given.span))
        return marks.name
    assert given.prop is not None
    if given.prop.origin is not ir.Origin.PARAM:
        raise refusals.driver.NotVertices(given.span, "a property")
    return ctx.unit.members(given.prop.name, given.span).name


# --- what is done in Python before a run


def _hooks(
    ctx: AlgorithmContext, e: s.Call, callee: AlgorithmDef, given: Mapping[str, Passed], inner: ir.Program
) -> None:
    """Note the checks and preparations of the algorithms that are called: they need arguments known before the run."""

    def known(name: str, who: str) -> list[Any]:
        found = given[name].known
        if found is None or isinstance(found[1], DType):
            raise refusals.programs.HookNeedsValue(given[name].span, name, callee.name, who)
        return [found[0], found[1].item() if isinstance(found[1], np.generic) else found[1]]

    noted = ctx.unit.hooks
    asked = callee.asked
    if asked or callee.takes is not None:
        words = {
            name: known(name, f"`{hook}` of `{callee.name}`")
            for hook, names in asked.items()
            for name in names
        }
        noted.append(ir.Called(callee.path, json.dumps(words), span=e.span))
    for called in inner.called:
        words = json.loads(called.given)
        for name, (way, value) in words.items():
            if way == "parameter":
                words[name] = known(value, f"`{called.name.rpartition('.')[2]}`, which it calls,")
        noted.append(ir.Called(called.name, json.dumps(words), span=called.span))


# --- uses


def _attribute(ctx: AlgorithmContext, e: s.Attribute, owner: en.Results) -> en.Entity:
    """`result.rank`."""
    found = owner.values.get(e.name)
    if found is not None:
        return en.again(found, e.span)
    if e.name in owner.algorithm.derivations:
        raise refusals.programs.Derived(e.name_span, e.name, owner.algorithm.name)
    listed = ", ".join(f"`{name}`" for name in owner.values)
    hint = did_you_mean(e.name, list(owner.values))
    raise refusals.programs.NoSuchResult(e.name_span, owner.algorithm.name, e.name, hint, listed)


USES = Uses(attribute=_attribute, bind=alias)
