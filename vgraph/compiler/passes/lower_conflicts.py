"""`lower-conflicts`: operators that write both ends of their edges, such that no two activations meet at a vertex.

before: `edge_apply(step) schedule(conflict=agm_e, ...)` with `f[src] = ...; f[dst] = ...`
after:  `parfor src in arcs "agm_e" out { for (dst, edge) in out(src) planned { f[src] = ...; f[dst] = ... } }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import transform_body
from vgraph.compiler.passes.lowering import (
    FALSE,
    TRUE,
    Lowering,
    active_only,
    after_round,
    before_round,
    count_of,
    lowering,
    push,
    scalar,
)
from vgraph.compiler.types import BOOL, VID
from vgraph.schedule import FREE, SEQUENTIAL


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
    assert apply.schedule is not None
    operator, conflict = low.operator(apply.op), apply.schedule.conflict
    src, edge, dst = operator.args
    target, arcs = low.target(apply), apply.counting or low.counter()
    body = _activation(low, apply, operator, target)
    walked = ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, body, planned=True, span=apply.span)
    visit = active_only(apply, src, (ir.ReduceGlobal("+", arcs, scalar(1)), walked))
    domain = ir.PlannedArcs(conflict.key, apply.leaving)
    loop: ir.Stmt = ir.ParFor(src, domain, visit, apply.label, span=apply.span)
    if conflict == SEQUENTIAL:
        loop = ir.Alone((loop,), span=apply.span)
    low.ordered = True
    return (
        *before_round(apply, target, ir.Layout.BITMAP),
        ir.SetGlobal(arcs, scalar(0)),
        loop,
        *after_round(apply, target, "push", count_of(arcs)),
    )


lower_conflicts = lowering(
    "lower-conflicts", ir.EdgeApply, lambda schedule: schedule.conflict != FREE, _lower
)
