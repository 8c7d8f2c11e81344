"""Calls, as values and as statements, and helpers, inlined where they are called."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.foreign.externals import is_numba
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.control import RESULT, always_returns, of_frontiers, returns
from vgraph.compiler.frontend.kinds import LoweredAgain, Value, Weak
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering import foreign, programs
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, Frame, rule_for
from vgraph.compiler.frontend.lowering.functions import cast
from vgraph.compiler.frontend.lowering.graph import WHOLE
from vgraph.compiler.frontend.lowering.names import assigned, enter, zeros
from vgraph.compiler.frontend.lowering.statements import body, statement
from vgraph.compiler.frontend.lowering.values import (
    arguments,
    checked,
    choice,
    condition,
    entity,
    fit,
    produce,
    value,
)
from vgraph.compiler.frontend.typed import Typed, position_of
from vgraph.compiler.frontend.unit import syntax_of
from vgraph.language import names as language
from vgraph.language.decorators import AlgorithmDef, Definition, FunctionDef
from vgraph.language.names import DType
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span

_INSTEAD = {
    "print": '; it is a statement by itself, which prints with device="python"',
    "sum": "; add up in a loop: `total += u.x`; vg.sum is for a vector, graph.sum for a whole property",
    "round": "; write vg.floor(x + 0.5)",
    "pow": "; write `x ** y`",
    "sorted": "; neighbors come in ascending order already",
    "enumerate": "; it stands in the head of a loop: `for i, u in enumerate(v.out_neighbors):`",
    "set": "; sets of neighbors are `a & b`, `a | b`, `a - b`, and `u in a` asks one",
    "zip": "; loop over `range(...)`",
    "any": "; set a bool in a loop and leave by `break`",
    "all": "; set a bool in a loop and leave by `break`",
}


_METHODS = {
    "bit_count": "vg.popcount(x)",
    "bit_length": "64 - vg.clz(x), for an int64",
    "is_integer": "x == vg.floor(x)",
    "item": "x alone",
    "astype": "vg.int64(x), or another type",
}
"""What to write for methods of Python's and NumPy's numbers."""


def call(ctx: Context, e: s.Call) -> en.Entity:
    """The value of a call."""
    if isinstance(e.function, s.Attribute) and e.function.name in _METHODS:
        name = e.function.name
        if isinstance(entity(ctx, e.function.value), Value):
            raise refusals.calls.MethodOfNumber(e.function.name_span, name, _METHODS[name])
    function = called(ctx, e.function)
    selects = isinstance(function, en.Method) and function.name == "frontier"
    for arg in e.args:
        if isinstance(arg, s.Comprehension) and not selects:
            raise refusals.syntax.Comprehension(arg.span)
    rule = rule_for(ctx.rules.functions, function)
    if isinstance(function, en.Method):
        if rule is None:
            refusal = ctx.rules.uses[type(function.owner)].no_method
            assert refusal is not None
            raise refusal(e.function.span, function.name)
        return rule(ctx, e, function.owner)
    if not isinstance(function, en.Static):
        raise refusals.calls.NotAFunction(e.function.span, en.words(function))
    return _static_call(ctx, e, function.value) if rule is None else rule(ctx, e)


def called(ctx: Context, function: s.Expr) -> en.Entity:
    """What stands before the parentheses of a call."""
    if isinstance(function, s.Attribute) and function.name in WHOLE and isinstance(ctx, AlgorithmContext):
        owner = entity(ctx, function.value)
        if isinstance(owner, en.GraphRef):
            return en.Method(owner, function.name, function.span)
    return entity(ctx, function)


def _static_call(ctx: Context, e: s.Call, function: Any) -> en.Entity:
    """A call of a function that is known at compile time, and none of the language's."""
    if isinstance(function, FunctionDef):
        return _helper(ctx, e, function)
    if isinstance(function, AlgorithmDef):
        if isinstance(ctx, AlgorithmContext):
            return programs.call(ctx, e, function)
        raise refusals.programs.AlgorithmInOperator(e.function.span, function.name)
    if isinstance(function, DType):
        return cast(ctx, value(ctx, arguments(e, repr(function), 1)[0]), function.type, e.span)
    if isinstance(function, Definition):
        raise refusals.calls.CallOfOperator(e.function.span, function.name)
    if is_numba(function):
        return foreign.call(ctx, e, function)
    name = getattr(function, "__name__", type(function).__name__)
    raise refusals.calls.UnsupportedCall(e.function.span, name, _instead(name, function))


def evaluate(ctx: Context, statement: s.Evaluate) -> None:
    """An expression as a statement."""
    if isinstance(statement.value, s.Literal):
        return
    found = produce(ctx, statement.value)
    if isinstance(found, en.Made) and found.done is not None:
        found.done()
        return
    if isinstance(found, en.Made):
        found.held()
    raise refusals.calls.UselessStatement(statement.span)


def _instead(name: str, function: object) -> str:
    """What to call in place of a function that the language lacks."""
    if isinstance(function, ModuleType):
        return "; a module is not a function"
    ours = getattr(language, name, None)
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    if (module in (math.__name__, np.__name__) or isinstance(function, np.ufunc)) and callable(ours):
        return f"; write vg.{name}"
    if type(getattr(function, "__self__", None)).__module__.startswith(("random", "numpy.random")):
        return "; write vg.random(key, ...), whose numbers are the same on every device"
    if name in ("fmin", "minimum", "fmax", "maximum"):
        return f"; write {'min' if 'min' in name else 'max'}(a, b)"
    if name in _INSTEAD and module == "builtins":
        return _INSTEAD[name]
    if module == "builtins":
        return did_you_mean(name, ["min", "max", "abs", "len", "range", "int", "float", "bool"])
    return "; to use a function of your own, put @vg.function on it"


# --- helpers


def _helper(ctx: Context, e: s.Call, helper: FunctionDef) -> en.Made:
    """A call of a helper. As a statement, or as all that is assigned to a variable of an algorithm, it may write what
    its caller may; elsewhere not: what stands beside it in an expression would be read after the write."""

    def held() -> en.Entity:
        outer = ctx.writing, ctx.kept_arrays
        ctx.writing, ctx.kept_arrays = False, frozenset(ctx.arrays)
        try:
            found = _inline(ctx, e, helper)
            return found.held() if isinstance(found, en.Made) else found
        finally:
            ctx.writing, ctx.kept_arrays = outer

    whole = partial(_inline, ctx, e, helper) if isinstance(ctx, AlgorithmContext) else None
    return en.Made(held, done=lambda: _perform(ctx, e, helper), whole=whole)


def _inline(ctx: Context, e: s.Call, helper: FunctionDef) -> en.Entity:
    """What a helper's call gives; its statements come before the present one."""
    text = syntax_of(helper)
    with _inside(ctx, e, helper, text):
        found = returns(text.body)
        if len(found) == 1:
            ctx.frame.typed.names.add(position_of(found[0].span))
        if ctx.key("return") in ctx.unit.inference.frontiers and len(found) > 1:
            if not always_returns(text.body):
                raise refusals.calls.NoReturn(text.span, helper.name)
            try:
                body(ctx, enter(ctx, text.body, of_frontiers))
            except refusals.driver.KindChanged as refusal:
                if refusal.name != RESULT:
                    raise
                raise refusals.calls.OtherReturns(refusal.span, helper.name) from None
            held = ctx.frame.objects[RESULT]
            assert isinstance(held, en.FrontierRef)
            return replace(held, free=True)
        inner = enter(ctx, text.body)
        if not isinstance(ctx, AlgorithmContext):
            return returned(ctx, inner, text.span, lambda x, e: _returning(ctx, value(ctx, e), x.span))
        if not returns(inner[:-1]):
            match inner[-1:]:
                case (s.Return(value=s.Expr() as given) as last,):
                    body(ctx, inner[:-1])
                    made = _set_or_value(ctx, given)
                    return _returning(ctx, made, last.span) if isinstance(made, Value) else made
        return returned(ctx, inner, text.span, lambda x, e: _returning(ctx, _one_of_values(ctx, e), x.span))


def _set_or_value(ctx: Context, e: s.Expr) -> en.Entity:
    """What a helper of an algorithm gives at its end: a value, or a frontier, which may not have been made yet."""
    found = produce(ctx, e)
    if isinstance(found, en.Made):
        found = found.held() if found.whole is None else found.whole()
    if isinstance(found, en.FrontierRef):
        own = any(found.name == x.name for x in ctx.frame.objects.values() if isinstance(x, en.FrontierRef))
        return replace(found, free=found.free or own)
    return found if isinstance(found, en.Made) else checked(found, e.span)


def _one_of_values(ctx: AlgorithmContext, e: s.Expr) -> Value:
    """What a helper gives by one of several returns. If these give frontiers, the program is lowered once more."""
    found = _set_or_value(ctx, e)
    if isinstance(found, Value):
        return found
    ctx.unit.inference.frontiers.add(ctx.key("return"))
    raise LoweredAgain


def _perform(ctx: Context, e: s.Call, helper: FunctionDef) -> None:
    """A helper's call as a statement: it may write what its caller may."""
    text = syntax_of(helper)
    if any(r.value is not None for r in returns(text.body)):
        raise refusals.calls.UselessStatement(e.span)
    with _inside(ctx, e, helper, text):
        body(ctx, enter(ctx, text.body))


@contextmanager
def _inside(ctx: Context, e: s.Call, helper: FunctionDef, text: s.Function) -> Iterator[None]:
    """The names of a helper in one call of it."""
    if helper in ctx.stack:
        raise refusals.calls.Recursion(e.span, helper.name)
    bindings, objects = _bound(ctx, e, helper, text)
    ctx.calls += 1
    ctx.unit.inlined[helper] += 1
    ctx.unit.at = e.span
    outer, ctx.frame = ctx.frame, Frame(helper, Typed(helper), bindings, serial=ctx.calls, objects=objects)
    ctx.stack = (*ctx.stack, helper)
    try:
        yield
        outer.typed.calls[position_of(e.span)] = ctx.unit.shared(ctx.frame.typed)
    except Refusal as refusal:
        raise refusal.through(e.span, f"`{helper.name}` is called here") from None
    finally:
        ctx.frame, ctx.stack = outer, ctx.stack[:-1]


def _bound(
    ctx: Context, e: s.Call, helper: FunctionDef, text: s.Function
) -> tuple[dict[str, en.Entity], dict[str, en.Thing]]:
    """The parameters of a helper: what is computed, once; what is simple, in its place; and what it may assign."""
    args = arguments(e, helper.name, len(text.parameters))
    bindings: dict[str, en.Entity] = {}
    objects: dict[str, en.Thing] = {}
    single = len(text.body) == 1 and isinstance(text.body[0], s.Return)
    for parameter, arg in zip(text.parameters, args, strict=True):
        found = entity(ctx, arg)
        if isinstance(found, Value) and not isinstance(found.expr, (ir.Var, ir.Const, ir.GlobalVar)):
            names = (n for x in text.body for n in s.walk(x) if isinstance(n, s.Name))
            found = checked(found, arg.span)
            if not single or sum(n.id == parameter.name for n in names) != 1:
                name = ctx.temporary(parameter.name, found.type, found.expr, arg.span)
                var = ir.Var(name, found.type, span=arg.span)
                found = Value(var, found.kind, arg.span, found.valid)
        if isinstance(found, en.FrontierRef) and parameter.name in assigned(text.body):
            own = ctx.names.fresh(parameter.name)  # which the caller does not see change
            ctx.unit.frontiers.append(own)
            ctx.emit(ir.FrontierCopy(own, found.name, span=arg.span))
            objects[parameter.name] = en.FrontierRef(own, arg.span)
        else:
            bindings[parameter.name] = found
    return bindings, objects


def returned(ctx: Context, body: s.Body, span: Span, give: Callable[[s.Return, s.Expr], Value]) -> Value:
    """The value that a body returns at its end; `give` makes it of a return and what is returned there."""
    for position, x in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(x, s.Return):
            if rest:
                raise refusals.calls.AfterReturn(rest[0].span)
            if x.value is None:
                raise refusals.calls.NoReturn(x.span, ctx.definition.name)
            return give(x, x.value)
        if isinstance(x, s.If) and returns((x,)):
            zeros(ctx, x)
            then = x.then if always_returns(x.then) else x.then + rest
            other = x.other if always_returns(x.other) else x.other + rest
            if always_returns(x.then) and always_returns(x.other) and rest:
                raise refusals.calls.AfterReturn(rest[0].span)
            test = condition(ctx, x.test)
            first, second = (partial(returned, ctx, way, span, give) for way in (then, other))
            return choice(ctx, test, first, second, x.span)
        statement(ctx, x)
    raise refusals.calls.NoReturn(span, ctx.definition.name)


def _returning(ctx: Context, value: Value, span: Span) -> Value:
    """One of the values that a helper returns, in the type of all of them together."""
    key = ctx.key("return")
    state = ctx.unit.inference.assign(key, value.kind)
    if state is None:
        return value  # the choice between the two says what is wrong
    ctx.unit.inference.read(key)
    ctx.frame.typed.kinds[position_of(span)] = state.kind
    if isinstance(state.kind, Weak):
        return value
    return replace(value, expr=fit(value, state.kind), kind=state.kind)
