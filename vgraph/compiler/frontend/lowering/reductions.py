"""Recognising reductions and claims in what the user wrote.

A write that several edges may make at once must say how the values combine. The shapes are found in the syntax:
`x = min(x, e)`, `x += e`, `x = x + e`, `x = x or e`, `if e < x: x = e`, and the claim `if x == c: x = e`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

from vgraph.compiler.frontend import syntax as s
from vgraph.records import dataclass

Meaning = Callable[[s.Expr], object]  # the Python object that a name stands for, or None

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_COMMUTATIVE = ("+", "*", "|", "&")


@dataclass(frozen=True)
class Reduction:
    """`place op= value`; of several `values` each is combined into the place. `negative`: those that are subtracted."""

    op: str
    values: tuple[s.Expr, ...]
    negative: tuple[bool, ...] = (False,)


@dataclass(frozen=True)
class Guarded:
    """`if [guard and] test: place = ...` where `test` is about `place`: a claim (`==`), min (`>`) or max (`<`)."""

    place: s.Attribute
    op: str
    other: s.Expr | None  # what the place is compared with; None for `not place`
    guard: s.Expr | None


def of_augment(statement: s.Augment) -> Reduction | None:
    """The reduction of `place op= e`."""
    if statement.op in _COMMUTATIVE:
        return Reduction(statement.op, (statement.value,))
    return Reduction("+", (statement.value,), (True,)) if statement.op == "-" else None


def at_others(body: s.Body, own: str) -> dict[str, str]:
    """The properties that `u.x op= e` updates at vertices other than `own`, with the op."""
    found: dict[str, str] = {}
    for statement in body:
        match statement:
            case s.Augment(target=s.Attribute(value=s.Name(id=vertex), name=name)) if vertex != own:
                reduction = of_augment(statement)
                found |= {name: reduction.op} if reduction else {}
            case s.Augment(target=s.Index(value=s.Attribute(value=s.Name(id=vertex), name=name))) if (
                vertex != own
            ):
                reduction = of_augment(statement)
                found |= {name: reduction.op} if reduction else {}
        for inner in s.bodies(statement):
            found |= at_others(inner, own)
    return found


def of_assign(place: s.Expr, value: s.Expr, meaning: Meaning) -> Reduction | None:
    """The reduction of `place = value`, if it is one."""
    match value:
        case s.Call(function=function, args=args, keywords=()) if args.count(place) == 1 and len(args) > 1:
            called = meaning(function)
            op = "min" if called is builtins.min else "max" if called is builtins.max else None
            return Reduction(op, tuple(a for a in args if a != place)) if op else None
        case s.Bool(op=op, values=values) if values.count(place) == 1:
            return Reduction("|" if op == "or" else "&", tuple(v for v in values if v != place))
        case s.Literal(value=bool() as constant):
            return Reduction("|" if constant else "&", (value,))
        case s.Binary():
            return _of_binary(place, value)
    return None


def _of_binary(place: s.Expr, value: s.Binary) -> Reduction | None:
    """`place + a`, `a + place`, `place + a - b`, and the same of * | &."""
    op, left, right = value.op, value.left, value.right
    combines = "+" if op == "-" else op
    if combines not in _COMMUTATIVE:
        return None
    if left == place:
        return Reduction(combines, (right,), (op == "-",))
    if op in _COMMUTATIVE and right == place:
        return Reduction(op, (left,))
    inner = _of_binary(place, left) if isinstance(left, s.Binary) else None
    if inner is None or inner.op != combines:
        return None
    return Reduction(combines, (*inner.values, right), (*inner.negative, op == "-"))


def of_if(statement: s.If, is_place: Callable[[s.Expr], bool]) -> Guarded | None:
    """The guarded write of `if ...: place = ...`, if it is one; `is_place` tells what needs a reduction."""
    written = [x.target for x in statement.then if isinstance(x, s.Assign)]
    tests = (
        statement.test.values
        if isinstance(statement.test, s.Bool) and statement.test.op == "and"
        else (statement.test,)
    )
    for position, test in enumerate(tests):
        rest = (*tests[:position], *tests[position + 1 :])
        guard = s.Bool(statement.span, "and", rest) if len(rest) > 1 else rest[0] if rest else None
        for place, op, other in _sides(test):
            if isinstance(place, s.Attribute) and place in written and is_place(place):
                return Guarded(place, op, other, guard)
    return None


def _sides(test: s.Expr) -> list[tuple[s.Expr, str, s.Expr | None]]:
    """The ways to read a test as `place op other`."""
    match test:
        case s.Compare(first=first, rest=((op, second),)) if op in _MIRROR:
            return [(first, op, second), (second, _MIRROR[op], first)]
        case s.Unary(op="not", operand=operand):
            return [(operand, "==", None)]
    return []
