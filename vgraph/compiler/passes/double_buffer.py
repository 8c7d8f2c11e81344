"""`double-buffer`: under BSP, what a round both reads at other vertices and writes is read from a copy.

before: `edge_apply(relax, f)` with `dist[dst] min= dist[src] + weight[edge]`
after:  `vertex_apply(relax.copy, f)`; `edge_apply(relax.bsp, f)` with `dist[dst] min= dist.old[src] + weight[edge]`

An edge operator reads `src` only inside its frontier, so only the frontier's vertices are copied.

Two phases are two loops, as are passes under locks, and what the first reduces into a global is there when the second
begins. A global that the operator also reads is copied, too: `@best.old = @best` before the apply.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, effects, role_of
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import VID, Type
from vgraph.schedule import FREE, ApplySchedule, Direction, Drive, FrontierLayout, Phases, Sync


class _Copies:
    """The copies that a program needs, and the operators that fill and read them."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.fresh = ir.fresh_names(program)
        self.old: dict[str, ir.Property] = {}
        self.globals: dict[str, ir.Global] = {}
        self.operators: dict[str, ir.Operator] = {}

    def of(self, name: str) -> str:
        """The name of the copy of a property."""
        if name not in self.old:
            declared = self.program.property(name)
            self.old[name] = ir.Property(
                self.fresh(f"{name}.old"), declared.type, ir.Site.VERTEX, ir.Origin.LOCAL, span=declared.span
            )
        return self.old[name].name

    def of_global(self, name: str, t: Type) -> str:
        """The name of the copy of a global."""
        if name not in self.globals:
            self.globals[name] = ir.Global(self.fresh(f"{name}.old"), t)
        return self.globals[name].name

    def buffered(self, operator: ir.Operator, stale: frozenset[str], combined: frozenset[str]) -> ir.Operator:
        """`operator` with reads of `stale` properties at other vertices, and of `combined` globals, from the copies."""

        def rule(n: ir.Node) -> ir.Node | None:
            if isinstance(n, ir.GlobalVar) and n.name in combined:
                return ir.with_fields(n, {"name": self.of_global(n.name, n.type)})
            if (
                isinstance(n, ir.Load)
                and n.prop in stale
                and role_of(operator, n.index) in (Role.SRC, Role.NEIGHBOR)
            ):
                return ir.with_fields(n, {"prop": self.of(n.prop)})
            return None

        # Two applies of one operator may copy different things.
        name = f"{operator.name}{'.bsp' if stale else ''}{'.phases' if combined else ''}"
        return ir.with_fields(ir.transform(operator, rule), {"name": name})

    def copier(self, operator: ir.Operator, stale: frozenset[str]) -> ir.Operator:
        """The vertex operator that fills the copies for `operator`."""
        taken = {p.name for p in self.program.params} | {f.name for f in self.program.frontiers}
        v = ir.Var(ir.FreshNames(taken)("v"), VID, span=operator.span)
        stores = tuple(
            ir.Store(
                self.of(p),
                v,
                ir.Load(p, v, self.program.property(p).type, span=operator.span),
                span=operator.span,
            )
            for p in sorted(stale)
        )
        return ir.Operator(f"{operator.name}.copy", (v.name,), stores, span=operator.span)

    def rule(self, n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        """An apply that reads what it writes: copy first, then apply."""
        if not isinstance(n, ir.Apply) or n.schedule is None:
            return None
        operator, fused = self.program.operator(n.op), n.chosen.phases is Phases.FUSED
        passes = n.chosen.conflict != FREE and not n.chosen.conflict.key
        found = effects(operator)
        stale, combined = frozenset[str](), frozenset[str]()
        # Else the buffer between the phases holds what was read before anything is written.
        if n.chosen.sync is Sync.BSP and (fused or n.chosen.pipeline):
            stale = frozenset(r.prop for r in found.stale_reads)
        if not fused or passes:
            combined = found.globals_read & found.globals_reduced
        if not stale and not combined:
            return None
        made = self.buffered(operator, stale, combined)
        self.operators[made.name] = made
        saved = tuple(
            ir.SetGlobal(old.name, ir.GlobalVar(name, old.type), span=n.span)
            for name, old in self.globals.items()
            if name in combined
        )
        changed = ir.with_fields(n, {"op": made.name})
        return (*saved, *(self.copied(n, operator, stale) if stale else ()), changed)

    def copied(self, n: ir.Apply, operator: ir.Operator, stale: frozenset[str]) -> tuple[ir.Stmt, ...]:
        """The apply that fills the copies of properties for the apply `n`."""
        copier = self.copier(operator, stale)
        self.operators[copier.name] = copier
        # Whoever reads at src alone needs what the frontier holds; others may read anywhere.
        at_src = all(r.role is Role.SRC for r in effects(operator).stale_reads)
        frontier = n.frontier if isinstance(n, ir.EdgeApply) and at_src else None
        drive = Drive.DATA if frontier else Drive.TOPOLOGY
        layout = n.chosen.frontier if frontier else FrontierLayout.SPARSE
        if layout is FrontierLayout.AUTO:
            layout = FrontierLayout.SPARSE
        plan = ApplySchedule(
            direction=Direction.PULL,
            phases=Phases.FUSED,
            drive=drive,
            frontier=layout,
            sync=Sync.BSP,
            deduplicate=False,
        )
        return (ir.VertexApply(copier.name, frontier, None, f"{n.label}.copy", plan, True, span=n.span),)


def _run(program: ir.Program, context: Context) -> ir.Program:
    copies = _Copies(program)
    body = ir.transform_body(program.body, copies.rule)
    if not copies.operators:
        return program
    changes = {
        "body": body,
        "properties": (*program.properties, *copies.old.values()),
        "globals": (*program.globals, *copies.globals.values()),
        "operators": (*program.operators, *copies.operators.values()),
    }
    return ir.with_fields(program, changes)


double_buffer = Pass("double-buffer", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)
