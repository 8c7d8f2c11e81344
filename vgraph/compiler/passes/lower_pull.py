"""`lower-pull`: walk the arcs that enter each vertex, gather in registers, write once; no atomics.

before: `out = edge_apply(relax, f) schedule(direction=pull, ...)`
after:  `parfor dst in vertices { let acc = dist[dst]; for (src, edge) in in(dst) { if contains(f, src) { ... } } ... }`

Data-driven, only the vertices next to the frontier are visited: a first loop collects them.

With `segments=4` the loops are `parfor dst in vertices segments 4` and `for (src, edge) in in(dst) segments 4`: a
destination is visited once for each segment that has arcs into it, goes on from the value it has, and stores it back.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import fixed_claim, only_claims
from vgraph.compiler.analysis.guards import tests_of_dst
from vgraph.compiler.ir.rewrite import transform_body, with_fields
from vgraph.compiler.passes.balance_load import is_cut, pulled, with_pieces
from vgraph.compiler.passes.lowering import (
    FALSE,
    TRUE,
    Lowering,
    active_only,
    after_round,
    before_round,
    count_of,
    push,
    scalar,
    store,
    took_effect,
    unite,
)
from vgraph.compiler.types import BOOL, I64, VID, Type
from vgraph.schedule import Drive


class Pull:
    """Lowers one operator over in-arcs."""

    def __init__(self, low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, hit: str | None) -> None:
        self.low, self.apply, self.operator, self.hit = low, apply, operator, hit
        self.src, self.edge, self.dst = operator.args
        self.registers: dict[str, tuple[str, Type]] = {}
        self.improved: set[str] = set()  # properties whose new value tells whether anything took effect
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
            case ir.Reduce(op=op, prop=prop, value=value):
                return self.reduce(op, prop, value)
            case ir.Claim():
                leave: ir.Body = (ir.Break(),) if self.stops else ()
                won: ir.Body = (ir.Store(n.prop, n.index, n.value), *n.body, *self.mark(), *leave)
                return won if fixed_claim(self.operator) else ir.If(_free(n), won)
            case ir.Union(prop=prop, a=a, b=b):
                return unite(self.low, prop, a, b)
        return None

    def reduce(self, op: str, prop: str, value: ir.Expr) -> ir.Body:
        step = ir.Accumulate(op, self.register(prop).name, value)
        if self.hit is None or op in ir.ACCUMULATING:
            return (step, *self.mark())
        self.improved.add(prop)
        return (step,)

    def compare(self) -> ir.Body:
        """After the loop: what is monotone took effect if the register is not what memory still holds."""
        found: list[ir.Stmt] = []
        for prop, (name, t) in self.registers.items():
            if prop in self.improved:
                changed = took_effect(ir.Var(name, t), ir.Load(prop, ir.Var(self.dst, VID), t))
                found.append(ir.If(changed, self.mark()))
        return tuple(found)

    def visit(self) -> tuple[ir.Body, str]:
        """The body for one destination, and the name of the counter of its arcs."""
        arcs = self.low.counter()
        walked = transform_body(self.operator.body, self.rule)
        # Reads of a reduced property at dst see the register.
        walked = transform_body(walked, self.own_reads)
        inside = active_only(self.apply, self.src, walked)
        segments = self.apply.schedule.segments if self.apply.schedule else 1
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
        stores = tuple(store(prop, self.dst, ir.Var(name, t)) for prop, (name, t) in self.registers.items())
        return (*loads, *before, loop, *count, *self.compare(), *stores), arcs

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
        tests = [*tests_of_dst(self.low.program, self.operator), *([_free(claim)] if claim else [])]
        return (ir.If(functools.reduce(_both, tests), body),) if tests else body


def _both(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Logical("and", left, right)


def _free(claim: ir.Claim) -> ir.Expr:
    return ir.Compare("==", ir.Load(claim.prop, claim.index, claim.value.type), claim.expected)


@dataclass(frozen=True)
class OpenSet:
    """The vertices at which the claim of `prop` from `expected` may still succeed: a bitmap, kept from pull to pull."""

    name: str
    following: str
    prop: str
    expected: ir.Const

    def is_open(self, vertex: ir.Expr) -> ir.Expr:
        """Whether the claim at `vertex` is open."""
        return ir.Compare("==", ir.Load(self.prop, vertex, self.expected.type), self.expected)


def lower_pull(
    low: Lowering, apply: ir.EdgeApply, target: str | None = None, opened: OpenSet | None = None
) -> ir.Body:
    """The kernel-level body of a pull. It fills `target`, by default a frontier of its own.

    With `opened` only its vertices are visited, and those that stay open are kept for the next pull.
    """
    assert apply.schedule is not None
    operator = low.operator(apply.op)
    dst = operator.args[2]
    if apply.out and target is None:
        target = low.target(apply.out)
    data_driven = apply.schedule.drive is Drive.DATA
    original = apply.frontier
    segments = apply.schedule.segments
    before: ir.Body = before_round(apply, target, ir.Layout.BITMAP)
    candidates = ""
    if data_driven:
        candidates, active, collected = collect(low, apply, operator)
        before = (
            *collected,
            *before_round(with_fields(apply, {"frontier": active}), target, ir.Layout.BITMAP),
        )
        apply = with_fields(apply, {"frontier": active})
    body, arcs = pull_body(low, apply, operator, target, opened)
    if opened:
        loop = ir.ParFor(dst, ir.Layout.BITMAP, opened.name, body, apply.label, span=apply.span)
        before = (*before, ir.FrontierClear(opened.following, ir.Layout.BITMAP))
    elif data_driven:
        loop = ir.ParFor(dst, ir.Layout.SPARSE, candidates, body, apply.label, span=apply.span)
    else:
        loop = ir.ParFor(
            dst, None, None, body, apply.label, words=segments == 1, segments=segments, span=apply.span
        )
    loop = with_pieces(low, apply, loop, apply.entering)
    traced = with_fields(apply, {"frontier": original})
    whole = segments > 1 and not only_claims(operator.body)
    walked = ir.GraphSize("num_arcs") if whole else count_of(arcs)
    done = after_round(traced, target, "pull", walked, low.mixed)
    after: ir.Body = ()
    if opened:
        swap = ir.Single((ir.FrontierSwap(opened.name, opened.following),), span=apply.span)
        done = (swap, *done)
        after = _still_open(low, opened) if is_cut(apply) else ()
    return (*before, ir.SetGlobal(arcs, scalar(0)), loop, *after, *done)


def _still_open(low: Lowering, opened: OpenSet) -> ir.Body:
    """Keep what stays open in a loop of its own: a piece cannot tell while others may still claim the vertex."""
    v = low.fresh("v")
    keep = ir.FrontierPush(opened.following, ir.Var(v, VID), ir.Layout.BITMAP, True)
    return (ir.ParFor(v, ir.Layout.BITMAP, opened.name, (ir.If(opened.is_open(ir.Var(v, VID)), (keep,)),)),)


def pull_body(
    low: Lowering,
    apply: ir.EdgeApply,
    operator: ir.Operator,
    target: str | None,
    opened: OpenSet | None = None,
) -> tuple[ir.Body, str]:
    """What is done for one destination, and the name of the counter of its arcs."""
    assert apply.schedule is not None
    hit = low.fresh("hit") if target else None
    pull = Pull(low, apply, operator, hit)
    body, arcs = pull.visit()
    if target and hit:
        pushed = push(apply, target, ir.Var(operator.args[2], VID), own=True)
        if apply.schedule.segments > 1:  # a vertex may change in several segments
            pushed = with_fields(pushed, {"dedupe": True})
        stores = len(pull.registers)
        body, stored = (body[:-stores], body[-stores:]) if stores else (body, ())
        body = (ir.Let(hit, BOOL, FALSE), *body, ir.If(ir.Var(hit, BOOL), (*stored, pushed)))
    if opened and not is_cut(apply):
        dst = ir.Var(operator.args[2], VID)
        keep = ir.FrontierPush(opened.following, dst, ir.Layout.BITMAP, True)
        return (*body, ir.If(opened.is_open(dst), (keep,))), arcs
    return pull.guarded(pulled(low, apply, operator, body, target, arcs)), arcs


def collect(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator) -> tuple[str, str, ir.Body]:
    """Collect the vertices that the frontier's arcs lead to: their name, the frontier as a bitmap, the loop."""
    assert apply.frontier is not None
    candidates, active = low.target(f"{apply.label}.candidates"), low.target(f"{apply.label}.active")
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
                ir.ParFor(v, ir.Layout.SPARSE, apply.frontier, body, apply.label, span=apply.span),
                apply.leaving,
            ),
            ir.FrontierCopy(active, apply.frontier),
        ),
    )
