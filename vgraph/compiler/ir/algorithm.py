"""Statements of the algorithm and the scheduled level."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vgraph.compiler.ir.node import Body, Expr, Orientation, Stmt, node, written

if TYPE_CHECKING:
    from vgraph.schedule import ApplySchedule


@written("claim {prop}[{index}] from {expected} with {value}")
class Claim(Stmt):
    """`claim parent[v] from none with e { ... }`: if the place still holds `expected`, the first writer puts
    `value` there and runs the body; everybody else does nothing. Which writer is first is not defined."""

    prop: str
    index: Expr
    expected: Expr
    value: Expr
    body: Body


@written("union({prop}, {a}, {b})")
class Union(Stmt):
    """`union(component, a, b)`: merge the disjoint sets of vertices a and b; sets are named by their smallest id.
    Reads of the property in the same round see some id of the set; after the round exactly the smallest."""

    prop: str
    a: Expr
    b: Expr


@node
class Fill(Stmt):
    """`fill dist = e`: every element of a property; e does not depend on the vertex. `fill component = id`: numbers."""

    prop: str
    value: Expr | None


@node
class EdgeApply(Stmt):
    """`out = edge_apply(relax, frontier)`: run an edge operator over the arcs leaving `frontier` (all arcs if None).

    `out`, if any, receives the vertices at which a reduction or claim took effect: value changed (min, max, |, &),
    claimed, or touched (+, *). A round reads `src` as it was when the round began.

    `edge_apply(relax, frontier) reverse`: over the arcs that enter `frontier`, against their direction: `src` is the
    head of each arc and `dst` its tail.
    """

    op: str
    frontier: str | None
    out: str | None
    label: str
    schedule: ApplySchedule | None = None
    reverse: bool = False

    @property
    def leaving(self) -> Orientation:
        """The arcs of a `src`: those that a push walks."""
        return Orientation.IN if self.reverse else Orientation.OUT

    @property
    def entering(self) -> Orientation:
        """The arcs of a `dst`: those that a pull walks."""
        return Orientation.OUT if self.reverse else Orientation.IN


@node
class VertexApply(Stmt):
    """`out = vertex_apply(op, frontier)`: run a vertex operator on the frontier (all vertices if None).

    If the operator returns a bool, `out` receives the vertices for which it is true (`vertex_filter`).
    """

    op: str
    frontier: str | None
    out: str | None
    label: str
    schedule: ApplySchedule | None = None


@written("emit {value}")
class Emit(Stmt):
    """`emit e` in a vertex operator: its bool result (the last statement of the operator)."""

    value: Expr


class FrontierKind(Enum):
    """What a new frontier holds."""

    EMPTY = "empty"
    SINGLE = "single"
    ALL = "all"


@node
class FrontierSet(Stmt):
    """`frontier = single(v)`, `= all`, `= empty`."""

    out: str
    kind: FrontierKind
    vertex: Expr | None = None


@written("{out} = copy {source}")
class FrontierCopy(Stmt):
    """`a = copy b`: a frontier variable gets the value of another."""

    out: str
    source: str


@written("clear {list}")
class ListClear(Stmt):
    """`clear levels`: an empty list of frontiers."""

    list: str


@written("append {list} {frontier}")
class ListAppend(Stmt):
    """`append levels frontier`."""

    list: str
    frontier: str


@node
class ListGet(Stmt):
    """`frontier = levels[i]`; i counts from the end when negative. Out of range gives the empty frontier."""

    out: str
    list: str
    index: Expr


@written("refill {queue}")
class QueueFill(Stmt):
    """`refill queue`: all vertices enter, and the level is 0 again."""

    queue: str


@written("{out} = pop {queue}")
class QueuePop(Stmt):
    """`f = pop queue`: the level becomes the lowest value in the queue, if that is higher; f becomes the vertices whose
    values are not above the level, and they leave the queue for good. An empty queue gives the empty frontier."""

    out: str
    queue: str


@written("requeue {queue} {frontier}")
class QueueUpdate(Stmt):
    """`requeue queue f`: values of the vertices in f (all if None) may have changed. `requeue-changed` puts it behind
    everything that writes the property; to the interpreter it means nothing."""

    queue: str
    frontier: str | None
