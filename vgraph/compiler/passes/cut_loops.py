"""Loops whose bodies are right for whole vertices and for pieces of their arcs: for every lowering of an apply.

before: `parfor src in sparse f { @arcs += degree.out(src); for (dst, e) in out(src) { ... } }`
after:  `parfor src in sparse f cut out balance split { @arcs += piece.size(); for (dst, e) in out(src) { ... } }`

`balance-load` says how such a loop is cut.
"""

from __future__ import annotations

from typing import TypeVar

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import SHARED_BY, shared_operator
from vgraph.compiler.analysis.pieces import cut_operator
from vgraph.compiler.passes.lowering import Lowering
from vgraph.compiler.types import VID
from vgraph.schedule import SPLIT, VERTEX

_Loop = TypeVar("_Loop", ir.ParFor, ir.BucketLoop)


def is_cut(apply: ir.Apply) -> bool:
    """True if the loop of `apply` runs on pieces of vertices."""
    return apply.chosen.balance != VERTEX or apply.chosen.hops > 1


def with_pieces(low: Lowering, apply: ir.Apply, loop: _Loop, side: ir.Orientation) -> _Loop:
    """The parallel loop of `apply`, whose body is fit for pieces, cut as its schedule says."""
    if not is_cut(apply):
        return loop
    domain = {"domain": loop.domain.shared()} if isinstance(loop, ir.ParFor) else {}
    body = _inner_loops_whole(low, loop)
    schedule = apply.chosen
    how: dict[str, object] = {"balance": schedule.balance}
    if schedule.hops > 1:
        cascade = isinstance(apply, ir.EdgeApply) and apply.taking  # its hubs are shared by all
        how = {"hops": schedule.hops, "balance": SPLIT() if cascade else None}
    return ir.with_fields(loop, {**domain, "body": body, "cut": side, **how})


def _inner_loops_whole(low: Lowering, loop: ir.ParFor | ir.BucketLoop) -> ir.Body:
    """The loop's body; what an operator walks of the vertex's arcs for each arc of the piece, it walks by another name.

    For a loop over the arcs of the vertex by its own name walks those of the piece.
    """
    own, whole = ir.Var(loop.vertex, VID), low.fresh(f"{loop.vertex}.whole")

    def rename(n: ir.Node) -> ir.Node | None:
        again = isinstance(n, ir.ForNeighbors) and n.of == own
        return ir.with_fields(n, {"of": ir.Var(whole, VID, span=n.span)}) if again else None

    def rule(n: ir.Node) -> ir.Node | None:
        if not (isinstance(n, ir.ForNeighbors) and n.of == own):
            return None
        return ir.with_fields(n, {"body": ir.transform_body(n.body, rename)})

    body = ir.transform_body(loop.body, rule)
    return body if body == loop.body else (ir.Let(whole, VID, own), *body)


def arcs_of(apply: ir.Apply, vertex: str, side: ir.Orientation) -> ir.Expr:
    """How many arcs of `vertex` one iteration walks."""
    return ir.Piece(ir.Share.SIZE) if is_cut(apply) else ir.Degree(ir.Var(vertex, VID), side)


def once(apply: ir.Apply, stmt: ir.Stmt) -> ir.Body:
    """A statement that is executed once per vertex."""
    return (ir.If(ir.Piece(ir.Share.FIRST), (stmt,)),) if is_cut(apply) else (stmt,)


def vertex_operator(apply: ir.VertexApply, operator: ir.Operator) -> tuple[ir.Operator, bool]:
    """The operator as it runs on pieces, if it does; and whether lanes share whole vertices instead."""
    if not is_cut(apply):
        return operator, False
    found = cut_operator(operator)
    shared = not isinstance(found, ir.Operator) and apply.chosen.balance.kind in SHARED_BY
    if shared:
        found = shared_operator(operator)
    assert isinstance(found, ir.Operator), (
        f"{operator.name} was found fit for pieces or lanes, but {found[0]}"
    )
    return found, shared


def by_lanes(apply: ir.VertexApply, loop: ir.ParFor) -> ir.ParFor:
    """The parallel loop of `apply` for groups of lanes that share the arcs of whole vertices."""
    return ir.with_fields(loop, {"domain": loop.domain.shared(), "balance": apply.chosen.balance})
