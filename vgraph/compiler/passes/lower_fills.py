"""`lower-fills`: what the driver loop writes to properties by itself.

before: `fill dist = inf; dist[source] = 0`
after:  `parfor v in vertices { dist[v] = inf }; single { dist[source] = 0 }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import substitute
from vgraph.compiler.passes.lowering import Lowering, rewriting
from vgraph.compiler.types import VID


def _lower(low: Lowering, n: ir.Fill | ir.FillEach | ir.Store) -> ir.Body:
    if isinstance(n, ir.Store):
        return (ir.Single((n,), span=n.span),)
    if isinstance(n, ir.FillEach):
        name = low.fresh(n.vertex)
        own = ir.Var(name, VID)
        return (
            ir.ParFor(
                name, None, None, (ir.Store(n.prop, own, substitute(n.value, {n.vertex: own})),), span=n.span
            ),
        )
    v = ir.Var(low.fresh("v"), VID)
    filled = ir.Store(n.prop, v, v if n.value is None else n.value)
    return (ir.ParFor(v.name, None, None, (filled,), span=n.span),)


lower_fills = rewriting("lower-fills", lambda n: isinstance(n, ir.Fill | ir.FillEach | ir.Store), _lower)
