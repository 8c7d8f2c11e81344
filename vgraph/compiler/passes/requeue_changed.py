"""`requeue-changed`: behind everything that writes the property of a priority queue, say whose values may have changed.

before: `edge_apply(leave, peeled)` with `degree[dst] += -1`, and `priority q: degree`
after:  `changed = edge_apply(leave, peeled); requeue q changed`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, effects
from vgraph.compiler.ir.rewrite import Context, Pass


class _Requeue:
    """Inserts the updates, and declares the frontiers that they need."""

    def __init__(self, program: ir.Program) -> None:
        self.program, self.fresh = program, ir.fresh_names(program)
        self.frontiers: list[ir.FrontierDecl] = []

    def hidden(self, hint: str) -> str:
        name = self.fresh(hint)
        self.frontiers.append(ir.FrontierDecl(name))
        return name

    def updates(self, written: frozenset[str], frontier: str | None) -> tuple[ir.Stmt, ...]:
        return tuple(ir.QueueUpdate(q.name, frontier) for q in self.program.queues if q.prop in written)

    def rule(self, n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        match n:
            case ir.EdgeApply():
                return self.edge(n)
            case ir.VertexApply():
                return self.vertex(n)
            case ir.Fill(prop=prop) if self.updates(frozenset({prop}), None):
                return (n, *self.updates(frozenset({prop}), None))
            case ir.Store(prop=prop, index=index) if self.updates(frozenset({prop}), None):
                at = self.hidden("changed")
                single = ir.FrontierSet(at, ir.FrontierKind.SINGLE, index)
                return (single, n, *self.updates(frozenset({prop}), at))
        return None

    def edge(self, n: ir.EdgeApply) -> tuple[ir.Stmt, ...] | None:
        written = effects(self.program.operator(n.op)).written
        if not self.updates(written, None):
            return None
        out = n.out or self.hidden("changed")
        return (ir.with_fields(n, {"out": out}), *self.updates(written, out))

    def vertex(self, n: ir.VertexApply) -> tuple[ir.Stmt, ...] | None:
        found = effects(self.program.operator(n.op))
        if not self.updates(found.written, None):
            return None
        queued = {q.prop for q in self.program.queues}
        own = all(w.role is Role.OWN for w in found.writes if w.prop in queued)
        visited, before = n.frontier, tuple[ir.Stmt, ...]()
        if not own:
            visited = None
        elif visited is not None and visited == n.out:
            visited = self.hidden("visited")
            before = (ir.FrontierCopy(visited, n.out),)
        return (*before, n, *self.updates(found.written, visited))


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not program.queues or context.distributed:  # members look at all that waits, `agree_on_buckets`
        return program
    requeue = _Requeue(program)
    body: list[ir.Stmt] = []
    filled = False
    for stmt in program.body:
        # What is written before any queue is filled is in it from the start.
        filled = filled or any(isinstance(n, ir.QueueFill) for n in ir.walk(stmt))
        body.extend(ir.transform_body((stmt,), requeue.rule) if filled else (stmt,))
    frontiers = (*program.frontiers, *requeue.frontiers)
    return ir.with_fields(program, {"body": tuple(body), "frontiers": frontiers})


requeue_changed = Pass("requeue-changed", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)
