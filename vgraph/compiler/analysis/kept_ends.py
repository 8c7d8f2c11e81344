"""Values of the two ends of an arc, kept in locals while an activation is alone with them.

before: `a = f[src] * f[dst]; f[src] = a; f[dst] = f[src] + 1`
after:  `let s = f[src]; let d = f[dst]; a = s * d; s = a; f[src] = s; d = select(src == dst, s, d); ...`

So each is read once, however often it is written between.
"""

from __future__ import annotations

from collections.abc import Mapping

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.types import VID, Type, Vector

_Place = tuple[str, str]
"""A property, and the end at which it is read."""


class KeptEnds:
    """Rewrites the body of an activation that no other may meet at `ends`.

    `elements`: vectors of which elements are written by themselves are kept, too, and written whole; else they are left
    in memory.
    """

    def __init__(self, body: ir.Body, ends: tuple[str, str], *, elements: bool) -> None:
        self.ends, self.count = ends, 0
        self.barred: set[str] = set()
        """Properties that are left in memory."""
        for n in (n for s in body for n in ir.walk(s)):
            match n:
                case ir.Store():
                    alone = one_element(n) is not None and not elements
                    if self.at_end(n.index) is None or alone:
                        self.barred.add(n.prop)
                case ir.Reduce() | ir.CompareAndSwap() | ir.Union():
                    self.barred.add(n.prop)
                case ir.Load() if n.order is not ir.Order.PLAIN:
                    self.barred.add(n.prop)

    def at_end(self, index: ir.Expr) -> str | None:
        """Which end an index names."""
        return index.name if isinstance(index, ir.Var) and index.name in self.ends else None

    def places(self, body: ir.Body) -> dict[_Place, ir.Var]:
        """Locals for all places that the body reads or writes, vectors first: of those loads are under way sooner."""
        found: dict[_Place, ir.Var] = {}
        for n in (n for s in body for n in ir.walk(s)):
            if isinstance(n, ir.Load | ir.Store) and (place := self.place(n)) and place not in found:
                self.let(place, n.type if isinstance(n, ir.Load) else n.value.type, ir.Var("", VID), found)
        return dict(sorted(found.items(), key=lambda item: not isinstance(item[1].type, Vector)))

    def body(self, body: ir.Body, known: Mapping[_Place, ir.Var] | None = None) -> ir.Body:
        """A body in which some places are `known`, by the locals that have their values."""
        here = dict(known or {})
        return tuple(new for s in body for new in self.statement(s, here))

    def statement(self, s: ir.Stmt, here: dict[_Place, ir.Var]) -> ir.Body:
        bodies = [name for name in ("then", "other", "body") if isinstance(getattr(s, name, None), tuple)]
        alone = ir.with_fields(s, dict.fromkeys(bodies, ())) if bodies else s
        read = [n for n in ir.walk(alone) if isinstance(n, ir.Load) and not isinstance(s, ir.While)]
        before = [
            self.let(place, n.type, n, here) for n in read if (place := self.place(n)) and place not in here
        ]
        # Vectors first: their loads are under way while lanes agree on scalars.
        before.sort(key=lambda let: not isinstance(let.type, Vector))
        changes = {name: self.body(getattr(s, name), here) for name in bodies}
        new = ir.with_fields(self.replaced(alone, here), changes)
        place = self.place(new) if isinstance(new, ir.Store) else None
        if not isinstance(new, ir.Store) or place is None:
            return (*before, new)
        known = here.get(place)
        told = ir.Assign(known.name, new.value) if known else self.let(place, new.value.type, new.value, here)
        return (*before, told, ir.with_fields(new, {"value": here[place]}), *self.other_end(place, here))

    def place(self, n: ir.Load | ir.Store) -> _Place | None:
        """What is read or written, if it is kept."""
        end = self.at_end(n.index)
        return None if end is None or n.prop in self.barred else (n.prop, end)

    def let(self, place: _Place, t: Type, value: ir.Expr, here: dict[_Place, ir.Var]) -> ir.Let:
        """A local that has the value of a place from now on."""
        self.count += 1
        name = f"{place[1]}.{place[0]}.{self.count}"
        here[place] = ir.Var(name, t)
        return ir.Let(name, t, value)

    def other_end(self, place: _Place, here: dict[_Place, ir.Var]) -> ir.Body:
        """The other end may be the same vertex."""
        (other,) = (end for end in self.ends if end != place[1])
        kept = here.get((place[0], other))
        if kept is None:
            return ()
        loop = ir.Compare("==", *(ir.Var(end, VID) for end in self.ends))
        return (ir.Assign(kept.name, ir.Select(loop, here[place], kept)),)

    def replaced(self, s: ir.Stmt, here: Mapping[_Place, ir.Var]) -> ir.Stmt:
        """The statement, in which known values are not read again."""

        def rule(n: ir.Node) -> ir.Node | None:
            place = self.place(n) if isinstance(n, ir.Load) else None
            return None if place is None else here.get(place)

        return ir.transform(s, rule)
