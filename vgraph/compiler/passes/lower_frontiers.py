"""`lower-frontiers`: frontiers from properties and into them, and what is made of two.

before: `f = where open`; `f = set f - done`; `members reached = f`
after:  `parfor v in vertices { if open[v] { push f.next v } }; ...`;
        `convert done to bitmap; parfor v in sparse f { if not contains(done, v) { push f.next v } }; ...`;
        `parfor v in vertices { reached[v] = false }; parfor v in sparse f { reached[v] = true }`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, rewriting
from vgraph.compiler.types import BOOL, VID

_SPARSE, _BITMAP = ir.Layout.SPARSE, ir.Layout.BITMAP


def _where(low: Lowering, n: ir.FrontierWhere) -> ir.Body:
    target = low.hidden(f"{n.out}.next")
    found = _each(low, None, lambda v: ir.If(ir.Load(n.prop, v, BOOL), (_push(target, v),)))
    return (*found, _takes_place(n.out, target))


def _mark(low: Lowering, n: ir.FrontierMark) -> ir.Body:
    cleared = _each(low, None, lambda v: ir.Store(n.prop, v, FALSE))
    return (*cleared, *_each(low, n.frontier, lambda v: ir.Store(n.prop, v, TRUE)))


def _combine(low: Lowering, n: ir.FrontierCombine) -> ir.Body:
    if n.left == n.right and n.op == "-":
        return (ir.FrontierSet(n.out, ir.FrontierKind.EMPTY),)
    if n.left == n.right:
        return (ir.FrontierCopy(n.out, n.left),)
    target = low.hidden(f"{n.out}.next")
    if n.op == "|":
        both = (_each(low, f, lambda v: _push(target, v, dedupe=True)) for f in (n.left, n.right))
        return (*(s for one in both for s in one), _takes_place(n.out, target))

    def chosen(v: ir.Var) -> ir.Stmt:
        inside: ir.Expr = ir.InFrontier(n.right, v)
        return ir.If(inside if n.op == "&" else ir.Unary("not", inside), (_push(target, v),))

    looked_up = ir.FrontierConvert(n.right, _BITMAP)
    return (looked_up, *_each(low, n.left, chosen), _takes_place(n.out, target))


def _each(low: Lowering, frontier: str | None, visit: Callable[[ir.Var], ir.Stmt]) -> ir.Body:
    """A loop over a frontier, or over all vertices."""
    v = ir.Var(low.fresh("v"), VID)
    if frontier is None:
        return (ir.ParFor(v.name, ir.Vertices(), (visit(v),)),)
    return (ir.FrontierConvert(frontier, _SPARSE), ir.ParFor(v.name, ir.SparseMembers(frontier), (visit(v),)))


def _push(target: str, v: ir.Var, *, dedupe: bool = False) -> ir.Stmt:
    return ir.FrontierPush(target, v, _SPARSE, dedupe)


def _takes_place(out: str, target: str) -> ir.Stmt:
    """What was filled becomes `out`; the next time it is filled, it is empty."""
    return ir.Single((ir.FrontierSwap(out, target), ir.FrontierClear(target, _SPARSE)))


_RULES: dict[type[ir.Stmt], Callable[[Lowering, Any], ir.Body]] = {
    ir.FrontierWhere: _where,
    ir.FrontierMark: _mark,
    ir.FrontierCombine: _combine,
}
lower_frontiers = rewriting(
    "lower-frontiers", lambda n: type(n) in _RULES, lambda low, n: _RULES[type(n)](low, n)
)
