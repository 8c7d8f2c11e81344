"""`lower-gather-apply`: a pull in two loops with a buffer in the order of in-arcs between them.

before: `out = edge_apply(relax, f) schedule(direction=pull, phases=gather_apply, ...)`
after:  gather: `parfor dst in vertices { for (src, edge) in in(dst) { buffer[edge] = ... } }`
        apply:  `parfor dst in vertices { ...; for (src, edge) in in(dst) { dst.dist min= buffer[edge] } ... }`

Data-driven, both loops visit only the vertices next to the frontier, as a data-driven pull does.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.payload import Split, split_computed, split_raw
from vgraph.compiler.ir.legality import ARC_SITES
from vgraph.compiler.ir.rewrite import walk, with_fields
from vgraph.compiler.passes.lower_pull import Pull, collect, pull_body
from vgraph.compiler.passes.lowering import Lowering, after_round, before_round, count_of, scalar
from vgraph.compiler.types import EID, VID, Type
from vgraph.schedule import Drive, Payload


def lower_gather_apply(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    """The kernel-level body of a gather and an apply."""
    assert apply.schedule is not None
    operator = low.operator(apply.op)
    src, edge, dst = operator.args
    target = low.target(apply.out) if apply.out else None
    candidates, active, before = None, apply.frontier, tuple[ir.Stmt, ...]()
    if apply.schedule.drive is Drive.DATA:
        candidates, active, before = collect(low, apply, operator)
    inner = with_fields(apply, {"frontier": active})
    stops = Pull(low, apply, operator, None).first_is_enough()
    split = divide(low, apply, operator, ARC_SITES[apply.entering], stops=stops)
    arc = split.producer
    if active is not None:
        arc = (
            ir.If(ir.InFrontier(active, ir.Var(src, VID)), split.producer, split.inactive, span=apply.span),
        )
    pull = Pull(low, with_fields(apply, {"frontier": None}), split.consumer, None)
    arcs_of: ir.Body = (ir.ForNeighbors(src, edge, ir.Var(dst, VID), apply.entering, arc, span=apply.span),)
    # What the consumer passes over need not be gathered, but what goes into globals goes there from every arc.
    into_globals = any(isinstance(n, ir.ReduceGlobal) for top in arc for n in walk(top))
    gather = arcs_of if into_globals else pull.guarded(arcs_of)
    reduced, arcs = pull_body(low, with_fields(apply, {"frontier": None}), split.consumer, target)
    layout = ir.Layout.SPARSE if candidates else None
    domain = (dst, layout, candidates)
    loops: ir.Body = (
        ir.ParFor(*domain, gather, apply.label, span=apply.span),
        ir.ParFor(*domain, reduced, apply.label, words=layout is None, span=apply.span),
    )
    if apply.schedule.pipeline:
        loops = (pipeline(low, apply, domain, gather, reduced),)
    return (
        *before,
        *before_round(inner, target, ir.Layout.BITMAP),
        ir.SetGlobal(arcs, scalar(0)),
        *loops,
        *after_round(apply, target, "gather_apply", count_of(arcs)),
    )


def pipeline(
    low: Lowering,
    apply: ir.EdgeApply,
    domain: tuple[str, ir.Layout | None, str | None],
    producer: ir.Body,
    consumer: ir.Body,
) -> ir.Pipeline:
    """Both phases at once, with a channel of as many chunks as the schedule says between them."""
    assert apply.schedule is not None
    stored = {n.prop for top in producer for n in walk(top) if isinstance(n, ir.Store)}
    buffers = tuple(name for name in low.properties if name in stored)
    return ir.Pipeline(
        *domain, buffers, apply.schedule.pipeline, producer, consumer, apply.label, span=apply.span
    )


def divide(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, site: ir.Site, *, stops: bool = False
) -> Split:
    """The operator in two parts, with buffers that have an element per arc; `stops` as in `split_computed`."""
    assert apply.schedule is not None
    index = ir.Var(operator.args[1], EID)

    def declare(hint: str, t: Type) -> str:
        return low.buffer(f"{apply.label}.{hint}", t, site)

    if apply.schedule.payload is Payload.RAW:
        return split_raw(operator, declare, index, arcs=True, guarded=apply.frontier is not None)
    return split_computed(operator, declare, low.fresh, index, touched=apply.out is not None, stops=stops)
