"""What a place in a random program may name, and the features of the language that may stand there."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from vgraph.compiler.frontend.kinds import ValueKind, Weak, default
from vgraph.compiler.types import (
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    NUMPY_NAMES,
    U32,
    U64,
    VID,
    Scalar,
    Type,
    Vector,
    element_of,
)  # fmt: skip

INTEGERS = (I32, I64, U32, U64)
FLOATS = (F32, F64)
NUMBERS = (*INTEGERS, *FLOATS)
NAMES = {t: name for name, t in NUMPY_NAMES.items()} | {BOOL: "bool_", F16: "float16", VID: "vertex"}


def type_text(t: Type) -> str:
    """A type as a program writes it."""
    if isinstance(t, Vector):
        return f"vg.vector({type_text(t.element)}, {t.length})"
    return f"vg.{NAMES[t]}"


@dataclass(frozen=True)
class Value:
    """An expression, and the kind that the frontend finds for it."""

    text: str
    kind: ValueKind

    @property
    def type(self) -> Type:
        """The type that it has by itself."""
        return default(self.kind)

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer, a literal included."""
        return self.kind is Weak.INT or (isinstance(self.kind, Scalar) and self.kind.is_integer)

    @property
    def is_float(self) -> bool:
        """Whether it is a float, a literal included."""
        return not isinstance(self.type, Vector) and self.type.is_float and self.kind is not Weak.INF


@dataclass(frozen=True)
class Prop:
    """A property of vertices or edges."""

    name: str
    type: Type
    owner: str = "algorithm"
    """algorithm, graph, parameter, scratch or sets."""
    summed: bool = False
    """A float that is added to, in whatever order: all that it holds has few bits, so that every sum is exact."""

    @property
    def is_writable(self) -> bool:
        """Whether operators may write it in any way; a float16 is only stored."""
        return self.owner == "algorithm" and self.type != F16


@dataclass
class Scope:
    """The names at one place; `hidden` are properties that may not be read, by the vertex expression they stand at."""

    vertices: list[str]
    maybe: list[str] = field(default_factory=list)
    """Vertices that may be `vg.none`."""
    edges: list[str] = field(default_factory=list)
    locals: list[Value] = field(default_factory=list)
    hidden: dict[str, set[str]] = field(default_factory=dict)
    globals: bool = True

    def inner(self) -> Scope:
        """The names inside a block: what is declared there ends there."""
        lists = {n: list(getattr(self, n)) for n in ("vertices", "maybe", "edges", "locals")}
        return replace(self, **lists)


Feature = Callable[..., Any]


class Features:
    """A table of features, each a function that writes one; a weight says how often."""

    def __init__(self) -> None:
        self.functions: list[Feature] = []
        self.weights: list[float] = []

    def add(self, weight: float = 1) -> Callable[[Feature], Feature]:
        """Register a function."""

        def register(function: Feature) -> Feature:
            self.functions.append(function)
            self.weights.append(weight)
            return function

        return register

    def pick(self, r: random.Random, *args: Any) -> Any:
        """What one of the functions gives; one that gives None does not fit here, and another is asked."""
        for _ in range(100):
            (function,) = r.choices(self.functions, self.weights)
            made = function(*args)
            if made is not None:
                return made
        raise AssertionError("no feature fits")


def is_number(t: Type) -> bool:
    """Whether a type is an integer or a float."""
    return isinstance(t, Scalar) and t in NUMBERS


__all__ = [
    "BOOL", "F16", "F32", "F64", "FLOATS", "I32", "I64", "INTEGERS", "NUMBERS", "U32", "U64", "VID",
    "Features", "Prop", "Scope", "Value", "element_of", "is_number", "type_text",
]  # fmt: skip
