"""`lower-vertex`: a vertex operator as a parallel loop over vertices or over a frontier.

before: `out = vertex_apply(keep, f)` with `emit e` at the operator's end
after:  `parfor v in sparse f { ...; if e { push out.next v } }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.passes.cut_loops import arcs_of, by_lanes, vertex_operator, with_pieces
from vgraph.compiler.passes.lowering import (
    Lowering,
    counted_round,
    lowering,
    over_active,
    push,
    shared_writes,
)
from vgraph.compiler.types import VID
from vgraph.schedule import FREE


def _lower(low: Lowering, apply: ir.VertexApply) -> ir.Body:
    operator, shared = vertex_operator(apply, low.operator(apply.op))
    (v,) = operator.args
    target = low.target(apply)

    def emitted(n: ir.Node) -> ir.Stmt | tuple[ir.Stmt, ...] | None:
        if not isinstance(n, ir.Emit):
            return None
        return ir.If(n.value, (push(apply, target, ir.Var(v, VID), own=True),)) if target else ()

    visit = ir.transform_body(shared_writes(low, operator.body, None), emitted)
    arcs = low.counter()
    private = dict.fromkeys(n.prop for s in visit for n in ir.walk(s) if isinstance(n, ir.ScratchStore))
    sides = _walked(visit, v)
    visit = (
        *(ir.ReduceGlobal("+", arcs, _arcs(apply, v, side, shared)) for side in sides),
        *visit,
        *(ir.ScratchClear(p, span=apply.span) for p in private),
    )
    loop = over_active(apply, v, visit, ir.VertexWords())
    if shared:
        loop = by_lanes(apply, loop)
    elif sides:
        loop = with_pieces(low, apply, loop, sides[0])
    return counted_round(apply, target, "vertex", arcs, (loop,))


def _arcs(apply: ir.VertexApply, v: str, side: ir.Orientation, shared: bool) -> ir.Expr:
    return ir.Degree(ir.Var(v, VID), side) if shared else arcs_of(apply, v, side)


def _walked(body: ir.Body, v: str) -> list[ir.Orientation]:
    """The directions in which the operator walks the arcs of v."""
    walked = {
        n.orientation
        for top in body
        for n in ir.walk(top)
        if isinstance(n, ir.ForNeighbors) and isinstance(n.of, ir.Var) and n.of.name == v
    }
    return [o for o in ir.Orientation if o in walked]


lower_vertex = lowering("lower-vertex", ir.VertexApply, lambda schedule: schedule.conflict == FREE, _lower)
