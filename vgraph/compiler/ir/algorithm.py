"""Statements of the algorithm and the scheduled level."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vgraph.compiler.ir.legality import WORDS
from vgraph.compiler.ir.node import *
from vgraph.compiler.ir.program import Level
from vgraph.compiler.types import BOOL, I64, VID, Type, Vector

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker
    from vgraph.schedule import ApplySchedule


@written("claim {prop}[{index}] from {expected} with {value} {body}", at=OPERATOR, kernel=NOWHERE)
class Claim(Stmt):
    """`claim parent[v] from none with e { ... }`: if the place still holds `expected`, the first writer puts
    `value` there and runs the body; everybody else does nothing. Which writer is first is not defined."""

    prop: WrittenName
    index: Index
    expected: Value
    value: Value
    body: ClaimedBody

    def verify(self, c: Checker, t: Type) -> None:
        c.require(not isinstance(t, Vector), "a vector is not claimed", self)


@written("({props})[{index}] {op}= ({items})", at=OPERATOR, kernel=NOWHERE)
class ReduceTuple(Stmt):
    """`(dist, parent)[v] min= (d, u)`: the lexicographic minimum or maximum of what several properties hold at a
    vertex, and as many values. Algorithm level, until `pack-tuples`."""

    op: ReduceOp
    props: tuple[WrittenName, ...]
    index: VidExpr
    items: tuple[Expr, ...]

    def verify(self, c: Checker, t: Type) -> None:
        c.reduced_tuple(self, [c.properties[name].type for name in self.props])
        ok = all(c.properties[name].site is Site.VERTEX for name in self.props)
        c.require(ok, "tuples are reduced at vertices", self)


@written("(@{names}) {op}= ({items})", at=OPERATOR, kernel=NOWHERE)
class ReduceGlobalTuple(Stmt):
    """`(@best, where) max= (x, v)`: the same of globals, when the round ends. Algorithm level, until `pack-tuples`."""

    op: ReduceOp
    names: tuple[GlobalName, ...]
    items: tuple[Expr, ...]

    def verify(self, c: Checker, t: Type) -> None:
        c.reduced_tuple(self, [c.globals[name] for name in self.names])


@written("union({prop}, {a}, {b})", at=OPERATOR, kernel=NOWHERE)
class Union(Stmt):
    """`union(component, a, b)`: merge the disjoint sets of vertices a and b; sets are named by their smallest id.
    Reads of the property in the same round see some id of the set; after the round exactly the smallest."""

    prop: PropertyName
    a: VidExpr
    b: VidExpr

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.properties[self.prop].disjoint, f"{self.prop} does not hold disjoint sets", self)


@written("fill {prop} = ({value}|id)?", at=DRIVER, kernel=NOWHERE)
class Fill(Stmt):
    """`fill dist = e`: every element of a property; e does not depend on the vertex. `fill component = id`: numbers."""

    prop: PropertyName
    value: Value | None

    def verify(self, c: Checker, t: Type) -> None:
        ok = c.properties[self.prop].site in (Site.VERTEX, Site.NUMBERED)
        c.require(ok, "only properties of vertices or by edge number are filled", self)
        ok = self.value is not None or t == VID
        c.require(ok, "only a property of type vid takes the vertex ids", self)


@written("fill {prop}[{vertex}] = {value}", at=DRIVER, kernel=NOWHERE)
class FillEach(Stmt):
    """`fill dist[v] = field.0(word[v])`: every element of a property; e is an expression of the vertex v."""

    prop: WrittenName
    vertex: NewVid
    value: KeyExpr

    def verify(self, c: Checker, t: Type) -> None:
        prop = c.properties[self.prop]
        c.require(prop.site is Site.VERTEX, "only vertex properties are filled", self)
        c.require(prop.type == self.value.type, f"the value is {self.value.type}, not {prop.type}", self)


@node
class Apply(Stmt):
    """An operator applied to a frontier, or to all vertices or edges; what it changes, or lets through, forms `out`."""

    op: OperatorName
    frontier: FrontierName | None
    out: FrontierName | None
    label: str
    schedule: ApplySchedule | None = None

    @property
    def chosen(self) -> ApplySchedule:
        """The schedule, which has been chosen."""
        assert self.schedule is not None
        return self.schedule

    def verify(self, c: Checker, t: Type) -> None:
        scheduled = c.level is Level.SCHEDULED
        rule = "has no schedule" if scheduled else "has a schedule although none was resolved"
        c.require((self.schedule is not None) is scheduled, rule, self)


@written(
    "({out} = )?edge_apply({op}(, {frontier})?)( {reverse})?( for {only}( taking {taking})?)?"
    "( as {label:op})?( schedule({schedule}))?"
    "( into {into})?( counting {counting})?( among {among})?( keeping {keeping})?",
    at=DRIVER,
    kernel=NOWHERE,
)
class EdgeApply(Apply):
    """`out = edge_apply(relax, frontier)`: run an edge operator over the arcs leaving `frontier` (all arcs if None).

    `out`, if any, receives the vertices at which a reduction or claim took effect: value changed (min, max, |, &),
    claimed, or touched (+, *). A round reads `src` as it was when the round began.

    `edge_apply(relax, frontier) reverse`: over the arcs that enter `frontier`, against their direction: `src` is the
    head of each arc and `dst` its tail.

    `out = edge_apply(leave, peeled) for peel`: `out` goes to the filter `peel` alone (`narrow-frontiers`), so vertices
    that it would drop when the round has ended need not be in it. With `taking open` the filter is joined with the
    update (`join-cascades`): it takes a vertex as soon as it would, which turns `open` off, and `out` has those taken.

    Scheduled level, where several forms of one apply stand side by side (`choose-per-round`): `into f.next` names the
    hidden frontier that all of them fill before it becomes `out`, `counting arcs` the global that becomes the number
    of arcs walked. `among open` is a bitmap of the vertices that a pull has to visit: those at which the operator's
    guard holds, which it finds by itself; with `keeping open.1` those at which the operator's claim may still succeed,
    which are in it already, and the pull leaves in it those at which it still may. Neither changes what the apply does.
    """

    reverse: bool = False
    into: FrontierName | None = None
    counting: GlobalName | None = None
    among: FrontierName | None = None
    keeping: FrontierName | None = None
    only: OperatorName | None = None
    taking: PropertyName | None = None

    @property
    def leaving(self) -> Orientation:
        """The arcs of a `src`: those that a push walks."""
        return Orientation.IN if self.reverse else Orientation.OUT

    @property
    def entering(self) -> Orientation:
        """The arcs of a `dst`: those that a pull walks."""
        return Orientation.OUT if self.reverse else Orientation.IN

    def verify(self, c: Checker, t: Type) -> None:
        c.require(c.operators[self.op].is_edge, f"{self.op} is not an edge operator", self)
        super().verify(c, t)
        ok = self.into is None or self.out is not None
        c.require(ok, "what is filled takes the place of an output", self)
        c.require(self.keeping is None or self.among is not None, "what stays open is kept of a set", self)
        c.require(self.only is None or self.out is not None, "a filter takes an output", self)
        ok = self.counting is None or c.globals[self.counting] == I64
        c.require(ok, f"arcs are counted in a global of type i64, not in {self.counting}", self)


@written(
    "({out} = )?vertex_apply({op}(, {frontier})?)( {untraced})?( as {label:op})?( schedule({schedule}))?",
    at=DRIVER,
    kernel=NOWHERE,
)
class VertexApply(Apply):
    """`out = vertex_apply(op, frontier)`: run a vertex operator on the frontier (all vertices if None).

    If the operator returns a bool, `out` receives the vertices for which it is true (`vertex_filter`).
    `vertex_apply(relax.copy) untraced`: a pass made it, and it is no round of the algorithm.
    """

    untraced: bool = False

    def verify(self, c: Checker, t: Type) -> None:
        op = c.operators[self.op]
        c.require(not op.is_edge, f"{self.op} is not a vertex operator", self)
        super().verify(c, t)
        ok = self.out is None or (op.body and isinstance(op.body[-1], Emit))
        c.require(ok, f"{self.op} emits nothing that {self.out} could receive", self)


@written("emit {value}", at=VERTEX, kernel=NOWHERE)
class Emit(Stmt):
    """`emit e` in a vertex operator: its bool result (the last statement of the operator)."""

    value: BoolExpr

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self is c.last, "emit is the last statement of its operator", self)


@written("acquire {vertex} for {list}[{count}]", at=VERTEX, kernel=NOWHERE)
class Acquire(Stmt):
    """`acquire u for cavity[n]` in a vertex operator: from here on the visit is alone with u, as it is with its own
    vertex from its beginning; u comes into a local list next, as number n. What an operator with this statement stores
    at vertices, and what it loads of that, is at vertices that it has acquired, and behind the first effect nothing is
    acquired: so a visit that cannot go on may be begun anew. Visits come one after the other, in any order."""

    vertex: VidExpr
    list: ReadLocal
    count: ReadLocal


@written("leave", at=VERTEX, kernel=NOWHERE)
class Leave(Stmt):
    """`leave`: the visit ends here, and emits nothing."""


class FrontierKind(Enum):
    """What a new frontier holds."""

    EMPTY = "empty"
    SINGLE = "single"
    ALL = "all"


@written("{out} = {kind}(({vertex}))?", at=DRIVER, kernel=DRIVER | SINGLE)
class FrontierSet(Stmt):
    """`frontier = single(v)`, `= all`, `= empty`."""

    out: FrontierName
    kind: FrontierKind
    vertex: VidExpr | None = None

    def verify(self, c: Checker, t: Type) -> None:
        ok = (self.kind is FrontierKind.SINGLE) == (self.vertex is not None)
        c.require(ok, "single takes a vertex, the others none", self)
        ok = c.place is not SINGLE or self.kind is not FrontierKind.ALL
        c.require(ok, "all threads together fill a frontier", self)


@written("{out} = copy {source}", at=DRIVER)
class FrontierCopy(Stmt):
    """`a = copy b`: a frontier variable gets the value of another."""

    out: FrontierName
    source: FrontierName


@written("{out} = where {prop}", at=DRIVER, kernel=NOWHERE)
class FrontierWhere(Stmt):
    """`f = where open`: the vertices at which a property of bools is true."""

    out: FrontierName
    prop: PropertyName

    def verify(self, c: Checker, t: Type) -> None:
        _verify_marks(c, self, t)


@written("members {prop} = {frontier}", at=DRIVER, kernel=NOWHERE)
class FrontierMark(Stmt):
    """`members open = f`: every element of a property of bools tells whether its vertex is in the frontier."""

    prop: PropertyName
    frontier: FrontierName

    def verify(self, c: Checker, t: Type) -> None:
        _verify_marks(c, self, t)


def _verify_marks(c: Checker, n: FrontierWhere | FrontierMark, t: Type) -> None:
    ok = t == BOOL and c.properties[n.prop].site is Site.VERTEX
    c.require(ok, f"{n.prop} is not a vertex property of bools", n)


@written("{out} = set {left} {op} {right}", at=DRIVER, kernel=NOWHERE)
class FrontierCombine(Stmt):
    """`f = set a | b`: the union, intersection (&) or difference (-) of two frontiers, which stay as they are."""

    out: FrontierName
    left: FrontierName
    op: SetOperation
    right: FrontierName

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self.op in WORDS["SetOperation"], f"{self.op} does not combine sets", self)


@written("clear {list}", at=DRIVER)
class ListClear(Stmt):
    """`clear levels`: an empty list of frontiers."""

    list: ListName


@written("append {list} {frontier}", at=DRIVER)
class ListAppend(Stmt):
    """`append levels frontier`."""

    list: ListName
    frontier: FrontierName


@written("{out} = {list}[{index}]", at=DRIVER)
class ListGet(Stmt):
    """`frontier = levels[i]`; i counts from the end when negative. Out of range gives the empty frontier."""

    out: FrontierName
    list: ListName
    index: I64Expr


@written("refill {queue}", at=DRIVER, kernel=NOWHERE)
class QueueFill(Stmt):
    """`refill queue`: all vertices enter, and the level is 0 again."""

    queue: QueueName


@written("{out} = pop {queue}", at=DRIVER, kernel=NOWHERE)
class QueuePop(Stmt):
    """`f = pop queue`: the level becomes the lowest value in the queue, if that is higher; f becomes the vertices whose
    values are not above the level, and they leave the queue for good. An empty queue gives the empty frontier."""

    out: FrontierName
    queue: QueueName


@written("requeue {queue}( {frontier})?", at=DRIVER, kernel=NOWHERE)
class QueueUpdate(Stmt):
    """`requeue queue f`: values of the vertices in f (all if None) may have changed. `requeue-changed` puts it behind
    everything that writes the property; to the interpreter it means nothing."""

    queue: QueueName
    frontier: FrontierName | None
