"""`compress-sets`: behind an operator that unites disjoint sets, every vertex is made to point at its root.

before: `edge_apply(link)` with `union(component, src, dst)`
after:  `edge_apply(link); parfor v in vertices { let root = component[v];
         while component[root] != root { root = component[root] }; component[v] = root }`

Where thousands of threads walk at a time, each step of one shortens the way of others: v is pointed at every ancestor
that it comes to. There, on large graphs, whose unions halve paths, nothing is compressed between two operators that
unite the same sets and do not look at them, unless paths are long because the graph is deep.
"""

from __future__ import annotations

from itertools import pairwise

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass, effects
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.lowering import Lowering
from vgraph.compiler.types import VID


def united(program: ir.Program, n: ir.Node) -> list[str]:
    """The disjoint sets that an apply unites, by their properties."""
    if not isinstance(n, ir.Apply):
        return []
    writes = effects(program.operator(n.op)).writes
    return sorted({w.prop for w in writes if w.kind is WriteClass.MERGING})


def _unites_only(program: ir.Program, n: ir.Stmt, prop: str) -> bool:
    """Whether an apply unites these sets, and has no other look at them."""
    if not isinstance(n, ir.Apply) or prop not in united(program, n):
        return False
    nodes = list(ir.walk(program.operator(n.op)))
    ends = {id(e) for u in nodes if isinstance(u, ir.Union) for e in (u.a, u.b)}
    return all(id(x) in ends for x in nodes if isinstance(x, ir.Load) and x.prop == prop)


def _united_again(program: ir.Program) -> set[tuple[int, str]]:
    """Applies behind which, but for numbers that are set, another unites the same sets: identities, and the sets."""
    found = set()
    for body in ir.bodies(program.body):
        lines = [s for s in body if not isinstance(s, ir.SetGlobal) or _looks(s)]
        for first, second in pairwise(lines):
            found |= {(id(first), p) for p in united(program, first) if _unites_only(program, second, p)}
    return found


def _looks(n: ir.Node) -> bool:
    return any(isinstance(x, ir.Load) for x in ir.walk(n))


def _compress(low: Lowering, prop: str) -> ir.Stmt:
    """After unions: every vertex points at its root, which has the smallest id of its set."""
    v, root = low.fresh("v"), low.fresh("root")
    own, here = ir.Var(v, VID), ir.Var(root, VID)
    above = ir.Load(prop, here, VID)
    body: ir.Body = (
        ir.Let(root, VID, ir.Load(prop, own, VID)),
        ir.While(ir.Compare("!=", above, here), (ir.Assign(root, above),)),
        ir.Store(prop, own, here),
    )
    if low.context.abilities.warps:
        up = low.fresh("up")
        ancestor = ir.Var(up, VID)
        step = (ir.Store(prop, own, ancestor), ir.Assign(root, ancestor), ir.Assign(up, above))
        body = (
            ir.Let(root, VID, ir.Load(prop, own, VID)),
            ir.Let(up, VID, above),
            ir.While(ir.Compare("!=", ancestor, here), step),
        )
    return ir.ParFor(v, ir.Vertices(), body)


def _run(program: ir.Program, context: Context) -> ir.Program:
    low = Lowering(program, context)
    rare = context.abilities.warps and not context.facts.deep
    again = _united_again(program) if rare else set()

    def rule(n: ir.Stmt) -> ir.Body | None:
        found = united(program, n)
        return (n, *(behind(n, p) for p in found)) if found else None

    def behind(n: ir.Stmt, prop: str) -> ir.Stmt:
        compress = _compress(low, prop)
        if (id(n), prop) not in again:
            return compress
        few = ir.Compare("<=", ir.GraphSize("num_vertices"), low.number("policy.halving_vertices"))
        return ir.If(few, (compress,))

    body = ir.transform_driver(program.body, rule)
    return program if body is program.body else low.finished(body)


compress_sets = Pass("compress-sets", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)
