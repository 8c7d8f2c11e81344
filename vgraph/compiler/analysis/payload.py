"""What goes through the buffer between two phases: the operator divided into a producer and a consumer.

RAW: the producer stores the fields of the arc as it reads them, the consumer runs the operator on them.
COMPUTED: the producer runs the operator and stores what it would have written, the consumer only combines.
All reads at `src` and at the arc are the producer's, so a buffer that is filled before it is consumed is also the copy
that a bulk-synchronous round needs. (Edge-computation motion: gather-apply and apply-scatter, chapter 5 of R. Kaleem's
work on irregular programs for heterogeneous systems.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import BOOL, EID, LONGEST_VECTOR, VID, Target, Type, Vector, element_of
from vgraph.records import dataclass
from vgraph.schedule import Payload

FALSE, TRUE = ir.Const(False, BOOL), ir.Const(True, BOOL)
Declare = Callable[[str, Type], str]
"""Declares a buffer for a value, of a name near the one given and of this type; gives its name."""


def fields(operator: ir.Operator, *, arcs: bool) -> tuple[ir.Expr, ...]:
    """What RAW stores: the distinct reads at `src`, its id if that is used, with `arcs` also the reads at the arc."""
    src, edge, _ = operator.args
    found: dict[ir.Expr, None] = {}

    def visit(n: ir.Node) -> None:
        if _is_field(n, src, edge, arcs):
            assert isinstance(n, ir.Expr)
            found.setdefault(n)
            return
        for child in ir.children(n):
            visit(child)

    for stmt in operator.body:
        visit(stmt)
    return tuple(found)


def _is_field(n: ir.Node, src: str, edge: str, arcs: bool) -> bool:
    match n:
        case ir.Load(index=ir.Var(name=name)):
            return name == src or (arcs and name == edge)
        case ir.Degree(vertex=ir.Var(name=name)):
            return name == src
        case ir.Var(name=name):
            return name == src
    return False


def contributions(operator: ir.Operator, *, touched: bool) -> Iterator[tuple[str, Type]]:
    """What COMPUTED stores, name and type of each: a value per reduced property, a flag and values per claim."""
    reduced: dict[str, ir.Reduce] = {}
    for n in _statements(operator.body):
        if isinstance(n, ir.Reduce):
            reduced.setdefault(n.prop, n)
        elif isinstance(n, ir.Claim):
            yield f"{n.prop}.claims", BOOL
            for e in _claim_values(operator, n):
                yield f"{n.prop}.value", e.type
    for prop, write in reduced.items():
        yield prop, write.value.type
        if touched and write.op in ir.ACCUMULATING:
            yield f"{prop}.touched", BOOL


def _statements(body: ir.Body) -> Iterator[ir.Stmt]:
    return (n for top in body for n in ir.walk(top) if isinstance(n, ir.Stmt))


def _dst_only(operator: ir.Operator, e: ir.Expr) -> bool:
    """Whether an expression can be evaluated knowing nothing but `dst` and what is equal everywhere."""
    local = {n.name for n in _statements(operator.body) if isinstance(n, ir.Let)} | {*operator.args[:2]}
    for n in ir.walk(e):
        if isinstance(n, ir.Neighbor | ir.HasNeighbor) or (isinstance(n, ir.Var) and n.name in local):
            return False
        if isinstance(n, ir.Load) and n.index != ir.Var(operator.args[2], VID):
            return False
    return True


def _claim_values(operator: ir.Operator, claim: ir.Claim) -> list[ir.Expr]:
    """The values of a claim that the producer has to find, in order."""
    given = [claim.value, *(s.value for s in claim.body if isinstance(s, ir.Store | ir.ReduceGlobal))]
    return [e for e in given if not _dst_only(operator, e)]


def obstacle(operator: ir.Operator, payload: Payload, *, arcs: bool) -> Obstacle | None:
    """Why the operator cannot be divided in this way; None if it can. `arcs` as of `fields`."""
    for n in _statements(operator.body):
        if isinstance(n, ir.Store | ir.Reduce) and n.index.type == EID:
            return Obstacle(f"`{n.prop}` is written at the edge, which no buffer holds", n.span)
        if isinstance(n, ir.Union):
            return Obstacle("it unites disjoint sets, which reads and writes along whole paths", n.span)
    for part in (part for top in operator.body for part in ir.walk(top)):
        kept = part.value if isinstance(part, ir.Reduce) else part
        whole = kept is not part or (isinstance(kept, ir.Load) and payload is Payload.RAW)
        t = kept.type if whole and isinstance(kept, ir.Expr) else BOOL
        if isinstance(t, Vector) and t.length > LONGEST_VECTOR:
            return Obstacle(f"a vector of {t.length:,} elements for each arc fits into no buffer", part.span)
    if not any(isinstance(n, ir.Reduce | ir.Claim) for n in _statements(operator.body)):
        return Obstacle("it writes nothing at dst, so there is nothing to hand on", operator.span)
    if payload is Payload.RAW and not fields(operator, arcs=arcs):
        return Obstacle("it reads nothing at src, so there is nothing to store", operator.span)
    return _raw_obstacle(operator) if payload is Payload.RAW else _computed_obstacle(operator)


def _raw_obstacle(operator: ir.Operator) -> Obstacle | None:
    src, edge, dst = operator.args
    for top in operator.body:
        for n in ir.walk(top):
            match n:
                case ir.ForNeighbors() | ir.ForCommon() | ir.Neighbor() | ir.HasNeighbor():
                    return Obstacle(
                        "it reads around one end of the arc, which is no field of the arc", n.span
                    )
                case ir.Load(index=ir.Var(name=name)) if name in (src, edge, dst):
                    continue
                case ir.Load():
                    return Obstacle("it reads at another vertex than the two ends of the arc", n.span)
                case ir.Degree(vertex=ir.Var(name=name)) if name in (src, dst):
                    continue
                case ir.Degree():
                    return Obstacle("it reads at another vertex than the two ends of the arc", n.span)
    return None


def _computed_obstacle(operator: ir.Operator) -> Obstacle | None:
    for n in _statements(operator.body):
        if isinstance(n, ir.Claim):
            for inner in n.body:
                if not isinstance(inner, ir.Store | ir.ReduceGlobal):
                    return Obstacle(
                        "what it does once the claim has succeeded is more than storing values", inner.span
                    )
    return None


def width(t: Type, target: Target) -> int:
    """Bytes of a value in a buffer."""
    return target.width(element_of(t)) // 8 * (t.length if isinstance(t, Vector) else 1)


def payload_bytes(
    operator: ir.Operator, payload: Payload, target: Target, *, arcs: bool, touched: bool
) -> int:
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

    producer: ir.Body
    inactive: ir.Body
    consumer: ir.Operator


def split_raw(operator: ir.Operator, declare: Declare, index: ir.Expr, *, arcs: bool, guarded: bool) -> Split:
    """RAW: one buffer per field, at `index`; `guarded` adds the flag of active arcs."""
    src, edge, _ = operator.args
    places = {
        e: ir.Load(declare(_hint(e), e.type), index, e.type, span=e.span) for e in fields(operator, arcs=arcs)
    }

    def replaced(n: ir.Node) -> ir.Node:
        if _is_field(n, src, edge, arcs):
            assert isinstance(n, ir.Expr)
            return places[n]
        return ir.map_children(n, replaced)

    body = tuple(s for s in (replaced(s) for s in operator.body) if isinstance(s, ir.Stmt))
    producer: ir.Body = tuple(ir.Store(load.prop, index, e, span=e.span) for e, load in places.items())
    inactive: ir.Body = ()
    if guarded:
        active = declare("active", BOOL)
        producer = (*producer, ir.Store(active, index, TRUE))
        inactive = (ir.Store(active, index, FALSE),)
        body = (ir.If(ir.Load(active, index, BOOL), body),)
    return Split(producer, inactive, ir.with_fields(operator, {"body": body}))


def _hint(e: ir.Expr) -> str:
    match e:
        case ir.Load(prop=prop):
            return prop
        case ir.Degree(orientation=ir.Orientation() as way):
            return f"{way.value}_degree"
    return "src"


@dataclass
class Computed:
    """COMPUTED: one buffer per reduced property, a flag and the values per claim, at `index`."""

    operator: ir.Operator
    declare: Declare
    fresh: Callable[[str], str]
    index: ir.Expr
    touched: bool
    """Accumulating reductions are marked, for they count as changes."""
    stops: bool = False
    """The producer leaves its loop over arcs once it has found a claim (for operators that do nothing but claim)."""

    def __post_init__(self) -> None:
        self.before: list[ir.Stmt] = []  # locals of the producer, and at its end the stores of them
        self.after: list[ir.Stmt] = []
        self.inactive: list[ir.Stmt] = []
        self.consumer: list[ir.Stmt] = []
        self.registers: dict[str, ir.Body] = {}
        counts = [n.prop for n in _statements(self.operator.body) if isinstance(n, ir.Reduce)]
        top = [n for n in self.operator.body if isinstance(n, ir.Reduce)]
        self.direct = {n.prop for n in top if counts.count(n.prop) == 1}

    def split(self) -> Split:
        walked = ir.transform_body(self.operator.body, self.rule)
        consumer = ir.with_fields(self.operator, {"body": tuple(self.consumer)})
        return Split((*self.before, *walked, *self.after), tuple(self.inactive), consumer)

    def rule(self, n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Reduce():
                return self.reduce(n)
            case ir.Claim():
                return self.claim(n)
        return None

    def reduce(self, n: ir.Reduce) -> ir.Body:
        """What a reduction adds to the buffer; the first of a property declares the buffer."""
        t = n.value.type
        if n.prop in self.direct:
            place = self.value_buffer(n)
            marks: ir.Body = (
                (ir.Store(self.flag_buffer(n, place), self.index, TRUE),) if self.flagged(n) else ()
            )
            if not marks:
                self.consume(n, place, None)
            return (ir.Store(place, self.index, n.value, span=n.span), *marks)
        if n.prop not in self.registers:
            place, register = self.value_buffer(n), self.fresh(n.prop)
            self.before.append(ir.Let(register, t, identity(n.op, t)))
            self.after.append(ir.Store(place, self.index, ir.Var(register, t)))
            marks = ()
            if self.flagged(n):
                mark = self.fresh("touches")
                self.before.append(ir.Let(mark, BOOL, FALSE))
                self.after.append(ir.Store(self.flag_buffer(n, place), self.index, ir.Var(mark, BOOL)))
                marks = (ir.Assign(mark, TRUE),)
            else:
                self.consume(n, place, None)
            self.registers[n.prop] = (ir.Accumulate(n.op, register, identity(n.op, t)), *marks)
        first, *rest = self.registers[n.prop]
        return (ir.with_fields(first, {"value": n.value, "span": n.span}), *rest)

    def flagged(self, n: ir.Reduce) -> bool:
        """An accumulating reduction counts as a change whatever its value, so arcs that do it are marked."""
        return self.touched and n.op in ir.ACCUMULATING

    def value_buffer(self, n: ir.Reduce) -> str:
        place = self.declare(n.prop, n.value.type)
        if not self.flagged(n):
            self.inactive.append(ir.Store(place, self.index, identity(n.op, n.value.type)))
        return place

    def flag_buffer(self, n: ir.Reduce, place: str) -> str:
        flag = self.declare(f"{n.prop}.touched", BOOL)
        self.inactive.append(ir.Store(flag, self.index, FALSE))
        self.consume(n, place, flag)
        return flag

    def consume(self, n: ir.Reduce, place: str, flag: str | None) -> None:
        t = n.value.type
        write = ir.with_fields(n, {"value": ir.Load(place, self.index, t, span=n.span)})
        self.consumer.append(ir.If(ir.Load(flag, self.index, BOOL), (write,)) if flag else write)

    def claim(self, n: ir.Claim) -> ir.Body:
        flag = self.declare(f"{n.prop}.claims", BOOL)
        self.inactive.append(ir.Store(flag, self.index, FALSE))
        stores: list[ir.Stmt] = []

        def moved(e: ir.Expr) -> ir.Expr:
            if _dst_only(self.operator, e):
                return e
            place = self.declare(f"{n.prop}.value", e.type)
            stores.append(ir.Store(place, self.index, e, span=e.span))
            return ir.Load(place, self.index, e.type, span=e.span)

        value = moved(n.value)
        body = tuple(
            ir.with_fields(s, {"value": moved(s.value)})
            for s in n.body
            if isinstance(s, ir.Store | ir.ReduceGlobal)
        )
        self.consumer.append(
            ir.If(ir.Load(flag, self.index, BOOL), (ir.with_fields(n, {"value": value, "body": body}),))
        )
        if self.stops or n in self.operator.body:
            if n not in self.operator.body:
                self.before.append(ir.Store(flag, self.index, FALSE))
            return (*stores, ir.Store(flag, self.index, TRUE), *((ir.Break(),) if self.stops else ()))
        mark = self.fresh("claims")
        self.before.append(ir.Let(mark, BOOL, FALSE))
        self.after.append(ir.Store(flag, self.index, ir.Var(mark, BOOL)))
        return (*stores, ir.Assign(mark, TRUE))
