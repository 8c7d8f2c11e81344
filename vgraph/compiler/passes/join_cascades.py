"""`join-cascades`: where blocks go on with what an update makes pass a filter, the update takes the vertices itself.

before: `while size(f) > 0 { near = edge_apply(leave, f) for peel schedule(hops=8); f = vertex_apply(peel, near) }`
after:  `while size(f) > 0 { f = edge_apply(leave, f) for peel taking open schedule(hops=8) }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.cascades import Cascade, cascade
from vgraph.compiler.passes.lowering import Lowering, rewriting
from vgraph.compiler.passes.narrow_frontiers import needed
from vgraph.compiler.types import BOOL, VID


def _rule(low: Lowering, loop: ir.While) -> ir.Body | None:
    (update, *_) = loop.body
    assert isinstance(update, ir.EdgeApply)
    found = cascade(low.program, update)
    assert isinstance(found, Cascade)
    joined = ir.with_fields(update, {"out": found.filter.out, "taking": found.flag})
    return (ir.with_fields(loop, {"body": (joined,)}),)


def _wanted(n: ir.Stmt) -> bool:
    match n:
        case ir.While(body=(ir.EdgeApply(only=str(), schedule=schedule), ir.VertexApply())):
            return schedule is not None and schedule.hops > 1
    return False


def taken(low: Lowering, apply: ir.EdgeApply, pushed: ir.Stmt) -> ir.Body:
    """What is done for an arc: the update, and if little is left of `dst` then, what the filter does, once."""
    assert apply.only is not None
    assert apply.taking is not None
    operator, chosen = low.program.operator(apply.op), low.program.operator(apply.only)
    dst, ok = operator.args[2], low.fresh("taken")
    little = needed(low.program, operator, chosen, dst)
    assert little is not None
    here = ir.Var(dst, VID)
    acts = next(s for s in chosen.body if isinstance(s, ir.If)).then

    def at_dst(n: ir.Node) -> ir.Node | None:
        return here if n == ir.Var(chosen.args[0], VID) else None

    rest = tuple(
        ir.transform(s, at_dst) for s in acts if not (isinstance(s, ir.Store) and s.prop == apply.taking)
    )
    on, off = (ir.Const(value, BOOL) for value in (True, False))
    take: ir.Body = (
        ir.Let(ok, BOOL, off),
        ir.CompareAndSwap(ok, apply.taking, here, on, off),
        ir.If(ir.Var(ok, BOOL), (*rest, pushed)),
    )

    def and_take(n: ir.Node) -> ir.Body | None:
        return (n, ir.If(little, take)) if isinstance(n, ir.Reduce) else None

    return ir.transform_body(operator.body, and_take)


join_cascades = rewriting("join-cascades", _wanted, _rule)
