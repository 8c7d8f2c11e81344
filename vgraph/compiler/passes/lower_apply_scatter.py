"""`lower-apply-scatter`: a push in two loops with a buffer between them, in the order of the active vertices.

before: `out = edge_apply(relax, f) schedule(direction=push, phases=apply_scatter, ...)`
after:  apply:   `parfor src at i in sparse f { buffer[i] = dist[src] }`
        scatter: `parfor src at i in sparse f { let d = buffer[i]; for (dst, edge) in out(src) { dist[dst] min= ... } }`

That is the raw payload: an element per active vertex. The computed one has an element per out-arc, as in table 5.4 of
the source: the apply finds every contribution, the scatter only combines.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.payload import Split, split_raw
from vgraph.compiler.ir.legality import ARC_SITES
from vgraph.compiler.ir.rewrite import transform_body, with_fields
from vgraph.compiler.passes.lower_gather_apply import divide, pipeline
from vgraph.compiler.passes.lowering import (
    Lowering,
    active_only,
    after_round,
    before_round,
    count_of,
    input_layout,
    scalar,
    updates,
    wants_membership,
)
from vgraph.compiler.types import I64, VID, Type
from vgraph.schedule import Payload


def lower_apply_scatter(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    """The kernel-level body of an apply and a scatter."""
    assert apply.schedule is not None
    operator = low.operator(apply.op)
    src, edge, _ = operator.args
    target = low.target(apply.out) if apply.out else None
    position = None
    if apply.schedule.payload is Payload.RAW:
        position = low.fresh("i")
        split = _per_vertex(low, apply, operator, ir.Var(position, I64))
        produced = split.producer
    else:
        split = divide(low, with_fields(apply, {"frontier": None}), operator, ARC_SITES[apply.leaving])
        walk_arcs = ir.ForNeighbors(operator.args[2], edge, ir.Var(src, VID), apply.leaving, split.producer)
        produced = (with_fields(walk_arcs, {"span": apply.span}),)
    arcs = low.counter()
    scatter = _scatter(low, apply, split.consumer, target, arcs)
    membership = wants_membership(apply.schedule)
    given = input_layout(apply, membership=membership)
    if apply.schedule.pipeline and not membership:
        given = ir.Layout.SPARSE  # pieces of a queue
    bodies = [active_only(apply, src, b) if membership else b for b in (produced, scatter)]
    layout, frontier = (None, None) if membership else (given, apply.frontier)
    domain = (src, layout if frontier else None, frontier)
    if apply.schedule.pipeline:
        loops: ir.Body = (with_fields(pipeline(low, apply, domain, *bodies), {"position": position}),)
    else:
        loops = tuple(ir.ParFor(*domain, b, apply.label, position=position, span=apply.span) for b in bodies)
    return (
        *before_round(apply, target, given),
        ir.SetGlobal(arcs, scalar(0)),
        *loops,
        *after_round(apply, target, "apply_scatter", count_of(arcs)),
    )


def _per_vertex(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, place: ir.Expr) -> Split:
    """The fields of `src` in buffers that have an element per place of the queue."""

    def declare(hint: str, t: Type) -> str:
        return low.buffer(f"{apply.label}.{hint}", t, ir.Site.QUEUE)

    return split_raw(operator, declare, place, arcs=False, guarded=False)


def _scatter(
    low: Lowering, apply: ir.EdgeApply, consumer: ir.Operator, target: str | None, arcs: str
) -> ir.Body:
    """What is done for one active vertex: take from the buffer, walk the out-arcs, update the far ends."""
    src, edge, dst = consumer.args
    taken: dict[str, ir.Let] = {}

    def rule(n: ir.Node) -> ir.Node | None:
        if (
            isinstance(n, ir.Load)
            and n.prop in low.properties
            and low.properties[n.prop].site is ir.Site.QUEUE
        ):
            if n.prop not in taken:
                taken[n.prop] = ir.Let(
                    low.fresh(n.prop.removeprefix(f"{apply.label}.")), n.type, n, span=n.span
                )
            return ir.Var(taken[n.prop].name, n.type, span=n.span)
        return None

    walked = transform_body(updates(low, apply, consumer, target), rule)
    count = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(src, VID), apply.leaving))
    loop = ir.ForNeighbors(dst, edge, ir.Var(src, VID), apply.leaving, walked, span=apply.span)
    return (count, *taken.values(), loop)
