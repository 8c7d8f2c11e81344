"""What a reduction begins with, and writes of one element of a vector, for frontend, passes and backends alike."""

from __future__ import annotations

import math

from vgraph.compiler.ir.expressions import Cast, Const, Insert, Load, Var
from vgraph.compiler.ir.legality import ACCUMULATING
from vgraph.compiler.ir.node import Expr
from vgraph.compiler.ir.statements import Accumulate, Assign, Reduce, ReduceGlobal, Store
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


def identity(op: str, t: Type) -> Expr:
    """`neutral` as an expression of type `t`."""
    constant = Const(neutral(op, t), element_of(t))
    return Cast(t, constant) if isinstance(t, Vector) else constant


def is_rounded(n: Reduce | ReduceGlobal | Accumulate) -> bool:
    """Whether a reduction is of floats, and rounded step by step."""
    return n.op in ACCUMULATING and element_of(n.value.type).is_float


def one_element(n: Store | Reduce | Assign) -> Insert | None:
    """The element that a write of a vector changes, if it is only one: backends touch no other."""
    if not isinstance(n.value, Insert):
        return None
    kept = n.value.vector
    if isinstance(n, Reduce):
        return n.value if kept == identity(n.op, n.value.type) else None
    if isinstance(n, Assign):
        return n.value if isinstance(kept, Var) and kept.name == n.name else None
    return n.value if isinstance(kept, Load) and (kept.prop, kept.index) == (n.prop, n.index) else None
