"""The functions of values that the language knows, and the type of a call of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vgraph.compiler.foreign.externals import PREFIX, external_type
from vgraph.compiler.types import BOOL, U64, Kind, Type, Vector, element_of

TypeRule = Callable[[Sequence[Type]], Type | None]


def _number(args: Sequence[Type]) -> Type | None:
    """Element-wise on one number or vector of numbers, giving its type."""
    ok = len(args) == 1 and element_of(args[0]).kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT)
    return args[0] if ok else None


def _integer(args: Sequence[Type]) -> Type | None:
    """Element-wise on one integer or vector of integers, giving its type."""
    return args[0] if len(args) == 1 and element_of(args[0]).is_integer else None


def _real(args: Sequence[Type]) -> Type | None:
    """Element-wise on one float or vector of floats, giving its type."""
    return args[0] if len(args) == 1 and element_of(args[0]).is_float else None


def _test(args: Sequence[Type]) -> Type | None:
    """A test of one scalar."""
    return BOOL if len(args) == 1 and not isinstance(args[0], Vector) else None


def _dot(args: Sequence[Type]) -> Type | None:
    same = len(args) == 2 and args[0] == args[1] and isinstance(args[0], Vector)
    return element_of(args[0]) if same else None


def _sum(args: Sequence[Type]) -> Type | None:
    return element_of(args[0]) if len(args) == 1 and isinstance(args[0], Vector) else None


def _philox(args: Sequence[Type]) -> Type | None:
    return U64 if list(args) == [U64] * 3 else None


FUNCTIONS: dict[str, TypeRule] = {
    "abs": _number,
    "sqrt": _real,
    "exp": _real,
    "log": _real,
    "floor": _real,
    "ceil": _real,
    "popcount": _integer,
    "ctz": _integer,
    "clz": _integer,
    "isnan": _test,
    "isinf": _test,
    "dot": _dot,
    "sum": _sum,
    "philox": _philox,
}


def call_type(function: str, args: Sequence[Type]) -> Type | None:
    """The type of `function(args)`, or None where there is no such function of such arguments."""
    if function.startswith(PREFIX):
        return external_type(function, args)
    rule = FUNCTIONS.get(function)
    return rule(args) if rule else None
