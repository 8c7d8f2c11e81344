"""`divide-loops`: loops whose iterations meet in reductions only are divided over the members of a set of devices.

before: `for k in range(0, n, 1) { ... centrality[v] += ... }`
after:  `for k in range(0, n, 1) divided { ... }`, and behind `place-exchanges`, where every member has the whole graph,
        `fill centrality.part = 0`
        `while true { take sources.taken of n; ...; for k in range(first, last, 1) { ... centrality.part[v] += ... } }`
        and the parts of all members are added up where vertices are owned.

A member takes so many iterations as the run's policy gives it, and runs them as one device would, by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.analysis.iterations import Iterations, divisible, iterations
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.exchanges import GHOST, ONE, PLACE, ZERO, Mails, combined
from vgraph.compiler.passes.lowering import FALSE, TRUE
from vgraph.compiler.types import BOOL, I64, VID

if TYPE_CHECKING:
    from vgraph.compiler.passes.exchanges import Exchanging


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not context.divides:
        return program
    good, refused = divisible(program)
    if not good and context.divides == "must":
        from vgraph.refusals.sets import NotDivided

        found = refused[0] if refused else None
        span = found.span if found else next(n.span for n in ir.walk(program) if n.span is not None)
        assert span is not None
        reason = found.reason if found else "it has no loop `for s in sources:` over searches"
        raise NotDivided(span, program.name, reason)

    def rule(n: ir.Stmt) -> ir.Body | None:
        return (ir.with_fields(n, {"divided": True}),) if any(n is loop for loop in good) else None

    return ir.with_fields(program, {"body": ir.transform_driver(program.body, rule)})


divide_loops = Pass("divide-loops", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)


def divided_loop(low: Exchanging, n: ir.For, divided: Sequence[ir.For]) -> list[ir.Stmt]:
    """What `place-exchanges` makes of one of the `divided` loops."""
    found = iterations(low.program, n, divided)
    assert isinstance(found, Iterations), found.reason
    return _Dividing(low, n, found).statements()


class _Dividing:
    """A divided loop: what it reduces goes into parts of the member's own, which are combined behind it."""

    def __init__(self, low: Exchanging, loop: ir.For, found: Iterations) -> None:
        self.low, self.loop, self.found = low, loop, found
        self.parts = {p: low.fresh(f"{p}.part") for p in (*found.reduced, *sorted(found.elements))}
        self.marks = {p: low.fresh(f"{p}.stored") for p in sorted(found.elements)}
        self.scalars = {s: low.fresh(f"{s.removeprefix('@')}.part") for s in found.scalars}
        self.types = {f"@{g.name}": g.type for g in low.program.globals}
        self.types |= {m.name: m.type for m in ir.walk(low.program) if isinstance(m, ir.Let)}
        self.operators: dict[str, str] = {}

    def statements(self) -> list[ir.Stmt]:
        low, ahead, owners, ghosts = self.low, Mails(), Mails(), Mails()
        for name in sorted(self.found.reads):
            low.refresh(ahead, name)
        start = self.begin()
        loop = self.taking()
        for name, own in self.parts.items():
            self.gather(owners, name, own)
            low.refresh(ghosts, name)
        for name, own in self.scalars.items():
            self.fold(owners, name, own)
        what = ", ".join(sorted([*self.parts, *(s.removeprefix("@") for s in self.scalars)])) or "nothing"
        low.context.notes.append(
            f"the iterations over `{self.loop.name}` are divided over the members; behind them they combine {what}"
        )
        return [*low.exchange(ahead), *start, *loop, *low.exchange(owners), *low.exchange(ghosts)]

    def begin(self) -> list[ir.Stmt]:
        """Parts that have got nothing yet."""
        made: list[ir.Stmt] = []
        for name, own in self.parts.items():
            t = self.low.type_of(name)
            self.low.declare("properties", ir.Property(own, t, ir.Site.VERTEX, ir.Origin.LOCAL))
            made.append(ir.Fill(own, identity(self.found.reduced.get(name, "+"), t)))
        for own in self.marks.values():
            self.low.declare("properties", ir.Property(own, BOOL, ir.Site.VERTEX, ir.Origin.LOCAL))
            made.append(ir.Fill(own, FALSE))
        for name, own in self.scalars.items():
            t = self.types[name]
            self.low.declare("globals", ir.Global(own, t))
            made.append(ir.SetGlobal(own, identity(self.found.scalars[name], t)))
        return made

    def taking(self) -> list[ir.Stmt]:
        """The loop over what the member takes, until nothing is left."""
        low, n = self.low, self.loop
        sources = [m.prop for s in n.body[:1] for m in ir.walk(s) if isinstance(m, ir.Load) and m.type == VID]
        taken = low.fresh(part.taken_of(sources[0] if sources else n.name))
        low.declare("properties", ir.Property(taken, I64, ir.Site.QUEUE, ir.Origin.LOCAL))
        count, start = low.fresh("count"), low.fresh("start")
        first, last = (ir.Binary("+", ir.Var(start, I64), ir.Load(taken, at, I64)) for at in (ZERO, ONE))
        done = ir.Compare(">=", ir.Load(taken, ZERO, I64), ir.Load(taken, ONE, I64))
        body = (
            ir.Take(taken, ir.Var(count, I64)),
            ir.If(done, (ir.Break(),)),
            ir.with_fields(
                n, {"start": first, "stop": last, "step": ONE, "body": self.body(), "divided": False}
            ),
        )
        size = ir.Binary("max", ZERO, ir.Binary("-", n.stop, ir.Var(start, I64)))
        return [
            ir.Let(start, I64, n.start),
            ir.Let(count, I64, size),
            ir.Store(taken, ZERO, ZERO),
            ir.Store(taken, ONE, ZERO),
            ir.While(TRUE, body),
        ]

    # --- the body, on parts -----------------------------------------------------------------------------------

    def body(self) -> ir.Body:
        return ir.transform_body(self.loop.body, self.rule)

    def rule(self, n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.EdgeApply(op=op) | ir.VertexApply(op=op):
                return ir.with_fields(n, {"op": self.operator(op)})
            case ir.Store(prop=name, index=at) if name in self.marks:
                return ir.with_fields(n, {"prop": self.parts[name]}), ir.Store(self.marks[name], at, TRUE)
            case ir.Load(prop=name) | ir.Store(prop=name) | ir.Reduce(prop=name) if name in self.parts:
                return ir.with_fields(n, {"prop": self.parts[name]})
            case ir.GlobalVar(name=name) | ir.SetGlobal(name=name) | ir.ReduceGlobal(name=name):
                own = self.scalars.get(f"@{name}")
                return ir.with_fields(n, {"name": own}) if own else None
            case ir.Var(name=name) if name in self.scalars:
                return ir.GlobalVar(self.scalars[name], self.types[name])
            case ir.Assign(name=name, value=value) if name in self.scalars:
                return ir.SetGlobal(self.scalars[name], value)
            case ir.Accumulate(name=name, op=op, value=value) if name in self.scalars:
                old = ir.GlobalVar(self.scalars[name], self.types[name])
                return ir.SetGlobal(self.scalars[name], combined(op, old, value))
        return None

    def operator(self, name: str) -> str:
        """The copy of an operator that writes to parts."""
        if name not in self.operators:
            own = self.operators[name] = self.low.fresh(f"{name}.part")
            copy = ir.transform(self.low.program.operator(name), self.rule)
            self.low.declare("operators", ir.with_fields(copy, {"name": own}))
        return self.operators[name]

    # --- behind the loop --------------------------------------------------------------------------------------

    def gather(self, mails: Mails, name: str, own: str) -> None:
        """Owners take what all members have for a property."""
        low, t = self.low, self.low.type_of(name)
        v = low.fresh("v")
        at = ir.Var(v, VID)
        out, got = low.mail(mails, name, t, "owners")
        mails.out[part.GHOSTS].append(ir.Store(out, PLACE, ir.Load(own, GHOST, t)))
        old, new, came = ir.Load(name, at, t), ir.Load(own, at, t), ir.Load(got, PLACE, t)
        if name in self.marks:
            marks, marked = low.mail(mails, self.marks[name], BOOL, "owners")
            mails.out[part.GHOSTS].append(ir.Store(marks, PLACE, ir.Load(self.marks[name], GHOST, BOOL)))
            mails.before.append(
                ir.FillEach(name, v, ir.Select(ir.Load(self.marks[name], at, BOOL), new, old))
            )
            stored = ir.Store(name, GHOST, came)
            mails.got[part.SHARED].append(ir.If(ir.Load(marked, PLACE, BOOL), (stored,)))
            return
        op = self.found.reduced[name]
        mails.before.append(ir.FillEach(name, v, combined(op, old, new)))
        mails.got[part.SHARED].append(ir.Reduce(op, name, GHOST, came))

    def fold(self, mails: Mails, name: str, own: str) -> None:
        """A scalar is what it was, combined with what all members have."""
        low, t, op = self.low, self.types[name], self.found.scalars[name]
        part_of = ir.GlobalVar(own, t)
        if name.startswith("@"):
            low.fold(mails, name[1:], t, op, part_of, ir.GlobalVar(name[1:], t))
            return
        whole = low.fresh(f"{name}.whole")
        low.declare("globals", ir.Global(whole, t))
        low.fold(mails, whole, t, op, part_of, identity(op, t))
        mails.after.append(ir.Assign(name, combined(op, ir.Var(name, t), ir.GlobalVar(whole, t))))
