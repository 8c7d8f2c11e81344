"""Statements of every level."""

from __future__ import annotations

from vgraph.compiler.ir.node import Body, Expr, Order, Orientation, Stmt, node, written
from vgraph.compiler.types import Type


@written("let {name}: {type} = {value}")
class Let(Stmt):
    """`let x: i32 = e`: declare a local; visible to the end of the enclosing body."""

    name: str
    type: Type
    value: Expr


@written("{name} = {value}")
class Assign(Stmt):
    """`x = e`: a new value for a declared local."""

    name: str
    value: Expr


@written("{name} {op=} {value}")
class Accumulate(Stmt):
    """`x += e` on a local: a sum the user declared, so floats may be reassociated. `op` as in `Reduce`."""

    op: str
    name: str
    value: Expr


@written("@{name} = {value}")
class SetGlobal(Stmt):
    """`@error = e`: driver loop only."""

    name: str
    value: Expr


@written("@{name} {op=} {value}")
class ReduceGlobal(Stmt):
    """`@error += e` inside an operator or parallel loop: combined over all threads when the round ends."""

    op: str
    name: str
    value: Expr


@written("{order} {prop}[{index}] = {value}")
class Store(Stmt):
    """`rank[v] = e`: the only writer of this place in the round (the operator's own vertex), or the driver loop."""

    prop: str
    index: Expr
    value: Expr
    order: Order = Order.PLAIN


@written("scratch {prop}[{index}] = {value}")
class ScratchStore(Stmt):
    """`scratch count[v] = e`: a write that only this visit sees."""

    prop: str
    index: Expr
    value: Expr


@written("clear scratch {prop}")
class ScratchClear(Stmt):
    """`clear scratch count`: the end of a visit; every element is zero again. Kernel level only."""

    prop: str


@node
class Reduce(Stmt):
    """`dist[v] min= e`: a reduction into a property; op is one of min, max, +, *, |, &.

    Kernel level: `atomic` (`atomic dist[v] min= e`) where threads may meet; `changed` (`... -> c`) names a declared
    bool local that becomes true when the value changed (min, max, |, &) or, for + and *, always; else it stays.
    """

    op: str
    prop: str
    index: Expr
    value: Expr
    atomic: bool = False
    changed: str | None = None


@node
class If(Stmt):
    """`if c { ... } else { ... }`."""

    condition: Expr
    then: Body
    other: Body = ()


@written("while {condition}")
class While(Stmt):
    """`while c { ... }`."""

    condition: Expr
    body: Body


@written("for {name} in range({start}, {stop}, {step})")
class For(Stmt):
    """`for i in range(start, stop, step) { ... }`; i is i64, bounds evaluated once; step is not 0 (0 runs no round)."""

    name: str
    start: Expr
    stop: Expr
    step: Expr
    body: Body


@node
class ForNeighbors(Stmt):
    """`for (u, e) in out(v) { ... }`: the arcs of v in ascending order of neighbor.

    u is the other end (vid). e (eid) indexes EDGE properties if OUT and EDGE_IN properties if IN at kernel level;
    at algorithm level it indexes EDGE properties by meaning, whichever way it was reached.

    Kernel level: `in(v) segments 4` walks only the arcs from the sources of the present segment of the `ParFor` around
    it, whose vertex v is; e then indexes EDGE_SEGMENTS properties. `prefetch 32`: what the body touches at the other
    end is asked for 32 arcs ahead. `vectorize`: several arcs at a time (see `gathers.py`); float sums are
    reassociated.
    """

    vertex: str
    edge: str
    of: Expr
    orientation: Orientation
    body: Body
    segments: int = 1
    prefetch: int = 0
    vectorize: bool = False


@written("for {vertex} in common({left_orientation}({left}), {right_orientation}({right}))")
class ForCommon(Stmt):
    """`for w in common(out(a), out(b)) { ... }`: vertices in both sorted neighbor lists, each once."""

    vertex: str
    left: Expr
    left_orientation: Orientation
    right: Expr
    right_orientation: Orientation
    body: Body


@written("break")
class Break(Stmt):
    """`break` out of the innermost sequential loop."""


@written("continue")
class Continue(Stmt):
    """`continue` with the next round of the innermost sequential loop."""


@node
class Fail(Stmt):
    """`fail "negative cycle"`: end the run with an error of that message. Driver loop only."""

    message: str
