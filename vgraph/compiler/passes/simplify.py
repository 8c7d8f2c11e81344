"""`simplify`: fold what is known, forward plain copies, drop what has no effect."""

from __future__ import annotations

import math

from vgraph.compiler.ir import (
    Accumulate,
    Assign,
    Cast,
    Compare,
    Const,
    Expr,
    If,
    Let,
    Level,
    Logical,
    Node,
    Operator,
    Program,
    Reduce,
    Select,
    Stmt,
    Unary,
    Var,
    While,
)
from vgraph.compiler.rewrite import Context, Pass, fixed_copies, substitute, transform, walk, with_fields
from vgraph.compiler.types import VID

_COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _ordered(e: Const) -> int | float:
    """The value as comparisons take it: `vg.none`, the vid with all bits set, is larger than every vertex."""
    return math.inf if e.type == VID and e.value == -1 else e.value


def _truth(e: Expr) -> bool | None:
    return bool(e.value) if isinstance(e, Const) else None


def fold(n: Node) -> Node | tuple[Stmt, ...] | None:
    """Rule: an operation on constants is a constant, a branch on a constant is its side."""
    match n:
        case Compare(op=op, left=Const() as a, right=Const() as b):
            return Const(_COMPARE[op](_ordered(a), _ordered(b)), n.type, span=n.span)
        case Unary(op="not", operand=Const(value=a)):
            return Const(not a, n.type, span=n.span)
        case Cast(to=to, operand=operand) if to == operand.type:
            return operand
        case Logical(op=op, left=left, right=right) if (known := _truth(left)) is not None:
            return right if known == (op == "and") else left
        case Select(condition=c, then=then, other=other) if (known := _truth(c)) is not None:
            return then if known else other
        case If(condition=c, then=then, other=other) if (known := _truth(c)) is not None:
            return then if known else other
        case While(condition=Const(value=False)):
            return ()
    return None


def forward_copies(operator: Operator) -> Operator:
    """Replace locals that only ever name another fixed value (`let u: vid = dst`) by that value."""
    values = fixed_copies(operator)
    body = transform(operator, lambda n: () if isinstance(n, Let) and n.name in values else None)
    while values:
        resolved = substitute(body, values)
        if resolved == body:
            break
        body = resolved
    return body


def drop_unused(operator: Operator) -> Operator:
    """Drop locals that nothing reads; expressions have no effects."""
    while True:
        used = {n.name for n in walk(operator) if isinstance(n, Var)}
        used |= {n.name for n in walk(operator) if isinstance(n, (Assign, Accumulate))}
        used |= {n.changed for n in walk(operator) if isinstance(n, Reduce) and n.changed}

        def rule(n: Node, used: set[str] = used) -> tuple[Stmt, ...] | None:
            return () if isinstance(n, Let) and n.name not in used else None

        smaller = transform(operator, rule)
        if smaller is operator:
            return operator
        operator = smaller


def _run(program: Program, context: Context) -> Program:
    folded = transform(program, fold)
    operators = tuple(drop_unused(forward_copies(o)) for o in folded.operators)
    if operators == folded.operators:
        return folded
    return transform(with_fields(folded, {"operators": operators}), fold)


simplify = Pass("simplify", _run, takes=Level.ALGORITHM, gives=Level.ALGORITHM)
