"""`lower-push`: walk the arcs that leave each active vertex and update their far ends.

before: `out = edge_apply(relax, f) schedule(direction=push, ...)`
after:  `parfor src in sparse f { for (dst, e) in out(src) { dist[dst] min= ... -> hit; if hit { push f.next dst } } }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.passes.cut_loops import arcs_of, with_pieces
from vgraph.compiler.passes.join_cascades import taken
from vgraph.compiler.passes.lowering import (
    Lowering,
    counted_round,
    hoist_loads,
    lowering,
    over_active,
    push,
    updates,
)
from vgraph.compiler.passes.narrow_frontiers import needed
from vgraph.compiler.types import VID
from vgraph.schedule import ApplySchedule, Direction, Drive, Phases


def _lower(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    operator = low.operator(apply.op)
    src, edge, dst = operator.args
    target = low.target(apply)
    if apply.taking:
        assert target is not None
        inside = taken(low, apply, push(apply, target, ir.Var(dst, VID), own=False))
    else:
        only = needed(low.program, operator, low.program.operator(apply.only), dst) if apply.only else None
        inside = updates(low, apply, operator, target, only)
    hoisted, walked = hoist_loads(low, inside, src)
    arcs = apply.counting or low.counter()
    visit: ir.Body = (
        ir.ReduceGlobal("+", arcs, arcs_of(apply, src, apply.leaving)),
        *hoisted,
        ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, walked, span=apply.span),
    )
    loop = with_pieces(low, apply, over_active(apply, src, visit, ir.Vertices()), apply.leaving)
    return counted_round(apply, target, "push", arcs, (loop,))


def _is_push(schedule: ApplySchedule) -> bool:
    fixed = schedule.phases is Phases.FUSED and schedule.drive is not Drive.AUTO
    return fixed and schedule.direction is Direction.PUSH


lower_push = lowering("lower-push", ir.EdgeApply, _is_push, _lower)
