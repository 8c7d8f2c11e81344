"""The interpreter with checks: bounds, overflow in reductions, NaN, reads before writes, and races.

Races are found by what may run at the same time, not by what did: two iterations of a parallel loop, or what threads do
in the driver loop beside what one does for all, unless a barrier lies between. Two accesses of one place race if one
writes and they are neither both atomic (relaxed loads and stores are) nor made under one lock. What a pipeline's
channel holds is ordered by it: there an element that is read too early or late is one that nobody has written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.interpret import bounds, exact, memory, statements
from vgraph.compiler.interpret.exact import Exact, exactly
from vgraph.compiler.interpret.expressions import EXPRESSIONS, call, cast, evaluate
from vgraph.compiler.interpret.machine import DRIVER, ONE, Access, Env, Machine, Table
from vgraph.compiler.interpret.memory import Jump, Steps
from vgraph.compiler.ir.handlers import handlers
from vgraph.refusals.checks import DataRace, NaNAppears, OutOfBounds, UninitialisedRead
from vgraph.source import Span

_ELEMENTS: Final = {
    ir.Site.EDGE: "arc",
    ir.Site.EDGE_IN: "in-arc",
    ir.Site.EDGE_SEGMENTS: "in-arc",
    ir.Site.NUMBERED: "edge",
    ir.Site.ARRAY: "element",
    ir.Site.QUEUE: "place",
}


class CheckedMachine(Machine):
    """A machine that watches what its program does. Raises a CheckError for the first fault."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expressions, self.simple, self.compound = _EXPRESSIONS, _SIMPLE, _COMPOUND
        self.concurrent = self.program.threads != 1
        self.local_arrays = bounds.local_arrays(self.program)
        self.here = next(n.span for n in ir.walk(self.program) if n.span is not None)
        """The last line that was executed."""
        own = (
            p for p in self.program.properties if p.origin is ir.Origin.LOCAL and p.site is not ir.Site.THREAD
        )
        self.written = {p.name: np.zeros(len(self.arrays[p.name]), np.bool_) for p in own}
        self.seen: dict[tuple[str, int], list[Access]] = {}
        """Accesses since the last barrier: of each kind at most two, by different tasks."""
        self.channel: frozenset[str] = frozenset()
        self.items: dict[int, int] = {}
        """The vertex that each thread visits. In a pipeline the channel puts its producer before its consumer."""
        self.born: dict[int, Span] = {}
        """By task: where a NaN was made that was none before."""
        self.exact: Exact | None = None
        """What the expression that was evaluated last would be without a limit; None if it is that."""
        self.elements: dict[tuple[str, int, int], Exact] = {}
        """The same of elements: by property, thread if each has its own, and index. Of the user's properties only of
        sums that are not complete."""
        self.whole: dict[tuple[str, str], tuple[Any, ir.Node]] = {}
        """Contributions to globals, of integers as they would be without a limit, and the last to contribute."""

    def span(self, n: ir.Node) -> Span:
        """The line of a node; what no user wrote has that of what was executed before."""
        self.here = n.span or self.here
        return self.here

    def name(self, prop: str, index: int) -> str:
        """A place, for an error."""
        return f"`{prop}` of {_ELEMENTS.get(self.properties[prop].site, 'vertex')} {index}"

    # --- accesses

    def touch(self, n: ir.Node, prop: str, index: Any, *, reads: bool, writes: bool, atomic: bool) -> None:
        """An access of an element."""
        array, i = self.memory(prop), int(index)
        if not 0 <= i < len(array):
            kind = _ELEMENTS.get(self.properties[prop].site, "vertex")
            raise OutOfBounds(self.span(n), f"`{prop}` of {kind} {i}", len(array))
        written = self.written.get(prop)
        if written is not None:
            if reads and not written[i]:
                raise UninitialisedRead(self.span(n), self.name(prop, i))
            if writes:
                written[i] = True
        if self.properties[prop].site is not ir.Site.THREAD and prop not in self.channel:
            self.meet(n, (prop, i), writes=writes, atomic=atomic)

    def meet(
        self, n: ir.Node, place: tuple[str, int], *, writes: bool, atomic: bool, word: bool = False
    ) -> None:
        """Raise DataRace if another task was at the place since the last barrier, in a way that excludes this.

        `word`: of bits, of which one thread may have all in a word.
        """
        if not self.concurrent:
            return
        task = self.task if word else self.items.get(self.thread, self.task)
        task = task if self.threads > 1 else 0
        now = Access(task, writes, atomic, self.span(n), frozenset(self.held[self.thread]))
        before = self.seen.setdefault(place, [])
        for other in before:
            apart = (other.atomic and atomic) or other.locks & now.locks
            if other.task != task and (other.write or writes) and not apart:
                prop, index = place
                what = self.name(prop, index) if prop in self.properties else f"`{prop}`"
                here, there = ("writes" if a.write else "reads" for a in (now, other))
                raise DataRace(now.span, what, here, other.span, there)
        alike = [a for a in before if (a.write, a.atomic, a.locks) == (writes, atomic, now.locks)]
        if len(alike) < 2 and all(a.task != task for a in alike):
            before.append(now)

    def take(self, vertex: int) -> None:
        """This thread goes on with `vertex`."""
        self.items[self.thread] = vertex

    def spoil(self, prop: str, at: Any) -> None:
        """Forget elements."""
        super().spoil(prop, at)
        self.written[prop][at] = False
        for place in [p for p in self.elements if p[0] == prop and (at is ... or p[2] in at)]:
            del self.elements[place]

    def met(self) -> None:
        """What was before a barrier excludes nothing behind it; one thread alone meets nobody. Sums are complete."""
        for (prop, _, _), found in self.elements.items():
            if found.fault is not None and not _made(prop):
                raise found.fault
        self.born.clear()
        self.items.clear()
        if self.threads > 1:
            self.seen.clear()

    def end_round(self) -> None:
        """Combine the contributions to the globals."""
        for (name, op), (whole, n) in self.whole.items():
            before = self.globals[name]
            if before.dtype.kind in "iu":
                total = exact.SUMS[op](exactly(before), whole)
                self.fits(n, f"the sum `{name}`", total, before.dtype)
            else:
                self.nan(n, arithmetic.BINARY[op](before, self.partials[name, op]), before, whole)
                self.stored(n, f"the global `{name}`", arithmetic.BINARY[op](before, whole))
        self.whole = {}
        super().end_round()
        self.met()

    # --- numbers

    def fits(self, n: ir.Node, what: str, value: Any, dtype: np.dtype[Any]) -> None:
        """Raise ReductionOverflow if an integer type does not hold what was added up."""
        fault = exact.overflow(self.span(n), what, value, dtype)
        if fault is not None:
            raise fault

    def operand(self, env: Env, n: ir.Expr) -> tuple[Any, Exact | None]:
        """The value of an expression, and what it would be without a limit."""
        return evaluate(self, env, n), self.exact

    def used(self, env: Env, n: ir.Expr) -> Any:
        """The value of an expression that has to be what it would be."""
        value, found = self.operand(env, n)
        if found is not None and found.fault is not None:
            raise found.fault
        return value

    def kept(self, env: Env, n: ir.Node, e: ir.Expr, what: str, place: ir.Expr) -> Any:
        """The value that is stored in `place`. Raises ReductionOverflow and NaNAppears."""
        value, found = self.operand(env, e)
        if exact.adds_to(place, e) and value.dtype.kind in "iu":
            if isinstance(e, ir.Binary) and e.op == "*":
                total = exactly(*self.operand(env, e.left)) * exactly(*self.operand(env, e.right))
            else:
                total = exactly(value, found)
            self.fits(n, what, total, value.dtype)
        if found is not None and found.fault is not None:
            raise found.fault
        self.stored(n, what, value)
        return value

    def result(self, env: Env, e: ir.Expr, name: str) -> Any:
        """A number that the program returns."""
        value = self.used(env, e)
        self.stored(e, f"the result `{name}`", value)
        return value

    def nan(self, n: ir.Node, result: Any, *operands: Any) -> None:
        """Remember where a NaN was made of numbers."""
        if _has_nan(result) and not any(map(_has_nan, operands)):
            self.born[self.task] = self.span(n)

    def stored(self, n: ir.Node, what: str, value: Any) -> None:
        """Raise NaNAppears if a NaN that was made is stored."""
        if self.task in self.born and _has_nan(value):
            born, at = self.born[self.task], self.span(n)
            raise NaNAppears(born, what, at if at.line != born.line else None)

    def place(self, prop: str, index: Any) -> tuple[str, int, int]:
        """An element of a property, the running thread's own if each has one."""
        own = self.properties[prop].site is ir.Site.THREAD
        return prop, self.thread if own else 0, int(index)

    def remember(self, place: tuple[str, int, int], found: Exact | None) -> None:
        """Keep what an element would be, or forget it."""
        self.elements.pop(place, None)
        if found is not None:
            self.elements[place] = found


def _made(prop: str) -> bool:
    """Whether a property is the compiler's: what lies there is on its way to one of the user's."""
    return not prop.isidentifier()


def _has_nan(value: Any) -> bool:
    return value.dtype.kind == "f" and bool(np.isnan(value).any())


# --- expressions ----------------------------------------------------------------------------------------------


def _load(m: CheckedMachine, env: Env, n: ir.Load) -> Any:
    m.touch(
        n, n.prop, evaluate(m, env, n.index), reads=True, writes=False, atomic=n.order is ir.Order.RELAXED
    )
    found = m.elements.get(m.place(n.prop, evaluate(m, env, n.index)))
    if found is not None and found.fault is not None and not _made(n.prop):
        raise found.fault
    value = EXPRESSIONS[ir.Load](m, env, n)
    m.exact = found
    return value


def _var(m: CheckedMachine, env: Env, n: ir.Var) -> Any:
    m.exact = env.get(_exact_of(n.name))
    return env[n.name]


def _binary(m: CheckedMachine, env: Env, n: ir.Binary) -> Any:
    left, right = m.operand(env, n.left), m.operand(env, n.right)
    result = arithmetic.BINARY[n.op](left[0], right[0])
    m.nan(n, result, left[0], right[0])
    m.exact = exact.of_binary(m.span(n), n.op, result, left, right)
    return result


def _unary(m: CheckedMachine, env: Env, n: ir.Unary) -> Any:
    operand, known = m.operand(env, n.operand)
    result = arithmetic.UNARY[n.op](operand)
    m.nan(n, result, operand)
    m.exact = exact.of_unary(m.span(n), n.op, result, operand, known)
    return result


def _compare(m: CheckedMachine, env: Env, n: ir.Compare) -> Any:
    # What passes compare may be part of a sum yet.
    value = m.used if n.span is not None else lambda env, e: m.operand(env, e)[0]
    result = arithmetic.COMPARE[n.op](value(env, n.left), value(env, n.right))
    m.exact = None
    return result


def _cast(m: CheckedMachine, env: Env, n: ir.Cast) -> Any:
    operand, known = m.operand(env, n.operand)
    result = cast(m, n, operand)
    m.exact = exact.of_cast(n, result, operand, known)
    return result


def _call(m: CheckedMachine, env: Env, n: ir.Call) -> Any:
    args = [m.used(env, a) for a in n.args]
    result = call(m, n, args)
    m.nan(n, result, *args)
    m.exact = exact.of_sum(m.span(n), n.function, result, args)
    return result


def _pack(m: CheckedMachine, env: Env, n: ir.Pack) -> Any:
    return arithmetic.pack([m.kept(env, n, e, "a value of several", n) for e in n.items])


def _in_frontier(m: CheckedMachine, env: Env, n: ir.InFrontier) -> Any:
    word = int(evaluate(m, env, n.vertex)) // 64
    m.meet(n, (n.frontier, word), writes=False, atomic=False, word=True)
    return EXPRESSIONS[ir.InFrontier](m, env, n)


def _size(m: CheckedMachine, env: Env, n: ir.FrontierSize) -> Any:
    m.meet(n, (f"len({n.frontier})", 0), writes=False, atomic=False)
    return EXPRESSIONS[ir.FrontierSize](m, env, n)


# --- statements -----------------------------------------------------------------------------------------------


def _exact_of(name: str) -> str:
    """The key of an environment under which stands what a local would be without a limit."""
    return f"exact {name}"


def _local(m: CheckedMachine, env: Env, n: ir.Let | ir.Assign) -> None:
    env[n.name], env[_exact_of(n.name)] = m.operand(env, n.value)


def _accumulate(m: CheckedMachine, env: Env, n: ir.Accumulate) -> None:
    before, value = (env[n.name], env.get(_exact_of(n.name))), m.operand(env, n.value)
    after, found = exact.of_reduction(m.span(n), n.op, f"the sum `{n.name}`", before, value)
    m.nan(n, after, before[0], value[0])
    env[n.name], env[_exact_of(n.name)] = after, found


def _store(m: CheckedMachine, env: Env, n: ir.Store) -> None:
    index, found = evaluate(m, env, n.index), None
    what = m.name(n.prop, int(index))
    if _made(n.prop):
        value, found = m.operand(env, n.value)
        m.stored(n, what, value)
    else:
        m.kept(env, n, n.value, what, ir.Load(n.prop, n.index, n.value.type))
    m.touch(n, n.prop, index, reads=False, writes=True, atomic=n.order is ir.Order.RELAXED)
    m.remember(m.place(n.prop, index), found)
    memory.store(m, env, n)


def _scratch_store(m: CheckedMachine, env: Env, n: ir.ScratchStore) -> None:
    what = m.name(n.prop, int(evaluate(m, env, n.index)))
    m.kept(env, n, n.value, what, ir.ScratchLoad(n.prop, n.index, n.value.type))
    memory.scratch_store(m, env, n)


def _reduce(m: CheckedMachine, env: Env, n: ir.Reduce) -> Steps:
    index, value = evaluate(m, env, n.index), m.operand(env, n.value)
    m.touch(n, n.prop, index, reads=True, writes=True, atomic=n.atomic)
    what, place, before = m.name(n.prop, int(index)), m.place(n.prop, index), m.memory(n.prop)[index].copy()
    after, found = exact.of_reduction(m.span(n), n.op, what, (before, m.elements.get(place)), value)
    m.remember(place, found)
    m.nan(n, after, before, value[0])
    m.stored(n, what, after)
    return (yield from memory.reduce(m, env, n))


def _compare_and_swap(m: CheckedMachine, env: Env, n: ir.CompareAndSwap) -> Steps:
    index = evaluate(m, env, n.index)
    m.touch(n, n.prop, index, reads=True, writes=True, atomic=n.atomic)
    m.kept(env, n, n.value, m.name(n.prop, int(index)), ir.Load(n.prop, n.index, n.value.type))
    return (yield from memory.compare_and_swap(m, env, n))


def _fold(m: CheckedMachine, env: Env, n: ir.Fold) -> None:
    """Add the threads' own sums to the property. What one of them would be without a limit is not the whole yet."""
    whole, parts = m.arrays[n.prop], m.arrays[n.own]
    if whole.dtype.kind in "iu":
        total = parts.astype(object)
        for prop, thread, index in [place for place in m.elements if place[0] == n.own]:
            total[thread, index] = m.elements.pop((prop, thread, index)).value
        for index, (one, more) in enumerate(zip(whole, total.sum(axis=0), strict=True)):
            m.fits(n, m.name(n.prop, index), exactly(one) + more, whole.dtype)
    _collective(ir.Fold)(m, env, n)


def _set_global(m: CheckedMachine, env: Env, n: ir.SetGlobal) -> None:
    m.kept(env, n, n.value, f"the global `{n.name}`", ir.GlobalVar(n.name, n.value.type))
    memory.set_global(m, env, n)


def _reduce_global(m: CheckedMachine, env: Env, n: ir.ReduceGlobal) -> None:
    value, found = m.operand(env, n.value)
    what, key = f"the global `{n.name}`", (n.name, n.op)
    m.stored(n, what, value)
    if n.op not in exact.SUMS:
        m.used(env, n.value)
    elif value.dtype.kind in "iu":
        part = exactly(value, found)
        m.whole[key] = (exact.SUMS[n.op](m.whole[key][0], part) if key in m.whole else part), n
    else:
        before = m.partials.get(key, value.dtype.type(n.op == "*"))
        after = arithmetic.BINARY[n.op](before, value)
        m.nan(n, after, before, value)
        m.stored(n, what, after)
        m.whole[key] = after, n
    m.reduce_global(n.name, n.op, value)


def _push(m: CheckedMachine, env: Env, n: ir.FrontierPush) -> Steps:
    v = int(evaluate(m, env, n.vertex))
    m.meet(n, (f"len({n.frontier})", 0), writes=True, atomic=True)
    if n.layout is ir.Layout.BITMAP:
        m.meet(n, (n.frontier, v // 64), writes=True, atomic=n.atomic, word=True)
    elif n.dedupe:
        m.meet(n, (f"{n.frontier}, in the queue", v), writes=True, atomic=n.atomic)
    jump: Jump | None = yield from statements.COMPOUND[ir.FrontierPush](m, env, n)
    return jump


def _pipeline(m: CheckedMachine, env: Env, n: ir.Pipeline) -> None:
    m.channel = frozenset(n.buffers)
    statements.SIMPLE[ir.Pipeline](m, env, n)
    m.channel = frozenset()


def _trace(m: CheckedMachine, env: Env, n: ir.Trace) -> None:
    m.task = ONE
    statements.SIMPLE[ir.Trace](m, env, n)
    m.task = DRIVER


def _alone(m: CheckedMachine, env: Env, n: ir.Alone) -> Steps:
    jump: Jump | None = yield from statements.COMPOUND[ir.Alone](m, env, n)
    m.met()
    return jump


def _collective(kind: type[ir.Stmt], *fields: str) -> Callable[[Any, Env, Any], None]:
    """What all threads do together to the frontiers that `fields` name, whose sizes one of them sets for all."""

    def run(m: CheckedMachine, env: Env, n: Any) -> None:
        outside, m.task = m.task, ONE
        for frontier in (getattr(n, name) for name in fields):
            m.meet(n, (f"len({frontier})", 0), writes=True, atomic=False)
        m.task = outside
        statements.SIMPLE[kind](m, env, n)
        if m.task == DRIVER:
            m.met()

    return run


_FRONTIERS: Final[dict[type[ir.Stmt], Iterable[str]]] = {
    ir.Barrier: (),
    ir.BucketsClear: (),
    ir.BucketAdvance: (),
    ir.FrontierSet: ("out",),
    ir.FrontierCopy: ("out",),
    ir.FrontierClear: ("frontier",),
    ir.FrontierSwap: ("left", "right"),
    ir.FrontierConvert: (),  # its size stays
    ir.ListGet: ("out",),
    ir.ListAppend: (),
    ir.ListClear: (),
}


def _plain(evaluated: Callable[..., Any]) -> Callable[..., Any]:
    """What is no sum, whatever it is made of."""

    def run(m: CheckedMachine, env: Env, n: Any) -> Any:
        value = evaluated(m, env, n)
        m.exact = None
        return value

    return run


_PARAMETERS: Final = ("m", "env", "n")
_OWN: Final = handlers(sys.modules[__name__], parameters=_PARAMETERS)
_EXPRESSIONS: Final[Table] = {
    **{kind: run for kind, run in _OWN.items() if issubclass(kind, ir.Expr)},
    **{
        kind: _plain(evaluated)
        for kind, evaluated in (EXPRESSIONS | handlers(bounds, parameters=_PARAMETERS)).items()
        if kind not in _OWN
    },
    **{kind: _plain(_OWN[kind]) for kind in (ir.Pack, ir.InFrontier, ir.FrontierSize)},
    ir.Select: EXPRESSIONS[ir.Select],  # what was evaluated last is the side that was chosen
}
_SIMPLE, _COMPOUND = statements.steps(
    {
        **statements.SIMPLE,
        **statements.COMPOUND,
        **{kind: _collective(kind, *fields) for kind, fields in _FRONTIERS.items()},
        **{kind: run for kind, run in _OWN.items() if issubclass(kind, ir.Stmt)},
    }
)
