"""Numbers that follow the rules of the language while CPython runs the user's functions.

A `Number` wraps a NumPy scalar, or an array for a vector. Python literals stay Python numbers and are weak:
beside a `Number` they take its type. A number that was read from a place which operators may reduce into
remembers that place, and what was added to it, so that an assignment back is recognised as the reduction that
it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.types import BOOL, F64, I64, NUMPY_NAMES, Scalar, Type, Vector, element_of, promote
from vgraph.language import Infinity, NoVertex

_NUMPY = {t: np.dtype(name) for name, t in NUMPY_NAMES.items()}
_SCALARS = {dtype: t for t, dtype in _NUMPY.items()}
_ARITHMETIC = ("+", "-", "*", "//", "%", "**", "/")


class Place(Protocol):
    """Something that a round reduces into: a property at a vertex, or a global."""

    def tested(self, value: Any) -> Any:
        """What a test for equality sees where `value` was read: the present one if it may decide a claim."""

    def reduce(self, op: str, operand: Any) -> None:
        """Combine `operand` into the place."""


def numpy_dtype(t: Type) -> np.dtype[Any]:
    """The NumPy dtype of a number type, or of a vector's elements."""
    return _NUMPY[element_of(t)]


def type_of(value: Any) -> Type:
    """The type of a NumPy scalar or vector."""
    scalar = _SCALARS[value.dtype]
    return Vector(scalar, len(value)) if isinstance(value, np.ndarray) and value.ndim else scalar


class Number:
    """A typed value of the language: `value` is a NumPy scalar, or a one-dimensional array for a vector."""

    __slots__ = ("value",)
    __array_ufunc__ = None  # NumPy's own scalars leave the operation to us

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return str(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> Number:
        return Number(self.value[int(index) % len(self.value)])

    def __iter__(self) -> Iterator[Number]:
        return (Number(x) for x in self.value)

    def __neg__(self) -> Number:
        return Number(-self.value if self.value.dtype != bool else -np.int64(self.value))

    def __pos__(self) -> Number:
        return Number(self.value)

    def __invert__(self) -> Number:
        return Number(~self.value)

    def __abs__(self) -> Number:
        return Number(np.abs(self.value))

    def _binary(self, op: str, other: Any, swapped: bool) -> Any:
        pair = common(self, other, op)
        if pair is None:
            return NotImplemented
        a, b = pair
        return Number(arithmetic.BINARY[op](b, a) if swapped else arithmetic.BINARY[op](a, b))

    def _compare(self, op: str, other: Any) -> Any:
        pair = common(self, other, op)
        return NotImplemented if pair is None else bool(arithmetic.COMPARE[op](*pair))

    def __add__(self, other: Any) -> Any:
        return self._binary("+", other, False)

    def __radd__(self, other: Any) -> Any:
        return self._binary("+", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("-", other, False)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("-", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("*", other, False)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("*", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("/", other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("/", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._binary("//", other, False)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary("//", other, True)

    def __mod__(self, other: Any) -> Any:
        return self._binary("%", other, False)

    def __rmod__(self, other: Any) -> Any:
        return self._binary("%", other, True)

    def __pow__(self, other: Any) -> Any:
        return self._binary("**", other, False)

    def __rpow__(self, other: Any) -> Any:
        return self._binary("**", other, True)

    def __and__(self, other: Any) -> Any:
        return self._binary("&", other, False)

    def __rand__(self, other: Any) -> Any:
        return self._binary("&", other, True)

    def __or__(self, other: Any) -> Any:
        return self._binary("|", other, False)

    def __ror__(self, other: Any) -> Any:
        return self._binary("|", other, True)

    def __xor__(self, other: Any) -> Any:
        return self._binary("^", other, False)

    def __rxor__(self, other: Any) -> Any:
        return self._binary("^", other, True)

    def __lshift__(self, other: Any) -> Any:
        return self._binary("<<", other, False)

    def __rlshift__(self, other: Any) -> Any:
        return self._binary("<<", other, True)

    def __rshift__(self, other: Any) -> Any:
        return self._binary(">>", other, False)

    def __rrshift__(self, other: Any) -> Any:
        return self._binary(">>", other, True)

    def __lt__(self, other: Any) -> Any:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(">=", other)

    def __eq__(self, other: Any) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: Any) -> Any:
        return self._compare("!=", other)


def typed(value: Any) -> Any:
    """The NumPy scalar or vector behind a typed value, None for a weak literal or something foreign."""
    if isinstance(value, Number):
        return value.value
    if isinstance(value, (bool, np.bool_)):
        return np.bool_(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value
    number = getattr(value, "as_number", None)  # a vertex: its id
    return None if number is None else number().value


def common(a: Number, b: Any, op: str) -> tuple[Any, Any] | None:
    """Both operands in their common type; None if `b` is no number. Raises TypeError if there is none."""
    right = typed(b)
    if right is None and not isinstance(b, (int, float)):
        return None
    left, ta = a.value, type_of(a.value)
    tb = type_of(right) if right is not None else weak_type(b, ta)
    t = promote(ta, tb)
    if t is None:
        raise TypeError(f"{ta} and {tb} have no common type; convert one of them")
    t = _operation_type(op, t)
    dtype = numpy_dtype(t)
    converted = arithmetic.constant(b, dtype) if right is None else arithmetic.cast(right, dtype)
    return arithmetic.cast(left, dtype), converted


def _operation_type(op: str, t: Type) -> Type:
    """Where the operation itself takes other types: `/` is on floats, arithmetic on numbers."""
    element = element_of(t)
    if op == "/" and not element.is_float:
        element = F64
    elif op in _ARITHMETIC and element == BOOL:
        element = I64
    return Vector(element, t.length) if isinstance(t, Vector) else element


def weak_type(literal: float, beside: Type) -> Type:
    """The type that a Python number takes beside a value of type `beside`."""
    element = element_of(beside)
    if isinstance(literal, int):
        return I64 if element == BOOL else element
    whole = element.is_integer and isinstance(literal, Infinity)
    return element if element.is_float or whole else F64


def literal_type(literal: float) -> Scalar:
    """The type of a Python number with nothing beside it."""
    return BOOL if isinstance(literal, bool) else I64 if isinstance(literal, int) else F64


def convert(value: Any, t: Type) -> Any:
    """Any value of a program as a NumPy scalar or vector of number type `t`."""
    dtype = numpy_dtype(t)
    found = typed(value)
    if found is None:
        if not isinstance(value, (int, float)):
            raise TypeError(f"{value!r} is not a value of type {t}")
        found = arithmetic.constant(value, dtype)
    found = arithmetic.cast(found, dtype)
    return np.full(t.length, found) if isinstance(t, Vector) and np.ndim(found) == 0 else found


# --- reads and reductions -------------------------------------------------------------------------------


class Read(Number):
    """A number read from a place that the round may reduce into."""

    __slots__ = ("place",)

    def __init__(self, value: Any, place: Place) -> None:
        super().__init__(value)
        self.place = place

    def _binary(self, op: str, other: Any, swapped: bool) -> Any:
        result = super()._binary(op, other, swapped)
        if op not in _REDUCING or result is NotImplemented or (swapped and op == "-"):
            return result
        return Reduced(result.value, self.place, "+" if op == "-" else op, -other if op == "-" else other)

    def _compare(self, op: str, other: Any) -> Any:
        if op in ("==", "!=") and not isinstance(other, Read):
            return Number(self.place.tested(self.value))._compare(op, other)
        return super()._compare(op, other)

    __hash__ = Number.__hash__


class Reduced(Number):
    """The result of `place op operand`: assigned back to `place`, it is a reduction."""

    __slots__ = ("op", "operand", "place")

    def __init__(self, value: Any, place: Place, op: str, operand: Any) -> None:
        super().__init__(value)
        self.place, self.op, self.operand = place, op, operand


_REDUCING = ("+", "-", "*", "|", "&")


def extreme(op: str) -> Callable[..., Any]:
    """`min` or `max` of the language: of two or more values, NaN if one is NaN."""

    def pair(a: Any, b: Any) -> Any:
        if typed(a) is None and typed(b) is None:
            if isinstance(a, float) and a != a:
                return a
            return (min if op == "min" else max)(
                b, a
            )  # Python's gives its first argument unless the second wins
        for one, other in ((a, b), (b, a)):
            if hasattr(one, "extreme") and (hasattr(other, "extreme") or isinstance(other, NoVertex)):
                return one.extreme(op, other)
        first = Number(typed(a)) if typed(a) is not None else None
        if first is None:
            found = common(Number(typed(b)), a, op)
        else:
            found = common(first, b, op)
        if found is None:
            raise TypeError(f"{op} takes numbers, not {a!r} and {b!r}")
        return Number(arithmetic.BINARY[op](*found))

    def combine(first: Any, second: Any, *more: Any) -> Any:
        values = (first, second, *more)
        reads = [v for v in values if isinstance(v, Read)]
        result = values[0]
        for value in values[1:]:
            result = pair(result, value)
        if len(reads) != 1 or not isinstance(result, Number):
            return result
        others = [v for v in values if v is not reads[0]]
        operand = others[0]
        for value in others[1:]:
            operand = pair(operand, value)
        return Reduced(result.value, reads[0].place, op, operand)

    combine.__name__ = op
    return combine
