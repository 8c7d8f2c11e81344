"""`requeue-changed`: behind everything that writes the property of a priority queue, say whose values may have changed.

before: `edge_apply(leave, peeled)` with `degree[dst] += -1`, and `priority q: degree`
after:  `changed = edge_apply(leave, peeled); requeue q changed`
"""

from __future__ import annotations

from vgraph.compiler.effects import Role, effects
from vgraph.compiler.ir import (
    EdgeApply,
    Fill,
    FrontierCopy,
    FrontierDecl,
    FrontierKind,
    FrontierSet,
    Level,
    Node,
    Program,
    QueueFill,
    QueueUpdate,
    Stmt,
    Store,
    VertexApply,
)
from vgraph.compiler.rewrite import Context, Pass, fresh_names, transform_body, walk, with_fields


class _Requeue:
    """Inserts the updates, and declares the frontiers that they need."""

    def __init__(self, program: Program) -> None:
        self.program, self.fresh = program, fresh_names(program)
        self.frontiers: list[FrontierDecl] = []

    def hidden(self, hint: str) -> str:
        name = self.fresh(hint)
        self.frontiers.append(FrontierDecl(name))
        return name

    def updates(self, written: frozenset[str], frontier: str | None) -> tuple[Stmt, ...]:
        return tuple(QueueUpdate(q.name, frontier) for q in self.program.queues if q.prop in written)

    def rule(self, n: Node) -> tuple[Stmt, ...] | None:
        match n:
            case EdgeApply():
                return self.edge(n)
            case VertexApply():
                return self.vertex(n)
            case Fill(prop=prop) if self.updates(frozenset({prop}), None):
                return (n, *self.updates(frozenset({prop}), None))
            case Store(prop=prop, index=index) if self.updates(frozenset({prop}), None):
                at = self.hidden("changed")
                single = FrontierSet(at, FrontierKind.SINGLE, index)
                return (single, n, *self.updates(frozenset({prop}), at))
        return None

    def edge(self, n: EdgeApply) -> tuple[Stmt, ...] | None:
        written = effects(self.program.operator(n.op)).written
        if not self.updates(written, None):
            return None
        out = n.out or self.hidden("changed")
        return (with_fields(n, {"out": out}), *self.updates(written, out))

    def vertex(self, n: VertexApply) -> tuple[Stmt, ...] | None:
        found = effects(self.program.operator(n.op))
        if not self.updates(found.written, None):
            return None
        queued = {q.prop for q in self.program.queues}
        own = all(w.role is Role.OWN for w in found.writes if w.prop in queued)
        visited, before = n.frontier, tuple[Stmt, ...]()
        if not own:
            visited = None
        elif visited is not None and visited == n.out:
            visited = self.hidden("visited")
            before = (FrontierCopy(visited, n.out),)
        return (*before, n, *self.updates(found.written, visited))


def _run(program: Program, context: Context) -> Program:
    if not program.queues:
        return program
    requeue = _Requeue(program)
    body: list[Stmt] = []
    filled = False
    for stmt in program.body:
        # What is written before any queue is filled is in it from the start.
        filled = filled or any(isinstance(n, QueueFill) for n in walk(stmt))
        body.extend(transform_body((stmt,), requeue.rule) if filled else (stmt,))
    frontiers = (*program.frontiers, *requeue.frontiers)
    return with_fields(program, {"body": tuple(body), "frontiers": frontiers})


requeue_changed = Pass("requeue-changed", _run, takes=Level.ALGORITHM, gives=Level.ALGORITHM)
