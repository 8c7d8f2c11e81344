"""Random numbers: functions of the seed of a run and of keys that the program names."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph import refusals
from vgraph.compiler import ir, philox
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import integer
from vgraph.compiler.types import F64, I64, U64


def random(ctx: Context, e: s.Call) -> Value:
    """`vg.random(key, ...)`."""
    return Value(_uniform(ctx, e, "vg.random", e.args), F64, e.span)


def random_below(ctx: Context, e: s.Call) -> Value:
    """`vg.random_below(n, key, ...)`: the fraction of n, rounded down; of the largest fraction, too, it is below n."""
    n = integer(ctx, e.args[0], "the end of a range") if e.args else None
    fraction = _uniform(ctx, e, "vg.random_below", e.args[1:])
    assert n is not None
    scaled = ir.Binary("*", fraction, ir.Cast(F64, n, span=e.span), span=e.span)
    return Value(ir.Cast(I64, scaled, span=e.span), I64, e.span)


def _uniform(ctx: Context, e: s.Call, name: str, keys: Sequence[s.Expr]) -> ir.Expr:
    """A float64 in [0, 1)."""
    bits = _bits(ctx, e, name, keys)
    span = e.span
    high = ir.Binary(">>", bits, ir.Const(64 - philox.FRACTION, U64, span=span), span=span)
    number = ir.Cast(F64, ir.Cast(I64, high, span=span), span=span)  # signed, which CPUs convert faster
    return ir.Binary("*", number, ir.Const(2.0**-philox.FRACTION, F64, span=span), span=span)


def _bits(ctx: Context, e: s.Call, name: str, keys: Sequence[s.Expr]) -> ir.Expr:
    """64 random bits."""
    span = e.span
    if e.keywords:
        raise refusals.calls.UnexpectedKeyword(e.keywords[0].span, name, e.keywords[0].name, "")
    if not keys:
        raise refusals.calls.RandomWithoutKey(span, name)
    words = [_word(ctx, key) for key in keys]
    seed = ctx.unit.graph_param(philox.SEED, U64, span)
    key = ir.Binary("^", seed, ir.Const(philox.tag(len(words)), U64, span=span), span=span)
    return philox.chained(
        lambda *args: ir.Call("philox", args, U64, span=span), key, words, ir.Const(0, U64, span=span)
    )


def _word(ctx: Context, key: s.Expr) -> ir.Expr:
    return ir.Cast(U64, integer(ctx, key, "a key of a random number"), span=key.span)
