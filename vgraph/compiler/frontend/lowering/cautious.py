"""Whether an operator that gathers vertices is cautious: it touches what it has gathered, and gathers before it writes.

A walk over its statements with what is known where: which variables name a vertex that the visit has acquired, and
whether anything was done yet that cannot be undone. Where ways meet, what holds on all of them is known; a loop is
walked until nothing changes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.types import VID
from vgraph.source import Span

_EFFECTS: Final = (ir.Store, ir.Reduce, ir.ReduceGlobal, ir.ReduceTuple, ir.ReduceGlobalTuple, ir.Claim)
_LOOPS: Final = (ir.While, ir.For, ir.ForNeighbors, ir.ForCommon)


class _Known(NamedTuple):
    """What is known at a place: names of acquired vertices, and the first effect on a way to it."""

    mine: frozenset[str]
    effect: Span | None = None

    def meet(self, other: _Known | None) -> _Known:
        """What is known where two ways meet."""
        return self if other is None else _Known(self.mine & other.mine, self.effect or other.effect)


def check_cautious(operator: ir.Operator, declared: Span) -> None:
    """Raise NotGathered or NotCautious at the first statement that is not; or NothingGathered, NothingWritten."""
    writes = [n for n in ir.walk(operator) if isinstance(n, ir.Store) and n.index.type == VID]
    if not writes:
        raise refusals.gathering.NothingWritten(declared)
    lists = frozenset(n.list for n in ir.walk(operator) if isinstance(n, ir.Acquire))
    if not lists:
        raise refusals.gathering.NothingGathered(declared)
    written = {n.prop: n.span for n in reversed(writes)}
    _Walk(lists, written).body(operator.body, _Known(frozenset(operator.args)))


class _Walk:
    def __init__(self, lists: frozenset[str], written: dict[str, Span | None]) -> None:
        self.lists, self.written = lists, written
        self.jumps: list[tuple[list[_Known], list[_Known]]] = []
        """Of each loop around, what is known where it is left, and where its next round begins."""

    def body(self, body: ir.Body, known: _Known | None) -> _Known | None:
        """What is known behind statements; None if nothing gets there."""
        for n in body:
            if known is None:
                break
            known = self.statement(n, known)
        return known

    def statement(self, n: ir.Stmt, known: _Known) -> _Known | None:
        for e in ir.children(n):
            if isinstance(e, ir.Expr):
                self.reads(e, known)
        match n:
            case ir.Let(name=name, value=value) | ir.Assign(name=name, value=value):
                mine = {name} if value.type == VID and self.is_mine(value, known) else set[str]()
                return known._replace(mine=known.mine - {name} | mine)
            case ir.Acquire(vertex=vertex):
                if known.effect is not None:
                    assert n.span is not None
                    raise refusals.gathering.NotCautious(known.effect, n.span)
                mine = {vertex.name} if isinstance(vertex, ir.Var) else set[str]()
                return known._replace(mine=known.mine | mine)
            case ir.Store(index=index, prop=prop) if index.type == VID and not self.is_mine(index, known):
                raise self.refusal(n, prop, "written")
            case ir.If(condition=condition, then=then, other=other):
                ways = self.body(then, known), self.body(other, _where_none(condition, known))
                return ways[0].meet(ways[1]) if ways[0] is not None else ways[1]
            case ir.Leave():
                return None
            case ir.Break() | ir.Continue():
                self.jumps[-1][isinstance(n, ir.Continue)].append(known)
                return None
        if isinstance(n, _LOOPS):
            return self.loop(n, known)
        return known._replace(effect=known.effect or n.span) if isinstance(n, _EFFECTS) else known

    def loop(self, n: ir.While | ir.For | ir.ForNeighbors | ir.ForCommon, known: _Known) -> _Known:
        """What is known behind a loop."""
        while True:
            self.jumps.append(([], []))
            end = self.body(n.body, known)
            left, again = self.jumps.pop()
            before = known
            for way in (end, *again):
                known = known.meet(way)
            if known == before:
                break
        for way in left:
            known = known.meet(way)
        if isinstance(n, ir.While):
            self.reads(n.condition, known)
        return known

    def reads(self, e: ir.Expr, known: _Known) -> None:
        """Refuse what another visit may be writing."""
        for n in ir.walk(e):
            if isinstance(n, ir.Load) and n.prop in self.written and not self.is_mine(n.index, known):
                raise self.refusal(n, n.prop, "read")

    def refusal(self, n: ir.Load | ir.Store, prop: str, how: str) -> refusals.Refusal:
        write = self.written[prop]
        assert n.span is not None
        assert write is not None
        return refusals.gathering.NotGathered(n.span, prop, how, write if write != n.span else None)

    def is_mine(self, e: ir.Expr, known: _Known) -> bool:
        """Whether a vertex is one that was acquired, or none."""
        match e:
            case ir.Var(name=name):
                return name in known.mine
            case ir.Element(vector=ir.Var(name=name)):
                return name in self.lists
            case ir.Select(then=then, other=other):
                return self.is_mine(then, known) and self.is_mine(other, known)
            case ir.Const(value=value):
                return value == -1  # vg.none
        return False


def _where_none(condition: ir.Expr, known: _Known) -> _Known:
    """What is known where `condition` is false: a vertex that is none is nobody's."""
    match condition:
        case ir.Compare(op="!=", left=ir.Var(name=name), right=ir.Const(value=-1, type=t)) if t == VID:
            return known._replace(mine=known.mine | {name})
    return known
