"""What is done for one destination along the arcs that enter it: for `lower-pull` and `lower-gather-apply`."""

from __future__ import annotations

import functools

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import fixed_claim, only_claims, the_claim
from vgraph.compiler.analysis.guards import tests_of_dst
from vgraph.compiler.passes.cut_loops import is_cut, with_pieces
from vgraph.compiler.passes.lowering import (
    FALSE,
    TRUE,
    Lowering,
    active_only,
    in_place,
    push,
    scalar,
    store,
    took_effect,
    unite,
)
from vgraph.compiler.passes.pull_pieces import pull_piece, pulled
from vgraph.compiler.types import BOOL, EID, I64, VID, Type, Vector, is_long
from vgraph.records import dataclass


@dataclass(frozen=True)
class Visit:
    """What a pull does for one destination: it walks the arcs, and stores what came of them; `arcs` counts them."""

    walk: ir.Body
    stores: ir.Body
    arcs: str


class Pull:
    """Lowers one operator over in-arcs."""

    def __init__(self, low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, hit: str | None) -> None:
        self.low, self.apply, self.operator, self.hit = low, apply, operator, hit
        self.src, self.edge, self.dst = operator.args
        self.registers: dict[str, tuple[str, Type]] = {}
        self.improved: dict[
            str, str
        ] = {}  # what tells by its new value whether anything took effect, and the op
        self.stops = only_claims(operator.body)

    def mark(self) -> ir.Body:
        return (ir.Assign(self.hit, TRUE),) if self.hit else ()

    def is_dst(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Var) and e.name == self.dst

    def register(self, prop: str) -> ir.Var:
        t = self.low.program.property(prop).type
        if prop not in self.registers:
            self.registers[prop] = (self.low.fresh(f"{self.dst}.{prop}"), t)
        return ir.Var(self.registers[prop][0], t)

    def rule(self, n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Reduce(value=value) if n.index.type != EID and is_long(value.type):
                return in_place(self.low, n, self.mark())
            case ir.Reduce(op=op, prop=prop, value=value) if n.index.type != EID:
                return self.reduce(op, prop, value)
            case ir.Claim():
                leave: ir.Body = (ir.Break(),) if self.stops else ()
                won: ir.Body = (ir.Store(n.prop, n.index, n.value), *n.body, *self.mark(), *leave)
                return won if fixed_claim(self.operator) else ir.If(open_at(n, n.index), won)
            case ir.Union(prop=prop, a=a, b=b):
                return unite(self.low, prop, a, b)
        return None

    def reduce(self, op: str, prop: str, value: ir.Expr) -> ir.Body:
        step = ir.Accumulate(op, self.register(prop).name, value)
        if self.hit is None or op in ir.ACCUMULATING:
            return (step, *self.mark())
        self.improved[prop] = op
        return (step,)

    def compare(self) -> ir.Body:
        """After the loop: what is monotone took effect if the register is not what memory still holds."""
        found: list[ir.Stmt] = []
        for prop, (name, t) in self.registers.items():
            if self.by_elements(prop):
                own, op = ir.Var(self.dst, VID), self.improved[prop]
                found.append(ir.Reduce(op, prop, own, ir.Var(name, t), changed=self.hit))
            elif prop in self.improved:
                changed = took_effect(ir.Var(name, t), ir.Load(prop, ir.Var(self.dst, VID), t))
                found.append(ir.If(changed, self.mark()))
        return tuple(found)

    def by_elements(self, prop: str) -> bool:
        """Whether each element of a vector tells whether anything took effect, when it is written."""
        return prop in self.improved and isinstance(self.registers[prop][1], Vector)

    def visit(self) -> Visit:
        """What is done for one destination."""
        arcs = self.apply.counting or self.low.counter()
        walked = ir.transform_body(self.operator.body, self.rule)
        # Reads of a reduced property at dst see the register.
        walked = ir.transform_body(walked, self.own_reads)
        inside = active_only(self.apply, self.src, walked)
        segments = self.apply.schedule.ranges if self.apply.schedule else 1
        # Segments divide the arcs among several visits; together they walk all.
        whole: ir.Body = (ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(self.dst, VID), self.apply.entering)),)
        count = whole if segments == 1 else ()
        before: ir.Body = ()
        if self.stops:
            steps = self.low.fresh("walked")
            before = (ir.Let(steps, I64, scalar(0)),)
            inside = (ir.Assign(steps, ir.Binary("+", ir.Var(steps, I64), scalar(1))), *inside)
            count = (ir.ReduceGlobal("+", arcs, ir.Var(steps, I64)),)
        loop = ir.ForNeighbors(
            self.src,
            self.edge,
            ir.Var(self.dst, VID),
            self.apply.entering,
            inside,
            segments,
            span=self.apply.span,
        )
        loads = tuple(
            ir.Let(name, t, ir.Load(prop, ir.Var(self.dst, VID), t))
            for prop, (name, t) in self.registers.items()
        )
        stores = tuple(
            store(prop, self.dst, ir.Var(name, t))
            for prop, (name, t) in self.registers.items()
            if not self.by_elements(prop)
        )
        return Visit((*loads, *before, loop, *count, *self.compare()), stores, arcs)

    def own_reads(self, n: ir.Node) -> ir.Node | None:
        if isinstance(n, ir.Load) and self.is_dst(n.index) and n.prop in self.registers:
            name, t = self.registers[n.prop]
            return ir.Var(name, t, span=n.span)
        return None

    def first_is_enough(self) -> bool:
        """True if nothing but a claim can happen, and none after the first."""
        return fixed_claim(self.operator) is not None

    def guarded(self, body: ir.Body) -> ir.Body:
        """Vertices are passed over at which nothing can happen: claimed already, or of a state that the operator skips.

        A condition on dst alone that is false before the first arc stays so: nothing else changes dst in the round.
        """
        claim = fixed_claim(self.operator)
        tests = [
            *tests_of_dst(self.low.program, self.operator),
            *([open_at(claim, claim.index)] if claim else []),
        ]
        return (ir.If(functools.reduce(_both, tests), body),) if tests else body


def _both(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Logical("and", left, right)


def open_at(claim: ir.Claim, vertex: ir.Expr) -> ir.Expr:
    """Whether the claim may still succeed at `vertex`."""
    return ir.Compare("==", ir.Load(claim.prop, vertex, claim.value.type), claim.expected)


def pull_body(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None
) -> tuple[ir.Body, str]:
    """What is done for one destination, and the name of the counter of its arcs."""
    hit = low.fresh("hit") if target else None
    pull = Pull(low, apply, operator, hit)
    visit = pull.visit()
    dst = ir.Var(operator.args[2], VID)
    if target and hit:
        pushed = push(apply, target, dst, own=True)
        if apply.chosen.ranges > 1:  # a vertex may change in several segments
            pushed = ir.with_fields(pushed, {"dedupe": True})
        changed = ir.If(ir.Var(hit, BOOL), (*visit.stores, pushed))
        body: ir.Body = (ir.Let(hit, BOOL, FALSE), *visit.walk, changed)
    else:
        body = (*visit.walk, *visit.stores)
    if apply.keeping and not is_cut(apply):
        return (*body, still_open(low, apply, dst)), visit.arcs
    return pull.guarded(pulled(low, apply, operator, body, target, visit.arcs)), visit.arcs


def piece_body(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None, arcs: str
) -> ir.Body:
    """What is done along some of the arcs of one destination, while others pull along the rest."""
    return Pull(low, apply, operator, None).guarded(pull_piece(low, apply, operator, target, arcs))


def still_open(low: Lowering, apply: ir.EdgeApply, vertex: ir.Expr) -> ir.Stmt:
    """Keep `vertex` for the next pull if the claim of the operator at it may still succeed."""
    assert apply.keeping is not None
    test = open_at(the_claim(low.program.operator(apply.op).body), vertex)
    return ir.If(test, (ir.FrontierPush(apply.keeping, vertex, ir.Layout.BITMAP, True),))


def collect(low: Lowering, apply: ir.EdgeApply) -> tuple[str, str, ir.Body]:
    """Collect the vertices that the frontier's arcs lead to: their name, the frontier as a bitmap, the loop."""
    assert apply.frontier is not None
    candidates, active = (low.hidden(f"{apply.label}.{what}.next") for what in ("candidates", "active"))
    v, u, e = (low.fresh(n) for n in ("v", "u", "e"))
    gather = ir.FrontierPush(candidates, ir.Var(u, VID), ir.Layout.SPARSE, True)
    body: ir.Body = (ir.ForNeighbors(u, e, ir.Var(v, VID), apply.leaving, (gather,)),)
    return (
        candidates,
        active,
        (
            ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE),
            ir.Single((ir.FrontierClear(candidates, ir.Layout.SPARSE),)),
            with_pieces(
                low,
                apply,
                ir.ParFor(v, ir.SparseMembers(apply.frontier), body, apply.label, span=apply.span),
                apply.leaving,
            ),
            ir.FrontierCopy(active, apply.frontier),
        ),
    )
