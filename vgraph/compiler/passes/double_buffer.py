"""`double-buffer`: under BSP, what a round both reads at other vertices and writes is read from a copy.

before: `edge_apply(relax, f)` with `dist[dst] min= dist[src] + weight[edge]`
after:  `vertex_apply(relax.copy, f)`; `edge_apply(relax.bsp, f)` with `dist[dst] min= dist.old[src] + weight[edge]`

An edge operator reads `src` only inside its frontier, so only the frontier's vertices are copied.
"""

from __future__ import annotations

from vgraph.compiler.effects import Role, effects, role_of
from vgraph.compiler.ir import (
    EdgeApply,
    Level,
    Load,
    Node,
    Operator,
    Origin,
    Program,
    Property,
    Site,
    Stmt,
    Store,
    Var,
    VertexApply,
)
from vgraph.compiler.rewrite import Context, Pass, fresh_names, transform, transform_body, with_fields
from vgraph.compiler.types import VID
from vgraph.schedule import ApplySchedule, Direction, Drive, FrontierLayout, Phases, Sync


def _run(program: Program, context: Context) -> Program:
    fresh = fresh_names(program)
    old: dict[str, Property] = {}
    operators: dict[str, Operator] = {}

    def copy_of(name: str) -> str:
        if name not in old:
            declared = program.property(name)
            old[name] = Property(
                fresh(f"{name}.old"), declared.type, Site.VERTEX, Origin.LOCAL, span=declared.span
            )
        return old[name].name

    def buffered(operator: Operator, stale: frozenset[str]) -> Operator:
        def rule(n: Node) -> Node | None:
            if (
                isinstance(n, Load)
                and n.prop in stale
                and role_of(operator, n.index) in (Role.SRC, Role.NEIGHBOR)
            ):
                return with_fields(n, {"prop": copy_of(n.prop)})
            return None

        return with_fields(transform(operator, rule), {"name": f"{operator.name}.bsp"})

    def copier(operator: Operator, stale: frozenset[str]) -> Operator:
        v = Var("v", VID, span=operator.span)
        stores = tuple(
            Store(copy_of(p), v, Load(p, v, program.property(p).type, span=operator.span), span=operator.span)
            for p in sorted(stale)
        )
        return Operator(f"{operator.name}.copy", ("v",), stores, span=operator.span)

    def rule(n: Node) -> tuple[Stmt, ...] | None:
        if (
            not isinstance(n, EdgeApply | VertexApply)
            or n.schedule is None
            or n.schedule.sync is not Sync.BSP
        ):
            return None
        if n.schedule.phases is not Phases.FUSED and not n.schedule.pipeline:
            return None  # the buffer between the phases holds what was read before anything is written
        operator = program.operator(n.op)
        stale = frozenset(r.prop for r in effects(operator).stale_reads)
        if not stale:
            return None
        for made in (buffered(operator, stale), copier(operator, stale)):
            operators[made.name] = made
        frontier = n.frontier if isinstance(n, EdgeApply) else None
        drive = Drive.DATA if frontier else Drive.TOPOLOGY
        layout = n.schedule.frontier if frontier else FrontierLayout.SPARSE
        if layout is FrontierLayout.AUTO:
            layout = FrontierLayout.SPARSE
        plan = ApplySchedule(Direction.PULL, Phases.FUSED, drive, layout, Sync.BSP, False)
        copy = VertexApply(f"{n.op}.copy", frontier, None, f"{n.label}.copy", plan, span=n.span)
        return copy, with_fields(n, {"op": f"{n.op}.bsp"})

    body = transform_body(program.body, rule)
    if not old:
        return program
    changes = {
        "body": body,
        "properties": (*program.properties, *old.values()),
        "operators": (*program.operators, *operators.values()),
    }
    return with_fields(program, changes)


double_buffer = Pass("double-buffer", _run, takes=Level.SCHEDULED, gives=Level.SCHEDULED)
