"""How types and constants of the language look in LLVM IR.

A bool is `i1` in a register and `i8` (0 or 1) in memory; everything else looks the same in both places. An f16 is its
bits, an `i16`, until it becomes an f32 (`halves.py`).
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from vgraph.compiler.types import Kind, Scalar, Target, Type, Vector


class Value(NamedTuple):
    """An SSA value. `wide`, if known, is the same number as an i64, ready to address memory."""

    text: str
    type: Type
    wide: str | None = None


class Types:
    """LLVM names of types for one target (the widths of index types), memoised."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.id = f"i{target.id_bits}"
        self.offset = f"i{target.offset_bits}"
        self._register: dict[Type, str] = {}
        self._memory: dict[Type, str] = {}

    def register(self, t: Type) -> str:
        """The type of a value in a register: `i1`, `i32`, `double`, `<3 x float>`."""
        name = self._register.get(t)
        if name is None:
            name = self._register[t] = self._name(t, "i1")
        return name

    def memory(self, t: Type) -> str:
        """The type of a value in memory: as in a register, but bools are `i8`."""
        name = self._memory.get(t)
        if name is None:
            name = self._memory[t] = self._name(t, "i8")
        return name

    def _name(self, t: Type, boolean: str) -> str:
        if isinstance(t, Vector):
            return f"<{t.length} x {self._name(t.element, boolean)}>"
        if t.kind is Kind.BOOL:
            return boolean
        if t.kind is Kind.FLOAT:
            return {16: "i16", 32: "float", 64: "double"}[t.bits]
        return f"i{self.target.width(t)}"

    def size(self, scalar: Scalar) -> int:
        """Bytes of a scalar in memory, and its alignment."""
        return self.target.width(scalar) // 8

    def suffix(self, t: Type) -> str:
        """How an overloaded intrinsic names `t`: `i32`, `f64`, `v3f32`."""
        if isinstance(t, Vector):
            return f"v{t.length}{self.suffix(t.element)}"
        if t.kind is Kind.FLOAT:
            return f"f{t.bits}"
        return self.register(t)

    def constant(self, value: float, t: Type) -> str:
        """A literal of type `t`; integers wrap, an infinity in an integer type is its extreme value."""
        if isinstance(t, Vector):
            return f"splat ({self.register(t.element)} {self.constant(value, t.element)})"
        if t.kind is Kind.BOOL:
            return "true" if value else "false"
        if t.kind is Kind.FLOAT:
            return float_text(float(value), t.bits)
        bits = self.target.width(t)
        if isinstance(value, float):
            value = integer_of(value, t.kind is Kind.SIGNED, bits)
        return str(_signed(int(value), bits))


def integer_of(value: float, signed: bool, bits: int) -> int:
    """A float as an integer: truncated, saturated, NaN gives 0."""
    low = -(1 << bits - 1) if signed else 0
    high = (1 << bits - 1) - 1 if signed else (1 << bits) - 1
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, int(value)))


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def float_text(value: float, bits: int) -> str:
    """An exact literal: LLVM writes both widths as the 16 hex digits of the double."""
    if bits == 32:
        value = _round32(value)
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def _round32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def is_float(t: Type) -> bool:
    """True for f32, f64 and vectors of them."""
    return (t.element if isinstance(t, Vector) else t).kind is Kind.FLOAT


def is_bool(t: Type) -> bool:
    """True for bool and vectors of it."""
    return (t.element if isinstance(t, Vector) else t).kind is Kind.BOOL


def is_signed(t: Type) -> bool:
    """True for signed integers and vectors of them."""
    return (t.element if isinstance(t, Vector) else t).kind is Kind.SIGNED


def with_element(t: Type, element: Scalar) -> Type:
    """`element` in the shape of `t`."""
    return Vector(element, t.length) if isinstance(t, Vector) else element
