"""What goes over among the members of a set of devices: buffers, what fills them, what is done with what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering
from vgraph.compiler.types import BOOL, I64, VID, Scalar, Type, Vector, element_of
from vgraph.records import dataclass
from vgraph.schedule import CHANGED, DENSE, Volume

ZERO, ONE = ir.Const(0, I64), ir.Const(1, I64)
ALL = ir.Const(-1, I64)
_PARTLY = "set.partly"
"""A global: whether what this member says that it sends is not all."""
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
    volume: Volume = DENSE
    changed: str = ""
    """The frontier of the vertices whose values have changed, unless the volume is dense."""
    packed: list[ir.Stmt] = field(default_factory=list)
    """What is done when those of the frontier are in the buffers."""


Folds = Callable[[Mails], None]
"""Puts what members add to globals into what goes over."""


class Exchanging(Lowering):
    """A pass that makes exchanges."""

    def __init__(self, program: ir.Program, context: Context) -> None:
        super().__init__(program, context)
        self._common: dict[str, tuple[str, str]] = {}

    def mail(self, mails: Mails, hint: str, t: Type, way: str) -> tuple[str, str]:
        """Two buffers, of which one goes to the other."""
        out, got = (self.fresh(part.buffer_of(hint, end, way)) for end in ("to", "at"))
        for name in (out, got):
            self.declare("properties", ir.Property(name, t, ir.Site.QUEUE, ir.Origin.LOCAL))
        mails.rows.append((out, got, way))
        return out, got

    def common(self, mails: Mails, hint: str, t: Type, way: str) -> tuple[str, str]:
        """Two buffers that all exchanges have."""
        found = self._common.get(way)
        if found is None:
            found = self._common[way] = self.mail(mails, hint, t, way)
        else:
            mails.rows.append((*found, way))
        return found

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

    def listed(self, array: str, body: Sequence[ir.Stmt], bounds: tuple[ir.Var, ...] = ()) -> list[ir.Stmt]:
        """A loop over ghosts or shared vertices, at places, if there is anything to do; or over those within bounds."""
        if not body:
            return []
        names = {old: self.fresh(old) for old in (GHOST.name, PLACE.name)}
        loop = ir.ParFor(GHOST.name, ir.Listed(self.array(array), *bounds), tuple(body), position=PLACE.name)
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
        filled = [s for array, body in mails.out.items() for s in self.listed(array, body)]
        if filled and mails.volume is not DENSE:
            filled, taken = self.partly(mails, filled)
        else:
            taken = [s for array, body in mails.got.items() for s in self.listed(array, body)]
        outs, gots, ways = zip(*mails.rows, strict=True)
        return [*filled, *mails.before, ir.AllToAll(outs, gots, ways), *taken, *mails.after]

    def partly(self, mails: Mails, dense: list[ir.Stmt]) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        """What fills the buffers with values of vertices of a frontier alone, by those who get them, or with `dense`
        all if that is less; and what takes them. How many there are for each member goes first."""
        (array,) = (a for a, body in mails.out.items() if body)
        (back,) = (a for a in mails.out if a != array)
        bytes_ = sum(self.bytes_of(out) for out, _, way in mails.rows if way in ("owners", "ghosts"))
        number, numbers = self.common(mails, "number", VID, "owners" if array == part.GHOSTS else "ghosts")
        sent, came = self.common(mails, "sent", I64, "each")
        mails.rows[:] = [*mails.rows[:-3:-1], *mails.rows[:-2]]  # how many, then which
        counts = self.counts(sent)
        taken = [self.taking(mails, back, numbers, came)]
        listed = ir.FrontierConvert(mails.changed, ir.Layout.SPARSE)
        to = ir.Var("p", I64)
        told = (ir.Store(sent, to, ir.Load(counts, to, I64)), ir.Store(counts, to, ZERO))
        partly = ir.GlobalVar(_PARTLY, BOOL)
        pack = (
            self.packing(mails, array, number, counts),
            self.for_each(*told),
            ir.SetGlobal(_PARTLY, TRUE),
        )
        if mails.volume is CHANGED:
            return [listed, *pack, *mails.packed], taken
        few = ir.Var(self.fresh("few"), BOOL)
        whole = (self.for_each(ir.Store(sent, to, ALL)), ir.SetGlobal(_PARTLY, FALSE))
        size = ir.Binary("*", ir.FrontierSize(mails.changed), ir.Const(bytes_ + self.bytes_of(number), I64))
        room = ir.Binary("*", ir.ArrayLength(self.array(array)), ir.Const(bytes_, I64))
        price = (self.number(f"policy.changed_{what}") for what in ("factor", "bytes"))
        test = ir.Compare("<", ir.Binary("+", ir.Binary("*", size, next(price)), next(price)), room)
        filled = (ir.If(partly, whole), *dense)
        choice = [ir.If(few, pack), *mails.packed, ir.If(few, (), filled)]
        return [listed, ir.Let(few.name, BOOL, test), *choice], taken

    def for_each(self, *body: ir.Stmt) -> ir.Stmt:
        """What one thread does for each member `p`."""
        p = self.fresh("p")
        named = tuple(ir.rename(s, {"p": p}) for s in body)
        return ir.Single((ir.For(p, ZERO, self.number(part.MEMBERS), ONE, named),))

    def packing(self, mails: Mails, array: str, number: str, counts: str) -> ir.Stmt:
        """The loop that puts values of a frontier's vertices into the buffers."""
        v, c, p, k = (self.fresh(x) for x in ("v", "c", "p", "k"))
        at = ir.Cast(I64, ir.Var(v, VID))
        begin, end = (self.looked_up(part.COPIES, i, I64) for i in (at, ir.Binary("+", at, ONE)))
        copy = [self.looked_up(name, ir.Var(c, I64), VID) for name in (part.COPY_OF, part.COPY_AT)]
        start = self.looked_up(part.STARTS[array], ir.Var(p, I64), I64)
        stores = [ir.Store(number, PLACE, copy[1]), *mails.out[array]]

        def rule(n: ir.Node) -> ir.Node | None:
            if isinstance(n, ir.InFrontier) and n.frontier == mails.changed:
                return TRUE
            return ir.Var(v, VID) if n == GHOST else None

        body = (
            ir.Let(p, I64, ir.Cast(I64, copy[0])),
            ir.Reserve(k, counts, ir.Var(p, I64)),
            ir.Let(PLACE.name, I64, ir.Binary("+", start, ir.Var(k, I64))),
            *(ir.transform(s, rule) for s in stores),
        )
        loop = ir.ParFor(v, ir.SparseMembers(mails.changed), (ir.For(c, begin, end, ONE, body),))
        return ir.rename(loop, {PLACE.name: self.fresh(PLACE.name)})

    def taking(self, mails: Mails, array: str, numbers: str, came: str) -> ir.Stmt:
        """The loops over what came from each member: all of its part of the list, or as much as it said."""
        p, said, first, last, u = (self.fresh(x) for x in ("p", "said", "first", "last", "v"))
        start, stop, count = (ir.Var(x, I64) for x in (first, last, said))
        member = ir.Var(p, I64)
        starts = [self.looked_up(part.STARTS[array], i, I64) for i in (member, ir.Binary("+", member, ONE))]
        some = ir.Compare(">=", count, ZERO)
        body = (
            ir.Let(GHOST.name, VID, ir.Var(u, VID)),
            ir.If(some, (ir.Assign(GHOST.name, ir.Load(numbers, PLACE, VID)),)),
            *mails.got[array],
        )
        loop = ir.ParFor(u, ir.Listed(self.array(array), start, stop), body, position=PLACE.name)
        names = {x.name: self.fresh(x.name) for x in (GHOST, PLACE)}
        names |= {
            n.name: self.fresh(n.name) for n in ir.walk(loop) if isinstance(n, ir.Let) and n.name not in names
        }
        each = (
            ir.Let(said, I64, ir.Load(came, member, I64)),
            ir.Let(first, I64, starts[0]),
            ir.Let(last, I64, starts[1]),
            ir.If(some, (ir.Assign(last, ir.Binary("+", start, count)),)),
            ir.If(ir.Compare("<", start, stop), (ir.rename(loop, names),)),
        )
        return ir.For(p, ZERO, self.number(part.MEMBERS), ONE, each)

    def counts(self, sent: str) -> str:
        """The buffer in which a member counts what goes to each other; it is zero between exchanges, and what is `sent`
        says that all is until the first time that not all is."""
        known = {p.name for p in self.declared("properties") if isinstance(p, ir.Property)}
        if part.COUNTS not in known:
            self.given(part.COUNTS, I64, ir.Site.QUEUE, ir.Origin.LOCAL)
            self.declare("globals", ir.Global(_PARTLY, BOOL))
            to = ir.Var("p", I64)
            self.begin.append(self.for_each(ir.Store(part.COUNTS, to, ZERO), ir.Store(sent, to, ALL)))
            self.begin.append(ir.SetGlobal(_PARTLY, FALSE))
        return part.COUNTS

    def looked_up(self, array: str, at: ir.Expr, t: Scalar) -> ir.Expr:
        """An element of a hidden array, which is there."""
        self.given(array, t, ir.Site.ARRAY, ir.Origin.PARAM)
        return ir.Lookup(array, (at,), ir.Const(0, t))

    def bytes_of(self, buffer: str) -> int:
        """Bytes of an element of a buffer."""
        (t,) = (
            p.type for p in self.declared("properties") if isinstance(p, ir.Property) and p.name == buffer
        )
        return self.program.target.bits_of((element_of(t),)) // 8 * (t.length if isinstance(t, Vector) else 1)

    def type_of(self, name: str) -> Type:
        return self.program.property(name).type


def combined(op: str, a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """Two values by the operation of a reduction."""
    if a.type == BOOL and op in ("|", "&"):
        return ir.Logical("or" if op == "|" else "and", a, b)
    return ir.Binary(op, a, b)
