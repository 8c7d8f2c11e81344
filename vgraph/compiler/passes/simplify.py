"""`simplify`: fold what is known, forward plain copies, drop what has no effect."""

from __future__ import annotations

import math

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import is_exclusive
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import VID

_COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _ordered(e: ir.Const) -> int | float:
    """The value as comparisons take it: `vg.none`, the vid with all bits set, is larger than every vertex."""
    return math.inf if e.type == VID and e.value == -1 else e.value


def _truth(e: ir.Expr) -> bool | None:
    return bool(e.value) if isinstance(e, ir.Const) else None


def fold(n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
    """Rule: an operation on constants is a constant, a branch on a constant is its side."""
    match n:
        case ir.Compare(op=op, left=ir.Const() as a, right=ir.Const() as b):
            return ir.Const(_COMPARE[op](_ordered(a), _ordered(b)), n.type, span=n.span)
        case ir.Unary(op="not", operand=ir.Const(value=a)):
            return ir.Const(not a, n.type, span=n.span)
        case ir.Cast(to=to, operand=operand) if to == operand.type:
            return operand
        case (
            ir.Binary(op="*", left=ir.Const(value=1), right=e)
            | ir.Binary(op="*", left=e, right=ir.Const(value=1))
        ):
            return e
        case ir.Logical(op=op, left=left, right=right) if (known := _truth(left)) is not None:
            return right if known == (op == "and") else left
        case ir.Select(condition=c, then=then, other=other) if (known := _truth(c)) is not None:
            return then if known else other
        case ir.If(condition=c, then=then, other=other) if (known := _truth(c)) is not None:
            return then if known else other
        case ir.While(condition=ir.Const(value=False)):
            return ()
    return None


def forward_copies(operator: ir.Operator) -> ir.Operator:
    """Replace locals that only ever name another fixed value (`let u: vid = dst`) by that value."""
    values = ir.fixed_copies(operator)
    body = ir.transform(operator, lambda n: () if isinstance(n, ir.Let) and n.name in values else None)
    while values:
        resolved = ir.substitute(body, values)
        if resolved == body:
            break
        body = resolved
    return body


def drop_unused(operator: ir.Operator) -> ir.Operator:
    """Drop locals that nothing reads; expressions have no effects."""
    while True:
        used = {n.name for n in ir.walk(operator) if isinstance(n, ir.Var)}
        used |= {n.name for n in ir.walk(operator) if isinstance(n, (ir.Assign, ir.Accumulate))}
        used |= {n.changed for n in ir.walk(operator) if isinstance(n, ir.Reduce) and n.changed}

        def rule(n: ir.Node, used: set[str] = used) -> tuple[ir.Stmt, ...] | None:
            return () if isinstance(n, ir.Let) and n.name not in used else None

        smaller = ir.transform(operator, rule)
        if smaller is operator:
            return operator
        operator = smaller


def _run(program: ir.Program, context: Context) -> ir.Program:
    folded = ir.transform(program, fold)
    operators = tuple(drop_unused(forward_copies(o)) for o in folded.operators)
    if operators != folded.operators:
        folded = ir.transform(ir.with_fields(folded, {"operators": operators}), fold)
    # What makes visits come one after the other may stand where none comes to; they do so all the same.
    pairs = zip(program.operators, folded.operators, strict=True)
    kept = tuple(old if is_exclusive(old) and not is_exclusive(new) else new for old, new in pairs)
    return folded if kept == folded.operators else ir.with_fields(folded, {"operators": kept})


simplify = Pass("simplify", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)
