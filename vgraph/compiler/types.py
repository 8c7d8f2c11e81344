"""Types of the language: scalars, fixed-length vectors, and how they combine.

Arithmetic follows NumPy: two's complement wrap-around, the wider type wins, an integer and a float give a float.
`vid` and `eid` are vertex and arc indices; their width (32 or 64 bits, unsigned) belongs to the graph, not to the type.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from vgraph.records import dataclass


class Kind(Enum):
    """What a scalar holds."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    INDEX = "index"


@dataclass(frozen=True, eq=False)
class Scalar:
    """A scalar type, which its name tells; `bits` of `vid` and `eid` is 0 until a `Target` fixes it."""

    name: str
    kind: Kind
    bits: int

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Scalar) and self.name == other.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        return scalar_named, (self.name,)  # a scalar of the language is one object, also when it was copied

    def __str__(self) -> str:
        return self.name

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool and index types."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        """True for f16, f32 and f64."""
        return self.kind is Kind.FLOAT


@dataclass(frozen=True)
class Vector:
    """A fixed-length vector of scalars; arithmetic is element-wise."""

    element: Scalar
    length: int

    def __str__(self) -> str:
        return f"vec<{self.element}, {self.length}>"


@dataclass(frozen=True, eq=False)
class Packed(Scalar):
    """Several scalars in one word, an unsigned integer that orders them lexicographically: `i32_vid`.

    The first field stands in the highest bits. See `arithmetic.pack` for how each is encoded.
    """

    fields: tuple[Scalar, ...] = ()


def packed(fields: tuple[Scalar, ...]) -> Packed:
    """The word of these fields."""
    return Packed("_".join(f.name for f in fields), Kind.UNSIGNED, 0, fields)


WIDEST_WORD: Final = 128
"""Bits that are compared and swapped in one step."""
LONGEST_VECTOR: Final = 4096
"""Elements of a vector: code for each operation is as long as the vector, and takes longer than that to make."""

LONGEST_IN_REGISTERS: Final = 32
"""Elements of a vector that is gathered in registers; of a longer one each element is changed where it lies."""
LONGEST_ROW: Final = 1 << 24
"""Elements of a vector that is never read as a whole."""

Type = Scalar | Vector

BOOL = Scalar("bool", Kind.BOOL, 8)
I32 = Scalar("i32", Kind.SIGNED, 32)
I64 = Scalar("i64", Kind.SIGNED, 64)
U32 = Scalar("u32", Kind.UNSIGNED, 32)
U64 = Scalar("u64", Kind.UNSIGNED, 64)
F16 = Scalar("f16", Kind.FLOAT, 16)
"""How properties are stored. There are no values of it: what is read becomes f32, and is rounded when it is written."""
F32 = Scalar("f32", Kind.FLOAT, 32)
F64 = Scalar("f64", Kind.FLOAT, 64)
VID = Scalar("vid", Kind.INDEX, 0)
EID = Scalar("eid", Kind.INDEX, 0)

SCALARS: dict[str, Scalar] = {t.name: t for t in (BOOL, I32, I64, U32, U64, F16, F32, F64, VID, EID)}


def scalar_named(name: str) -> Scalar | None:
    """The scalar type, or the word, of this name."""
    fields = tuple(SCALARS.get(part) for part in name.split("_"))
    known = tuple(f for f in fields if f is not None)
    return None if len(known) < len(fields) else known[0] if len(known) == 1 else packed(known)


NUMPY_NAMES: dict[str, Scalar] = {
    "bool": BOOL, "int32": I32, "int64": I64, "uint32": U32, "uint64": U64, "float32": F32, "float64": F64,
}  # fmt: skip
"""The types of values, by NumPy's names."""


@dataclass(frozen=True)
class Target:
    """The widths of vertex and arc indices in one compilation: 32 or 64 bits."""

    id_bits: int = 32
    offset_bits: int = 32

    def width(self, scalar: Scalar) -> int:
        """Bits that a value of `scalar` takes in memory."""
        if scalar is VID or scalar.name == "vid":
            return self.id_bits
        if isinstance(scalar, Packed):
            return 64 if self.bits_of(scalar.fields) <= 64 else WIDEST_WORD
        return self.offset_bits if scalar.name == "eid" else scalar.bits

    def bits_of(self, fields: tuple[Scalar, ...]) -> int:
        """Bits of several scalars side by side."""
        return sum(self.width(f) for f in fields)

    def numpy_name(self, scalar: Scalar) -> str:
        """The NumPy dtype that holds `scalar` ('uint32' for a 32-bit vid)."""
        if scalar.kind is Kind.INDEX:
            return f"uint{self.width(scalar)}"
        if isinstance(
            scalar, Packed
        ):  # NumPy has no integer of 128 bits; this is 16 bytes that nobody looks at
            return "uint64" if self.width(scalar) == 64 else "complex128"
        if scalar == F16:
            return "float16"
        return next(name for name, t in NUMPY_NAMES.items() if t == scalar)


def limits(t: Scalar, target: Target | None = None) -> tuple[int, int]:
    """The smallest and the largest value of a bool, integer or index type; ids have the width of `target`."""
    if t.kind is Kind.BOOL:
        return 0, 1
    bits = (target or Target()).width(t)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if t.kind is Kind.SIGNED else (0, (1 << bits) - 1)


def element_of(t: Type) -> Scalar:
    """The scalar type of a value or of a vector's elements."""
    return t.element if isinstance(t, Vector) else t


def computed(t: Type) -> Type:
    """The type of the values that a property of type `t` gives: f32 for f16."""
    if element_of(t) != F16:
        return t
    return Vector(F32, t.length) if isinstance(t, Vector) else F32


def is_long(t: Type) -> bool:
    """Whether a value is a vector that stays in memory."""
    return isinstance(t, Vector) and t.length > LONGEST_IN_REGISTERS


def promote(a: Type, b: Type) -> Type | None:
    """The common type of two operands (NumPy's rules; index types count as i64), or None where there is none.

    Signed 64-bit with unsigned 64-bit has none: NumPy would go to float64 and lose integers silently.
    """
    if isinstance(a, Vector) or isinstance(b, Vector):
        if isinstance(a, Vector) and isinstance(b, Vector) and a.length != b.length:
            return None
        length = a.length if isinstance(a, Vector) else b.length if isinstance(b, Vector) else 0
        element = promote(element_of(a), element_of(b))
        return Vector(element, length) if isinstance(element, Scalar) else None
    if a == b:
        return a
    a, b = (I64 if x.kind is Kind.INDEX else x for x in (a, b))
    return a if a == b else _promote_numbers(a, b)


def _promote_numbers(a: Scalar, b: Scalar) -> Scalar | None:
    if a.kind is Kind.BOOL:
        return b
    if b.kind is Kind.BOOL:
        return a
    if a.is_float or b.is_float:
        return F64  # equal types were settled above; f32 with any 32- or 64-bit integer is f64, as in NumPy
    if a.kind is b.kind:
        return a if a.bits >= b.bits else b
    signed, unsigned = (a, b) if a.kind is Kind.SIGNED else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    return I64 if unsigned.bits == 32 else None
