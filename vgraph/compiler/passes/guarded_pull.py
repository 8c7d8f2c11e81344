"""Part of `lower-applies`: a pull into the vertices alone at which an operator's guard holds.

before: `f = edge_apply(reach, f)` with `if level[dst] == -1 { paths[dst] += paths[src] }`
after:  `parfor v in vertices words { if level[v] == -1 and degree(in, v) > 0 { push open v } };
        parfor dst in bitmap open { let acc = paths[dst]; for (src, e) in in(dst) { if contains(f, src) { ... } } ... }`

The guard is looked at once for a vertex and round, 64 vertices at a time, and no longer at each arc.
"""

from __future__ import annotations

import functools

from vgraph.compiler import ir
from vgraph.compiler.analysis.guards import lasting_tests, without
from vgraph.compiler.analysis.lanes import shared_loops
from vgraph.compiler.ir.rewrite import transform, with_fields
from vgraph.compiler.passes.lower_pull import pull_body
from vgraph.compiler.passes.lowering import Lowering, after_round, before_round, count_of, scalar
from vgraph.compiler.types import VID


def lower_guarded_pull(
    low: Lowering, apply: ir.EdgeApply, target: str | None, lanes: ir.Lanes = ir.Lanes.THREAD
) -> ir.Body:
    """A pull that fills `target`; its operator has a guard that lasts for the round. `lanes`: who may share arcs."""
    operator = low.operator(apply.op)
    tests = lasting_tests(low.program, operator)
    assert tests, "the operator has a guard"
    dst = operator.args[2]
    inner = with_fields(operator, {"body": without(operator.body, tests)})
    body, arcs = pull_body(low, apply, inner, target)
    opened, v = low.target(f"{apply.label}.open"), low.fresh("v")
    here = ir.Var(v, VID)
    some: ir.Expr = ir.Compare(">", ir.Degree(here, apply.entering), scalar(0))
    tests = [transform(t, lambda n: here if isinstance(n, ir.Var) and n.name == dst else None) for t in tests]
    push: ir.Stmt = ir.FrontierPush(opened, here, ir.Layout.BITMAP, True)
    choice = ir.If(functools.reduce(lambda a, b: ir.Logical("and", a, b), [*tests, some]), (push,))
    loop = ir.ParFor(dst, ir.Layout.BITMAP, opened, body, apply.label, span=apply.span)
    if lanes is not ir.Lanes.THREAD and shared_loops(loop):
        loop = with_fields(loop, {"lanes": lanes})
    return (
        *before_round(apply, target, ir.Layout.BITMAP),
        ir.FrontierClear(opened, ir.Layout.BITMAP),
        ir.ParFor(v, None, None, (choice,), words=True, span=apply.span),
        ir.SetGlobal(arcs, scalar(0)),
        loop,
        *after_round(apply, target, "pull", count_of(arcs), low.mixed),
    )
