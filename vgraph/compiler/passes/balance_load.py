"""`balance-load`: how many arcs a piece of a vertex has, and which lanes share them.

before: `parfor src in sparse f cut out balance split(1024) { @arcs += piece.size(); ... }`
after:  `parfor src in sparse f cut out at 1024:i64 { @arcs += piece.size(); ... }`

Without a limit of its own a split takes `policy.split.out` (or `.in`). Where vertices stay whole, lanes share the arcs
of each: by degree, unless the balance names one group for all.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import SHARED_BY
from vgraph.compiler.passes.lowering import Lowering, rewriting
from vgraph.compiler.types import I64


def _unbalanced(n: ir.Stmt) -> bool:
    return isinstance(n, ir.ParFor | ir.BucketLoop) and n.balance is not None


def _shared(low: Lowering, loop: ir.ParFor | ir.BucketLoop) -> ir.Body:
    assert loop.balance is not None
    kind, most = loop.balance.kind, loop.balance.limit
    if loop.cut is None:
        changes: dict[str, object] = {"lanes": SHARED_BY.get(kind, ir.Lanes.BINS)}
    else:
        limit: ir.Expr | None = None
        if kind == "split":
            limit = low.number(f"policy.split.{loop.cut.value}") if most is None else ir.Const(most, I64)
        changes = {"limit": limit, "lanes": SHARED_BY.get(kind, ir.Lanes.THREAD)}
    return (ir.with_fields(loop, {**changes, "balance": None}),)


balance_load = rewriting("balance-load", _unbalanced, _shared)
