"""`lower-gather-apply`: a pull in two loops with a buffer in the order of in-arcs between them.

before: `out = edge_apply(relax, f) schedule(direction=pull, phases=gather_apply, ...)`
after:  gather: `parfor dst in vertices { for (src, edge) in in(dst) { buffer[edge] = ... } }`
        apply:  `parfor dst in vertices { ...; for (src, edge) in in(dst) { dst.dist min= buffer[edge] } ... }`

Data-driven, both loops visit only the vertices next to the frontier, as a data-driven pull does.
"""

from __future__ import annotations

from collections.abc import Iterable

from vgraph.compiler import ir
from vgraph.compiler.analysis.payload import Computed, Split, split_raw
from vgraph.compiler.ir.legality import ARC_SITES
from vgraph.compiler.passes.lowering import Lowering, after_round, before_round, count_of, lowering, scalar
from vgraph.compiler.passes.pulls import Pull, collect, pull_body
from vgraph.compiler.types import EID, VID, Type
from vgraph.schedule import Drive, Payload, Phases


def _lower(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    operator = low.operator(apply.op)
    src, edge, dst = operator.args
    target = low.target(apply)
    candidates, active, before = None, apply.frontier, tuple[ir.Stmt, ...]()
    if apply.chosen.drive is Drive.DATA:
        candidates, active, before = collect(low, apply)
    inner = ir.with_fields(apply, {"frontier": active})
    stops = Pull(low, apply, operator, None).first_is_enough()
    buffers = Buffers(low, apply, ARC_SITES[apply.entering])
    split = divide(low, apply, operator, buffers, stops=stops)
    arc = split.producer
    if active is not None:
        arc = (
            ir.If(ir.InFrontier(active, ir.Var(src, VID)), split.producer, split.inactive, span=apply.span),
        )
    pull = Pull(low, ir.with_fields(apply, {"frontier": None}), split.consumer, None)
    arcs_of: ir.Body = (ir.ForNeighbors(src, edge, ir.Var(dst, VID), apply.entering, arc, span=apply.span),)
    # What the consumer passes over need not be gathered, but what goes into globals goes there from every arc.
    into_globals = any(isinstance(n, ir.ReduceGlobal) for top in arc for n in ir.walk(top))
    gather = arcs_of if into_globals else pull.guarded(arcs_of)
    reduced, arcs = pull_body(low, ir.with_fields(apply, {"frontier": None}), split.consumer, target)
    domain: ir.Domain = ir.SparseMembers(candidates) if candidates else ir.VertexWords()
    loops = in_chunks(
        apply,
        ir.ParFor(dst, domain.shared(), gather, apply.label, span=apply.span),
        ir.ParFor(dst, domain, reduced, apply.label, span=apply.span),
        buffers.hints,
    )
    return (
        *before,
        *before_round(inner, target, ir.Layout.BITMAP),
        ir.SetGlobal(arcs, scalar(0)),
        *loops,
        *after_round(apply, target, "gather_apply", count_of(arcs)),
    )


def in_chunks(apply: ir.EdgeApply, first: ir.ParFor, second: ir.ParFor, buffers: Iterable[str]) -> ir.Body:
    """Both phases; at once if the schedule says so, `buffers` a channel of so many chunks between them."""
    chunks = apply.chosen.pipeline
    if not chunks:
        return first, second
    parts = first.vertex, first.domain, tuple(buffers), chunks, first.body, second.body
    return (ir.Pipeline(*parts, apply.label, first.position, span=apply.span),)


class Buffers:
    """Declares the buffers of an apply, of elements for each arc or place; `hints` says of each what is in it."""

    def __init__(self, low: Lowering, apply: ir.EdgeApply, site: ir.Site) -> None:
        self.low, self.label, self.site = low, apply.label, site
        self.hints: dict[str, str] = {}

    def __call__(self, hint: str, t: Type) -> str:
        """The name of a new one."""
        name = self.low.buffer(f"{self.label}.{hint}", t, self.site)
        self.hints[name] = hint
        return name


def divide(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, buffers: Buffers, *, stops: bool = False
) -> Split:
    """The operator in two parts, with buffers that have an element per arc; `stops` as in `Computed`."""
    index = ir.Var(operator.args[1], EID)
    if apply.chosen.payload is Payload.RAW:
        return split_raw(operator, buffers, index, arcs=True, guarded=apply.frontier is not None)
    return Computed(operator, buffers, low.fresh, index, apply.out is not None, stops).split()


lower_gather_apply = lowering(
    "lower-gather-apply", ir.EdgeApply, lambda schedule: schedule.phases is Phases.GATHER_APPLY, _lower
)
