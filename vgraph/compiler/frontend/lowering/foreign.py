"""Calls of functions that Numba compiled: which signature, and what is refused."""

from __future__ import annotations

from typing import Any

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, ValueKind, Weak, default, describe
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import arguments, fit, value
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import I64, VID, Scalar, Type, Vector, promote


def call(ctx: Context, e: s.Call, function: Any) -> Value:
    """Lower a call. Raises a Refusal for arguments that the function does not take, and if Numba or we cannot."""
    from vgraph.compiler.foreign.numba_functions import (
        NumbaRefusal,
        compiled,
        declared_types,
        python_function,
    )

    python = python_function(function)
    name = python.__name__
    values = [value(ctx, a) for a in arguments(e, name, python.__code__.co_argcount)]
    for v in values:
        if isinstance(v.type, Vector):
            raise refusals.externals.NumbaVector(v.span, name, describe(v.kind))
    given = ", ".join(describe(v.kind) for v in values) or "nothing"
    try:
        types = _signature(declared_types(function), [v.kind for v in values])
        if types is None:
            wanted = " or ".join(f"({', '.join(map(describe, t))})" for t in declared_types(function))
            raise refusals.externals.NumbaArguments(e.span, name, wanted, given)
        found = compiled(function, types)
    except NumbaRefusal as problem:
        raise refusals.externals.NumbaFunction(e.span, name, given, str(problem)) from None
    ctx.frame.typed.calls[position_of(e.span)] = found
    args = tuple(fit(v, t) for v, t in zip(values, types, strict=True))
    return Value(ir.Call(found.name, args, found.result, span=e.span), found.result, e.span)


def _signature(declared: list[tuple[Scalar, ...]], kinds: list[ValueKind]) -> tuple[Type, ...] | None:
    """The types to call with: as given where Numba infers, else the first signature that loses nothing."""
    if not declared:
        return tuple(I64 if k == VID else default(k) for k in kinds)
    for exact in (True, False):
        for types in declared:
            if len(types) == len(kinds) and all(
                _fits(k, t, exact) for k, t in zip(kinds, types, strict=True)
            ):
                return types
    return None


def _fits(kind: ValueKind, to: Scalar, exact: bool) -> bool:
    if isinstance(kind, Weak):
        return to.is_float or (kind is Weak.INT and to.is_integer and (not exact or to == I64))
    given = I64 if kind == VID else kind
    return given == to if exact else promote(given, to) == to
