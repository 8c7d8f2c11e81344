"""Loops of the driver whose iterations are independent: they meet in reductions only, and any member may run any.

What the body of such a loop writes is of one of three kinds.

*Private*: each iteration begins it anew, and nobody uses it after the loop. A property need not be filled for that: it
is enough that it is read only where this iteration stored before, at all vertices, at those of a frontier, or of a list
of frontiers. Where it is reduced into elsewhere, nothing is read.
*Reduced*: all that is done to it is one operation, whose result nobody looks at before the loop has ended.
*Elements*: it is stored at the iteration's own vertex alone, which another iteration has only if it is the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final, NoReturn

from vgraph.compiler import ir
from vgraph.compiler.ir.node import Node
from vgraph.compiler.obstacle import Blocked, Obstacle, or_obstacle
from vgraph.compiler.types import VID
from vgraph.records import dataclass

_ALL: Final = "all vertices"
_READS: Final = (ir.Load, ir.FrontierWhere)
_WRITES: Final = (ir.Store, ir.Reduce, ir.Claim, ir.Fill, ir.FillEach, ir.FrontierMark)
_ALL_WRITES: Final = (*_WRITES, ir.Let, ir.Assign, ir.Accumulate, ir.SetGlobal, ir.ReduceGlobal)
Covered = dict[str, frozenset[object]]
"""Of each private property: all vertices, or the frontiers, lists and single vertices at which it was stored."""


@dataclass
class Iterations:
    """What the iterations of a loop have in common: how each name is reduced, what is stored at the own vertex, and the
    properties that they read as they were before the loop."""

    reduced: dict[str, str] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    """Globals, and locals of the driver loop."""
    elements: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)


def divisible(program: ir.Program) -> tuple[list[ir.For], list[Obstacle]]:
    """The outermost loops with applies whose iterations are independent, and why those around them are not."""
    good = list(_outermost(program.body))
    refused: list[Obstacle] = []
    while True:
        for loop in good:
            found = iterations(program, loop, good)
            if isinstance(found, Obstacle):
                refused.append(found)
                at = next(k for k, other in enumerate(good) if other is loop)
                good[at : at + 1] = _outermost(loop.body)
                break
        else:
            return good, refused


def _outermost(body: Iterable[Node]) -> Iterator[ir.For]:
    for s in body:
        if isinstance(s, ir.For) and any(isinstance(n, ir.Apply) for n in ir.walk(s)):
            yield s
        elif isinstance(s, ir.If):
            yield from _outermost((*s.then, *s.other))
        elif isinstance(s, ir.While):
            yield from _outermost(s.body)


@or_obstacle
def iterations(program: ir.Program, loop: ir.For, divided: Collection[ir.For]) -> Iterations:
    """What the iterations of a loop share, or why they are not independent; `divided` are all loops of which this is
    asked, in which nothing private is seen from outside."""
    return _Iterations(program, loop, divided).run()


@dataclass
class _State:
    """What an iteration has made so far, wherever it came from."""

    covered: Covered
    made: frozenset[str]
    """Frontiers, lists, globals and locals."""

    def common(self, other: _State) -> _State:
        covered = {name: tokens & other.covered[name] for name, tokens in self.covered.items()}
        return _State(covered, self.made & other.made)


class _Iterations:
    def __init__(self, program: ir.Program, loop: ir.For, divided: Collection[ir.For]) -> None:
        self.program, self.loop = program, loop
        self.inside = [n for s in loop.body for n in self._reached(s)]
        self.outside = list(self._outside(program, divided))
        self.elsewhere = [n for other in divided if other is not loop for n in self._from_before(other)]
        self.found = Iterations()
        self.own = self._own_vertex()
        self.local = {n.name for n in ir.walk(loop) if isinstance(n, ir.Let | ir.For)}
        self.jumps: list[list[_State]] = []

    def _reached(self, n: Node) -> Iterator[Node]:
        """A statement's nodes, and those of the operators that it applies."""
        for m in ir.walk(n):
            yield m
            if isinstance(m, ir.Apply):
                yield from ir.walk(self.program.operator(m.op))

    def _outside(self, program: ir.Program, divided: Collection[ir.For]) -> Iterator[Node]:
        """All nodes of the driver loop, and of operators applied there, that are in no divided loop."""
        left: list[Node] = [*program.body, *program.results]
        while left:
            n = left.pop()
            yield n
            if isinstance(n, ir.Apply):
                yield from ir.walk(program.operator(n.op))
            within = n.body if isinstance(n, ir.For) and any(n is loop for loop in divided) else ()
            left += [m for m in ir.children(n) if all(m is not s for s in within)]

    def _from_before(self, other: ir.For) -> list[Node]:
        """What another divided loop reads and does not write."""
        nodes = [n for s in other.body for n in self._reached(s)]
        written = {_name(n) for n in nodes if isinstance(n, _ALL_WRITES)}
        reads = (*_READS, ir.Var, ir.GlobalVar)
        return [n for n in nodes if isinstance(n, reads) and _name(n) not in written]

    def _own_vertex(self) -> ir.Expr | None:
        """The vertex that belongs to an iteration: nothing but it tells iterations apart."""
        inside = [n for s in self.loop.body for n in ir.walk(s)]
        uses = [n for n in inside if isinstance(n, ir.Var) and n.name == self.loop.name]
        changed = {n.name for n in inside if isinstance(n, ir.Assign | ir.Accumulate)}
        for s in self.loop.body:
            own = isinstance(s, ir.Let) and len(uses) == 1 and uses[0] in ir.walk(s)
            if own and isinstance(s, ir.Let) and s.type == VID and s.name not in changed:
                return ir.Var(s.name, VID)
        return None

    def refuse(self, n: Node, reason: str) -> NoReturn:
        raise Blocked(reason, n.span or self.loop.span)

    # --- which kind each name is of ---------------------------------------------------------------------------

    def run(self) -> Iterations:
        if self.loop.step != ir.Const(1, self.loop.step.type):
            self.refuse(self.loop, "the loop does not go on by 1")
        self._leaves(self.loop.body)
        for n in self.inside:
            if isinstance(n, ir.Union | ir.ReduceTuple | ir.ReduceGlobalTuple):
                self.refuse(n, "what is done here is not divided")
        private, self.shared_scalars = self._properties(), self._scalars()
        state = _State({name: frozenset() for name in private | self.found.elements}, frozenset())
        self._body(self.loop.body, state)
        for n in [*self.outside, *self.elsewhere]:
            name = n.value if isinstance(n, ir.Result) else getattr(n, "prop", None)
            if name in private and not isinstance(n, ir.Fill | ir.FillEach):
                self.refuse(n, f"`{name}` is used outside the loop, where it is what the last iteration left")
        loads = {n.prop for n in self.inside if isinstance(n, _READS)}
        loads -= state.covered.keys() | self.found.reduced.keys()
        self.found.reads = loads & {n.prop for n in self.outside if isinstance(n, _WRITES)}
        return self.found

    def _leaves(self, body: Iterable[Node]) -> None:
        for s in body:
            if isinstance(s, ir.Break):
                self.refuse(s, "an iteration decides whether there is another")
            elif isinstance(s, ir.If):
                self._leaves((*s.then, *s.other))

    def _properties(self) -> set[str]:
        """The private ones; what is found of others."""
        written: dict[str, list[Node]] = {}
        for n in self.inside:
            if isinstance(n, _WRITES):
                written.setdefault(n.prop, []).append(n)
        sites = {p.name: p.site for p in self.program.properties}
        loads = Counter(n.prop for n in self.inside if isinstance(n, _READS))
        loads.subtract(n.prop for n in self.inside if isinstance(n, ir.Store) and self._operation(n))
        private: set[str] = set()
        for name, nodes in written.items():
            if sites[name] is not ir.Site.VERTEX:
                self.refuse(nodes[0], f"`{name}` is no property of vertices")
            ops = {self._operation(n) for n in nodes}
            op = next(iter(ops))
            if len(ops) == 1 and op is not None and not loads[name] and not self._tells(name, op):
                self.found.reduced[name] = op
            elif self.own and all(isinstance(n, ir.Store) and n.index == self.own for n in nodes):
                self.found.elements.add(name)
            else:
                private.add(name)
        return private

    def _operation(self, n: Node) -> str | None:
        """How a write combines what is there, if that is all it does."""
        match n:
            case ir.Reduce(op=op):
                return op
            case ir.Store(prop=name, index=at, value=value):
                return _combining(value, lambda e: isinstance(e, ir.Load) and (e.prop, e.index) == (name, at))
        return None

    def _tells(self, name: str, op: str) -> bool:
        """Whether some apply tells which vertices a reduction changed."""
        tell = {n.op for n in self.inside if isinstance(n, ir.EdgeApply) and n.out is not None}
        into = (m for o in tell for m in ir.walk(self.program.operator(o)) if isinstance(m, ir.Reduce))
        return op not in ir.ACCUMULATING and any(m.prop == name for m in into)

    def _scalars(self) -> set[str]:
        """Globals and locals that an iteration has to make before it reads them."""
        driver = [n for s in self.loop.body for n in ir.walk(s)]
        writes: dict[str, set[str | None]] = {}
        reads = Counter(n.name for n in driver if isinstance(n, ir.Var))
        reads.update(f"@{n.name}" for n in self.inside if isinstance(n, ir.GlobalVar))

        def written(name: str, op: str | None, *, read: bool = True) -> None:
            writes.setdefault(name, set()).add(op)
            reads[name] -= int(read and op is not None)

        for n in self.inside:
            match n:
                case ir.SetGlobal(name=name, value=value):
                    old = ir.GlobalVar(name, value.type)
                    written(f"@{name}", _combining(value, old.__eq__))
                case ir.ReduceGlobal(name=name, op=op):
                    written(f"@{name}", op, read=False)
        for n in driver:
            match n:
                case ir.Accumulate(name=name, op=op) if name not in self.local:
                    written(name, op, read=False)
                case ir.Assign(name=name, value=value) if name not in self.local:
                    written(name, _combining(value, ir.Var(name, value.type).__eq__))
        own: set[str] = set()
        for name, ops in writes.items():
            (only, *others) = ops
            if not others and only is not None and not reads[name]:
                self.found.scalars[name] = only
                continue
            own.add(name)
            for n in [*self.outside, *self.elsewhere]:
                if isinstance(n, ir.Var | ir.GlobalVar) and _name(n) == name:
                    self.refuse(n, f"`{name.removeprefix('@')}` goes from iteration to iteration")
        return own

    # --- what an iteration has made before it reads ------------------------------------------------------------

    def _body(self, body: Iterable[Node], state: _State) -> _State:
        for s in body:
            state = self._statement(s, state)
        return state

    def _statement(self, n: Node, state: _State) -> _State:
        match n:
            case ir.If(condition=c, then=then, other=other):
                self._expression(c, state)
                return self._body(then, state).common(self._body(other, state))
            case ir.While(body=body) | ir.For(body=body):
                while True:
                    for head in ir.children(n):
                        if isinstance(head, ir.Expr):
                            self._expression(head, state)
                    self.jumps.append([])
                    again = state.common(self._body(body, state))
                    for left in self.jumps.pop():
                        again = again.common(left)
                    if again == state:
                        return state
                    state = again
            case ir.Break() | ir.Continue():
                if self.jumps:
                    self.jumps[-1].append(state)
                return state
            case ir.EdgeApply() | ir.VertexApply():
                return self._apply(n, state)
        for e in ir.children(n):
            if isinstance(e, ir.Expr):
                self._expression(e, state, getattr(n, "vertex", None) if isinstance(n, ir.FillEach) else None)
        return self._made(n, state)

    def _made(self, n: Node, state: _State) -> _State:
        covered, made = state.covered, state.made
        match n:
            case ir.Let() | ir.Fail():
                return state
            case ir.Assign(name=name) | ir.Accumulate(name=name):
                if isinstance(n, ir.Accumulate) and name in self.shared_scalars:
                    self._needs_scalar(n, name, state)
                return _State(_without(covered, name), made | {name})
            case ir.SetGlobal(name=name):
                return _State(_without(covered, name), made | {f"@{name}"})
            case ir.Fill(prop=name) | ir.FillEach(prop=name) | ir.FrontierMark(prop=name):
                if isinstance(n, ir.FrontierMark):
                    self._needs(n, n.frontier, state)
                return _State(_with(covered, [name], _ALL), made)
            case ir.Store(prop=name, index=at):
                return _State(_with(covered, [name], at), made)
            case ir.ListClear(list=name):
                for other in self.outside:
                    if getattr(other, "list", None) == name:
                        self.refuse(other, f"the list `{name}` is used outside the loop")
                return _State(_with(covered, covered, f"list {name}"), made | {name})
            case ir.ListAppend(list=name, frontier=source):
                self._needs(n, name, state)
                self._needs(n, source, state)
                lacking = [p for p, tokens in covered.items() if not tokens & {_ALL, source}]
                less = {p: t - {f"list {name}"} if p in lacking else t for p, t in covered.items()}
                return _State(less, made)
        return self._frontier(n, state)

    def _frontier(self, n: Node, state: _State) -> _State:
        """Statements that make a frontier: where it lies in what was covered."""
        of: Iterable[object]
        match n:
            case ir.FrontierSet(kind=ir.FrontierKind.EMPTY):
                return self._becomes(n.out, state, list(state.covered))
            case ir.FrontierSet(kind=kind, vertex=at):
                of = [at] if kind is ir.FrontierKind.SINGLE else []
            case ir.FrontierCopy(source=source):
                of = [self._needs(n, source, state)]
            case ir.ListGet(list=name):
                of = [f"list {self._needs(n, name, state)}"]
            case ir.FrontierWhere(prop=name):
                self._whole(n, name, state)
                of = []
            case ir.FrontierCombine(left=left, right=right, op=op):
                self._needs(n, left, state)
                self._needs(n, right, state)
                both = [p for p, t in state.covered.items() if t & {_ALL, left} and t & {_ALL, right}]
                one = [p for p, t in state.covered.items() if t & {_ALL, left}]
                return self._becomes(n.out, state, both if op == "|" else one)
            case _:
                self.refuse(n, "what is done here is not divided")
        inside = [p for p, tokens in state.covered.items() if tokens & {_ALL, *of}]
        return self._becomes(n.out, state, inside)

    def _becomes(self, out: str, state: _State, inside: Iterable[str]) -> _State:
        for n in self.outside:
            if out in ir.frontiers_of(n):
                self.refuse(n, f"the frontier `{out}` is used outside the loop")
        return _State(_with(_without(state.covered, out), inside, out), state.made | {out})

    def _needs(self, n: Node, name: str, state: _State) -> str:
        if name not in state.made:
            self.refuse(n, f"`{name}` is from before the loop, or from the iteration before")
        return name

    def _whole(self, n: Node, name: str, state: _State, token: object = None) -> None:
        """A property is read at any vertex, or at those of a token."""
        tokens = state.covered.get(name)
        if tokens is not None and not tokens & {_ALL, token}:
            self.refuse(n, f"`{name}` may still be what the iteration before left there")

    def _expression(self, e: Node, state: _State, vertex: str | None = None) -> None:
        for n in ir.walk(e):
            match n:
                case ir.Load(prop=name, index=at):
                    self._whole(n, name, state, at)
                case ir.GlobalVar(name=name) if f"@{name}" in self.shared_scalars:
                    self._needs_scalar(n, f"@{name}", state)
                case ir.Var(name=name) if name in self.shared_scalars:
                    self._needs_scalar(n, name, state)
                case ir.FrontierSize(frontier=name) | ir.InFrontier(frontier=name):
                    self._needs(n, name, state)
                case ir.ListSize(list=name):
                    self._needs(n, name, state)

    def _needs_scalar(self, n: Node, name: str, state: _State) -> None:
        if name not in state.made:
            self.refuse(n, f"`{name.removeprefix('@')}` goes from iteration to iteration")

    # --- operators --------------------------------------------------------------------------------------------

    def _apply(self, n: ir.Apply, state: _State) -> _State:
        token: object = _ALL if n.frontier is None else self._needs(n, n.frontier, state)
        operator = self.program.operator(n.op)
        tells = isinstance(n, ir.EdgeApply) and n.out is not None
        visit = _Visit(self, operator, state, token, tells)
        stored = visit.body(operator.body, frozenset())
        covered = state.covered
        if isinstance(n, ir.EdgeApply):
            return state if n.out is None else self._becomes(n.out, state, ())
        own = operator.args[0]
        inside = [p for p, tokens in covered.items() if tokens & {_ALL, token}]
        inside += [p for p, at in {*stored, *visit.emitted} if at == own]
        state = _State(_with(covered, [p for p, at in stored if at == own], token), state.made)
        return state if n.out is None else self._becomes(n.out, state, [p for p in inside if p in covered])


_Stored = frozenset[tuple[str, str]]


class _Visit:
    """One operator, which the iteration applies: what it reads, and what it surely stores."""

    def __init__(
        self, loop: _Iterations, operator: ir.Operator, state: _State, token: object, tells: bool
    ) -> None:
        self.loop, self.state, self.token, self.tells = loop, state, token, tells
        self.args, self.own = operator.args, operator.args[0]
        self.writes = {n.prop for n in ir.walk(operator) if isinstance(n, ir.Store | ir.Reduce | ir.Claim)}
        self.under: dict[ir.Expr, _Stored] = {}
        """What is stored where a condition holds."""
        self.emitted: _Stored = frozenset()

    def body(self, body: Iterable[Node], stored: _Stored) -> _Stored:
        for n in body:
            stored = self.statement(n, stored)
        return stored

    def statement(self, n: Node, stored: _Stored) -> _Stored:
        match n:
            case ir.Store(prop=name, index=at, value=value) if name in self.loop.found.reduced:
                for m in ir.children(value):
                    self.expression(m, stored, but=name)
                return stored
            case ir.Reduce(prop=name, index=at, value=value):
                self.expression(value, stored)
                if self.tells and name in self.state.covered:
                    self.read(n, name, at, stored)
                return stored
            case ir.ReduceGlobal(name=name) if f"@{name}" in self.loop.shared_scalars:
                self.loop._needs_scalar(n, f"@{name}", self.state)
            case ir.Claim(prop=name, index=at):
                self.read(n, name, at, stored)
        for e in ir.children(n):
            if isinstance(e, ir.Expr):
                self.expression(e, stored)
        match n:
            case ir.Store(prop=name, index=ir.Var(name=vertex)):
                return stored | {(name, vertex)}
            case ir.If(condition=c, then=then, other=other):
                first = self.body(then, stored)
                if all(m.name in self.args for m in ir.walk(c) if isinstance(m, ir.Var)) and not (
                    {m.prop for m in ir.walk(c) if isinstance(m, ir.Load)} & self.writes
                ):
                    self.under[c] = first
                return first & self.body(other, stored)
            case ir.Emit(value=value):
                self.emitted = self.under.get(value, frozenset())
                return stored
        for s in ir.children(n):
            if isinstance(s, ir.Stmt):
                self.statement(s, stored)
        return stored

    def expression(self, e: Node, stored: _Stored, but: str = "") -> None:
        for n in ir.walk(e):
            if isinstance(n, ir.Load) and n.prop != but:
                self.read(n, n.prop, n.index, stored)
            elif isinstance(n, ir.InFrontier):
                self.loop._needs(n, n.frontier, self.state)
            elif isinstance(n, ir.GlobalVar) and f"@{n.name}" in self.loop.shared_scalars:
                self.loop._needs_scalar(n, f"@{n.name}", self.state)

    def read(self, n: Node, name: str, at: ir.Expr, stored: _Stored) -> None:
        local = at.name if isinstance(at, ir.Var) else ""
        if (name, local) not in stored:
            self.loop._whole(n, name, self.state, self.token if local == self.own else None)


def _name(n: Node) -> str:
    """What is read or written; globals begin with @."""
    of_global = isinstance(n, ir.GlobalVar | ir.SetGlobal | ir.ReduceGlobal)
    return "@" * of_global + (getattr(n, "prop", "") or getattr(n, "name", ""))


def _with(covered: Mapping[str, frozenset[object]], names: Iterable[str], token: object) -> Covered:
    found = dict(covered)
    for name in list(names):
        if name in found:
            found[name] |= {token}
    return found


def _without(covered: Covered, name: str) -> Covered:
    """What is known after `name`, a frontier, a global or a local, has another value."""

    def stays(token: object) -> bool:
        named = (
            (m.name for m in ir.walk(token) if isinstance(m, ir.Var | ir.GlobalVar))
            if isinstance(token, Node)
            else ()
        )
        return token != name and name not in named

    return {p: frozenset(t for t in tokens if stays(t)) for p, tokens in covered.items()}


def _combining(value: ir.Expr, is_old: Callable[[Node], bool]) -> str | None:
    """The operation, if a value is the old one combined with another that does not depend on it."""
    match value:
        case ir.Binary(op=op, left=a, right=b) if op in (*ir.MONOTONE, *ir.ACCUMULATING):
            pass
        case ir.Logical(op=word, left=a, right=b):
            op = "|" if word == "or" else "&"
        case _:
            return None
    return op if is_old(a) != is_old(b) and sum(map(is_old, ir.walk(value))) == 1 else None
