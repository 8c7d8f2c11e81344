"""The body of a pull along a piece of the arcs that enter a vertex, while others pull along the rest.

A pull gathers in registers; a vertex that was cut combines those of its pieces atomically. A push stays as it is. Node
splitting: Vivek K., Load balancing and dynamic parallelism for static and morph graph algorithms (2013), chapter 4,
without its pseudo edges, for updates are atomic.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import fixed_claim, only_claims
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.passes.cut_loops import is_cut
from vgraph.compiler.passes.lowering import (
    FALSE,
    TRUE,
    Lowering,
    active_only,
    in_place,
    layout_of,
    scalar,
    unite,
)
from vgraph.compiler.types import BOOL, EID, I64, VID, Type, is_long


def pulled(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, whole: ir.Body, target: str | None, arcs: str
) -> ir.Body:
    """The body of a pull: `whole` for whole vertices, and another for pieces."""
    if not is_cut(apply):
        return whole
    piece = pull_piece(low, apply, operator, target, arcs)
    return (ir.If(ir.Piece(ir.Share.WHOLE), whole, piece, span=apply.span),)


def pull_piece(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None, arcs: str
) -> ir.Body:
    """The body of a pull for pieces alone."""
    return _PullPiece(low, apply, operator, target, arcs).body()


def sliced(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None) -> ir.Body:
    """The body of a pull over slices of in-arcs: pieces that no vertex has whole, nor counts."""
    return _Slice(low, apply, operator, target, "").body()


class _PullPiece:
    """Pulls along a piece of the arcs that enter a vertex, while others pull along the rest."""

    def __init__(
        self, low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None, arcs: str
    ) -> None:
        self.low, self.apply, self.operator, self.target, self.arcs = low, apply, operator, target, arcs
        self.src, self.edge, self.dst = operator.args
        self.hit = low.fresh("hit") if target else None
        self.registers: dict[str, tuple[str, Type, str]] = {}
        self.stops = only_claims(operator.body)

    def mark(self) -> ir.Body:
        return (ir.Assign(self.hit, TRUE),) if self.hit else ()

    def rule(self, n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Reduce(value=value) if n.index.type != EID and is_long(value.type):
                return in_place(self.low, n, self.mark())
            case ir.Reduce(op=op, prop=prop, value=value) if n.index.type != EID:
                if prop not in self.registers:
                    t = self.low.program.property(prop).type
                    self.registers[prop] = self.low.fresh(f"{self.dst}.{prop}"), t, op
                # What is only raised or lowered tells when it is combined whether it changed.
                mark = self.mark() if op in ir.ACCUMULATING else ()
                return (ir.Accumulate(op, self.registers[prop][0], value), *mark)
            case ir.Claim():
                ok = self.low.fresh("claimed")
                leave: ir.Body = (ir.Break(),) if self.stops else ()
                return (
                    ir.Let(ok, BOOL, FALSE),
                    ir.CompareAndSwap(ok, n.prop, n.index, n.expected, n.value),
                    ir.If(ir.Var(ok, BOOL), (*n.body, *self.mark(), *leave)),
                )
            case ir.Union(prop=prop, a=a, b=b):
                return unite(self.low, prop, a, b)
        return None

    def body(self) -> ir.Body:
        inside = active_only(self.apply, self.src, ir.transform_body(self.operator.body, self.rule))
        before: ir.Body = ()
        count: ir.Expr = ir.Piece(ir.Share.SIZE)
        if self.stops:
            steps = self.low.fresh("walked")
            before = (ir.Let(steps, I64, scalar(0)),)
            inside = (
                ir.Assign(steps, ir.Binary("+", ir.Var(steps, I64), scalar(1))),
                *self.given_up(),
                *inside,
            )
            count = ir.Var(steps, I64)
        own = ir.Var(self.dst, VID)
        loop = ir.ForNeighbors(self.src, self.edge, own, self.apply.entering, inside, span=self.apply.span)
        hit: ir.Body = (ir.Let(self.hit, BOOL, FALSE),) if self.hit else ()
        return (
            *hit, *self.starts(), *before, loop, ir.ReduceGlobal("+", self.arcs, count), *self.ends(), *self.push()
        )  # fmt: skip

    def given_up(self) -> ir.Body:
        """Leave when another piece has claimed the vertex."""
        claim = fixed_claim(self.operator)
        if claim is None:
            return ()
        now = ir.Load(claim.prop, claim.index, claim.value.type)
        return (ir.If(ir.Compare("!=", now, claim.expected), (ir.Break(),)),)

    def starts(self) -> ir.Body:
        """Sums begin at nothing; what is only raised or lowered, at the vertex's value, whatever it is by now."""
        own = ir.Var(self.dst, VID)
        return tuple(
            ir.Let(name, t, identity(op, t) if op in ir.ACCUMULATING else ir.Load(prop, own, t))
            for prop, (name, t, op) in self.registers.items()
        )

    def ends(self) -> ir.Body:
        """Combine the registers with what other pieces found. A sum that nothing was added to changes nothing."""
        own = ir.Var(self.dst, VID)
        return tuple(
            ir.Reduce(op, prop, own, ir.Var(name, t), changed=None if op in ir.ACCUMULATING else self.hit)
            for prop, (name, t, op) in self.registers.items()
        )

    def push(self) -> ir.Body:
        """Several pieces may push the vertex."""
        if self.target is None or self.hit is None:
            return ()
        layout = layout_of(self.apply.chosen.frontier)
        pushed = ir.FrontierPush(self.target, ir.Var(self.dst, VID), layout, True, span=self.apply.span)
        return (ir.If(ir.Var(self.hit, BOOL), (pushed,)),)


class _Slice(_PullPiece):
    """Pulls along a row of a slice, whose vertex is known at its end: nothing is read there before."""

    def body(self) -> ir.Body:
        inside = active_only(self.apply, self.src, ir.transform_body(self.operator.body, self.rule))
        own, count = ir.Var(self.dst, VID), self.apply.chosen.ranges
        loop = ir.ForNeighbors(
            self.src, self.edge, own, self.apply.entering, inside, count, span=self.apply.span
        )
        hit: ir.Body = (ir.Let(self.hit, BOOL, FALSE),) if self.hit else ()
        return (*hit, *self.starts(), loop, *self.ends(), *self.push())

    def starts(self) -> ir.Body:
        return tuple(ir.Let(name, t, identity(op, t)) for name, t, op in self.registers.values())
