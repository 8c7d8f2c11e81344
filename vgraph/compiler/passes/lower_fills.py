"""`lower-fills`: what the driver loop writes to properties by itself.

before: `fill dist = inf; dist[source] = 0`
after:  `parfor v in vertices { dist[v] = inf }; single { dist[source] = 0 }`

Values of edges are filled by whoever has the arc, of an undirected edge the one that does not go down.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.passes.lowering import Lowering, rewriting
from vgraph.compiler.types import EID, VID
from vgraph.graph.order import EDGE_NUMBER


def _lower(low: Lowering, n: ir.Fill | ir.FillEach | ir.Store) -> ir.Body:
    if isinstance(n, ir.Store):
        return (ir.Single((n,), span=n.span),)
    if isinstance(n, ir.FillEach):
        name = low.fresh(n.vertex)
        own = ir.Var(name, VID)
        return (
            ir.ParFor(
                name,
                ir.Vertices(),
                (ir.Store(n.prop, own, ir.substitute(n.value, {n.vertex: own})),),
                span=n.span,
            ),
        )
    v = ir.Var(low.fresh("v"), VID)
    prop = low.program.property(n.prop)
    if prop.site is ir.Site.NUMBERED:
        return (ir.ParFor(v.name, ir.Vertices(), (_fill_edges(low, n, v),), span=n.span),)
    filled = ir.Store(n.prop, v, v if n.value is None else n.value)
    return (ir.ParFor(v.name, ir.Vertices(), (filled,), span=n.span),)


def _fill_edges(low: Lowering, n: ir.Fill, v: ir.Var) -> ir.Stmt:
    """The values of the edges that leave v."""
    assert n.value is not None
    u, e = ir.Var(low.fresh("u"), VID), ir.Var(low.fresh("e"), EID)
    shared = any(p.name == EDGE_NUMBER for p in low.program.properties)
    at = ir.Load(EDGE_NUMBER, e, EID) if shared else e
    filled: ir.Stmt = ir.Store(n.prop, at, n.value)
    filled = ir.If(ir.Compare("<=", v, u), (filled,)) if shared else filled
    return ir.ForNeighbors(u.name, e.name, v, ir.Orientation.OUT, (filled,))


lower_fills = rewriting("lower-fills", lambda n: isinstance(n, ir.Fill | ir.FillEach | ir.Store), _lower)
