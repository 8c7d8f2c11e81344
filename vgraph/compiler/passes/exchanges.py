"""What goes over among the members of a set of devices: buffers, what fills them, what is done with what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.passes.lowering import Lowering
from vgraph.compiler.types import BOOL, I64, VID, Type
from vgraph.records import dataclass

ZERO, ONE = ir.Const(0, I64), ir.Const(1, I64)
GHOST, PLACE = ir.Var("set.v", VID), ir.Var("set.i", I64)
"""The vertex and the place of a loop over ghosts or shared vertices, until it has names of its own."""


@dataclass
class Mails:
    """What goes over in one exchange: what fills the buffers, and what is done with what came."""

    rows: list[tuple[str, str, str]] = field(default_factory=list)
    before: list[ir.Stmt] = field(default_factory=list)
    out: dict[str, list[ir.Stmt]] = field(default_factory=lambda: {part.GHOSTS: [], part.SHARED: []})
    got: dict[str, list[ir.Stmt]] = field(default_factory=lambda: {part.GHOSTS: [], part.SHARED: []})
    after: list[ir.Stmt] = field(default_factory=list)


class Exchanging(Lowering):
    """A pass that makes exchanges."""

    def mail(self, mails: Mails, hint: str, t: Type, way: str) -> tuple[str, str]:
        """Two buffers, of which one goes to the other."""
        out, got = (self.fresh(part.buffer_of(hint, end, way)) for end in ("to", "at"))
        for name in (out, got):
            self.declare("properties", ir.Property(name, t, ir.Site.QUEUE, ir.Origin.LOCAL))
        mails.rows.append((out, got, way))
        return out, got

    def refresh(self, mails: Mails, name: str) -> None:
        """Ghosts get what owners have."""
        t = self.type_of(name)
        out, got = self.mail(mails, name, t, "ghosts")
        mails.out[part.SHARED].append(ir.Store(out, PLACE, ir.Load(name, GHOST, t)))
        mails.got[part.GHOSTS].append(ir.Store(name, GHOST, ir.Load(got, PLACE, t)))

    def fold(self, mails: Mails, name: str, t: Type, op: str, value: ir.Expr, first: ir.Expr) -> None:
        """A global becomes `first`, combined with the values of all members in their order."""
        out, got = self.mail(mails, name, t, "all")
        mails.before.append(ir.Store(out, ZERO, value))
        k = self.fresh("k")
        each = ir.SetGlobal(name, combined(op, ir.GlobalVar(name, t), ir.Load(got, ir.Var(k, I64), t)))
        loop = ir.For(k, ZERO, self.number(part.MEMBERS), ONE, (each,))
        mails.after += [ir.SetGlobal(name, first), loop]

    def listed(self, array: str, body: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """A loop over ghosts or shared vertices, at places, if there is anything to do."""
        if not body:
            return []
        names = {old: self.fresh(old) for old in (GHOST.name, PLACE.name)}
        loop = ir.ParFor(GHOST.name, ir.Listed(self.array(array)), tuple(body), position=PLACE.name)
        names |= {n.name: self.fresh(n.name) for n in ir.walk(loop) if isinstance(n, ir.Let)}
        return [ir.rename(loop, names)]

    def array(self, name: str) -> str:
        """A hidden array of vertices."""
        return self.given(name, VID, ir.Site.ARRAY, ir.Origin.PARAM)

    def given(self, name: str, t: Type, site: ir.Site, origin: ir.Origin) -> str:
        """A hidden property."""
        if all(p.name != name for p in self._declared.get("properties", ())):  # type: ignore[attr-defined]
            self.declare("properties", ir.Property(name, t, site, origin))
        return name

    def exchange(self, mails: Mails) -> list[ir.Stmt]:
        """The exchange, with what stands around it."""
        if not mails.rows:
            return []
        outs, gots, ways = zip(*mails.rows, strict=True)
        filled = [s for array, body in mails.out.items() for s in self.listed(array, body)]
        taken = [s for array, body in mails.got.items() for s in self.listed(array, body)]
        return [*mails.before, *filled, ir.AllToAll(outs, gots, ways), *taken, *mails.after]

    def type_of(self, name: str) -> Type:
        return self.program.property(name).type


def combined(op: str, a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """Two values by the operation of a reduction."""
    if a.type == BOOL and op in ("|", "&"):
        return ir.Logical("or" if op == "|" else "and", a, b)
    return ir.Binary(op, a, b)
