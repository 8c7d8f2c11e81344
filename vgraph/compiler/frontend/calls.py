"""Lowering of calls: min, max, abs, casts, the functions of the language, and inlined helpers."""

from __future__ import annotations

import builtins
import math
from abc import abstractmethod
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
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import foreign
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.expressions import Expressions
from vgraph.compiler.frontend.kinds import Value, Weak, describe, merge, operation
from vgraph.compiler.frontend.scoping import Frame
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.frontend.unit import syntax_of
from vgraph.compiler.types import BOOL, F64, I64, VID, Scalar, Type, Vector, element_of
from vgraph.language import names as language
from vgraph.language.decorators import Definition, FunctionDef, OperatorDef
from vgraph.language.names import DType
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span

_FLOAT_FUNCTIONS = {language.sqrt: "sqrt", language.exp: "exp", language.log: "log"}
_ROUNDING = {language.floor: "floor", language.ceil: "ceil"}
_TESTS = {language.isnan: "isnan", language.isinf: "isinf"}
_INSTEAD = {
    "print": "; operators run in native code, in parallel: return the values as properties and print the result",
    "sum": "; add up in a loop: `total += u.x`; vg.sum adds the elements of a vector",
    "round": "; write vg.floor(x + 0.5)",
    "pow": "; write `x ** y`",
    "sorted": "; neighbors come in ascending order already",
    "enumerate": "; count in a variable of your own",
    "zip": "; loop over `range(...)`",
    "any": "; set a bool in a loop and leave by `break`",
    "all": "; set a bool in a loop and leave by `break`",
}


class Calls(Expressions):
    """Lowers calls."""

    stack: tuple[Definition, ...] = ()
    writing = True  # false in helpers that are called for their value

    def call(self, e: s.Call) -> Entity:
        """A call of whatever kind."""
        function = self.entity(e.function)
        if isinstance(function, en.Method):
            return self.method(e, function)
        if not isinstance(function, en.Static):
            raise refusals.calls.NotAFunction(e.function.span, en.words(function))
        return self.static_call(e, function.value)

    @abstractmethod
    def method(self, e: s.Call, method: en.Method) -> Entity:
        """A method of the graph or of a list."""

    def static_call(self, e: s.Call, function: Any) -> Entity:
        """A call of a function that is known at compile time."""
        if isinstance(function, FunctionDef):
            return self.inline(e, function)
        if isinstance(function, DType):
            return self.cast(self.only(e, repr(function)), function.type, e.span)
        if isinstance(function, Definition):
            how = "graph.edge_apply or graph.vertex_apply" if isinstance(function, OperatorDef) else "vg.run"
            raise refusals.calls.CallOfOperator(e.function.span, function.name, function.kind, how)
        if is_numba(function):
            return self.numba_function(e, function)
        special = self.special(e, function)
        if special is not None:
            return special
        name = getattr(function, "__name__", type(function).__name__)
        raise refusals.calls.UnsupportedCall(e.function.span, name, _instead(name, function))

    def special(self, e: s.Call, function: Any) -> Entity | None:
        """A built-in function of the language; None if `function` is none."""
        if function is language.fail:
            raise refusals.calls.FailInOperator(e.span)
        if function is language.union:
            raise refusals.calls.UnionIsAStatement(e.span)
        if function is language.vector:
            return self.vector_type(e)
        if function in (builtins.range, builtins.reversed):
            raise refusals.calls.RangeOutsideFor(e.span, function.__name__)
        try:
            found = _SPECIAL.get(function)
        except TypeError:  # not hashable
            return None
        return found(self, e) if found else None

    def vector_type(self, e: s.Call) -> Entity:
        """`vg.vector(vg.float32, 4)`."""
        dtype, length = (self.entity(a) for a in self.arguments(e, "vg.vector", 2))
        if isinstance(dtype, en.Static) and isinstance(length, Value) and isinstance(length.expr, ir.Const):
            try:
                return en.Static(language.vector(dtype.value, length.expr.value), e.span)  # type: ignore[arg-type]
            except TypeError as error:
                raise refusals.calls.BadVectorType(e.span, str(error)) from None
        raise refusals.calls.BadVectorType(
            e.span, "vg.vector takes a type and a length that is known at compile time"
        )

    # --- arguments

    def arguments(self, e: s.Call, name: str, count: int) -> tuple[s.Expr, ...]:
        """Exactly `count` positional arguments."""
        if e.keywords:
            raise refusals.calls.UnexpectedKeyword(e.keywords[0].span, name, e.keywords[0].name, "")
        if len(e.args) != count:
            raise refusals.calls.WrongArity(e.span, name, _count(count), len(e.args))
        return e.args

    def only(self, e: s.Call, name: str) -> Value:
        """The value of the one argument."""
        return self.value(self.arguments(e, name, 1)[0])

    # --- the functions

    def extreme(self, e: s.Call, op: str) -> Value:
        """`min(a, b, ...)`, `max(a, b, ...)`."""
        if e.keywords:
            raise refusals.calls.UnexpectedKeyword(e.keywords[0].span, op, e.keywords[0].name, "")
        if len(e.args) < 2:
            raise refusals.calls.WrongArity(e.span, op, "two or more arguments", len(e.args))
        found = self.value(e.args[0])
        for arg in e.args[1:]:
            found = self.smaller(op, found, self.value(arg), e.span)
        return found

    def smaller(self, op: str, a: Value, b: Value, span: Span) -> Value:
        """`min(a, b)` or `max(a, b)`."""
        found = operation(op, a.kind, b.kind)
        if found is None:
            raise refusals.types.TypeMismatch(span, op, describe(a.kind), describe(b.kind))
        t, kind = found
        valid = (a.valid or b.valid) if op == "min" else (a.valid and b.valid)
        return Value(
            ir.Binary(op, self.fit(a, t), self.fit(b, t), span=span), kind, span, valid and kind == VID
        )

    def absolute(self, e: s.Call) -> Value:
        """`abs(x)`."""
        x = self.only(e, "abs")
        if isinstance(x.kind, Weak) and isinstance(x.expr, ir.Const):
            return Value(ir.Const(abs(x.expr.value), x.expr.type, span=e.span), x.kind, e.span)
        t: Type = I64 if x.kind in (BOOL, VID) else x.type
        return Value(ir.Call("abs", (self.fit(x, t),), t, span=e.span), t, e.span)

    def float_function(self, e: s.Call, name: str) -> Value:
        """sqrt, exp, log: of floats; integers are taken as float64."""
        x = self.only(e, f"vg.{name}")
        t = x.type
        if not element_of(t).is_float:
            t = Vector(F64, t.length) if isinstance(t, Vector) else F64
        return Value(ir.Call(name, (self.fit(x, t),), t, span=e.span), t, e.span)

    def rounding(self, e: s.Call, name: str) -> Value:
        """floor, ceil: in the argument's own type."""
        x = self.only(e, f"vg.{name}")
        if not element_of(x.type).is_float:
            return x
        return Value(ir.Call(name, (x.expr,), x.type, span=e.span), x.type, e.span)

    def float_test(self, e: s.Call, name: str) -> Value:
        """isnan, isinf: false for integers."""
        x = self.only(e, f"vg.{name}")
        if isinstance(x.type, Vector):
            raise refusals.types.VectorComparison(e.span, name)
        if not x.type.is_float:
            return Value(ir.Const(False, BOOL, span=e.span), BOOL, e.span)
        return Value(ir.Call(name, (x.expr,), BOOL, span=e.span), BOOL, e.span)

    def dot(self, e: s.Call) -> Value:
        """`vg.dot(a, b)` of two vectors."""
        a, b = (self.value(x) for x in self.arguments(e, "vg.dot", 2))
        kind = merge(a.kind, b.kind)
        if not (isinstance(a.kind, Vector) and isinstance(b.kind, Vector)) or not isinstance(kind, Vector):
            raise refusals.types.NotVectors(e.span, "vg.dot", f"{describe(a.kind)} and {describe(b.kind)}")
        args = (self.fit(a, kind), self.fit(b, kind))
        return Value(ir.Call("dot", args, kind.element, span=e.span), kind.element, e.span)

    def sum(self, e: s.Call) -> Value:
        """`vg.sum(a)` of a vector."""
        x = self.only(e, "vg.sum")
        if not isinstance(x.kind, Vector):
            raise refusals.types.NotVectors(e.span, "vg.sum", describe(x.kind))
        return Value(ir.Call("sum", (x.expr,), x.kind.element, span=e.span), x.kind.element, e.span)

    def length(self, e: s.Call) -> Value:
        """`len(x)` of a frontier, a list, an array, or neighbors."""
        found = self.entity(self.arguments(e, "len", 1)[0])
        match found:
            case en.FrontierRef(name=name):
                return Value(ir.FrontierSize(name, span=e.span), I64, e.span)
            case en.ListRef(name=name):
                return Value(ir.ListSize(name, span=e.span), I64, e.span)
            case en.QueueRef(name=name):
                return Value(ir.QueueSize(name, span=e.span), I64, e.span)
            case en.ArrayRef(property=p):
                return Value(ir.ArrayLength(p.name, span=e.span), I64, e.span)
            case en.Neighbors(vertex=v, orientation=way):
                return self.degree(v, way, e.span)
        raise refusals.calls.NoLength(e.args[0].span, en.words(found))

    def cast(self, x: Value, to: Type, span: Span) -> Value:
        """`vg.float32(x)`, `int(x)`: an explicit conversion."""
        if isinstance(x.type, Vector) and not (isinstance(to, Vector) and to.length == x.type.length):
            raise refusals.types.CannotCast(span, describe(x.kind), describe(to))
        integer = x.kind is Weak.INT or (isinstance(x.kind, Scalar) and x.kind.is_integer)
        if to == VID and x.kind != VID and integer:
            return self.numbered(x, span)
        if to == VID:
            return Value(self.vertex_of(x, span), VID, span, x.valid)
        exact = x.kind is Weak.INF or (x.kind is Weak.INT and isinstance(x.expr, ir.Const) and to != BOOL)
        if x.kind is Weak.FLOAT and element_of(to).is_float:
            exact = True
        if exact or x.expr.type == to:
            return Value(self.fit(x, to), to, span)
        return Value(ir.Cast(to, x.expr, span=span), to, span)

    def numbered(self, x: Value, span: Span) -> Value:
        """The vertex of a number; vg.none where the graph has none of that number. The driver loop checks later."""
        return Value(self.vertex_of(x, span), VID, span, x.valid)

    def truth(self, e: s.Call) -> Value:
        """`bool(x)`: whether a number is not 0, a frontier not empty."""
        (arg,) = self.arguments(e, "bool", 1)
        found = self.entity(arg)
        if isinstance(found, Value) and found.kind != BOOL:
            return self.cast(found, BOOL, e.span)
        return Value(self.condition(arg), BOOL, e.span)

    def vertex_of(self, x: Value, span: Span) -> ir.Expr:
        """A vertex from a value that is to be one. Raises NotAVertex for a computed number."""
        if x.kind == VID or (x.kind is Weak.INT and isinstance(x.expr, ir.Const)):
            return self.fit(x, VID)
        raise refusals.types.NotAVertex(span, describe(x.kind))

    def numba_function(self, e: s.Call, function: Any) -> Value:
        """A call of a function that Numba compiles, for the types of its arguments."""
        return foreign.call(self, e, function)

    # --- helpers

    def inline(self, e: s.Call, helper: FunctionDef) -> Value:
        """The value of a helper's call; its statements come before the present one."""
        text = syntax_of(helper)
        outer, self.writing = self.writing, False
        try:
            with self.inside(e, helper, text):
                returns = [n for n in s.walk(text) if isinstance(n, s.Return)]
                if len(returns) == 1:
                    self.frame.typed.names.add(position_of(returns[0].span))
                return self.returned(self.enter(text.body), text.span)
        finally:
            self.writing = outer

    def perform(self, e: s.Call, helper: FunctionDef) -> None:
        """A helper's call as a statement: it may write what its caller may."""
        text = syntax_of(helper)
        if any(isinstance(n, s.Return) and n.value is not None for n in s.walk(text)):
            raise refusals.calls.UselessStatement(e.span)
        with self.inside(e, helper, text):
            body = self.enter(text.body)
            self.body(body[:-1] if body and isinstance(body[-1], s.Return) else body)

    @contextmanager
    def inside(self, e: s.Call, helper: FunctionDef, text: s.Function) -> Iterator[None]:
        """The names of a helper in one call of it."""
        if helper in self.stack:
            raise refusals.calls.Recursion(e.span, helper.name)
        bindings = self.bound(e, helper, text)
        self.calls += 1
        self.unit.inlined[helper] += 1
        self.unit.at = e.span
        outer, self.frame = self.frame, Frame(helper, bindings, serial=self.calls)
        self.stack = (*self.stack, helper)
        try:
            yield
            outer.typed.calls[position_of(e.span)] = self.unit.shared(self.frame.typed)
        except Refusal as refusal:
            raise refusal.through(e.span, f"`{helper.name}` is called here") from None
        finally:
            self.frame, self.stack = outer, self.stack[:-1]

    def bound(self, e: s.Call, helper: FunctionDef, text: s.Function) -> dict[str, Entity]:
        """The parameters of a helper: what is computed, once; what is simple, in its place."""
        args = self.arguments(e, helper.name, len(text.parameters))
        bindings: dict[str, Entity] = {}
        single = len(text.body) == 1 and isinstance(text.body[0], s.Return)
        for parameter, arg in zip(text.parameters, args, strict=True):
            found = self.entity(arg)
            if isinstance(found, Value) and not isinstance(found.expr, (ir.Var, ir.Const, ir.GlobalVar)):
                uses = sum(
                    isinstance(n, s.Name) and n.id == parameter.name for x in text.body for n in s.walk(x)
                )
                if uses != 1 or not single:
                    name = self.temporary(parameter.name, found.type, found.expr, arg.span)
                    var = ir.Var(name, found.type, span=arg.span)
                    found = Value(var, found.kind, arg.span, found.valid)
            bindings[parameter.name] = found
        return bindings

    def returned(self, body: s.Body, span: Span) -> Value:
        """The value that a helper's body returns at its end."""
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(statement, s.Return):
                if rest:
                    raise refusals.calls.AfterReturn(rest[0].span)
                if statement.value is None:
                    raise refusals.calls.NoReturn(statement.span, self.definition.name)
                return self.returning(self.value(statement.value), statement.span)
            if isinstance(statement, s.If) and _returns(statement):
                self.zeros(statement)
                then = statement.then if _ends(statement.then) else statement.then + rest
                other = statement.other if _ends(statement.other) else statement.other + rest
                if _ends(statement.then) and _ends(statement.other) and rest:
                    raise refusals.calls.AfterReturn(rest[0].span)
                test = self.condition(statement.test)
                return self.choice(
                    test,
                    partial(self.returned, then, span),
                    partial(self.returned, other, span),
                    statement.span,
                )
            self.statement(statement)
        raise refusals.calls.NoReturn(span, self.definition.name)

    def returning(self, value: Value, span: Span) -> Value:
        """One of the values that a helper returns, in the type of all of them together."""
        key = self.key("return")
        state = self.unit.inference.assign(key, value.kind)
        if state is None:
            return value  # the choice between the two says what is wrong
        self.unit.inference.read(key)
        self.frame.typed.kinds[position_of(span)] = state.kind
        if isinstance(state.kind, Weak):
            return value
        return replace(value, expr=self.fit(value, state.kind), kind=state.kind)

    @abstractmethod
    def statement(self, statement: s.Stmt) -> None:
        """Lower one statement."""

    @abstractmethod
    def body(self, body: s.Body) -> None:
        """Lower statement after statement."""


def _returns(statement: s.Stmt) -> bool:
    """Whether a branch or loop contains a return."""
    return any(isinstance(n, s.Return) for n in s.walk(statement))


def _ends(body: s.Body) -> bool:
    """Whether a body always returns."""
    last = body[-1] if body else None
    return isinstance(last, s.Return) or (isinstance(last, s.If) and _ends(last.then) and _ends(last.other))


def _count(count: int) -> str:
    return f"{('no', 'one', 'two', 'three')[count] if count < 4 else count} argument{'s' * (count != 1)}"


def _instead(name: str, function: object) -> str:
    """What to call in place of a function that the language lacks."""
    if isinstance(function, ModuleType):
        return "; a module is not a function"
    ours = getattr(language, name, None)
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    if (module in (math.__name__, np.__name__) or isinstance(function, np.ufunc)) and callable(ours):
        return f"; write vg.{name}"
    if name in ("fmin", "minimum", "fmax", "maximum"):
        return f"; write {'min' if 'min' in name else 'max'}(a, b)"
    if name in _INSTEAD and module == "builtins":
        return _INSTEAD[name]
    if module == "builtins":
        return did_you_mean(name, ["min", "max", "abs", "len", "range", "int", "float", "bool"])
    return "; to use a function of your own, put @vg.function on it"


def _one(method: Callable[[Calls, s.Call, str], Value], name: str) -> Callable[[Calls, s.Call], Value]:
    return lambda self, e: method(self, e, name)


_SPECIAL: dict[object, Callable[[Calls, s.Call], Value]] = {
    builtins.min: _one(Calls.extreme, "min"),
    builtins.max: _one(Calls.extreme, "max"),
    builtins.abs: Calls.absolute,
    builtins.len: Calls.length,
    language.dot: Calls.dot,
    language.sum: Calls.sum,
    **{f: _one(Calls.float_function, name) for f, name in _FLOAT_FUNCTIONS.items()},
    **{f: _one(Calls.rounding, name) for f, name in _ROUNDING.items()},
    **{f: _one(Calls.float_test, name) for f, name in _TESTS.items()},
    int: lambda self, e: self.cast(self.only(e, "int"), I64, e.span),
    float: lambda self, e: self.cast(self.only(e, "float"), F64, e.span),
    bool: Calls.truth,
}
