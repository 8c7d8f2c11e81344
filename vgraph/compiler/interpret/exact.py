"""What integers would be without a limit, beside what they are: so a checked run finds sums that do not fit.

A number that wrapped is followed through locals, sums, products and conversions to where it is stored, reduced,
compared or given to a function. There it is a fault, unless exact arithmetic has come to the same number by then.
Unsigned numbers wrap by intention, as hashes do: they are followed only to learn what a reduction adds up.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.refusals.checks import ReductionOverflow
from vgraph.source import Span

SUMS: Final[dict[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""What overflows."""
REST: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "min": lambda a, b: np.minimum(np.asarray(a, object), b),
    "max": lambda a, b: np.maximum(np.asarray(a, object), b),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
"""What can be told of numbers without a limit, too."""
FAR: Final = 1 << 256
"""Beyond it nothing is counted: numbers of a loop would grow for ever."""


class Exact(NamedTuple):
    """What a number would be that is another: an int, of a vector an array of them; and its fault, if it is one.

    `partial`: it is a sum, and more may be added to it.
    """

    value: Any
    fault: ReductionOverflow | None = None
    partial: bool = False


def exactly(value: Any, known: Exact | None = None) -> Any:
    """An integer of the program, or a vector of them, without a limit."""
    if known is not None:
        return known.value
    return int(value) if np.ndim(value) == 0 else value.astype(object)


def _same(a: Any, b: Any) -> bool:
    return bool(np.all(a == b))  # of Python's ints, whatever their size


def overflow(span: Span, what: str, exact: Any, dtype: np.dtype[Any]) -> ReductionOverflow | None:
    """The fault of a number that an integer type does not hold; None if it does."""
    limits, bits = np.iinfo(dtype), 8 * dtype.itemsize
    for one in np.ravel(np.asarray(exact, object)).tolist():
        if not limits.min <= one <= limits.max:
            wrapped = int(np.array(one & ((1 << bits) - 1), f"u{dtype.itemsize}").view(dtype))
            return ReductionOverflow(span, what, one, str(dtype), wrapped)
    return None


def noted(
    span: Span, what: str, exact: Any, found: Any, *operands: Exact | None, counts: bool
) -> Exact | None:
    """What is to be remembered of `found`, which would be `exact`: nothing if they are equal.

    Its fault is that of an operand, or a new one if overflow `counts` here.
    """
    exact = np.clip(exact, -FAR, FAR) if isinstance(exact, np.ndarray) else max(-FAR, min(exact, FAR))
    if _same(exact, exactly(found)):
        return None
    fault = next((o.fault for o in operands if o is not None and o.fault is not None), None)
    if fault is None and counts:
        fault = overflow(span, what, exact, found.dtype)
    return Exact(exact, fault)


def of_binary(
    span: Span, op: str, found: Any, left: tuple[Any, Exact | None], right: tuple[Any, Exact | None]
) -> Exact | None:
    """What `left op right` would be, where that is not what was `found`. Raises the fault of an operand."""
    kind, known = found.dtype.kind, [x for _, x in (left, right) if x is not None]
    faults = [x.fault for x in known if x.fault is not None]
    if kind in "iu":
        signed = kind == "i"
        if op in SUMS and (signed or faults or op != "*"):
            exact = SUMS[op](exactly(*left), exactly(*right))
            return noted(span, f"`{op}`", exact, found, *known, counts=signed)
        if op in REST and faults:
            exact = REST[op](exactly(*left), exactly(*right))
            return noted(span, f"`{op}`", exact, found, *known, counts=False)
    if faults:
        raise faults[0]
    return None


def of_unary(span: Span, op: str, found: Any, operand: Any, known: Exact | None) -> Exact | None:
    """The same of `neg(x)`; of anything else what its operand would be does not matter."""
    if op == "neg" and found.dtype.kind in "iu":
        signed = found.dtype.kind == "i"
        return noted(span, "`-`", -exactly(operand, known), found, known, counts=signed)
    if known is not None and known.fault is not None:
        raise known.fault
    return None


def of_cast(n: ir.Cast, found: Any, operand: Any, known: Exact | None) -> Exact | None:
    """The same of a conversion. One that the user wrote may wrap, and stands on more of the line than its operand."""
    source, to = operand.dtype, found.dtype
    fault = None if known is None else known.fault
    if source.kind not in "iu" or to.kind not in "iu":
        if fault is not None:
            raise fault
        return None
    fits = np.can_cast(source, to)
    if (fits and fault is None) or (not fits and n.span != n.operand.span):
        return None
    exact = exactly(operand, known)
    if np.shape(found) != np.shape(exact):  # a number in each element of a vector
        exact = np.full(np.shape(found), exact, object)
    return None if _same(exact, exactly(found)) else Exact(exact, fault)


def of_sum(span: Span, function: str, found: Any, args: list[Any]) -> Exact | None:
    """The same of `vg.sum` and `vg.dot` of vectors."""
    if function not in ("sum", "dot") or found.dtype.kind not in "iu":
        return None
    exact = exactly(args[0])
    total = sum(exact * exactly(args[1]) if function == "dot" else exact)
    return noted(span, f"`vg.{function}`", total, found, counts=found.dtype.kind == "i")


def of_reduction(
    span: Span, op: str, what: str, before: tuple[Any, Exact | None], value: tuple[Any, Exact | None]
) -> tuple[Any, Exact | None]:
    """One step of a reduction: what it gives, and what a sum would be. Raises the fault of what goes into another."""
    after, given = arithmetic.BINARY[op](before[0], value[0]), value[1]
    if after.dtype.kind in "iu" and op in SUMS:
        exact = SUMS[op](exactly(*before), exactly(*value))
        found = noted(span, what, exact, after, None if given and given.partial else given, counts=True)
        return after, found and found._replace(partial=True)
    if given is not None and given.fault is not None:
        raise given.fault
    return after, None


def adds_to(place: ir.Expr, e: ir.Expr) -> bool:
    """Whether an expression is a sum or product with what is at the place that it will be stored in: `x + a - b`."""
    if not isinstance(e, ir.Binary) or e.op not in SUMS:
        return False
    if e.left == place or (e.op != "-" and e.right == place):
        return True
    return e.op != "*" and isinstance(e.left, ir.Binary) and e.left.op != "*" and adds_to(place, e.left)
