"""Load balance: parallel loops whose iterations are pieces of a vertex's arcs; part of `lower-applies`.

before: `parfor src in sparse f { @arcs += degree.out(src); for (dst, e) in out(src) { ... } }`
after:  `parfor src in sparse f cut out at 1024:i64 { @arcs += piece.size(); for (dst, e) in out(src) { ... } }`

A push stays as it is. A pull gathers in registers; a vertex that was cut combines those of its pieces atomically.
Node splitting: Vivek K., Load balancing and dynamic parallelism for static and morph graph algorithms (2013), chapter
4, without its pseudo edges, for updates are atomic.
"""

from __future__ import annotations

from typing import TypeVar

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import fixed_claim, only_claims
from vgraph.compiler.analysis.lanes import SHARED_BY, shared_operator
from vgraph.compiler.analysis.pieces import cut_operator
from vgraph.compiler.analysis.reductions import identity
from vgraph.compiler.ir.rewrite import transform_body, with_fields
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, active_only, layout_of, scalar, unite
from vgraph.compiler.types import BOOL, I64, VID, Type
from vgraph.schedule import VERTEX, Balance

Apply = ir.EdgeApply | ir.VertexApply
_Loop = TypeVar("_Loop", ir.ParFor, ir.BucketLoop)


def is_cut(apply: Apply) -> bool:
    """True if the loop of `apply` runs on pieces of vertices."""
    assert apply.schedule is not None
    return apply.schedule.balance != VERTEX


def with_pieces(low: Lowering, apply: Apply, loop: _Loop, side: ir.Orientation) -> _Loop:
    """The parallel loop of `apply`, whose body is fit for pieces, cut as its schedule says."""
    if not is_cut(apply):
        return loop
    assert apply.schedule is not None
    balance = apply.schedule.balance
    limit: ir.Expr | None = None
    if balance.kind == "split" and balance.limit is not None:
        limit = ir.Const(balance.limit, I64, span=apply.span)
    elif balance.kind == "split":
        limit = low.number(f"policy.split.{side.value}")
    lanes = SHARED_BY.get(balance.kind, ir.Lanes.THREAD)
    words = {"words": False} if isinstance(loop, ir.ParFor) else {}
    body = _inner_loops_whole(low, loop)
    return with_fields(loop, {**words, "body": body, "cut": side, "limit": limit, "lanes": lanes})


def _inner_loops_whole(low: Lowering, loop: ir.ParFor | ir.BucketLoop) -> ir.Body:
    """The loop's body; what an operator walks of the vertex's arcs for each arc of the piece, it walks by another name.

    For a loop over the arcs of the vertex by its own name walks those of the piece.
    """
    own, whole = ir.Var(loop.vertex, VID), low.fresh(f"{loop.vertex}.whole")

    def rename(n: ir.Node) -> ir.Node | None:
        again = isinstance(n, ir.ForNeighbors) and n.of == own
        return with_fields(n, {"of": ir.Var(whole, VID, span=n.span)}) if again else None

    def rule(n: ir.Node) -> ir.Node | None:
        if not (isinstance(n, ir.ForNeighbors) and n.of == own):
            return None
        return with_fields(n, {"body": transform_body(n.body, rename)})

    body = transform_body(loop.body, rule)
    return body if body == loop.body else (ir.Let(whole, VID, own), *body)


def lanes_for(balance: Balance) -> ir.Lanes:
    """Who shares the arcs of whole vertices: by degree, unless the balance names one group for all."""
    return SHARED_BY.get(balance.kind, ir.Lanes.BINS)


def arcs_of(apply: Apply, vertex: str, side: ir.Orientation) -> ir.Expr:
    """How many arcs of `vertex` one iteration walks."""
    return ir.Piece(ir.Share.SIZE) if is_cut(apply) else ir.Degree(ir.Var(vertex, VID), side)


def once(apply: Apply, stmt: ir.Stmt) -> ir.Body:
    """A statement that is executed once per vertex."""
    return (ir.If(ir.Piece(ir.Share.FIRST), (stmt,)),) if is_cut(apply) else (stmt,)


def vertex_operator(apply: ir.VertexApply, operator: ir.Operator) -> tuple[ir.Operator, bool]:
    """The operator as it runs on pieces, if it does; and whether lanes share whole vertices instead."""
    if not is_cut(apply):
        return operator, False
    assert apply.schedule is not None
    found = cut_operator(operator)
    shared = not isinstance(found, ir.Operator) and apply.schedule.balance.kind in SHARED_BY
    if shared:
        found = shared_operator(operator)
    assert isinstance(found, ir.Operator), (
        f"{operator.name} was found fit for pieces or lanes, but {found[0]}"
    )
    return found, shared


def by_lanes(apply: ir.VertexApply, loop: ir.ParFor) -> ir.ParFor:
    """The parallel loop of `apply` for groups of lanes that share the arcs of whole vertices."""
    assert apply.schedule is not None
    return with_fields(loop, {"words": False, "lanes": SHARED_BY[apply.schedule.balance.kind]})


def pulled(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, whole: ir.Body, target: str | None, arcs: str
) -> ir.Body:
    """The body of a pull: `whole` for whole vertices, and another for pieces."""
    if not is_cut(apply):
        return whole
    piece = _PullPiece(low, apply, operator, target, arcs).body()
    return (ir.If(ir.Piece(ir.Share.WHOLE), whole, piece, span=apply.span),)


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
            case ir.Reduce(op=op, prop=prop, value=value):
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
        inside = active_only(self.apply, self.src, transform_body(self.operator.body, self.rule))
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
        assert self.apply.schedule is not None
        layout = layout_of(self.apply.schedule.frontier)
        pushed = ir.FrontierPush(self.target, ir.Var(self.dst, VID), layout, True, span=self.apply.span)
        return (ir.If(ir.Var(self.hit, BOOL), (pushed,)),)
