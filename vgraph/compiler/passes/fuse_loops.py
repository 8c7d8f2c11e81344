"""`fuse-loops`: two loops over all vertices become one where neither can tell, so that memory is read once.

before: `parfor dst in vertices { incoming[dst] = ... part[src] ... }; trace gather ...;
         parfor v in vertices { part[v] = f(incoming[v]); incoming[v] = 0 }`
after:  `parfor dst in vertices { let own = 0; own = ... part[src] ...; part.next[dst] = f(own) };
         exchange part part.next; trace gather ...`

A property through which the loops hand something on is touched at the loop's own vertex alone. What the second writes
and the first reads at other vertices goes into a second array, which takes the place of the first behind the loop. What
each loop leaves at the same constant is no memory at all. On a GPU loops over arcs are fused where vertices have few of
them: a thread with a long row is slower if it has more to keep. On a CPU nothing gets a second array: properties stay
where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import is_rounded
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import VID, Scalar
from vgraph.records import dataclass

_ACCESSES: Final = (ir.Load, ir.Store, ir.Reduce)
_INSIDE: Final = (
    ir.Let, ir.Assign, ir.Accumulate, ir.If, ir.For, ir.While, ir.Break, ir.Continue, ir.ForNeighbors, ir.ForCommon,
    ir.Store, ir.Reduce, ir.ReduceGlobal,
)  # fmt: skip
"""Statements of loops that may be fused: those that touch vertices, arcs and numbers only."""
_BETWEEN: Final = (ir.SetGlobal, ir.Let, ir.Assign, ir.Accumulate)
_FIXED: Final = (
    ir.Load,
    ir.FrontierSize,
    ir.ListSize,
    ir.QueueSize,
    ir.QueueLevel,
    ir.BucketKey,
    ir.InFrontier,
)
"""Expressions of the driver loop that have a value at their place only."""


@dataclass
class _Uses:
    """What statements touch: properties at the loop's own vertex and elsewhere, globals and locals."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    """Properties that are touched at other places than the loop's own vertex; `spread`: those written there."""
    spread: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """Globals and locals that are read; `made`: those set; `reduced`: globals, with the operation."""
    made: set[str] = field(default_factory=set)
    reduced: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, *nodes: ir.Node, vertex: str = "") -> _Uses:
        found = cls()
        for n in (n for node in nodes for n in ir.walk(node)):
            found.made |= ir.written_locals(n)
            match n:
                case ir.Load(prop=prop) | ir.Store(prop=prop) | ir.Reduce(prop=prop):
                    (found.read if isinstance(n, ir.Load) else found.written).add(prop)
                    if n.index != ir.Var(vertex, VID):
                        found.elsewhere.add(prop)
                        if not isinstance(n, ir.Load):
                            found.spread.add(prop)
                case ir.Var(name=name):
                    found.names.add(name)
                case ir.GlobalVar(name=name):
                    found.names.add(f"@{name}")
                case ir.SetGlobal(name=name):
                    found.made.add(f"@{name}")
                case ir.Let(name=name):
                    found.made.add(name)
                case ir.ReduceGlobal(op=op, name=name):
                    found.reduced[f"@{name}"] = op if found.reduced.get(f"@{name}", op) == op else ""
        return found


def _over_all(n: ir.Node) -> bool:
    """A loop over all vertices, one thread for each."""
    if not (isinstance(n, ir.ParFor) and isinstance(n.domain, ir.Vertices | ir.VertexWords)):
        return False
    return ir.with_fields(n, {"body": (), "label": ""}) == ir.ParFor(n.vertex, n.domain, ())


def _fits(loop: ir.ParFor) -> bool:
    nodes = [n for stmt in loop.body for n in ir.walk(stmt) if isinstance(n, ir.Stmt)]
    own = all(n.changed is None for n in nodes if isinstance(n, ir.Reduce))
    return own and all(isinstance(n, _INSIDE) for n in nodes)


def _walks(loop: ir.ParFor) -> bool:
    """Whether it goes over arcs."""
    return any(isinstance(n, ir.ForNeighbors) for n in ir.walk(loop))


def _sums(loop: ir.ParFor) -> bool:
    """Whether it adds up floats over the vertices, which a processor does several at a time where that is all."""
    return any(isinstance(n, ir.ReduceGlobal) and is_rounded(n) for n in ir.walk(loop))


class _Fusion:
    """A program whose loops are being fused."""

    def __init__(self, program: ir.Program, short: bool, exchanges: bool) -> None:
        self.program, self.fresh, self.short = program, ir.fresh_names(program), short
        self.exchanges = exchanges
        results = {r.value for r in program.results if isinstance(r.value, str)}
        keys = {n.prop for b in program.buckets for n in ir.walk(b) if isinstance(n, ir.Load)}
        local = (p for p in program.properties if p.origin is ir.Origin.LOCAL and p.site is ir.Site.VERTEX)
        self.scalars = {p.name: p.type for p in local if isinstance(p.type, Scalar)}
        self.hidden = self.scalars.keys() - results - keys
        """Properties of vertices that nobody sees outside of the driver loop."""
        self.added: list[ir.Property] = []
        self.fused_at = set[str]()
        """The vertices of fused loops."""

    def sequence(self, body: ir.Body) -> ir.Body:
        """Statements of the driver loop, with what can be fused."""
        done: list[ir.Stmt] = []
        for stmt in body:
            done.append(stmt)
            before = [i for i, s in enumerate(done[:-1]) if isinstance(s, ir.ParFor)]
            if isinstance(stmt, ir.ParFor) and before:
                first, between = done[before[-1]], done[before[-1] + 1 : -1]
                assert isinstance(first, ir.ParFor)
                fused = self.fused(first, between, stmt)
                done[before[-1] :] = fused or done[before[-1] :]
        return tuple(done)

    def fused(self, first: ir.ParFor, between: list[ir.Stmt], second: ir.ParFor) -> list[ir.Stmt] | None:
        """Two loops and what stands between them as one; None if they have to stay apart."""
        if not (_over_all(first) and _over_all(second) and _fits(first) and _fits(second)):
            return None
        a, b = _Uses.of(*first.body, vertex=first.vertex), _Uses.of(*second.body, vertex=second.vertex)
        if not self.short and (_walks(first) or _walks(second)):
            return None
        if not self.exchanges and ((_walks(first) and _sums(second)) or (_sums(first) and _walks(second))):
            return None
        exchanged = self._exchanged(a, b)
        moved = _moved(a, between, b)
        if exchanged is None or moved is None:
            return None
        early, late = moved
        own, tail = ir.Var(first.vertex, VID), ir.rename(second, {second.vertex: first.vertex}).body
        nexts = {prop: self._next(prop) for prop in sorted(exchanged)}
        lets, rest = self._in_locals(tail, own, nexts)
        loop = ir.with_fields(
            first,
            {
                "body": (*lets, *first.body, *rest),
                "label": first.label or second.label,
                "domain": first.domain if first.domain.words else second.domain,
            },
        )
        self.fused_at.add(loop.vertex)
        return [*early, loop, *(ir.Exchange(p, x) for p, x in nexts.items()), *late]

    def _exchanged(self, a: _Uses, b: _Uses) -> set[str] | None:
        """Properties that need a second array; None if the loops touch one in a way that has no order."""
        if (
            (a.written & b.elsewhere)
            or (b.spread & (a.read | a.written))
            or (a.spread & (b.read | b.written))
        ):
            return None
        if any(b.reduced.get(name, op) != op for name, op in a.reduced.items()):
            return None
        both = (b.written & a.elsewhere) - a.spread
        if both and not self.exchanges:
            return None
        return both if both <= self.hidden and not both & (a.written | b.elsewhere) else None

    def _next(self, prop: str) -> str:
        name = self.fresh(f"{prop}.next")
        self.added.append(ir.Property(name, self.scalars[prop], ir.Site.VERTEX, ir.Origin.LOCAL))
        return name

    def settled(self, n: ir.Node) -> ir.Node | None:
        """A fused loop in which what is written at its vertex in any case is a local, and stored at the end."""
        if not (isinstance(n, ir.ParFor) and n.vertex in self.fused_at):
            return None
        stored = dict.fromkeys(s.prop for s in n.body if isinstance(s, ir.Store))
        touched = Counter(m.prop for s in n.body for m in ir.walk(s) if isinstance(m, _ACCESSES))
        apart = _Uses.of(*n.body, vertex=n.vertex).elsewhere
        kept = {p: p for p in stored if p in self.scalars and p not in apart and touched[p] > 1}
        lets, body = self._in_locals(n.body, ir.Var(n.vertex, VID), kept)
        return ir.with_fields(n, {"body": (*lets, *body)})

    def _in_locals(self, body: ir.Body, own: ir.Var, stored: dict[str, str]) -> tuple[ir.Body, ir.Body]:
        """`body` with properties at the loop's own vertex in locals, each stored to where `stored` says at the end."""
        here = {prop: self.fresh(f"{own.name}.{prop}") for prop in stored}

        def rule(n: ir.Node) -> ir.Node | None:
            if not isinstance(n, _ACCESSES) or n.prop not in here or n.index != own:
                return None
            name = here[n.prop]
            if isinstance(n, ir.Load):
                return ir.Var(name, n.type)
            return ir.Assign(name, n.value) if isinstance(n, ir.Store) else ir.Accumulate(n.op, name, n.value)

        types = self.scalars
        made = list(ir.transform_body(body, rule))
        lets = []
        for prop, name in here.items():
            i = next(k for k, s in enumerate(made) if name in _names(s))
            first = made[i]
            if isinstance(first, ir.Assign) and name not in _names(first.value):
                # What was there before is not read: it need not have been stored.
                made[i] = ir.Let(name, types[prop], first.value, span=first.span)
            else:
                lets.append(ir.Let(name, types[prop], ir.Load(prop, own, types[prop])))
        stores = (ir.Store(stored[p], own, ir.Var(x, types[p])) for p, x in here.items())
        return tuple(lets), (*made, *stores)


def _names(node: ir.Node) -> set[str]:
    """The locals that it reads or sets."""
    return {n.name for n in ir.walk(node) if isinstance(n, ir.Var | ir.Assign | ir.Accumulate)}


def _moved(a: _Uses, between: list[ir.Stmt], b: _Uses) -> tuple[list[ir.Stmt], list[ir.Stmt]] | None:
    """What comes before the fused loop, and what behind it; None if it has to stand between the two."""
    early, late, traced = list[ir.Stmt](), list[ir.Stmt](), set[str]()
    if b.names & a.reduced.keys() or a.names & b.reduced.keys():
        return None
    for stmt in between:
        found = _Uses.of(stmt)
        if isinstance(stmt, ir.Trace):
            late.append(stmt)
            traced |= found.names
            continue
        movable = isinstance(stmt, _BETWEEN) and not any(isinstance(n, _FIXED) for n in ir.walk(stmt))
        if not movable or (found.names | found.made) & a.reduced.keys() or found.made & (a.names | traced):
            return None
        early.append(stmt)
    return None if traced & b.reduced.keys() else (early, late)


# --- properties that are always the same between loops ---------------------------------------------------------


def _constants(program: ir.Program, hidden: set[str]) -> dict[str, ir.Const]:
    """Properties that every loop which touches them leaves at one constant everywhere, and that one."""
    loops = [n for s in program.body for n in ir.walk(s) if _over_all(n)]
    total = Counter(
        n.prop
        for s in program.body
        for n in ir.walk(s)
        if isinstance(n, (*_ACCESSES, ir.CompareAndSwap, ir.Lock))
    )
    found: dict[str, ir.Const] = {}
    for prop in sorted(hidden & total.keys()):
        values, seen = set[ir.Const | None](), 0
        for loop in loops:
            assert isinstance(loop, ir.ParFor)
            touched = [
                n for s in loop.body for n in ir.walk(s) if isinstance(n, _ACCESSES) and n.prop == prop
            ]
            if touched:
                seen += len(touched)
                values.add(_left(loop, prop, touched))
        value = values.pop() if len(values) == 1 else None
        if value is not None and seen == total[prop]:
            found[prop] = value
    return found


def _left(loop: ir.ParFor, prop: str, touched: Sequence[ir.Node]) -> ir.Const | None:
    """The constant that a loop stores into a property at all vertices, as the last that it does with it."""
    last = next((s for s in reversed(loop.body) if isinstance(s, ir.Store) and s.prop == prop), None)
    own = ir.Var(loop.vertex, VID)
    if last is None or touched[-1] is not last or any(n.__dict__["index"] != own for n in touched):
        return None
    if sum(isinstance(n, ir.Store | ir.Reduce) for n in touched) > 1:
        return None  # what is read between two writes is not the constant
    value = last.value
    if isinstance(value, ir.Var):
        sets = [s for s in loop.body if any(value.name in ir.written_locals(n) for n in ir.walk(s))]
        at_end = sets[-1] if sets else None
        value = at_end.value if isinstance(at_end, ir.Assign) else value
    return value if isinstance(value, ir.Const) else None


def _without(program: ir.Program, constants: dict[str, ir.Const]) -> ir.Program:
    def rule(n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Load(prop=prop) if prop in constants:
                return constants[prop]
            case ir.Store(prop=prop) if prop in constants:
                return ()
            case ir.ParFor(body=()):
                return ()
        return None

    kept = tuple(p for p in program.properties if p.name not in constants)
    return ir.with_fields(program, {"body": ir.transform_body(program.body, rule), "properties": kept})


def _one_side(n: ir.Node) -> ir.Node | None:
    """A loop over the arcs of an undirected graph that asks for degrees where it walks, so that a row is read once."""
    if not isinstance(n, ir.ParFor):
        return None
    sides = {m.orientation for s in n.body for m in ir.walk(s) if isinstance(m, ir.ForNeighbors)}
    if len(sides) != 1:
        return None
    side = {"orientation": sides.pop()}
    return ir.transform(n, lambda m: ir.with_fields(m, side) if isinstance(m, ir.Degree) else None)


def _run(program: ir.Program, context: Context) -> ir.Program:
    on_gpu = context.abilities.warps
    short = not on_gpu or context.facts.short_lists or context.facts.deep
    fused = _fused(program, short, exchanges=on_gpu)
    if not on_gpu or context.facts.directed:
        return fused
    return ir.with_fields(fused, {"body": ir.transform_body(fused.body, _one_side)})


def _fused(program: ir.Program, short: bool, exchanges: bool) -> ir.Program:
    fusion = _Fusion(program, short, exchanges)

    def inside(n: ir.Stmt) -> ir.Body | None:
        match n:
            case ir.While() | ir.For():
                return (ir.with_fields(n, {"body": fusion.sequence(n.body)}),)
            case ir.If():
                return (ir.with_fields(n, {s: fusion.sequence(n.__dict__[s]) for s in ("then", "other")}),)
        return None

    body = fusion.sequence(ir.transform_driver(program.body, inside))
    if not fusion.fused_at:
        return program
    body = ir.transform_body(body, fusion.settled)
    properties = (*program.properties, *fusion.added)
    fused = ir.with_fields(program, {"body": body, "properties": properties})
    constants = _constants(fused, fusion.hidden - {p.name for p in fusion.added})
    return _without(fused, constants) if constants else fused


fuse_loops = Pass("fuse-loops", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)
