"""What every operation of the language gives, on NumPy scalars and vectors: what all devices follow.

Integers wrap; integer division by zero gives 0; min and max propagate NaN; float to integer saturates.
Callers silence NumPy's warnings with `quiet()` around whole runs. Operands of one operation have one dtype.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vgraph.compiler.philox import philox

Value = Any  # a NumPy scalar, or a one-dimensional array for a vector


def quiet() -> Any:
    """A context in which overflow, division by zero and invalid operations pass without a warning."""
    return np.errstate(all="ignore")


def dtype_of(value: Value) -> np.dtype[Any]:
    """The dtype of a NumPy scalar or vector."""
    found: np.dtype[Any] = value.dtype
    return found


# --- words ----------------------------------------------------------------------------------------------------


@functools.total_ordering
class Word:
    """Several scalars packed into one, as a word of the IR: an unsigned integer of any width."""

    __slots__ = ("bits",)
    dtype = np.dtype(object)

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self.bits == other.bits

    def __lt__(self, other: Word) -> bool:
        return self.bits < other.bits

    def __hash__(self) -> int:
        return hash(self.bits)

    def copy(self) -> Word:
        """Itself: it never changes."""
        return self


def ordered(value: Value) -> int:
    """The bits of a scalar as an unsigned integer of its width that is larger the larger the scalar is.

    -0.0 is below 0.0, NaN is above infinity (and all NaNs are one), false below true, `vg.none` above every vertex.
    """
    dtype = dtype_of(value)
    bits = 8 * dtype.itemsize
    if dtype.kind == "i":
        return int(value) + (1 << bits - 1)
    if dtype.kind != "f":
        return int(value)
    found = int((dtype.type(np.nan) if np.isnan(value) else value).view(f"u{dtype.itemsize}"))
    sign = 1 << bits - 1
    return 2 * sign - 1 - found if found & sign else found | sign


def _in_order(found: int, dtype: np.dtype[Any]) -> Value:
    """The scalar of which `found` is what `ordered` gives."""
    sign = 1 << 8 * dtype.itemsize - 1
    if dtype.kind == "i":
        return dtype.type(found - sign)
    if dtype.kind != "f":
        return dtype.type(found)
    return np.array(found ^ sign if found & sign else 2 * sign - 1 - found, f"u{dtype.itemsize}").view(dtype)[
        ()
    ]


def pack(values: Sequence[Value]) -> Word:
    """Several scalars as one word, which compares as they do one after the other."""
    bits = 0
    for value in values:
        bits = bits << 8 * dtype_of(value).itemsize | ordered(value)
    return Word(bits)


def precedes(op: str, new: Sequence[Value], old: Sequence[Value]) -> bool:
    """Whether values take the place of others in the lexicographic minimum or maximum of both."""
    return pack(new) < pack(old) if op == "min" else pack(new) > pack(old)


def unpack(word: Word, dtypes: Sequence[np.dtype[Any]], k: int) -> Value:
    """The `k`-th of the scalars of these dtypes that were packed into a word."""
    below = sum(8 * dtype.itemsize for dtype in dtypes[k + 1 :])
    return _in_order(word.bits >> below & (1 << 8 * dtypes[k].itemsize) - 1, dtypes[k])


def element_at(indices: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """Where the element of an array is that indices name, of which those below 0 count from the end; None: nowhere."""
    at = tuple(i + n if i < 0 else i for i, n in zip(indices, shape, strict=True))
    return at if all(0 <= i < n for i, n in zip(at, shape, strict=True)) else None


# --- operations -----------------------------------------------------------------------------------------------


def _divide(a: Value, b: Value) -> Value:
    return np.true_divide(a, b, dtype=dtype_of(a))


def _floor_divide(a: Value, b: Value) -> Value:
    return np.floor_divide(a, b)  # 0 for an integer divided by 0, and the smallest integer by -1 wraps


def _minimum(a: Value, b: Value) -> Value:
    """The smaller; of zeros -0.0, as IEEE 754 has it and compiled code does. NumPy gives either."""
    if dtype_of(a).kind != "f":
        return np.minimum(a, b)
    found: Value = np.where((a < b) | ((a == b) & np.signbit(a)) | np.isnan(a), a, b)
    return found[()]


def _maximum(a: Value, b: Value) -> Value:
    """The larger; of zeros 0.0."""
    if dtype_of(a).kind != "f":
        return np.maximum(a, b)
    found: Value = np.where((a > b) | ((a == b) & ~np.signbit(a)) | np.isnan(a), a, b)
    return found[()]


def _power(a: Value, b: Value) -> Value:
    if (
        dtype_of(a).kind == "f"
    ):  # of arrays: for scalars NumPy takes the square root where b is 0.5, NaN of -inf
        return np.power(np.atleast_1d(a), np.atleast_1d(b)).reshape(np.shape(a))[()]
    if dtype_of(a).kind == "u":
        return np.power(a, b)
    result = np.power(a, np.maximum(b, 0))
    one, minus_one = a == 1, a == -1
    odd = (b & 1) == 1
    inverse = np.where(one, 1, np.where(minus_one, np.where(odd, -1, 1), 0)).astype(dtype_of(a))
    return np.where(b < 0, inverse, result).astype(dtype_of(a))[()]


def _shift(function: Callable[..., Value]) -> Callable[[Value, Value], Value]:
    def apply(a: Value, b: Value) -> Value:
        bits = dtype_of(a).itemsize * 8
        return function(a, b & dtype_of(a).type(bits - 1))

    return apply


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "//": _floor_divide,
    "%": np.remainder,
    "**": _power,
    "min": _minimum,
    "max": _maximum,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": _shift(np.left_shift),
    ">>": _shift(np.right_shift),
}
UNARY: dict[str, Callable[[Value], Value]] = {
    "neg": operator.neg,
    "not": np.logical_not,
    "invert": operator.invert,
}
COMPARE: dict[str, Callable[[Value, Value], Value]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _round(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda x: function(x) if dtype_of(x).kind == "f" else x


def _test(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda x: np.bool_(dtype_of(x).kind == "f" and function(x))


def _sum(x: Value) -> Value:
    return np.add.reduce(x, dtype=dtype_of(x))


def popcount(x: Value) -> Value:
    """How many bits are 1, in the type of `x`."""
    return np.bitwise_count(x.view(_unsigned(x))).astype(dtype_of(x))


def ctz(x: Value) -> Value:
    """How many bits there are below the lowest 1; for 0 the width of the type."""
    return popcount(~x & (x - dtype_of(x).type(1)))


def clz(x: Value) -> Value:
    """How many bits there are above the highest 1; for 0 the width of the type."""
    bits, width = x.view(_unsigned(x)), 8 * dtype_of(x).itemsize
    shift = 1
    while shift < width:
        bits, shift = bits | bits >> bits.dtype.type(shift), 2 * shift
    return popcount((~bits).view(dtype_of(x)))


def _unsigned(x: Value) -> str:
    return f"u{dtype_of(x).itemsize}"


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "floor": _round(np.floor),
    "ceil": _round(np.ceil),
    "popcount": popcount,
    "ctz": ctz,
    "clz": clz,
    "isnan": _test(np.isnan),
    "isinf": _test(np.isinf),
    "dot": lambda a, b: _sum(a * b),
    "sum": _sum,
    "philox": lambda key, low, high: np.uint64(philox(int(key), int(low), int(high))),
}


def cast(value: Value, to: np.dtype[Any]) -> Value:
    """`value` converted: floats truncate and saturate, NaN gives 0; integers wrap; to bool: != 0."""
    source = dtype_of(value)
    if source == to:
        return value
    if to.kind == "b":
        return value != source.type(0)
    if source.kind == "f" and to.kind in "iu":
        return _saturate(value, to)
    return value.astype(to)


def nearest(value: Value, to: np.dtype[Any]) -> Value:
    """`value` converted like `cast`, but integers that `to` cannot hold give the nearest that it can."""
    if dtype_of(value).kind not in "iu" or to.kind not in "iu":
        return cast(value, to)
    limits = np.iinfo(to)
    inside = np.clip(
        np.asarray(value, object), limits.min, limits.max
    )  # of Python's integers: none overflows
    return np.asarray(inside).astype(to)[()]


def _saturate(value: Value, to: np.dtype[Any]) -> Value:
    limits = np.iinfo(to)
    whole = np.trunc(np.where(np.isnan(value), 0.0, np.asarray(value, np.float64)))
    top = float(limits.max) if float(limits.max) == limits.max else float(limits.max + 1)
    high, low = whole >= top, whole < float(limits.min)
    inside = np.where(high | low, 0.0, whole).astype(to)
    result = np.where(high, to.type(limits.max), np.where(low, to.type(limits.min), inside))
    return result.astype(to)[()]


def constant(value: float, to: np.dtype[Any]) -> Value:
    """A literal as `to`: integers wrap (-1 is the largest index), infinity saturates in an integer type."""
    if value == 0 and to.kind == "f":  # 0.0 and -0.0 are the same to a cache
        return to.type(value)
    return _constant(value, to)


@functools.lru_cache(maxsize=4096, typed=True)
def _constant(value: float, to: np.dtype[Any]) -> Value:
    if to.kind in "iu" and isinstance(value, int) and not isinstance(value, bool):
        bits = to.itemsize * 8
        return np.array(value & ((1 << bits) - 1), f"u{to.itemsize}").view(to)[()]
    return cast(np.float64(value), to) if to.kind != "b" else np.bool_(value)
