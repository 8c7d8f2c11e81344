"""What a reduction begins with, for passes and backends alike."""

from __future__ import annotations

import math

from vgraph.compiler import ir
from vgraph.compiler.types import Kind, Type, Vector, element_of


def neutral(op: str, t: Type) -> float:
    """The number `e` of an element of `t` for which `x op e` is x, to the bit; an infinity is an integer's extreme."""
    kind = element_of(t).kind
    if kind is Kind.BOOL:
        return op in ("min", "*", "&")
    match op:
        case "min":
            return math.inf
        case "max":
            return -math.inf
        case "+":
            return -0.0 if kind is Kind.FLOAT else 0
    return {"|": 0, "*": 1, "&": -1}[op]


def identity(op: str, t: Type) -> ir.Expr:
    """`neutral` as an expression of type `t`."""
    constant = ir.Const(neutral(op, t), element_of(t))
    return ir.Cast(t, constant) if isinstance(t, Vector) else constant
