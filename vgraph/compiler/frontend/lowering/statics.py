"""What is known at compile time, and the branches that it decides.

`param is None`, `graph.directed`, comparisons of dtypes and strings, module constants that are bools: the branch not
taken is dropped before anything in it is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Final

from vgraph import refusals
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.control import always_returns
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.language.names import DType


class _Unknown:
    """The value of what is known at run time only."""


UNKNOWN: Final = _Unknown()


def static_value(e: s.Expr, ctx: Context) -> object:
    """The compile-time value of an expression, or UNKNOWN."""
    match e:
        case s.Literal(value=value) if value is None or isinstance(value, (bool, str)):
            return value
        case s.Name():
            return _name(e, ctx)
        case s.Attribute():
            return _attribute(e, ctx)
        case s.Unary(op="not", operand=operand):
            found = static_value(operand, ctx)
            return not found if isinstance(found, bool) else UNKNOWN
        case s.Compare(first=first, rest=((op, second),)):
            return _compare(op, first, second, ctx)
        case s.Bool(op=op, values=values):
            return _logical(op, values, ctx)
    return UNKNOWN


def prune(body: s.Body, ctx: Context) -> s.Body:
    """A body without the branches that are never taken."""
    kept: list[s.Stmt] = []
    for statement in body:
        match statement:
            case s.If(test=test, then=then, other=other):
                known = static_value(test, ctx)
                if isinstance(known, bool):
                    kept.extend(prune(then if known else other, ctx))
                    if always_returns(tuple(kept)):
                        break
                else:
                    kept.append(s.If(statement.span, test, prune(then, ctx), prune(other, ctx)))
            case s.While() | s.For():
                body, other = prune(statement.body, ctx), prune(statement.other, ctx)
                kept.append(replace(statement, body=body, other=other))
            case _:
                kept.append(statement)
    return tuple(kept)


def parameter(ctx: Context, e: s.Name) -> en.Entity | None:
    """What a name that is no local of an operator or helper means in the algorithm; None if it has no such parameter.

    Where they do not stand side by side, a meaning that the operator has for the name itself makes two.
    """
    found, definition, algorithm = ctx.unit.parameters.get(e.id), ctx.definition, ctx.unit.definition
    if found is None or definition is algorithm or e.id in ctx.frame.own_names:
        return None
    if definition.scope != algorithm.scope and e.id in definition.visible_names():
        raise refusals.names.TwoMeanings(e.span, e.id, algorithm.name)
    return found


def _name(e: s.Name, ctx: Context) -> object:
    bound = ctx.frame.bindings.get(e.id) or parameter(ctx, e)
    if isinstance(bound, en.Static):
        return bound.value
    return _known(resolved(e.id, ctx)) if bound is None else UNKNOWN


def _attribute(e: s.Attribute, ctx: Context) -> object:
    bound = ctx.frame.bindings.get(e.value.id) if isinstance(e.value, s.Name) else None
    if isinstance(bound, en.GraphRef) and e.name == "directed":
        return ctx.unit.signature.directed
    owner = resolved(e.value.id, ctx) if isinstance(e.value, s.Name) and bound is None else None
    return _known(getattr(owner, e.name, UNKNOWN)) if isinstance(owner, ModuleType) else UNKNOWN


def resolved(name: str, ctx: Context) -> object:
    """What a name means in the module, or UNKNOWN."""
    try:
        return UNKNOWN if name in ctx.frame.own_names else ctx.definition.resolve(name)
    except KeyError:
        return UNKNOWN


def _known(value: object) -> object:
    return value if value is None or isinstance(value, (bool, str, DType)) else UNKNOWN


def _compare(op: str, first: s.Expr, second: s.Expr, ctx: Context) -> object:
    a, b = static_value(first, ctx), static_value(second, ctx)
    if op in ("is", "is not"):
        if b is None and isinstance(first, s.Name) and (a is not UNKNOWN or _bound(first, ctx)):
            return (a is None) == (op == "is")
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        return (a == b) == (op == "is")
    if op in ("==", "!=") and a is not UNKNOWN and b is not UNKNOWN and not isinstance(a, bool):
        return (a == b) == (op == "==")
    return UNKNOWN


def _bound(e: s.Name, ctx: Context) -> bool:
    """Whether a name is one of the function's own, or a parameter of the algorithm."""
    return e.id in ctx.frame.own_names or parameter(ctx, e) is not None


def _logical(op: str, values: tuple[s.Expr, ...], ctx: Context) -> object:
    """`and` and `or` of constants; one constant can decide, whatever the others are."""
    decides = op == "or"
    found = [static_value(v, ctx) for v in values]
    for value in found:
        if value is decides:
            return decides
        if not isinstance(value, bool):
            return UNKNOWN
    return not decides
