"""The interpreter with checks: bounds, overflow in reductions, NaN, reads before writes, and races.

Races are found by what may run at the same time, not by what did: two iterations of a parallel loop, or what threads do
in the driver loop beside what one does for all, unless a barrier lies between. Two accesses of one place race if one
writes and they are not both atomic; relaxed loads and stores are. What a pipeline's channel holds is ordered by it:
there an element that is read too early or late is one that nobody has written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.analysis.pieces import as_reduction
from vgraph.compiler.interpret import memory, statements
from vgraph.compiler.interpret.expressions import EXPRESSIONS, evaluate
from vgraph.compiler.interpret.machine import DRIVER, ONE, Env, Machine, Table
from vgraph.compiler.interpret.memory import Steps
from vgraph.compiler.ir.rewrite import walk
from vgraph.refusals.checks import DataRace, NaNAppears, OutOfBounds, ReductionOverflow, UninitialisedRead
from vgraph.source import Span

_EXACT: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_ELEMENTS: Final = {
    ir.Site.EDGE: "arc",
    ir.Site.EDGE_IN: "in-arc",
    ir.Site.EDGE_SEGMENTS: "in-arc",
    ir.Site.ARRAY: "element",
    ir.Site.QUEUE: "place",
}


class Access(NamedTuple):
    """Who was at a place, how, and in which line."""

    task: int
    write: bool
    atomic: bool
    span: Span


class CheckedMachine(Machine):
    """A machine that watches what its program does. Raises a CheckError for the first fault."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expressions, self.simple, self.compound = _EXPRESSIONS, _SIMPLE, _COMPOUND
        self.concurrent = self.program.threads != 1
        self.here = next(n.span for n in walk(self.program) if n.span is not None)
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
        self.reducing = False
        self.whole: dict[tuple[str, str], tuple[int, ir.Node]] = {}
        """Contributions to integer globals, as they would be without a limit, and the last to contribute."""

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
        now = Access(task, writes, atomic, self.span(n))
        before = self.seen.setdefault(place, [])
        for other in before:
            if other.task != task and (other.write or writes) and not (other.atomic and atomic):
                prop, index = place
                what = self.name(prop, index) if prop in self.properties else f"`{prop}`"
                here, there = ("writes" if a.write else "reads" for a in (now, other))
                raise DataRace(now.span, what, here, there, other.span)
        alike = [a for a in before if (a.write, a.atomic) == (writes, atomic)]
        if len(alike) < 2 and all(a.task != task for a in alike):
            before.append(now)

    def take(self, vertex: int) -> None:
        """This thread goes on with `vertex`."""
        self.items[self.thread] = vertex

    def spoil(self, prop: str, at: Any) -> None:
        """Forget elements."""
        super().spoil(prop, at)
        self.written[prop][at] = False

    def met(self) -> None:
        """What was before a barrier excludes nothing behind it; one thread alone meets nobody."""
        self.born.clear()
        self.items.clear()
        if self.threads > 1:
            self.seen.clear()

    def end_round(self) -> None:
        """Combine the contributions to the globals."""
        for (name, op), (whole, n) in self.whole.items():
            exact = _EXACT[op](int(self.globals[name]), whole)
            self.fits(n, f"the sum `{name}`", exact, self.globals[name].dtype)
        self.whole = {}
        super().end_round()
        self.met()

    # --- numbers

    def fits(self, n: ir.Node, what: str, exact: int, dtype: np.dtype[Any]) -> None:
        """Raise ReductionOverflow if an integer type does not hold the exact value."""
        limits = np.iinfo(dtype)
        if not limits.min <= exact <= limits.max:
            wrapped = int(np.array(exact & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype))
            raise ReductionOverflow(self.span(n), what, exact, str(dtype), wrapped)

    def combine(self, n: Any, what: str, before: Any, value: Any) -> Any:
        """One step of a reduction."""
        after = arithmetic.BINARY[n.op](before, value)
        kind = after.dtype.kind
        if kind in "iu" and n.op in _EXACT and not _subtracts(n.value, kind):
            pairs = zip(np.ravel(before).tolist(), np.ravel(value).tolist(), strict=True)
            for a, b in pairs:
                self.fits(n, what, _EXACT[n.op](a, b), after.dtype)
        self.nan(n, after, before, value)
        return after

    def nan(self, n: ir.Node, result: Any, *operands: Any) -> None:
        """Remember where a NaN was made of numbers."""
        if _has_nan(result) and not any(map(_has_nan, operands)):
            self.born[self.task] = self.span(n)

    def stored(self, n: ir.Node, what: str, value: Any) -> None:
        """Raise NaNAppears if a NaN that was made is stored."""
        if self.task in self.born and _has_nan(value):
            raise NaNAppears(self.born[self.task], what, self.span(n))

    def value(self, env: Env, n: ir.Expr) -> Any:
        """What goes into a reduction."""
        outside, self.reducing = self.reducing, True
        found = evaluate(self, env, n)
        self.reducing = outside
        return found


def _has_nan(value: Any) -> bool:
    return value.dtype.kind == "f" and bool(np.isnan(value).any())


def _subtracts(value: ir.Expr, kind: str) -> bool:
    """Whether an unsigned sum takes something away: by a number that wraps."""
    taken = (n for n in walk(value) if isinstance(n, ir.Unary | ir.Binary) and n.op in ("neg", "-"))
    return kind == "u" and any(taken)


# --- expressions ----------------------------------------------------------------------------------------------


def _load(m: CheckedMachine, env: Env, n: ir.Load) -> Any:
    m.touch(
        n, n.prop, evaluate(m, env, n.index), reads=True, writes=False, atomic=n.order is ir.Order.RELAXED
    )
    return EXPRESSIONS[ir.Load](m, env, n)


def _neighbor(m: CheckedMachine, env: Env, n: ir.Neighbor) -> Any:
    v, k = int(evaluate(m, env, n.vertex)), int(evaluate(m, env, n.k))
    degree = len(m.neighbors(v, n.orientation))
    if not 0 <= k < degree:
        raise OutOfBounds(m.span(n), f"neighbor {k} of vertex {v}", degree)
    return EXPRESSIONS[ir.Neighbor](m, env, n)


def _binary(m: CheckedMachine, env: Env, n: ir.Binary) -> Any:
    left, right = evaluate(m, env, n.left), evaluate(m, env, n.right)
    result = arithmetic.BINARY[n.op](left, right)
    m.nan(n, result, left, right)
    if m.reducing and n.op in _EXACT and np.ndim(result) == 0 and result.dtype.kind == "i":
        exact = _EXACT[n.op](int(left), int(right))
        m.fits(n, f"`{n.op}`", exact, result.dtype)
    return result


def _unary(m: CheckedMachine, env: Env, n: ir.Unary) -> Any:
    operand = evaluate(m, env, n.operand)
    result = arithmetic.UNARY[n.op](operand)
    m.nan(n, result, operand)
    return result


def _call(m: CheckedMachine, env: Env, n: ir.Call) -> Any:
    result = EXPRESSIONS[ir.Call](m, env, n)
    if _has_nan(result):
        m.nan(n, result, *(evaluate(m, env, a) for a in n.args))
    return result


def _in_frontier(m: CheckedMachine, env: Env, n: ir.InFrontier) -> Any:
    word = int(evaluate(m, env, n.vertex)) // 64
    m.meet(n, (n.frontier, word), writes=False, atomic=False, word=True)
    return EXPRESSIONS[ir.InFrontier](m, env, n)


def _size(m: CheckedMachine, env: Env, n: ir.FrontierSize) -> Any:
    m.meet(n, (f"len({n.frontier})", 0), writes=False, atomic=False)
    return EXPRESSIONS[ir.FrontierSize](m, env, n)


# --- statements -----------------------------------------------------------------------------------------------


def _store(m: CheckedMachine, env: Env, n: ir.Store) -> None:
    index = evaluate(m, env, n.index)
    found = as_reduction(n, n.index.name) if isinstance(n.index, ir.Var) else None
    if isinstance(found, ir.Reduce):  # an operator adds to its own vertex
        before = evaluate(m, env, ir.Load(n.prop, n.index, n.value.type, span=n.span))
        m.combine(found, m.name(n.prop, int(index)), before, m.value(env, found.value))
    m.touch(n, n.prop, index, reads=False, writes=True, atomic=n.order is ir.Order.RELAXED)
    m.stored(n, m.name(n.prop, int(index)), evaluate(m, env, n.value))
    memory.store(m, env, n)


def _reduce(m: CheckedMachine, env: Env, n: ir.Reduce) -> Steps:
    index, value = evaluate(m, env, n.index), m.value(env, n.value)
    m.touch(n, n.prop, index, reads=True, writes=True, atomic=n.atomic)
    what = m.name(n.prop, int(index))
    m.stored(n, what, m.combine(n, what, m.memory(n.prop)[index], value))
    return (yield from memory.reduce(m, env, n))


def _compare_and_swap(m: CheckedMachine, env: Env, n: ir.CompareAndSwap) -> Steps:
    index = evaluate(m, env, n.index)
    m.touch(n, n.prop, index, reads=True, writes=True, atomic=n.atomic)
    m.stored(n, m.name(n.prop, int(index)), evaluate(m, env, n.value))
    return (yield from memory.compare_and_swap(m, env, n))


def _accumulate(m: CheckedMachine, env: Env, n: ir.Accumulate) -> None:
    m.combine(n, f"the sum `{n.name}`", env[n.name], m.value(env, n.value))
    memory.accumulate(m, env, n)


def _set_global(m: CheckedMachine, env: Env, n: ir.SetGlobal) -> None:
    m.stored(n, f"the global `{n.name}`", evaluate(m, env, n.value))
    memory.set_global(m, env, n)


def _reduce_global(m: CheckedMachine, env: Env, n: ir.ReduceGlobal) -> None:
    value = m.value(env, n.value)
    m.stored(n, f"the global `{n.name}`", value)
    if n.op in ("+", "*") and np.ndim(value) == 0 and value.dtype.kind in "iu":
        before, _ = m.whole.get((n.name, n.op), (1 if n.op == "*" else 0, n))
        part = (
            int(value) if not _subtracts(n.value, value.dtype.kind) else int(value.view(f"i{value.itemsize}"))
        )
        m.whole[n.name, n.op] = _EXACT[n.op](before, part), n
    m.reduce_global(n.name, n.op, value)


def _push(m: CheckedMachine, env: Env, n: ir.FrontierPush) -> Steps:
    v = int(evaluate(m, env, n.vertex))
    m.meet(n, (f"len({n.frontier})", 0), writes=True, atomic=True)
    if n.layout is ir.Layout.BITMAP:
        m.meet(n, (n.frontier, v // 64), writes=True, atomic=n.atomic, word=True)
    elif n.dedupe:
        m.meet(n, (f"{n.frontier}, in the queue", v), writes=True, atomic=n.atomic)
    return (yield from statements.COMPOUND[ir.FrontierPush](m, env, n))


def _pipeline(m: CheckedMachine, env: Env, n: ir.Pipeline) -> None:
    m.channel = frozenset(n.buffers)
    statements.SIMPLE[ir.Pipeline](m, env, n)
    m.channel = frozenset()


def _trace(m: CheckedMachine, env: Env, n: ir.Trace) -> None:
    m.task = ONE
    statements.SIMPLE[ir.Trace](m, env, n)
    m.task = DRIVER


def _alone(m: CheckedMachine, env: Env, n: ir.Alone) -> Steps:
    jump = yield from statements.COMPOUND[ir.Alone](m, env, n)
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
    ir.Fold: (),
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
_EXPRESSIONS: Final[Table] = {
    **EXPRESSIONS,
    ir.Load: _load,
    ir.Neighbor: _neighbor,
    ir.Binary: _binary,
    ir.Unary: _unary,
    ir.Call: _call,
    ir.InFrontier: _in_frontier,
    ir.FrontierSize: _size,
}
_SIMPLE: Final[Table] = {
    **statements.SIMPLE,
    **{kind: _collective(kind, *fields) for kind, fields in _FRONTIERS.items()},
    ir.Store: _store,
    ir.Accumulate: _accumulate,
    ir.SetGlobal: _set_global,
    ir.ReduceGlobal: _reduce_global,
    ir.Pipeline: _pipeline,
    ir.Trace: _trace,
}
_COMPOUND: Final[Table] = {
    **statements.COMPOUND,
    ir.Reduce: _reduce,
    ir.CompareAndSwap: _compare_and_swap,
    ir.FrontierPush: _push,
    ir.Alone: _alone,
}
