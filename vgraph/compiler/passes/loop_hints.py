"""`prefetch`, `vectorize`, `rows` and `hubs` of a schedule, put on the loops that an apply became."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.gathers import loop_obstacle, touched
from vgraph.schedule import DELTA, ApplySchedule


def with_hints(body: ir.Body, schedule: ApplySchedule) -> ir.Body:
    """`body` with its loops marked: those that touch the other end, and those that can take several arcs at a time."""
    if not (schedule.prefetch or schedule.vectorize or schedule.rows is DELTA or schedule.hubs):
        return body
    vectorized = False

    def rule(n: ir.Node) -> ir.Node | None:
        nonlocal vectorized
        if isinstance(n, ir.ForCommon):
            return ir.with_fields(n, {"hubs": schedule.hubs})
        if not isinstance(n, ir.ForNeighbors):
            return None
        ahead = schedule.prefetch if touched(n.body, n.vertex) else 0
        wide = schedule.vectorize and loop_obstacle(n) is None
        vectorized = vectorized or wide
        return ir.with_fields(n, {"prefetch": ahead, "vectorize": wide, "deltas": schedule.rows is DELTA})

    marked = ir.transform_body(body, rule)
    assert vectorized or not schedule.vectorize, "vectorize was found legal, but no loop can take it"
    return marked
