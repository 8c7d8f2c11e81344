"""`compress-sets`: behind an operator that unites disjoint sets, every vertex is made to point at its root.

before: `edge_apply(link)` with `union(component, src, dst)`
after:  `edge_apply(link); parfor v in vertices { let root = component[v];
         while component[root] != root { root = component[root] }; component[v] = root }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass, effects
from vgraph.compiler.passes.lowering import Lowering, rewriting
from vgraph.compiler.types import VID


def _rule(low: Lowering, n: ir.EdgeApply | ir.VertexApply) -> ir.Body | None:
    writes = effects(low.program.operator(n.op)).writes
    united = sorted({w.prop for w in writes if w.kind is WriteClass.MERGING})
    assert n.schedule is not None
    compress = _halve if n.schedule.unions else _compress
    return (n, *(compress(low, p) for p in united)) if united else None


def _halve(low: Lowering, prop: str) -> ir.Stmt:
    """The same where a path is walked by many at a time: each step of one shortens those of others."""
    v, root, up = low.fresh("v"), low.fresh("root"), low.fresh("up")
    own, here, above = (ir.Var(name, VID) for name in (v, root, up))
    step: ir.Body = (
        ir.Store(prop, own, above),
        ir.Assign(root, above),
        ir.Assign(up, ir.Load(prop, above, VID)),
    )
    body: ir.Body = (
        ir.Let(root, VID, ir.Load(prop, own, VID)),
        ir.Let(up, VID, ir.Load(prop, here, VID)),
        ir.While(ir.Compare("!=", above, here), step),
    )
    return ir.ParFor(v, ir.Vertices(), body)


def _compress(low: Lowering, prop: str) -> ir.Stmt:
    """After unions: every vertex points at its root, which has the smallest id of its set."""
    v, root = low.fresh("v"), low.fresh("root")
    here = ir.Var(root, VID)
    above = ir.Load(prop, here, VID)
    body: ir.Body = (
        ir.Let(root, VID, ir.Load(prop, ir.Var(v, VID), VID)),
        ir.While(ir.Compare("!=", above, here), (ir.Assign(root, above),)),
        ir.Store(prop, ir.Var(v, VID), here),
    )
    return ir.ParFor(v, ir.Vertices(), body)


compress_sets = rewriting("compress-sets", lambda n: isinstance(n, ir.EdgeApply | ir.VertexApply), _rule)
