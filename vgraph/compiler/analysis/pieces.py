"""Which vertex operators may run on pieces of a vertex's arcs, and what they look like then.

A piece sees some of the arcs; the others are walked elsewhere, at the same time. What happens for each arc happens
as before; what happens once per vertex, in the first piece only; a sum over the arcs becomes several partial ones,
each reduced into the vertex.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NoReturn, TypeVar

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.obstacle import Blocked, or_obstacle
from vgraph.compiler.types import VID, is_long

_N = TypeVar("_N", bound=ir.Node)
_EFFECTS: Final = (ir.Store, ir.Reduce, ir.ReduceGlobal, ir.Claim, ir.Union, ir.Emit)


def as_reduction(n: ir.Node, vertex: str) -> ir.Node | None:
    """`v.x = v.x + e` as `v.x += e`, a reduction, which several can share; None if `n` is no such statement."""
    if not (isinstance(n, ir.Store) and isinstance(n.index, ir.Var) and isinstance(n.value, ir.Binary)):
        return None
    op, sides = n.value.op, (n.value.left, n.value.right)
    for old, e in (sides, sides[::-1]):
        own = isinstance(old, ir.Load) and old.prop == n.prop and old.index == n.index
        if n.index.name == vertex and own and op in (*ir.MONOTONE, *ir.ACCUMULATING):
            return ir.Reduce(op, n.prop, n.index, e, span=n.span)
    return None


def own_sums(loop: _N, vertex: str) -> _N:
    """A loop in which `as_reduction` was done for every statement."""
    return ir.transform(loop, lambda n: as_reduction(n, vertex))


@ir.per_operator
@or_obstacle
def cut_operator(operator: ir.Operator) -> ir.Operator:
    """A vertex operator for pieces of its vertex's arcs, or why there is none."""
    return _Cutter(operator).operator_of_pieces()


class _Cutter:
    """Rewrites one operator, or raises Blocked at the first statement that needs all arcs."""

    def __init__(self, operator: ir.Operator) -> None:
        self.v = operator.args[0]
        self.operator = operator = own_sums(operator, operator.args[0])
        self.loop = self.the_loop()
        self.sums = self.accumulators()
        self.once: list[ir.Node] = []
        self.often: list[ir.Node] = [self.loop]

    def block(self, reason: str, at: ir.Node) -> NoReturn:
        raise Blocked(reason, at.span or self.loop.span if hasattr(self, "loop") else at.span)

    def is_own(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Var) and e.name == self.v

    def operator_of_pieces(self) -> ir.Operator:
        self.check_loop(self.loop.body)
        body = self.body(self.operator.body)
        self.check_reads()
        return ir.with_fields(self.operator, {"body": body})

    def the_loop(self) -> ir.ForNeighbors:
        """The one loop over the arcs of the operator's vertex."""
        for n in ir.walk(self.operator):
            if isinstance(n, ir.ScratchLoad | ir.ScratchStore):
                self.block(f"`{n.prop}` is scratch, which belongs to the whole visit", n)
        loops = [n for n in ir.walk(self.operator) if isinstance(n, ir.ForNeighbors) and self.is_own(n.of)]
        if not loops:
            self.block("it walks no arcs of its vertex", self.operator)
        if len(loops) > 1:
            self.block("it walks the arcs of its vertex more than once", loops[1])
        return loops[0]

    def accumulators(self) -> dict[str, str]:
        """The locals that the loop adds up, each with its operation."""
        inside = list(ir.walk(self.loop))
        declared = {n.name for n in inside if isinstance(n, ir.Let | ir.For)}
        declared |= {n.vertex for n in inside if isinstance(n, ir.ForNeighbors | ir.ForCommon)}
        found: dict[str, str] = {}
        for n in inside:
            if isinstance(n, ir.Assign) and n.name not in declared:
                self.block(f"`{n.name}` is carried from arc to arc", n)
        for n in inside:
            match n:
                case ir.Accumulate(name=name, op=op) if (
                    name not in declared and found.setdefault(name, op) != op
                ):
                    self.block(f"`{name}` is reduced in two ways", n)
        for n in inside:
            if isinstance(n, ir.Var) and n.name in found:
                self.block(f"`{n.name}` is carried from arc to arc", n)
        return found

    def check_loop(self, body: ir.Body) -> None:
        """What a round of the loop does must not depend on the rounds before."""
        for s in body:
            match s:
                case ir.Break():
                    self.block("it may leave the loop over its arcs early", s)
                case ir.Store(prop=prop):
                    self.block(f"`{prop}` is stored for every arc", s)
                case ir.If(then=then, other=other):
                    self.check_loop(then)
                    self.check_loop(other)
                case ir.Claim():
                    continue
                case _:
                    for n in _below(s):
                        if isinstance(n, ir.Store):
                            self.block(f"`{n.prop}` is stored for every arc", n)

    # --- statements around the loop

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self.statement(s))

    def statement(self, s: ir.Stmt) -> ir.Body:
        nodes = list(ir.walk(s))
        if s is self.loop:
            return self.gathered()
        has_loop = any(n is self.loop for n in nodes)
        if not has_loop and not _names(nodes) & self.sums.keys():
            if any(isinstance(n, _EFFECTS) for n in nodes):
                self.once.append(s)
                return (ir.If(ir.Piece(ir.Share.FIRST), (s,), span=s.span),)
            self.often.append(s)
            return (s,)
        match s:
            case ir.Let(name=name, value=value) if name in self.sums:
                self.often.append(value)
                start = ir.Select(ir.Piece(ir.Share.FIRST), value, identity(self.sums[name], s.type))
                return (ir.with_fields(s, {"value": start}),)
            case ir.If(condition=c, then=then, other=other) if not self.reads_sum(c):
                self.often.append(c)
                return (ir.with_fields(s, {"then": self.body(then), "other": self.body(other)}),)
            case ir.Reduce(op=op, value=ir.Var(name=name)) if (
                self.is_own(s.index) and self.sums.get(name) == op
            ):
                self.often.append(s)
                return (_combined(s),)
            case ir.ReduceGlobal(op=op, value=ir.Var(name=name)) if self.sums.get(name) == op:
                return (s,)
        if has_loop:
            self.block("the loop over its arcs stands inside another loop", self.loop)
        name = min(_names(nodes) & self.sums.keys())
        reason = f"what `{name}` adds up is used for more than a reduction of the same kind"
        return self.block(reason, s)

    def gathered(self) -> ir.Body:
        """The loop; what it reduces into its vertex is added up in a local first."""
        sums: dict[tuple[str, str], ir.Let] = {}

        def rule(n: ir.Node) -> ir.Node | None:
            if not (isinstance(n, ir.Reduce) and self.is_own(n.index)) or is_long(n.value.type):
                return None
            t = n.value.type
            name = f"{self.v}.{n.prop}.sum{len(sums)}"
            let = sums.setdefault((n.op, n.prop), ir.Let(name, t, identity(n.op, t), span=n.span))
            return ir.Accumulate(n.op, let.name, n.value, span=n.span)

        loop = ir.transform(self.loop, rule)
        own = ir.Var(self.v, VID, span=self.loop.span)
        ends = [
            ir.Reduce(op, prop, own, ir.Var(let.name, let.type, span=let.span), span=let.span)
            for (op, prop), let in sums.items()
        ]
        return (*sums.values(), loop, *(_combined(r) for r in ends))

    def reads_sum(self, e: ir.Expr) -> bool:
        return bool(_names(ir.walk(e)) & self.sums.keys())

    # --- the vertex's own properties

    def written(self, nodes: Iterable[ir.Node]) -> dict[str, set[str]]:
        """The properties written at the vertex itself, and how."""
        found: dict[str, set[str]] = {}
        for top in nodes:
            for n in ir.walk(top):
                if isinstance(n, ir.Store | ir.Reduce | ir.Claim) and self.is_own(n.index):
                    how = n.op if isinstance(n, ir.Reduce) else "=" if isinstance(n, ir.Store) else "claim"
                    found.setdefault(n.prop, set()).add(how)
        return found

    def check_reads(self) -> None:
        """What one piece writes at the vertex another must not read, and all must write it in the same way."""
        once, often = self.written(self.once), self.written(self.often)
        for prop, ways in often.items():
            if len(ways | once.get(prop, set())) > 1 or "=" in ways:
                self.block(f"`{prop}` is written in several ways, and for every arc", self.loop)
        for nodes, others in ((self.often, once.keys() | often), (self.once, often)):
            for top in nodes:
                for n in ir.walk(top):
                    if isinstance(n, ir.Load) and n.prop in others and self.is_own(n.index):
                        self.block(f"`{n.prop}` is read where another piece may write it", n)


def _combined(s: ir.Reduce) -> ir.Stmt:
    """A reduction of what a piece found: by itself if it is the only one."""
    return ir.If(ir.Piece(ir.Share.WHOLE), (s,), (s,), span=s.span)


def _names(nodes: Iterable[ir.Node]) -> set[str]:
    """The locals that are read, written or declared."""
    return {n.name for n in nodes if isinstance(n, ir.Var | ir.Let | ir.Assign | ir.Accumulate)}


def _below(s: ir.Stmt) -> Iterator[ir.Node]:
    """Everything in `s` but what a claim guards."""
    yield s
    if not isinstance(s, ir.Claim):
        for child in ir.children(s):
            if isinstance(child, ir.Stmt):
                yield from _below(child)


__all__ = ["as_reduction", "cut_operator"]
