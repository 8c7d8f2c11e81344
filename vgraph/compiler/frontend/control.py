"""Early returns, the `else` of loops and `enumerate`, made of branches, flags and plain loops.

Names with a dot, and `return`, are none of the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vgraph import refusals
from vgraph.compiler.frontend import syntax as s
from vgraph.source import Span

RESULT = "return"
"""The variable of a value that was returned in a loop."""
IsEnumerate = Callable[[s.Expr], bool]
"""Whether an expression stands for `enumerate`."""


def arranged(body: s.Body, is_enumerate: IsEnumerate) -> s.Body:
    """The body of an operator or helper: of one that gives a value, returns at the end of each way through it are left;
    of one that gives none, none is: what follows a way that has returned stands in a branch which it does not take."""
    values = any(r.value is not None for r in returns(body))
    loops = _Loops(is_enumerate, valued=values)
    return loops.body(body) if values else _nested(loops.body(body, last=True), loops, None)


def of_algorithm(body: s.Body, is_enumerate: IsEnumerate) -> s.Body:
    """The body of an algorithm: its last statement is the one return, and others notes that results are there."""
    last = body[-1:] if body and isinstance(body[-1], s.Return) else ()
    before = body[: len(body) - len(last)]
    for found in returns(before):
        if not last or found.value != vars(last[0])["value"]:
            raise refusals.driver.OtherResults(found.span)
    loops = _Loops(is_enumerate, valued=False)
    return (*_nested(loops.body(before), loops, None), *last)


def of_frontiers(body: s.Body, is_enumerate: IsEnumerate) -> s.Body:
    """The body of a helper that gives a frontier on every way: what it returns is kept in a variable."""
    loops = _Loops(is_enumerate, valued=False)
    made = _nested(loops.body(body), loops, None)
    return _replaced(made, s.Leave, lambda x: (s.Assign(x.span, s.Name(x.span, RESULT), x.value),))


def returns(body: s.Body) -> list[s.Return]:
    """All returns in a body."""
    found: list[s.Return] = []
    for statement in body:
        if isinstance(statement, s.Return):
            found.append(statement)
        for inside in s.bodies(statement):
            found += returns(inside)
    return found


def always_returns(body: s.Body) -> bool:
    """Whether a body returns on every way."""
    match body[-1] if body else None:
        case s.Return():
            return True
        case s.If(then=then, other=other):
            return always_returns(then) and always_returns(other)
        case s.While() as loop:
            return _endless(loop)
    return False


def _endless(x: s.While | s.For) -> bool:
    """Whether nothing but a return leaves a loop: `while True:` without `break`."""
    forever = isinstance(x, s.While) and isinstance(x.test, s.Literal) and x.test.value is True
    return forever and not x.other and not _breaks(x.body)


def _breaks(body: s.Body) -> bool:
    """Whether a `break` in a body leaves the loop around it."""
    return any(
        isinstance(x, s.Break) or (isinstance(x, s.If) and (_breaks(x.then) or _breaks(x.other)))
        for x in body
    )


class _Loops:
    """Rewrites loops: none contains a return, none has an `else` or a counter."""

    def __init__(self, is_enumerate: IsEnumerate, *, valued: bool) -> None:
        self.is_enumerate, self.valued = is_enumerate, valued
        self.flags = 0

    def flag(self, base: str, at: Span) -> s.Name:
        """A new variable."""
        self.flags += 1
        return s.Name(_before(at), f"{base}.{self.flags}")

    def body(self, body: s.Body, *, last: bool = False) -> s.Body:
        """A body; `last`: the function ends with it, so that whoever leaves its last loop has nothing to skip."""
        made: list[s.Stmt] = []
        for position, x in enumerate(body):
            at_end = last and position + 1 == len(body)
            match x:
                case s.If():
                    made.append(replace(x, then=self.body(x.then), other=self.body(x.other)))
                case s.While() | s.For():
                    made += self.loop(x, at_end)
                case _:
                    made.append(x)
        return tuple(made)

    def loop(self, x: s.While | s.For, at_end: bool) -> list[s.Stmt]:
        """A loop, what comes before it, and after it."""
        at, other = x.span, self.body(x.other)
        before: list[s.Stmt] = []
        after: list[s.Stmt] = []
        body = self.body(x.body)
        if other:
            broken = self.flag("broken", at)
            before.append(_set(broken, False))
            body = _replaced(body, s.Break, lambda b: (_set(broken, True), b), loops=False)
            after.append(s.If(at, s.Unary(at, "not", broken), other, ()))
        found = returns(body)
        if found and at_end and not other and all(r.value is None for r in found):
            body = _replaced(body, s.Return, lambda r: (s.Break(r.span),))
        elif found:
            returned = self.flag("returned", at)
            before.append(_set(returned, False))
            body = _replaced(body, s.Return, lambda r: (*self.kept(r), _set(returned, True), s.Break(r.span)))
            every = self.valued and all(r.value is not None for r in found)
            value = s.Name(found[0].span, RESULT) if every else None
            leave = s.Return(found[0].span, value)
            after.insert(0, leave if _endless(x) else s.If(at, returned, (leave,), ()))
        if isinstance(x, s.While):
            return [*before, s.While(at, x.test, body), *after]
        counter, over, body = self.counted(x, body)
        return [*before, *counter, s.For(at, x.target, over, body), *after]

    def kept(self, x: s.Return) -> s.Body:
        """What a return in a loop leaves behind."""
        if x.value is None or not self.valued:
            return _noted(x)
        return (s.Assign(x.span, s.Name(x.span, RESULT), x.value),)

    def counted(self, x: s.For, body: s.Body) -> tuple[s.Body, s.Expr, s.Body]:
        """What starts the counter of an `enumerate`, what is looped over, and the body that counts."""
        if x.counter is None:
            return (), x.iterable, body
        call = x.iterable
        if not isinstance(call, s.Call) or not self.is_enumerate(call.function):
            raise refusals.syntax.ForTarget(x.counter.span.to(x.target.span))
        if call.keywords or not 1 <= len(call.args) <= 2:
            given = len(call.args) + len(call.keywords)
            raise refusals.calls.WrongArity(call.span, "enumerate", "one or two arguments", given)
        count = self.flag("counted", x.span)
        start = call.args[1] if len(call.args) > 1 else s.Literal(count.span, 0)
        one = s.Literal(count.span, 1)
        ahead = (s.Assign(x.counter.span, x.counter, count), s.Augment(count.span, count, "+", one))
        return (s.Assign(count.span, count, start),), call.args[0], (*ahead, *body)


def _before(at: Span) -> Span:
    """A place of no width, where nothing of the user's stands."""
    return Span(at.source, at.line, at.column, at.line, at.column)


def _set(flag: s.Name, value: bool) -> s.Stmt:
    return s.Assign(flag.span, flag, s.Literal(flag.span, value))


def _replaced(body: s.Body, kind: type[s.Stmt], make: Callable[..., s.Body], *, loops: bool = True) -> s.Body:
    """A body with other statements in the place of those of a kind; without `loops` not of those inside loops."""
    made: list[s.Stmt] = []
    for x in body:
        if isinstance(x, kind):
            made += make(x)
        elif isinstance(x, s.If):
            then, other = (_replaced(b, kind, make, loops=loops) for b in (x.then, x.other))
            made.append(replace(x, then=then, other=other))
        elif isinstance(x, (s.While, s.For)) and loops:
            made.append(replace(x, body=_replaced(x.body, kind, make)))
        else:
            made.append(x)
    return tuple(made)


# --- returns without a value ----------------------------------------------------------------------------------


def _nested(body: s.Body, loops: _Loops, flag: s.Name | None) -> s.Body:
    """A body without returns; where it returned, `flag` is set."""
    for position, x in enumerate(body):
        before, rest = body[:position], body[position + 1 :]
        if isinstance(x, s.Return):
            if rest:
                raise refusals.calls.AfterReturn(rest[0].span)
            return (*before, *_noted(x), *(() if flag is None else (_set(flag, True),)))
        if not isinstance(x, s.If) or not returns((x,)):
            continue
        then, other = always_returns(x.then), always_returns(x.other)
        if then and other and rest:
            raise refusals.calls.AfterReturn(rest[0].span)
        if rest and not then and not other:  # some way through it returns, and some does not
            returned = loops.flag("returned", x.span)
            inner = replace(x, then=_nested(x.then, loops, returned), other=_nested(x.other, loops, returned))
            again = s.If(x.span, returned, (s.Return(x.span, None),), ())
            return (*before, _set(returned, False), inner, *_nested((again, *rest), loops, flag))
        branch = _branch(
            x,
            _nested(x.then if then else (*x.then, *rest), loops, flag),
            _nested(x.other if other else (*x.other, *rest) if then else x.other, loops, flag),
        )
        return (*before, *branch)
    return body


def _noted(x: s.Return) -> s.Body:
    return () if x.value is None else (s.Leave(x.span, x.value),)


def _branch(x: s.If, then: s.Body, other: s.Body) -> s.Body:
    """The branch; a guard that only returns is the test of what follows, turned round."""
    if then:
        return (replace(x, then=then, other=other),)
    return (s.If(x.span, negation(x.test), other, ()),) if other else ()


def negation(e: s.Expr) -> s.Expr:
    """`not e`, with the `not` as far inside as it gets: so a guard `if x != c: return` is the test of a claim."""
    match e:
        case s.Unary(op="not", operand=operand):
            return operand
        case s.Bool(op=op, values=values):
            return s.Bool(e.span, "or" if op == "and" else "and", tuple(negation(v) for v in values))
        case s.Compare(first=first, rest=(("==" | "!=" as op, second),)):
            return s.Compare(e.span, first, (("!=" if op == "==" else "==", second),))
    return s.Unary(e.span, "not", e)
