"""Random numbers: functions of the seed of a run and of keys that the program names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partialmethod

from vgraph import refusals
from vgraph.compiler import ir, philox
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.arrays import element
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.compiler.frontend.lowering.values import choice, entity, fit, int64, integer
from vgraph.compiler.normal import quantile
from vgraph.compiler.types import BOOL, F64, I64, U64, VID, Type
from vgraph.records import dataclass
from vgraph.source import Span


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


def random_normal(ctx: Context, e: s.Call) -> Value:
    """`vg.random_normal(key, ...)`: the quantile of a uniform number, which is never 0 or 1."""
    low = _uniform(ctx, e, "vg.random_normal", e.args, philox.FRACTION - 1)
    do = _Steps(ctx, e.span)
    q = do.hold(_Term(low, e.span) + (2.0**-philox.FRACTION - 0.5))
    return Value(quantile(q, do).expr, F64, e.span)


@dataclass(frozen=True)
class _Term:
    """A float64 that is computed with as in Python."""

    expr: ir.Expr
    span: Span

    def _with(self, op: str, other: _Term | float, *, swapped: bool = False) -> _Term:
        second = other.expr if isinstance(other, _Term) else ir.Const(other, F64, span=self.span)
        operands = (second, self.expr) if swapped else (self.expr, second)
        return _Term(ir.Binary(op, *operands, span=self.span), self.span)

    __add__ = partialmethod(_with, "+")
    __sub__ = partialmethod(_with, "-")
    __rsub__ = partialmethod(_with, "-", swapped=True)
    __mul__ = partialmethod(_with, "*")
    __rmul__ = partialmethod(_with, "*", swapped=True)
    __truediv__ = partialmethod(_with, "/")


@dataclass(frozen=True)
class _Steps:
    """Steps of a computation as expressions; what is held is a local."""

    ctx: Context
    span: Span

    def call(self, function: str, x: _Term) -> _Term:
        return _Term(ir.Call(function, (x.expr,), F64, span=self.span), self.span)

    def hold(self, x: _Term) -> _Term:
        name = self.ctx.temporary("held", F64, x.expr, self.span)
        return _Term(ir.Var(name, F64, span=self.span), self.span)

    def choose(self, x: _Term, bound: float, low: Callable[[], _Term], high: Callable[[], _Term]) -> _Term:
        test = ir.Compare("<=", x.expr, ir.Const(bound, F64, span=self.span), span=self.span)
        found = choice(self.ctx, test, lambda: self._value(low()), lambda: self._value(high()), self.span)
        return _Term(found.expr, self.span)

    def _value(self, x: _Term) -> Value:
        return Value(x.expr, F64, self.span)


def random_choice(ctx: Context, e: s.Call) -> Value:
    """`vg.random_choice(sums, key, ...)`: the first of the running sums that is above a part of the last one."""
    span = e.span
    found = entity(ctx, e.args[0]) if e.args else None
    numbers = isinstance(found, en.ArrayRef) and found.property.type not in (BOOL, VID)
    if not isinstance(found, en.ArrayRef) or not numbers or found.dimensions != 1:
        at = e.args[0].span if e.args else span
        raise refusals.calls.NoSums(at, en.words(found) if found else "nothing")
    part = _uniform(ctx, e, "vg.random_choice", e.args[1:])

    def total(i: ir.Expr) -> ir.Expr:
        """A running sum, as a float64."""
        assert isinstance(found, en.ArrayRef)
        return fit(element(found, (i,), span), F64)

    def local(name: str, t: Type, value: ir.Expr) -> ir.Var:
        return ir.Var(ctx.temporary(name, t, value, span), t, span=span)

    def move(to: ir.Var, value: ir.Expr) -> ir.Body:
        return (ir.Assign(to.name, value, span=span),)

    x = local("part", F64, ir.Binary("*", part, total(int64(-1, span)), span=span))
    low = local("low", I64, int64(0, span))
    high = local("high", I64, ir.ArrayLength(found.property.name, span=span))
    between = ir.Binary(">>", ir.Binary("+", low, high, span=span), int64(1, span), span=span)
    body, middle = ctx.apart(lambda: local("middle", I64, between))
    behind = ir.Binary("+", middle, int64(1, span), span=span)
    above = ir.Compare(">", total(middle), x, span=span)
    step = ir.If(above, move(high, middle), move(low, behind), span=span)
    ctx.emit(ir.While(ir.Compare("<", low, high, span=span), (*body, step), span=span))
    return Value(low, I64, span)


def _uniform(
    ctx: Context, e: s.Call, name: str, keys: Sequence[s.Expr], fraction: int = philox.FRACTION
) -> ir.Expr:
    """A float64 in [0, 1), of so many bits."""
    bits = _bits(ctx, e, name, keys)
    span = e.span
    high = ir.Binary(">>", bits, ir.Const(64 - fraction, U64, span=span), span=span)
    number = ir.Cast(F64, ir.Cast(I64, high, span=span), span=span)  # signed, which CPUs convert faster
    return ir.Binary("*", number, ir.Const(2.0**-fraction, F64, span=span), span=span)


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
