"""Values of the two ends of an arc, kept in locals while an activation is alone with them.

before: `a = f[src] * f[dst]; f[src] = a; f[dst] = f[src] + 1`
after:  `let s = f[src]; let d = f[dst]; a = s * d; s = a; f[src] = s; d = select(src == dst, s, d); ...`

So each is read once, however often it is written between.
"""

from __future__ import annotations

from collections.abc import Mapping

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.ir.rewrite import children, transform, walk, with_fields
from vgraph.compiler.types import VID, Type

_Place = tuple[str, str]
"""A property, and the end at which it is read."""


class KeptEnds:
    """Rewrites the body of an activation that no other may meet at `ends`. `elements`: of a vector of which elements are
    written by themselves all is read and written; else such vectors are left in memory."""

    def __init__(self, body: ir.Body, ends: tuple[str, str], *, elements: bool) -> None:
        self.ends, nodes = ends, [n for s in body for n in walk(s)]
        self.count = 0
        others = (ir.Reduce, ir.CompareAndSwap, ir.Union, ir.Exchange, ir.ScratchStore)
        self.barred = {n.prop for n in nodes if isinstance(n, others) and hasattr(n, "prop")}
        for n in nodes:
            if isinstance(n, ir.Store) and not (self.at_end(n.index) and (elements or not one_element(n))):
                self.barred.add(n.prop)
            elif isinstance(n, ir.Load) and n.order is not ir.Order.PLAIN:
                self.barred.add(n.prop)

    def at_end(self, index: ir.Expr) -> str | None:
        """Which end an index names."""
        return index.name if isinstance(index, ir.Var) and index.name in self.ends else None

    def body(self, body: ir.Body, known: Mapping[_Place, ir.Var] | None = None) -> ir.Body:
        """A body in which some places are `known`, by the locals that have their values."""
        here = dict(known or {})
        return tuple(new for s in body for new in self.statement(s, here))

    def statement(self, s: ir.Stmt, here: dict[_Place, ir.Var]) -> ir.Body:
        before: list[ir.Stmt] = []
        inner = {name for name in ("then", "other", "body") if isinstance(getattr(s, name, None), tuple)}
        again = isinstance(s, ir.While | ir.For)
        whole = s if not inner else with_fields(s, dict.fromkeys(inner, ()))
        if not again:
            for n in walk(whole):
                if isinstance(n, ir.Load) and (end := self.at_end(n.index)) and n.prop not in self.barred:
                    if (n.prop, end) not in here:
                        before.append(self.let((n.prop, end), n.type, n, here))
        new = self.replaced(whole, here)
        changes = {name: self.body(getattr(s, name), here) for name in inner}
        new = with_fields(new, changes) if inner else new
        if not (
            isinstance(new, ir.Store) and (end := self.at_end(new.index)) and new.prop not in self.barred
        ):
            return (*before, new)
        place = new.prop, end
        if place in here:
            before.append(ir.Assign(here[place].name, new.value))
        else:
            before.append(self.let(place, new.value.type, new.value, here))
        stored = with_fields(new, {"value": here[place]})
        return (*before, stored, *self.other_end(place, here))

    def let(self, place: _Place, t: Type, value: ir.Expr, here: dict[_Place, ir.Var]) -> ir.Let:
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
        def rule(n: ir.Node) -> ir.Node | None:
            if isinstance(n, ir.Load) and (end := self.at_end(n.index)):
                return here.get((n.prop, end))
            return None

        return transform(s, rule)
