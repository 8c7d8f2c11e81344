"""Numbers that follow the rules of the language while CPython runs the user's functions.

Every number of a program is a `Number`, its literals and the constants of its modules, too: how types combine is asked
of the frontend's rules (`compiler/frontend/kinds.py`), so there are no others here. A number that was read from a
property remembers where. What a reduction reads where it writes is marked (`reduced`), and what comes of it remembers
what was combined with it: that goes into the place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from functools import cache, reduce
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.kinds import COMPARISONS, ValueKind, Weak, default, folded, operation
from vgraph.compiler.types import BOOL, F16, I64, NUMPY_NAMES, VID, Scalar, Type, Vector, computed, element_of
from vgraph.language.names import Infinity

_SCALARS: dict[np.dtype[Any], Scalar] = {np.dtype(name): t for name, t in NUMPY_NAMES.items()}
HALF: np.dtype[Any] = np.dtype(np.float16)
_NUMPY = {F16: HALF} | {t: dtype for dtype, t in _SCALARS.items()}
Operand = tuple["Number", bool]
"""What is combined into a place, and whether it is subtracted."""
Combined = tuple[str, tuple[Operand, ...]]
"""The operation of a reduction, and what was combined by it with what stands in the place."""


@cache
def numpy_dtype(t: Type) -> np.dtype[Any]:
    """The NumPy dtype of a number type, or of a vector's elements."""
    return _NUMPY[element_of(t)]


class Number:
    """A value of the language: a NumPy scalar, a one-dimensional array for a vector, or the Python number of a literal.

    All names begin with an underscore, because those of a vertex's properties are the user's.
    """

    __slots__ = ("_combined", "_kind", "_place", "_value")
    _value: Any
    _kind: ValueKind
    _place: Any
    _combined: Combined | None
    __array_ufunc__ = None  # NumPy's own scalars leave the operation to us

    def __init__(
        self,
        value: Any,
        kind: ValueKind | None = None,
        place: Hashable = None,
        combined: Combined | None = None,
    ) -> None:
        self._value = value
        self._kind = kind or _type_of(value)
        self._place = place
        self._combined = combined

    def __repr__(self) -> str:
        return str(self._value)

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __index__(self) -> int:
        return operator.index(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __getitem__(self, index: Any) -> Number:
        if isinstance(index, slice):
            return Number(self._value[index].copy())
        return Number(self._value[int(index) % len(self._value)])

    def __setitem__(self, index: Any, value: Any) -> None:
        """`v.x[i] = e`: into the place that the vector was read from; nothing at vg.none."""
        if self._place is not None:
            prop, at = self._place
            new = prop.state.to_memory(value, element_of(prop.type))
            prop.put(at, prop.with_element(at, index, new), always=True)

    def __neg__(self) -> Number:
        return self._signed(operator.neg)

    def __pos__(self) -> Number:
        return self._signed(operator.pos)

    def __abs__(self) -> Number:
        return self._signed(abs)

    def __invert__(self) -> Number:
        return Number(~convert(self, I64 if self._kind == VID else default(self._kind)), self._result_kind())

    def _signed(self, function: Callable[[Any], Any]) -> Number:
        """The same of a literal; vertices and bools count as int64."""
        if _is_literal(self):
            return Number(function(self._value), self._kind)
        kind = self._result_kind()
        return Number(function(convert(self, default(kind))), default(kind) if function is abs else kind)

    def _result_kind(self) -> ValueKind:
        return I64 if self._kind in (BOOL, VID) else self._kind

    def _made(self, value: Any, kind: ValueKind, combined: Combined | None) -> Number:
        """A result of an operation on this number."""
        return Number(value, kind, None, combined)


def _type_of(value: Any) -> Type:
    scalar = _SCALARS[value.dtype]
    return Vector(scalar, len(value)) if isinstance(value, np.ndarray) and value.ndim else scalar


def _is_literal(x: Number) -> bool:
    return not isinstance(x._value, (np.generic, np.ndarray))


def lift(value: Any) -> Any:
    """A Python or NumPy number as a `Number`; anything else as it is."""
    if isinstance(value, Number):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return Number(value) if value.dtype in _SCALARS else value
    if isinstance(value, bool):
        return Number(np.bool_(value))
    if isinstance(value, Infinity):
        return Number(value, Weak.INF)
    if type(value) in (int, float):
        return Number(value, Weak.INT if isinstance(value, int) else Weak.FLOAT)
    return value


# --- conversions ----------------------------------------------------------------------------------------------


def convert(x: Number, t: Type, dtype: np.dtype[Any] | None = None, *, nearest: bool = False) -> Any:
    """The NumPy scalar or vector of `x` in type `t`, of which `dtype` may say how it is kept.

    `nearest`: integers that `t` cannot hold give the nearest that it can; else they wrap.
    """
    to = dtype or numpy_dtype(t)
    if to is HALF:
        return arithmetic.cast(convert(x, computed(t)), to)
    found = x._value
    if _is_literal(x):
        found = arithmetic.constant(found, to)
    elif found.dtype is not to:
        found = (arithmetic.nearest if nearest else arithmetic.cast)(found, to)
    return np.full(t.length, found) if isinstance(t, Vector) and np.ndim(found) == 0 else found


# --- operations -----------------------------------------------------------------------------------------------


def operate(op: str, left: Any, right: Any) -> Any:
    """`left op right`, arithmetic or bits, a comparison, min or max; NotImplemented for what is no number."""
    a = left if isinstance(left, Number) else lift(left)
    b = right if isinstance(right, Number) else lift(right)
    if not (isinstance(a, Number) and isinstance(b, Number)):
        return NotImplemented
    found = _operation(op, a._kind, b._kind)
    if found is None:
        return _without_type(op, a, b)
    t, kind, finite, to = found
    if finite and _is_literal(a) and _is_literal(b):
        literal = folded(op, a._value, b._value)
        if literal is not None:
            return lift(literal)
    typed = a if a._kind is VID else b
    if to is None:
        to = typed._value.dtype  # of the width that ids have in this graph
    x, y = a._value, b._value
    if getattr(x, "dtype", None) is not to or getattr(y, "dtype", None) is not to or type(t) is Vector:
        x, y = convert(a, t, to), convert(b, t, to)
    if op in COMPARISONS:
        holds = arithmetic.COMPARE[op](x, y)
        if isinstance(holds, np.ndarray):  # of vectors one for each element
            holds = np.any(holds) if op == "!=" else np.all(holds)
        return Number(holds, BOOL)
    return typed._made(arithmetic.BINARY[op](x, y), kind, _combined(op, a, b))


@cache
def _operation(
    op: str, a: ValueKind, b: ValueKind
) -> tuple[Type, ValueKind, bool, np.dtype[Any] | None] | None:
    """What the rules say of `a op b`, whether both are literals other than vg.inf, and the dtype; None: that of ids."""
    found = operation(op, a, b)
    if found is None:
        return None
    literals = all(isinstance(k, Weak) and k is not Weak.INF for k in (a, b))
    return *found, literals, None if found[0] is VID else numpy_dtype(found[0])


def _without_type(op: str, a: Number, b: Number) -> Number:
    """Signed and unsigned 64 bits have no type in common, but they compare, and one is reduced into the other."""
    if op in COMPARISONS:
        return Number(np.bool_(arithmetic.COMPARE[op](int(a), int(b))))
    return Number(None, I64, None, _combined(op, a, b))


def reduced(read: Any, op: str) -> Any:
    """What a reduction by `op` reads where it writes, marked as that."""
    object.__setattr__(read, "_combined", (op, ()))
    return read


def _combined(op: str, a: Number, b: Number) -> Combined | None:
    """What `a op b` has combined with a marked read, which is an operand or, among others, in the left one."""
    kind = "+" if op == "-" else op
    if b._combined == (op, ()) and a._combined != (kind, ()):
        return op, ((a, False),)
    if a._combined is not None and a._combined[0] == kind:
        return kind, (*a._combined[1], (b, op == "-"))
    return None


def extreme(op: str) -> Callable[..., Any]:
    """`min` or `max` of the language: of two or more values, NaN if one is NaN."""

    def fold(values: list[Any]) -> Any:
        return reduce(lambda a, b: operate(op, a, b), values)

    def combine(*args: Any) -> Any:
        values = [lift(v) for v in args]
        result = fold(values)
        marked = next((k for k, v in enumerate(values) if v._combined == (op, ())), None)
        if marked is None:
            return result
        others = fold([*values[:marked], *values[marked + 1 :]])
        return result._made(result._value, result._kind, (op, ((others, False),)))

    combine.__name__ = op
    return combine


def contribution(value: Any, op: str, t: Type, store: Callable[..., Any]) -> Any:
    """What goes into a place of type `t`, which takes `value` by the reduction `op`; `store` converts.

    What was read there and combined with others gives the others, each in the place's type; a minimum or maximum that
    a test decides, or a truth value, gives itself.
    """
    value = lift(value)
    parts = (value._combined and value._combined[1]) or ((value, False),)
    whole = None
    for operand, negative in parts:
        part = store(operand, t, nearest=op in ("min", "max"))
        if whole is None:
            whole = -part if negative else part
        else:
            whole = arithmetic.BINARY["-" if negative else op](whole, part)
    return whole


def negation(x: Any) -> Number:
    """`not x`."""
    return Number(np.bool_(not x))


def _method(op: str, swapped: bool) -> Callable[[Number, Any], Any]:
    if swapped:
        return lambda self, other: operate(op, other, self)
    return lambda self, other: operate(op, self, other)


_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
for _op, _name in _METHODS.items():
    setattr(Number, f"__{_name}__", _method(_op, False))
    setattr(Number, f"__r{_name}__", _method(_op, True))
for _op, _name in _COMPARISONS.items():
    setattr(Number, f"__{_name}__", _method(_op, False))
