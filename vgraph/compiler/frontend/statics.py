"""What is known at compile time, and the branches that it decides.

`param is None`, `graph.directed`, comparisons of dtypes and strings, module constants that are bools: the branch not
taken is dropped before anything in it is looked at.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.language.names import DType

if TYPE_CHECKING:
    from vgraph.compiler.frontend.scoping import Scoping


class _Unknown:
    """The value of what is known at run time only."""


UNKNOWN: Final = _Unknown()


def static_value(e: s.Expr, scope: Scoping) -> object:
    """The compile-time value of an expression, or UNKNOWN."""
    match e:
        case s.Literal(value=value) if value is None or isinstance(value, (bool, str)):
            return value
        case s.Name(id=name):
            return _name(name, scope)
        case s.Attribute():
            return _attribute(e, scope)
        case s.Unary(op="not", operand=operand):
            found = static_value(operand, scope)
            return not found if isinstance(found, bool) else UNKNOWN
        case s.Compare(first=first, rest=((op, second),)):
            return _compare(op, first, second, scope)
        case s.Bool(op=op, values=values):
            return _logical(op, values, scope)
    return UNKNOWN


def prune(body: s.Body, scope: Scoping) -> s.Body:
    """A body without the branches that are never taken."""
    kept: list[s.Stmt] = []
    for statement in body:
        match statement:
            case s.If(test=test, then=then, other=other):
                known = static_value(test, scope)
                if isinstance(known, bool):
                    kept.extend(prune(then if known else other, scope))
                else:
                    kept.append(s.If(statement.span, test, prune(then, scope), prune(other, scope)))
            case s.While(test=test, body=inner):
                kept.append(s.While(statement.span, test, prune(inner, scope)))
            case s.For(target=target, iterable=iterable, body=inner):
                kept.append(s.For(statement.span, target, iterable, prune(inner, scope)))
            case _:
                kept.append(statement)
    return tuple(kept)


def _name(name: str, scope: Scoping) -> object:
    bound = scope.frame.bindings.get(name)
    if isinstance(bound, en.Static):
        return bound.value
    if bound is not None or name in scope.frame.own_names:
        return UNKNOWN
    try:
        value = scope.definition.resolve(name)
    except KeyError:
        return UNKNOWN
    return value if value is None or isinstance(value, (bool, str, DType)) else UNKNOWN


def _attribute(e: s.Attribute, scope: Scoping) -> object:
    if not isinstance(e.value, s.Name):
        return UNKNOWN
    bound = scope.frame.bindings.get(e.value.id)
    if isinstance(bound, en.GraphRef):
        return scope.unit.signature.directed if e.name == "directed" else UNKNOWN
    if bound is not None or e.value.id in scope.frame.own_names:
        return UNKNOWN
    try:
        owner = scope.definition.resolve(e.value.id)
    except KeyError:
        return UNKNOWN
    value = getattr(owner, e.name, UNKNOWN) if isinstance(owner, ModuleType) else UNKNOWN
    return value if value is None or isinstance(value, (bool, str, DType)) else UNKNOWN


def _compare(op: str, first: s.Expr, second: s.Expr, scope: Scoping) -> object:
    a, b = static_value(first, scope), static_value(second, scope)
    if op in ("is", "is not"):
        if (
            b is None
            and isinstance(first, s.Name)
            and (a is not UNKNOWN or first.id in scope.frame.own_names)
        ):
            return (a is None) == (op == "is")
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        return (a == b) == (op == "is")
    if op in ("==", "!=") and a is not UNKNOWN and b is not UNKNOWN and not isinstance(a, bool):
        return (a == b) == (op == "==")
    return UNKNOWN


def _logical(op: str, values: tuple[s.Expr, ...], scope: Scoping) -> object:
    """`and` and `or` of constants; one constant can decide, whatever the others are."""
    decides = op == "or"
    found = [static_value(v, scope) for v in values]
    for value in found:
        if value is decides:
            return decides
        if not isinstance(value, bool):
            return UNKNOWN
    return not decides
