"""LLVM's types and constants in CUDA C++.

A value is a tuple of lanes: one for a scalar, one for each element of a vector or of a literal structure. An integer
of any width is kept in the unsigned type that has room for it, with zeros above its width; `i1` is a bool.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import Any, Final

from vgraph.records import dataclass

Lanes = tuple[str, ...]


class Unsupported(Exception):
    """The code of a function cannot be translated; the text says what it needs."""


# --- types ----------------------------------------------------------------------------------------------------


def lane_types(t: object) -> Lanes:
    """The types of the lanes of a type of LLVM's. Raises Unsupported for what has none in CUDA C++."""
    text = str(t)
    if found := re.fullmatch(r"<(\d+) x (\w+)>", text):
        lanes: Lanes = (found[2],) * int(found[1])
    elif found := re.fullmatch(r"\{ (.*) \}", text):
        lanes = tuple(found[1].split(", "))
    else:
        lanes = (text,)
    for lane in lanes:
        c_type(lane)
    return lanes


def width(t: str) -> int:
    """Bits of an integer type; 0 for another one."""
    return int(t[1:]) if re.fullmatch(r"i\d+", t) else 0


def room(t: str) -> int:
    """Bits of the C++ type in which an integer is kept."""
    return next((bits for bits in (32, 64, 128) if width(t) <= bits), 0)


def c_type(t: str) -> str:
    """The C++ type of a scalar type."""
    if t in ("float", "double"):
        return "f32" if t == "float" else "f64"
    if t == "i1":
        return "bool"
    if width(t) and room(t):
        return f"u{room(t)}"
    raise Unsupported("memory" if t == "ptr" else f"values of type {t}")


def is_float(t: str) -> bool:
    """Whether it is one of the two float types."""
    return t in ("float", "double")


def wrap(text: str, t: str) -> str:
    """An integer with zeros above its width."""
    if width(t) == room(t):
        return text
    return f"(bool)({text} & 1)" if t == "i1" else f"({text} & {integer((1 << width(t)) - 1, t)})"


def signed(text: str, t: str) -> str:
    """An integer as a signed number, in the signed type of the same room."""
    if t == "i1":
        return f"(-(i32){text})"
    above, kept = room(t) - width(t), f"i{room(t)}"
    return f"(({kept})({text} << {above}) >> {above})" if above else f"(({kept}){text})"


# --- constants ------------------------------------------------------------------------------------------------


_WORDS: Final = {"true": "1", "false": "0"}


def integer(value: int, t: str) -> str:
    """A literal, modulo the width."""
    value &= (1 << width(t)) - 1
    if t == "i1":
        return "true" if value else "false"
    if room(t) == 32:
        return f"{value}u"
    if room(t) == 64:
        return f"{value}ull"
    high, low = divmod(value, 1 << 64)
    return f"((u128){high}ull << 64 | {low}ull)" if high else f"(u128){low}ull"


def real(text: str, t: str) -> str:
    """A literal from LLVM's notation: decimal, or the bits of a double."""
    value = struct.unpack(">d", int(text, 16).to_bytes(8))[0] if text.startswith("0x") else float(text)
    kept = c_type(t)
    if math.isnan(value):
        return f"not_a_number<{kept}>()"
    if math.isinf(value):
        return f"Limits<{kept}>::{'most' if value > 0 else 'least'}()"
    written = repr(value) + ("f" if t == "float" else "")
    return f"({written})" if written.startswith("-") else written


def scalar(text: str, t: str) -> str:
    """A literal from LLVM's notation without its type; what is undefined is 0."""
    if text in ("zeroinitializer", "poison", "undef"):
        text = "0"
    try:
        return real(text, t) if is_float(t) else integer(int(_WORDS.get(text, text)), t)
    except ValueError:
        raise Unsupported(f"the constant {text}") from None


def constant(text: str, types: Sequence[str]) -> Lanes:
    """The lanes of a constant from LLVM's notation without its type."""
    if found := re.fullmatch(r"splat \(\w+ (.*)\)", text):
        return tuple(scalar(found[1], t) for t in types)
    if found := re.fullmatch(r"[<{\[]\s*(.*?)\s*[>}\]]", text):
        items = [item.partition(" ")[2] for item in found[1].split(", ")]
        return tuple(scalar(item, t) for item, t in zip(items, types, strict=True))
    return tuple(scalar(text, t) for t in types)


def constant_operand(value: Any) -> Lanes:
    """The lanes of a constant that an instruction uses."""
    kind = str(value.type)
    return constant(str(value).removeprefix(kind).strip(), lane_types(kind))


# --- tables ---------------------------------------------------------------------------------------------------

_TABLE: Final = re.compile(r" constant \[(\d+) x (\w+)\] (.*?)(?:, align \d+.*)?$")


@dataclass(frozen=True)
class Table:
    """A constant array: the type of its elements, its name, and its definition."""

    type: str
    name: str
    text: str


def table(text: str, name: str) -> Table:
    """A constant array of LLVM's as one that is called `name`."""
    found = _TABLE.search(text)
    if found is None:
        raise Unsupported("memory")
    count, t = int(found[1]), found[2]
    values = ", ".join(constant(found[3], (t,) * count))
    return Table(t, name, f"__device__ const {c_type(t)} {name}[] = {{{values}}};")
