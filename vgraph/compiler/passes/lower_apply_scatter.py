"""`lower-apply-scatter`: a push in two loops with a buffer between them, in the order of the active vertices.

before: `out = edge_apply(relax, f) schedule(direction=push, phases=apply_scatter, ...)`
after:  apply:   `parfor src at i in sparse f { buffer[i] = dist[src] }`
        scatter: `parfor src at i in sparse f { let d = buffer[i]; for (dst, edge) in out(src) { dist[dst] min= ... } }`

That is the raw payload: an element per active vertex. The computed one has an element per out-arc, as in table 5.4 of
the source: the apply finds every contribution, the scatter only combines.
"""

from __future__ import annotations

from collections.abc import Mapping

from vgraph.compiler import ir
from vgraph.compiler.analysis.payload import split_raw
from vgraph.compiler.ir.legality import ARC_SITES
from vgraph.compiler.passes.lower_gather_apply import Buffers, divide, in_chunks
from vgraph.compiler.passes.lowering import Lowering, counted_round, lowering, over_active, updates
from vgraph.compiler.types import I64, VID
from vgraph.schedule import Payload, Phases


def _lower(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    operator = low.operator(apply.op)
    src, edge, _ = operator.args
    target = low.target(apply)
    position = None
    if apply.chosen.payload is Payload.RAW:
        position = low.fresh("i")
        buffers = Buffers(low, apply, ir.Site.QUEUE)
        split = split_raw(operator, buffers, ir.Var(position, I64), arcs=False, guarded=False)
        produced = split.producer
    else:
        buffers = Buffers(low, apply, ARC_SITES[apply.leaving])
        split = divide(low, ir.with_fields(apply, {"frontier": None}), operator, buffers)
        walk_arcs = ir.ForNeighbors(operator.args[2], edge, ir.Var(src, VID), apply.leaving, split.producer)
        produced = (ir.with_fields(walk_arcs, {"span": apply.span}),)
    arcs = low.counter()
    taken = buffers.hints if position is not None else {}
    scatter = _scatter(low, apply, split.consumer, target, arcs, taken)
    produce, consume = (over_active(apply, src, b, ir.Vertices(), position) for b in (produced, scatter))
    loops = in_chunks(apply, produce, consume, buffers.hints)
    return counted_round(apply, target, "apply_scatter", arcs, loops)


def _scatter(
    low: Lowering,
    apply: ir.EdgeApply,
    consumer: ir.Operator,
    target: str | None,
    arcs: str,
    hints: Mapping[str, str],
) -> ir.Body:
    """What is done for one active vertex: take from the buffers in `hints`, walk the out-arcs, update the far ends."""
    src, edge, dst = consumer.args
    taken: dict[str, ir.Let] = {}

    def rule(n: ir.Node) -> ir.Node | None:
        if isinstance(n, ir.Load) and n.prop in hints:
            if n.prop not in taken:
                taken[n.prop] = ir.Let(low.fresh(hints[n.prop]), n.type, n, span=n.span)
            return ir.Var(taken[n.prop].name, n.type, span=n.span)
        return None

    walked = ir.transform_body(updates(low, apply, consumer, target), rule)
    count = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(src, VID), apply.leaving))
    loop = ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, walked, span=apply.span)
    return (count, *taken.values(), loop)


lower_apply_scatter = lowering(
    "lower-apply-scatter", ir.EdgeApply, lambda schedule: schedule.phases is Phases.APPLY_SCATTER, _lower
)
