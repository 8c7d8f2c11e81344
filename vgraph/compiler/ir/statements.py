"""Statements of every level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.ir.domains import PartedSlices, PlannedArcs, Segments, Slices
from vgraph.compiler.ir.expressions import Var
from vgraph.compiler.ir.node import *
from vgraph.compiler.types import Type

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


@written("let {name}: {type} = {value}")
class Let(Stmt):
    """`let x: i32 = e`: declare a local; visible to the end of the enclosing body."""

    name: NewLocal
    type: Type
    value: Value


@written("{name} = {value}")
class Assign(Stmt):
    """`x = e`: a new value for a declared local."""

    name: Local
    value: Value


@written("{name} {op}= {value}")
class Accumulate(Stmt):
    """`x += e` on a local: a sum the user declared, so floats may be reassociated. `op` as in `Reduce`."""

    op: ReduceOp
    name: Local
    value: Reduced


@written("@{name} = {value}", at=DRIVER)
class SetGlobal(Stmt):
    """`@error = e`: driver loop only."""

    name: GlobalName
    value: Value


@written("@{name} {op}= {value}", at=OPERATOR, kernel=PARFOR | SINGLE)
class ReduceGlobal(Stmt):
    """`@error += e` inside an operator or parallel loop: combined over all threads when the round ends."""

    op: ReduceOp
    name: GlobalName
    value: Reduced


@written("({order} )?{prop}[{index}] = {value}", at=DRIVER | OPERATOR, kernel=PARFOR | SINGLE)
class Store(Stmt):
    """`rank[v] = e`: the only writer of this place in the round (the operator's own vertex, or an edge that no other
    visit comes to), or the driver loop. An edge operator that stores at its source is exclusive: an activation is
    alone with both ends while it runs, and activations come one after the other, in any order. So is a vertex operator
    that acquires vertices: it stores at these."""

    prop: WrittenName
    index: Index
    value: Value
    order: Order = Order.PLAIN

    def verify(self, c: Checker, t: Type) -> None:
        at_edge = c.properties[self.prop].site is Site.NUMBERED
        if c.place in OPERATOR and not c.claimed:
            own = at_edge or c.acquires or (isinstance(self.index, Var) and self.index.name in c.own)
            where = f"its own vertex {c.own[0]} only" if c.own else "inside a claim only"
            kind = "an edge" if c.place is EDGE else "a vertex"
            c.require(own, f"{kind} operator stores {'to ' if c.own else ''}{where}, or to edges", self)


@written("scratch {prop}[{index}] = {value}", at=VERTEX, kernel=PARFOR)
class ScratchStore(Stmt):
    """`scratch count[v] = e`: a write that only this visit sees."""

    prop: ScratchName
    index: Index
    value: Value


@written("clear scratch {prop}", at=NOWHERE, kernel=PARFOR)
class ScratchClear(Stmt):
    """`clear scratch count`: the end of a visit; every element is zero again. Kernel level only."""

    prop: ScratchName


@written("({atomic} )?{prop}[{index}] {op}= {value}( -> {changed})?", at=OPERATOR, kernel=PARFOR | SINGLE)
class Reduce(Stmt):
    """`dist[v] min= e`: a reduction into a property; op is one of min, max, +, *, |, &.

    Kernel level: `atomic` (`atomic dist[v] min= e`) where threads may meet; `changed` (`... -> c`) names a declared
    bool local that becomes true when the value changed (min, max, |, &) or, for + and *, always; else it stays.
    """

    op: ReduceOp
    prop: WrittenName
    index: Index
    value: Reduced
    atomic: bool = False
    changed: BoolLocal | None = None

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.low or not self.atomic, "atomics are chosen at kernel level", self)
        ok = c.place not in OPERATOR or self.changed is None
        c.require(ok, "what an operator changes is noticed by the loop around it", self)


@written("if {condition} {then}( else {other})?")
class If(Stmt):
    """`if c { ... } else { ... }`."""

    condition: BoolExpr
    then: Body
    other: Else = ()


@written("while {condition} {body}")
class While(Stmt):
    """`while c { ... }`."""

    condition: BoolExpr
    body: LoopBody


@written("for {name} in range({start}, {stop}, {step})( {divided})? {body}")
class For(Stmt):
    """`for i in range(start, stop, step) { ... }`; i is i64, bounds evaluated once; step is not 0 (0 runs no round).

    `for i in range(0, n, 1) divided { ... }`: iterations meet in reductions only, so members of a set of devices take
    them in any order (`divide-loops`). Not at kernel level.
    """

    name: NewI64
    start: I64Expr
    stop: I64Expr
    step: I64Expr
    body: LoopBody
    divided: bool = False

    def verify(self, c: Checker, t: Type) -> None:
        c.require(not (c.low and self.divided), "loops are divided before they are compiled", self)


@written(
    "for ({vertex}, {edge}) in {orientation}({of})( segments {segments})?( prefetch {prefetch})?( {vectorize})?"
    "( marks {marks})?( {deltas})?( {planned})?( beyond {beyond})? {body}",
    at=OPERATOR,
    kernel=ANYWHERE,
)
class ForNeighbors(Stmt):
    """`for (u, e) in out(v) { ... }`: the arcs of v in ascending order of neighbor.

    u is the other end (vid). e (eid) indexes EDGE properties if OUT and EDGE_IN properties if IN at kernel level;
    at algorithm level it indexes EDGE properties by meaning, whichever way it was reached.

    Kernel level: `in(v) segments 4` walks only the arcs from the sources of the present segment of the `ParFor` around
    it, whose vertex v is; e then indexes EDGE_SEGMENTS properties. `prefetch 32`: what the body touches at the other
    end is asked for 32 arcs ahead. `vectorize`: several arcs at a time (see `gathers.py`); float sums are
    reassociated. `marks out`: lanes that visit the vertex of the `ParFor` around it together mark its out-neighbors,
    with which the body compares lists (`mark_common.py`). `deltas`: rows are read as differences
    (`graph/layouts/deltas.py`), arc by arc in the same order. `planned`: the one arc of this visit of a `ParFor` over
    planned arcs; e then indexes EDGE_SEGMENTS properties in the order of the plan. `beyond 8192`: only the neighbors
    that are none of the 8192 hubs (`graph/layouts/hubs.py`); then e is no arc.
    """

    vertex: NewVid
    edge: NewEid
    of: VidExpr
    orientation: Orientation
    body: LoopBody
    segments: int = 1
    prefetch: int = 0
    vectorize: bool = False
    marks: Orientation | None = None
    deltas: bool = False
    planned: bool = False
    beyond: int = 0

    def verify(self, c: Checker, t: Type) -> None:
        hints = (
            self.segments > 1 or self.prefetch or self.vectorize or self.marks or self.deltas or self.planned
        )
        c.require(c.place not in OPERATOR or not hints, "hints are for loops, not for operators", self)
        c.require(self.prefetch >= 0 and self.segments >= 1, "there is at least one segment", self)
        own = isinstance(self.of, Var) and self.of.name == getattr(c.around, "vertex", None)
        domain = getattr(c.around, "domain", None)
        planned = isinstance(domain, PlannedArcs) and domain.orientation is self.orientation and own
        c.require(
            planned or not self.planned, "a planned arc is walked from the vertex of a loop over them", self
        )
        _check_beyond(c, self)
        if self.segments > 1:
            cut = isinstance(domain, Segments | Slices) and domain.count == self.segments
            either = isinstance(domain, Slices) and not isinstance(domain, PartedSlices)
            ok = own and cut and (either or self.orientation is Orientation.IN)
            rule = "arcs of a segment are walked into the vertex of a parallel loop over as many segments"
            c.require(ok, rule, self)


@written(
    "for {vertex} in common({left_orientation}({left}), {right_orientation}({right}))( hubs {hubs})?( beyond {beyond})?"
    " {body}",
    at=OPERATOR,
    kernel=ANYWHERE,
)
class ForCommon(Stmt):
    """`for w in common(out(a), out(b)) { ... }`: vertices in both sorted neighbor lists, each once.

    Kernel level: `hubs 8192` asks `mark-common` to compare as many hubs by bitmaps, of which then all but
    `common(out(a), out(b)) beyond 8192` is found: the vertices that are none of the hubs. On a GPU it stays: lists have
    heads with the ids below 8192, if there is room for so many marks.
    """

    vertex: NewVid
    left: VidExpr
    left_orientation: Orientation
    right: VidExpr
    right_orientation: Orientation
    body: LoopBody
    hubs: int = 0
    beyond: int = 0

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.place not in OPERATOR or not self.hubs, "hints are for loops, not for operators", self)
        _check_beyond(c, self)


def _check_beyond(c: Checker, n: ForNeighbors | ForCommon) -> None:
    c.require(c.place not in OPERATOR or not n.beyond, "operators see whole lists", n)


@written("break")
class Break(Stmt):
    """`break` out of the innermost sequential loop."""

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.in_loop, "stands outside a sequential loop", self)


@written("continue")
class Continue(Stmt):
    """`continue` with the next round of the innermost sequential loop."""

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.in_loop, "stands outside a sequential loop", self)


@written("fail {message}", at=DRIVER)
class Fail(Stmt):
    """`fail "negative cycle"`: end the run with an error of that message. Driver loop only."""

    message: Text
