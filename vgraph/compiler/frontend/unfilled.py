"""Properties that a way through the algorithm may come to before their declaration: they begin at zero."""

from __future__ import annotations

from dataclasses import replace

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import zero


def fill_unfilled(program: ir.Program) -> ir.Program:
    """Fill first what a branch or loop declares that may not be taken, and that is used all the same."""
    sites = (ir.Site.VERTEX, ir.Site.NUMBERED)
    own = {p.name: p for p in program.properties if p.origin is ir.Origin.LOCAL and p.site in sites}
    found = _Ways(program, frozenset(own))
    found.filled = found.body(program.body, frozenset())
    found.uses(*(r.value for r in program.results if isinstance(r.value, ir.Expr)))
    found.missing |= {r.value for r in program.results if isinstance(r.value, str)} - found.filled
    begin = tuple(
        ir.Fill(p.name, None if p.disjoint else zero(p.type, p.span), span=p.span)
        for p in own.values()
        if p.name in found.missing
    )
    return replace(program, body=begin + program.body) if begin else program


class _Ways:
    """Goes through statements in order; `missing` is what is used where it may not be filled."""

    def __init__(self, program: ir.Program, own: frozenset[str]) -> None:
        self.own, self.missing = own, set[str]()
        self.operators = {op.name: op for op in program.operators}
        self.queues = {q.name: q.prop for q in program.queues}
        self.filled: frozenset[str] = frozenset()

    def uses(self, *nodes: ir.Node) -> None:
        """Note what nodes name, wherever it stands in them."""
        for n in (n for node in nodes for n in ir.walk(node)):
            named = {getattr(n, "prop", None), *getattr(n, "props", ())}
            if isinstance(n, ir.QueueFill):
                named.add(self.queues[n.queue])
            self.missing |= (named & self.own) - self.filled

    def body(self, body: ir.Body, filled: frozenset[str], own: str | None = None) -> frozenset[str]:
        """What is filled after statements, if they are left at their end; `own` is the vertex of an operator on all."""
        for n in body:
            self.filled = filled
            match n:
                case ir.Fill(prop=prop, value=value) if value is not None:
                    self.uses(value)
                    filled |= {prop}
                case ir.Fill(prop=prop) | ir.FrontierMark(prop=prop):
                    filled |= {prop}
                case ir.Store(prop=prop, index=ir.Var(name=name), value=value) if name == own:
                    self.uses(value)
                    filled |= {prop}
                case ir.If(condition=condition, then=then, other=other):
                    self.uses(condition)
                    filled = self.body(then, filled) & self.body(other, filled)
                case ir.While(condition=condition, body=inner):
                    self.uses(condition)
                    self.body(inner, filled)
                case ir.For(start=start, stop=stop, step=step, body=inner):
                    self.uses(start, stop, step)
                    self.body(inner, filled)
                case ir.Break() | ir.Continue() | ir.Fail():
                    return self.own
                case ir.VertexApply(op=op, frontier=None):
                    filled = self.body(self.operators[op].body, filled, self.operators[op].args[-1])
                case ir.EdgeApply(op=op) | ir.VertexApply(op=op):
                    self.uses(*self.operators[op].body)
                case _:
                    self.uses(n)
        return filled
