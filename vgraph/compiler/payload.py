"""What goes through the buffer between two phases: the operator divided into a producer and a consumer.

RAW: the producer stores the fields of the arc as it reads them, the consumer runs the operator on them.
COMPUTED: the producer runs the operator and stores what it would have written, the consumer only combines.
All reads at `src` and at the arc are the producer's, so a buffer that is filled before it is consumed is also the copy
that a bulk-synchronous round needs. (Edge-computation motion: gather-apply and apply-scatter, chapter 5 of R. Kaleem's
work on irregular programs for heterogeneous systems.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vgraph.compiler.ir import (
    ACCUMULATING,
    Accumulate,
    Assign,
    Body,
    Break,
    Cast,
    Claim,
    Const,
    Degree,
    Expr,
    ForCommon,
    ForNeighbors,
    If,
    Let,
    Load,
    Neighbor,
    Node,
    Operator,
    Orientation,
    Reduce,
    ReduceGlobal,
    Stmt,
    Store,
    Union,
    Var,
)
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.rewrite import children, map_children, transform_body, walk, with_fields
from vgraph.compiler.types import BOOL, VID, Scalar, Target, Type, Vector, element_of
from vgraph.schedule import Payload

FALSE, TRUE = Const(False, BOOL), Const(True, BOOL)
Declare = Callable[[str, Type], str]
"""Declares a buffer for a value, of a name near the one given and of this type; gives its name."""


def fields(operator: Operator, *, arcs: bool) -> tuple[Expr, ...]:
    """What RAW stores: the distinct reads at `src`, its id if that is used, with `arcs` also the reads at the arc."""
    src, edge, _ = operator.args
    found: dict[Expr, None] = {}

    def visit(n: Node) -> None:
        if _is_field(n, src, edge, arcs):
            assert isinstance(n, Expr)
            found.setdefault(n)
            return
        for child in children(n):
            visit(child)

    for stmt in operator.body:
        visit(stmt)
    return tuple(found)


def _is_field(n: Node, src: str, edge: str, arcs: bool) -> bool:
    match n:
        case Load(index=Var(name=name)):
            return name == src or (arcs and name == edge)
        case Degree(vertex=Var(name=name)):
            return name == src
        case Var(name=name):
            return name == src
    return False


def contributions(operator: Operator, *, touched: bool) -> Iterator[tuple[str, Type]]:
    """What COMPUTED stores, name and type of each: a value per reduced property, a flag and values per claim."""
    reduced: dict[str, Reduce] = {}
    for n in _statements(operator.body):
        if isinstance(n, Reduce):
            reduced.setdefault(n.prop, n)
        elif isinstance(n, Claim):
            yield f"{n.prop}.claims", BOOL
            for e in _claim_values(operator, n):
                yield f"{n.prop}.value", e.type
    for prop, write in reduced.items():
        yield prop, write.value.type
        if touched and write.op in ACCUMULATING:
            yield f"{prop}.touched", BOOL


def _statements(body: Body) -> Iterator[Stmt]:
    return (n for top in body for n in walk(top) if isinstance(n, Stmt))


def _dst_only(operator: Operator, e: Expr) -> bool:
    """Whether an expression can be evaluated knowing nothing but `dst` and what is equal everywhere."""
    local = {n.name for n in _statements(operator.body) if isinstance(n, Let)} | {*operator.args[:2]}
    for n in walk(e):
        if isinstance(n, Neighbor) or (isinstance(n, Var) and n.name in local):
            return False
        if isinstance(n, Load) and n.index != Var(operator.args[2], VID):
            return False
    return True


def _claim_values(operator: Operator, claim: Claim) -> list[Expr]:
    """The values of a claim that the producer has to find, in order."""
    given = [claim.value, *(s.value for s in claim.body if isinstance(s, Store | ReduceGlobal))]
    return [e for e in given if not _dst_only(operator, e)]


def obstacle(operator: Operator, payload: Payload, *, arcs: bool) -> Obstacle | None:
    """Why the operator cannot be divided in this way; None if it can. `arcs` as of `fields`."""
    for n in _statements(operator.body):
        if isinstance(n, Union):
            return Obstacle("it unites disjoint sets, which reads and writes along whole paths", n.span)
    if not any(isinstance(n, Reduce | Claim) for n in _statements(operator.body)):
        return Obstacle("it writes nothing at dst, so there is nothing to hand on", operator.span)
    if payload is Payload.RAW and not fields(operator, arcs=arcs):
        return Obstacle("it reads nothing at src, so there is nothing to store", operator.span)
    return _raw_obstacle(operator) if payload is Payload.RAW else _computed_obstacle(operator)


def _raw_obstacle(operator: Operator) -> Obstacle | None:
    src, edge, dst = operator.args
    for top in operator.body:
        for n in walk(top):
            match n:
                case ForNeighbors() | ForCommon() | Neighbor():
                    return Obstacle(
                        "it reads around one end of the arc, which is no field of the arc", n.span
                    )
                case Load(index=Var(name=name)) if name in (src, edge, dst):
                    continue
                case Load():
                    return Obstacle("it reads at another vertex than the two ends of the arc", n.span)
                case Degree(vertex=Var(name=name)) if name in (src, dst):
                    continue
                case Degree():
                    return Obstacle("it reads at another vertex than the two ends of the arc", n.span)
    return None


def _computed_obstacle(operator: Operator) -> Obstacle | None:
    for n in _statements(operator.body):
        if isinstance(n, Claim):
            for inner in n.body:
                if not isinstance(inner, Store | ReduceGlobal):
                    return Obstacle(
                        "what it does once the claim has succeeded is more than storing values", inner.span
                    )
    return None


def width(t: Type, target: Target) -> int:
    """Bytes of a value in a buffer."""
    return target.width(element_of(t)) // 8 * (t.length if isinstance(t, Vector) else 1)


def payload_bytes(operator: Operator, payload: Payload, target: Target, *, arcs: bool, touched: bool) -> int:
    """Bytes of one element of the buffer, without the flag of active arcs."""
    if payload is Payload.RAW:
        return sum(width(e.type, target) for e in fields(operator, arcs=arcs))
    return sum(width(t, target) for _, t in contributions(operator, touched=touched))


@dataclass(frozen=True)
class Split:
    """An operator divided in two.

    `producer` fills the buffers for one arc (RAW of a vertex: for one `src`); `inactive` fills them for an arc that
    takes no part, so that the consumer passes over it; `consumer` reads them.
    """

    producer: Body
    inactive: Body
    consumer: Operator


def split_raw(operator: Operator, declare: Declare, index: Expr, *, arcs: bool, guarded: bool) -> Split:
    """RAW: one buffer per field, at `index`; `guarded` adds the flag of active arcs."""
    src, edge, _ = operator.args
    places = {
        e: Load(declare(_hint(e), e.type), index, e.type, span=e.span) for e in fields(operator, arcs=arcs)
    }

    def replaced(n: Node) -> Node:
        if _is_field(n, src, edge, arcs):
            assert isinstance(n, Expr)
            return places[n]
        return map_children(n, replaced)

    body = tuple(s for s in (replaced(s) for s in operator.body) if isinstance(s, Stmt))
    producer: Body = tuple(Store(load.prop, index, e, span=e.span) for e, load in places.items())
    inactive: Body = ()
    if guarded:
        active = declare("active", BOOL)
        producer = (*producer, Store(active, index, TRUE))
        inactive = (Store(active, index, FALSE),)
        body = (If(Load(active, index, BOOL), body),)
    return Split(producer, inactive, with_fields(operator, {"body": body}))


def _hint(e: Expr) -> str:
    match e:
        case Load(prop=prop):
            return prop
        case Degree(orientation=Orientation() as way):
            return f"{way.value}_degree"
    return "src"


def split_computed(
    operator: Operator,
    declare: Declare,
    fresh: Callable[[str], str],
    index: Expr,
    *,
    touched: bool,
    stops: bool = False,
) -> Split:
    """COMPUTED: one buffer per reduced property, a flag and the values per claim, at `index`.

    `touched`: accumulating reductions are marked, for they count as changes; `stops`: the producer leaves its loop
    over arcs once it has found a claim (for operators that do nothing but claim).
    """
    return _Computed(operator, declare, fresh, index, touched, stops).split()


class _Computed:
    def __init__(
        self,
        operator: Operator,
        declare: Declare,
        fresh: Callable[[str], str],
        index: Expr,
        touched: bool,
        stops: bool,
    ) -> None:
        self.operator, self.declare, self.fresh, self.index = operator, declare, fresh, index
        self.touched, self.stops = touched, stops
        self.before: list[Stmt] = []  # locals of the producer, and at its end the stores of them
        self.after: list[Stmt] = []
        self.inactive: list[Stmt] = []
        self.consumer: list[Stmt] = []
        self.registers: dict[str, Body] = {}
        counts = [n.prop for n in _statements(operator.body) if isinstance(n, Reduce)]
        top = [n for n in operator.body if isinstance(n, Reduce)]
        self.direct = {n.prop for n in top if counts.count(n.prop) == 1}

    def split(self) -> Split:
        walked = transform_body(self.operator.body, self.rule)
        consumer = with_fields(self.operator, {"body": tuple(self.consumer)})
        return Split((*self.before, *walked, *self.after), tuple(self.inactive), consumer)

    def rule(self, n: Node) -> Node | tuple[Stmt, ...] | None:
        match n:
            case Reduce():
                return self.reduce(n)
            case Claim():
                return self.claim(n)
        return None

    def reduce(self, n: Reduce) -> Body:
        """What a reduction adds to the buffer; the first of a property declares the buffer."""
        t = n.value.type
        if n.prop in self.direct:
            place = self.value_buffer(n)
            marks: Body = (Store(self.flag_buffer(n, place), self.index, TRUE),) if self.flagged(n) else ()
            if not marks:
                self.consume(n, place, None)
            return (Store(place, self.index, n.value, span=n.span), *marks)
        if n.prop not in self.registers:
            place, register = self.value_buffer(n), self.fresh(n.prop)
            self.before.append(Let(register, t, identity(n.op, t)))
            self.after.append(Store(place, self.index, Var(register, t)))
            marks = ()
            if self.flagged(n):
                mark = self.fresh("touches")
                self.before.append(Let(mark, BOOL, FALSE))
                self.after.append(Store(self.flag_buffer(n, place), self.index, Var(mark, BOOL)))
                marks = (Assign(mark, TRUE),)
            else:
                self.consume(n, place, None)
            self.registers[n.prop] = (Accumulate(n.op, register, identity(n.op, t)), *marks)
        first, *rest = self.registers[n.prop]
        return (with_fields(first, {"value": n.value, "span": n.span}), *rest)

    def flagged(self, n: Reduce) -> bool:
        """An accumulating reduction counts as a change whatever its value, so arcs that do it are marked."""
        return self.touched and n.op in ACCUMULATING

    def value_buffer(self, n: Reduce) -> str:
        place = self.declare(n.prop, n.value.type)
        if not self.flagged(n):
            self.inactive.append(Store(place, self.index, identity(n.op, n.value.type)))
        return place

    def flag_buffer(self, n: Reduce, place: str) -> str:
        flag = self.declare(f"{n.prop}.touched", BOOL)
        self.inactive.append(Store(flag, self.index, FALSE))
        self.consume(n, place, flag)
        return flag

    def consume(self, n: Reduce, place: str, flag: str | None) -> None:
        t = n.value.type
        write = with_fields(n, {"value": Load(place, self.index, t, span=n.span)})
        self.consumer.append(If(Load(flag, self.index, BOOL), (write,)) if flag else write)

    def claim(self, n: Claim) -> Body:
        flag = self.declare(f"{n.prop}.claims", BOOL)
        self.inactive.append(Store(flag, self.index, FALSE))
        stores: list[Stmt] = []

        def moved(e: Expr) -> Expr:
            if _dst_only(self.operator, e):
                return e
            place = self.declare(f"{n.prop}.value", e.type)
            stores.append(Store(place, self.index, e, span=e.span))
            return Load(place, self.index, e.type, span=e.span)

        value = moved(n.value)
        body = tuple(
            with_fields(s, {"value": moved(s.value)}) for s in n.body if isinstance(s, Store | ReduceGlobal)
        )
        self.consumer.append(
            If(Load(flag, self.index, BOOL), (with_fields(n, {"value": value, "body": body}),))
        )
        if self.stops or n in self.operator.body:
            if n not in self.operator.body:
                self.before.append(Store(flag, self.index, FALSE))
            return (*stores, Store(flag, self.index, TRUE), *((Break(),) if self.stops else ()))
        mark = self.fresh("claims")
        self.before.append(Let(mark, BOOL, FALSE))
        self.after.append(Store(flag, self.index, Var(mark, BOOL)))
        return (*stores, Assign(mark, TRUE))


def identity(op: str, t: Type) -> Expr:
    """The value that a reduction ignores: `x op identity` is x, to the bit."""
    if isinstance(t, Vector):
        return Cast(t, identity(op, t.element))
    assert isinstance(t, Scalar)
    if t == BOOL:
        return Const(op in ("min", "&", "*"), BOOL)
    match op:
        case "min":
            return Const(math.inf, t)
        case "max":
            return Const(-math.inf, t)
        case "&":
            return Const(-1, t)
        case "+":
            return Const(-0.0 if t.is_float else 0, t)
    return Const(1 if op == "*" else 0, t)
