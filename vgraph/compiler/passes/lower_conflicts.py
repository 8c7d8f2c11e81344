"""`lower-conflicts`: operators that write both ends of their edges, such that no two activations meet at a vertex.

before: `edge_apply(step) schedule(conflict=agm_e, ...)` with `f[src] = ...; f[dst] = ...`
after:  `parfor src in arcs "agm_e" out { for (dst, edge) in out(src) planned { f[src] = ...; f[dst] = ... } }`

With locks arcs are walked in passes. One whose ends cannot both be locked at once waits for the next pass:

before: `edge_apply(step) schedule(conflict=edge_locked, ...)`
after:  `while @left > 0 { @left = 0; parfor src in vertices { for (dst, edge) in out(src) {
         if @pass == 0 or done[edge] == false { lower = lock mutex[min(src, dst)]; both = lock mutex[max(src, dst)];
         if both { f[src] = ...; f[dst] = ... }; unlock ...; done[edge] = both; if not both { @left += 1 } } } } }`

Nobody waits for a lock, so there is no deadlock. The lower end is tried first, then the higher: of the threads that
fail, one at the highest vertex fails because another has both its locks, so each pass gets something done. Where a
thread keeps the lock of a source for all of its arcs that is not so, for two may have what the other wants: a pass that
got nothing done is followed by one of the first kind.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.ir.trees import transform_body
from vgraph.compiler.passes.cut_loops import with_pieces
from vgraph.compiler.passes.lowering import (
    FALSE,
    MUTEX,
    TRUE,
    Lowering,
    active_only,
    count_of,
    counted_round,
    lowering,
    note_deferred,
    of_vertices,
    over_active,
    push,
    scalar,
)
from vgraph.compiler.types import BOOL, EID, I32, I64, VID
from vgraph.schedule import EDGE_LOCKED, FREE, HYBRID, SEQUENTIAL, Drive


def _activation(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None) -> ir.Body:
    """What is done for an arc: the ends to which it assigns enter `target`."""
    if target is None:
        return operator.body
    src, _, dst = operator.args
    hits = {end: low.fresh(f"{end}.hit") for end in (src, dst)}

    def rule(n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Store(index=ir.Var(name=end)) if end in hits:
                return (n, ir.Assign(hits[end], TRUE))
        return None

    return (
        *(ir.Let(hit, BOOL, FALSE) for hit in hits.values()),
        *transform_body(operator.body, rule),
        *(
            ir.If(ir.Var(hit, BOOL), (push(apply, target, ir.Var(end, VID), own=False),))
            for end, hit in hits.items()
        ),
    )


def _lower(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    target, arcs = low.target(apply), apply.counting or low.counter()
    walk = _by_plan if apply.chosen.conflict.key else _by_locks
    return counted_round(apply, target, "push", arcs, walk(low, apply, target, arcs))


def _by_plan(low: Lowering, apply: ir.EdgeApply, target: str | None, arcs: str) -> ir.Body:
    """All arcs in the order of a plan. Its sums are made in that order, too."""
    operator, conflict = low.operator(apply.op), apply.chosen.conflict
    src, edge, dst = operator.args
    body = (ir.ReduceGlobal("+", arcs, scalar(1)), *_activation(low, apply, operator, target))
    walked = ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, body, planned=True, span=apply.span)
    domain = ir.PlannedArcs(conflict.key, apply.leaving)
    loop = ir.ParFor(src, domain, active_only(apply, src, (walked,)), apply.label, span=apply.span)
    low.ordered = True
    return (ir.Alone((loop,), span=apply.span) if conflict == SEQUENTIAL else loop,)


def _by_locks(low: Lowering, apply: ir.EdgeApply, target: str | None, arcs: str) -> ir.Body:
    """Passes over the arcs that had no turn yet, until none is left."""
    conflict = apply.chosen.conflict
    if low.context.threads == 1:
        return (_Locked(low, apply, target, arcs).alone(),)
    left, number, before = (low.counter(name) for name in ("left", "pass", "before"))
    marks = _Marks(of_vertices(low, MUTEX, I32), low.buffer("done", BOOL, ir.Site.EDGE), left, number)
    by_edge = _Locked(low, apply, target, arcs, marks).by_edge()
    loops: ir.Body = (ir.SetGlobal(left, scalar(0)), by_edge)
    if conflict != EDGE_LOCKED:
        by_node = _Locked(low, apply, target, arcs, marks).by_node()
        node, again = low.fresh("by.node"), ir.Compare("<", count_of(left), count_of(before))
        first = ir.Compare("==", count_of(number), scalar(0))
        loops = (
            ir.Let(node, BOOL, first if conflict == HYBRID else ir.Logical("or", first, again)),
            ir.SetGlobal(before, count_of(left)),
            ir.SetGlobal(left, scalar(0)),
            ir.If(ir.Var(node, BOOL), (by_node,), (by_edge,)),
        )
    following = note_deferred(low, apply.label, number, count_of(left))
    return (
        ir.SetGlobal(left, scalar(1)),
        ir.SetGlobal(before, scalar(0)),
        ir.SetGlobal(number, scalar(0)),
        ir.While(ir.Compare(">", count_of(left), scalar(0)), (*loops, *following), span=apply.span),
    )


class _Marks(NamedTuple):
    """What passes share: the locks, the arcs that had their turn, and the globals that count those left, and passes."""

    mutex: str
    done: str
    left: str
    number: str


_NO_MARKS: Final = _Marks("", "", "", "")


def _plan_of_locks(low: Lowering, apply: ir.EdgeApply) -> str:
    """The order by lot in which arcs are taken one by one; none where a thread takes a source, or a queue has them.

    On a GPU no thread has the arc before another's, so that fewer at a vertex meet. A CPU takes the arcs of some
    sources by lot, whose vectors stay in its cache: of one source each would wait for the one before it.
    """
    by_arc = apply.chosen.conflict == EDGE_LOCKED or low.context.threads == 1
    if not by_arc or apply.chosen.drive is not Drive.TOPOLOGY:
        return ""
    return "shuffled" if low.context.abilities.warps else "shuffled.32"


class _Locked:
    """A loop over the arcs of active vertices, of which each has its turn under locks."""

    def __init__(
        self,
        low: Lowering,
        apply: ir.EdgeApply,
        target: str | None,
        arcs: str,
        marks: _Marks = _NO_MARKS,
    ) -> None:
        self.low, self.apply, self.arcs = low, apply, arcs
        self.mutex, self.done, self.left, self.number = marks
        operator = low.operator(apply.op)
        self.src, self.edge, self.dst = operator.args
        self.body = _activation(low, apply, operator, target)
        self.plan = _plan_of_locks(low, apply)

    def alone(self) -> ir.ParFor:
        """One thread needs no locks."""
        return self.over(self.walk((self.count(), *self.body)))

    def by_edge(self) -> ir.ParFor:
        """Both ends are locked for each arc, and free behind it."""
        first, both, low, high = (self.low.fresh(n) for n in ("locked", "both", "lower", "higher"))
        ends = (ir.Var(self.src, VID), ir.Var(self.dst, VID))
        lower, higher = ir.Var(low, VID), ir.Var(high, VID)
        loop = ir.Compare("==", lower, higher)
        attempt = (
            ir.Let(low, VID, ir.Binary("min", *ends)),
            ir.Let(high, VID, ir.Binary("max", *ends)),
            ir.Let(first, BOOL, FALSE),
            ir.Let(both, BOOL, FALSE),
            ir.Lock(first, self.mutex, lower),
            ir.If(
                ir.Var(first, BOOL),
                (
                    ir.If(loop, (ir.Assign(both, TRUE),), (ir.Lock(both, self.mutex, higher),)),
                    ir.If(
                        ir.Var(both, BOOL), (*self.body, ir.If(loop, (), (ir.Unlock(self.mutex, higher),)))
                    ),
                    ir.Unlock(self.mutex, lower),
                ),
            ),
        )
        return self.over(self.walk(self.turn(attempt, both)))

    def by_node(self) -> ir.ParFor:
        """The source stays locked for all of its arcs: those to even ids, then the others, lest low ids come first."""
        mine, ok, odd = (self.low.fresh(n) for n in ("mine", "locked", "odd"))
        src, dst = ir.Var(self.src, VID), ir.Var(self.dst, VID)
        loop = ir.Compare("==", src, dst)
        attempt = (
            ir.Let(ok, BOOL, FALSE),
            ir.If(
                ir.Var(mine, BOOL), (ir.If(loop, (ir.Assign(ok, TRUE),), (ir.Lock(ok, self.mutex, dst),)),)
            ),
            ir.If(ir.Var(ok, BOOL), (*self.body, ir.If(loop, (), (ir.Unlock(self.mutex, dst),)))),
        )
        one, half = scalar(1), ir.Var(odd, I64)
        now = ir.Compare("==", ir.Binary("&", ir.Cast(I64, dst), one), half)
        walk = self.walk((ir.If(now, self.turn(attempt, ok)),))
        halves = (*walk, ir.Assign(odd, ir.Binary("+", half, one)))
        return self.over(
            (
                ir.Let(mine, BOOL, FALSE),
                ir.Lock(mine, self.mutex, src),
                ir.Let(odd, I64, scalar(0)),
                ir.While(ir.Compare("<=", half, one), halves, span=self.apply.span),
                ir.If(ir.Var(mine, BOOL), (ir.Unlock(self.mutex, src),)),
            )
        )

    def count(self) -> ir.Stmt:
        """An arc was tried."""
        return ir.ReduceGlobal("+", self.arcs, scalar(1))

    def turn(self, attempt: ir.Body, ok: str) -> ir.Body:
        """The attempt for an arc that had no turn yet, and whether it had it now."""
        edge = ir.Var(self.edge, EID)
        waits = ir.Compare("==", ir.Load(self.done, edge, BOOL), FALSE)
        first = ir.Compare("==", count_of(self.number), scalar(0))
        late = ir.If(ir.Var(ok, BOOL), (), (ir.ReduceGlobal("+", self.left, scalar(1)),))
        noted = ir.Store(self.done, edge, ir.Var(ok, BOOL))
        return (ir.If(ir.Logical("or", first, waits), (self.count(), *attempt, noted, late)),)

    def walk(self, body: ir.Body) -> ir.Body:
        """For each arc of the source."""
        of, side = ir.Var(self.src, VID), self.apply.leaving
        walked = ir.ForNeighbors(
            self.dst, self.edge, of, side, body, planned=bool(self.plan), span=self.apply.span
        )
        return (walked,)

    def over(self, visit: ir.Body) -> ir.ParFor:
        """For each active source."""
        domain: ir.Domain = ir.PlannedArcs(self.plan, self.apply.leaving) if self.plan else ir.Vertices()
        loop = over_active(self.apply, self.src, visit, domain)
        return loop if self.plan else with_pieces(self.low, self.apply, loop, self.apply.leaving)


lower_conflicts = lowering(
    "lower-conflicts", ir.EdgeApply, lambda schedule: schedule.conflict != FREE, _lower
)
