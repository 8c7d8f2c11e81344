"""How types combine: what a literal becomes beside a typed operand, and where one type is stored as another.

A *kind* is a type, or WEAK: the type of a literal and of a variable that only ever gets literals, which takes the
type of what it meets (an int literal beside an int32 is an int32).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from enum import Enum
from typing import Any

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.types import (
    BOOL,
    F16,
    F64,
    I64,
    VID,
    Kind,
    Scalar,
    Target,
    Type,
    Vector,
    computed,
    element_of,
    limits,
    promote,
)  # fmt: skip
from vgraph.language.names import dtype_of
from vgraph.records import dataclass
from vgraph.source import Span


class Weak(Enum):
    """The kinds of literals."""

    INT = "an int literal"
    FLOAT = "a float literal"
    INF = "vg.inf"


ValueKind = Type | Weak
BITS = ("&", "|", "^", "<<", ">>")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
COMBINED = {"sum": "+", "count": "+", "any": "|", "all": "&", "min": "min", "max": "max"}
"""By what `graph.sum(...)` and the like combine the values of all vertices."""
_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


@dataclass(frozen=True)
class Value:
    """A typed expression. `valid`: a vertex that surely exists (not vg.none)."""

    expr: ir.Expr
    kind: ValueKind
    span: Span
    valid: bool = False

    @property
    def type(self) -> Type:
        """The type of the expression as it stands."""
        return default(self.kind)


def describe(kind: ValueKind) -> str:
    """A kind in the user's words."""
    return kind.value if isinstance(kind, Weak) else repr(dtype_of(kind)).replace("vg.", "").rstrip("_")


def default(kind: ValueKind) -> Type:
    """The type of a kind that meets no other: int64 and float64 for literals."""
    if isinstance(kind, Weak):
        return I64 if kind is Weak.INT else F64
    return kind


def arithmetic(a: ValueKind, b: ValueKind) -> ValueKind | None:
    """The kind of `a + b`, or None where there is none. Vertex ids and bools count as int64."""
    if isinstance(a, Weak) and isinstance(b, Weak):
        return Weak.INT if a is b is Weak.INT else Weak.FLOAT
    a, b = (I64 if x in (VID, BOOL) else x for x in (a, b))
    return _meet(a, b)


def merge(a: ValueKind, b: ValueKind) -> ValueKind | None:
    """The kind of a place that holds `a` or `b`: a variable, a choice, min and max. Numbers are no vertices."""
    if a == b:
        return a
    if isinstance(a, Weak) and isinstance(b, Weak):
        return Weak.FLOAT if Weak.FLOAT in (a, b) else Weak.INT
    if VID in (a, b) and Weak.INT in (a, b):
        return I64
    return _meet(a, b)


def operation(op: str, a: ValueKind, b: ValueKind) -> tuple[Type, ValueKind] | None:
    """The type in which `a op b` is computed, and the kind of what comes out; None where the two do not go together.

    `op` is one of arithmetic or bits, min, max, or a comparison (its kind is then that of the operands).
    """
    if op in COMPARISONS and VID in (a, b) and Weak.INT in (a, b):
        kind: ValueKind | None = VID  # so that -1 is vg.none, and nothing is widened
    elif op in COMPARISONS or op in ("min", "max"):
        kind = merge(a, b)
    elif a == b == BOOL and op in "&|^":
        kind = BOOL
    else:
        kind = arithmetic(a, b)
    if kind is None:
        return None
    if op == "/" and not element_of(default(kind)).is_float:
        kind = _with_element(default(kind), F64)
    return default(kind), kind


def folded(op: str, a: float, b: float) -> int | float | None:
    """`a op b` of two literals; None where that is left to be computed in int64 or float64."""
    if op not in _FOLD or (op in ("/", "//", "%") and not b):
        return None
    found: int | float = _FOLD[op](a, b)
    return found if isinstance(found, float) or -(2**63) <= found < 2**63 else None


def _meet(a: ValueKind, b: ValueKind) -> ValueKind | None:
    if isinstance(a, Weak):
        a, b = b, a
    assert not isinstance(a, Weak)
    if not isinstance(b, Weak):
        return promote(a, b)
    element = element_of(a)
    if b is Weak.INF:
        return None if element.kind in (Kind.BOOL, Kind.INDEX) else a
    if b is Weak.INT:
        return I64 if element == BOOL else a
    return a if element.is_float else _with_element(a, F64)


def _with_element(t: Type, element: Scalar) -> Type:
    return Vector(element, t.length) if isinstance(t, Vector) else element


def clamped(e: ir.Expr, to: Type, target: Target) -> ir.Expr:
    """`e`, integers that `to` cannot hold replaced by the nearest that it can: what a minimum or maximum is made with.

    So `min(x, e)` in the type of x is the true minimum wherever that type can hold it; converting would wrap.
    """
    source, wanted = element_of(e.type), element_of(to)
    if source.is_float or not wanted.is_integer:
        return e
    smallest, largest = limits(source, target)
    low, high = limits(wanted)
    for op, bound, needed in (("max", low, smallest < low), ("min", high, largest > high)):
        if needed:
            limit: ir.Expr = ir.Const(bound, source, span=e.span)
            limit = ir.Cast(e.type, limit, span=e.span) if isinstance(e.type, Vector) else limit
            e = ir.Binary(op, e, limit, span=e.span)
    return e


def loaded(read: ir.Expr, span: Span) -> Value:
    """What is read of a property, in the type that is computed with."""
    t = computed(read.type)
    return Value(read if t == read.type else ir.Cast(t, read, span=span), t, span)


def element(vector: ir.Expr, index: ir.Expr, span: Span) -> Value:
    """An element of a vector, which alone is read where a property has that."""
    if isinstance(vector, ir.Cast) and element_of(vector.operand.type) == F16:
        vector = vector.operand
    return loaded(ir.Element(vector, index, span=span), span)


class OutOfRange(Exception):
    """A literal that its type cannot hold."""


def coerce(value: Value, to: Type) -> ir.Expr:
    """`value` as an expression of type `to`; literals are rewritten, others cast. Raises OutOfRange for a literal.

    A cast that is made here stands where its operand does; one that the user wrote has more of the line.
    """
    if value.kind == to:
        return value.expr
    if not isinstance(value.kind, Weak) and value.type == to:
        return value.expr
    if isinstance(value.kind, Weak) and isinstance(value.expr, ir.Const):
        element = literal(value.expr, element_of(to))
        return element if isinstance(to, Scalar) else ir.Cast(to, element, span=value.span)
    return value.expr if value.expr.type == to else ir.Cast(to, value.expr, span=value.expr.span)


def literal(const: ir.Const, to: Scalar) -> ir.Const:
    """A literal of a weak kind in a scalar type."""
    value = const.value
    if to.is_float:
        return ir.Const(float(value), to, span=const.span)
    if to == BOOL:
        return ir.Const(bool(value), to, span=const.span)
    if to == VID:
        if value != int(value) or value < -1:
            raise OutOfRange
        return ir.Const(int(value), to, span=const.span)
    smallest, largest = limits(to)
    if isinstance(value, float) and np.isinf(value):
        return ir.Const(largest if value > 0 else smallest, to, span=const.span)
    if not smallest <= value <= largest or value != int(value):
        raise OutOfRange
    return ir.Const(int(value), to, span=const.span)


def settled(kind: ValueKind) -> ValueKind:
    """The kind that a variable takes on from a literal: int64 or float64. vg.inf waits for what it meets."""
    return kind if kind is Weak.INF else default(kind)


def zero(t: Type, span: Span | None) -> ir.Expr:
    """0, false, vg.none, or a vector of zeros."""
    element = element_of(t)
    start: int | float | bool = (
        False if element == BOOL else -1 if element == VID else 0.0 if element.is_float else 0
    )
    const = ir.Const(start, element, span=span)
    return ir.Cast(t, const, span=span) if isinstance(t, Vector) else const


# --- inference ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """What is known of a variable: its kind, and whether it always holds an existing vertex."""

    kind: ValueKind
    valid: bool = False


class LoweredAgain(Exception):
    """A round ends early: what it found out changes how the text is read."""


class Inference:
    """Kinds of variables and globals, found by lowering the program until nothing changes.

    A round reads what the round before found (in the first round, what was assigned so far) and collects what it
    assigns anew. When all that was read agrees with what was assigned, the round's program is right.
    """

    def __init__(self) -> None:
        self.settled: dict[Hashable, State] = {}
        self.current: dict[Hashable, State] = {}
        self.used: set[tuple[Hashable, State | None]] = set()
        self.rounds = 0
        self.frontiers: set[Hashable] = set()
        """Calls of helpers that give a frontier by one of several returns."""

    def read(self, key: Hashable) -> State | None:
        """What is known of `key`; None if nothing."""
        state = self.settled.get(key) or self.current.get(key)
        self.used.add((key, state))
        return state

    def assign(self, key: Hashable, kind: ValueKind, valid: bool = False) -> State | None:
        """Note that `key` gets a value of `kind`; None if it cannot have that beside the others."""
        old = self.current.get(key)
        if old is not None:
            merged = merge(old.kind, kind)
            if merged is None:
                return None
            kind, valid = merged, valid and old.valid
        self.current[key] = State(kind, valid)
        return self.settled.get(key) or self.current[key]

    def again(self) -> None:
        """Prepare for the same round once more."""
        self.current, self.used = {}, set()

    def next_round(self) -> bool:
        """Whether another round is needed; prepares it."""
        if all(self.current.get(key) == state for key, state in self.used):
            return False
        self.rounds += 1
        if self.rounds > 6:  # kinds that chase each other: only let them grow from here on
            for key, state in self.settled.items():
                self.assign(key, state.kind, state.valid)
        self.settled, self.current, self.used = self.current, {}, set()
        return True
