"""`lower-cautious`: vertex operators that gather vertices, such that no two visits meet at one.

before: `vertex_apply(split) schedule(conflict=marked, ...)` with `acquire u for cavity[n]; ...; f[u] = ...`
after:  `left = all; while ... { parfor v in sparse left { if BEGINS { push begun v } }; @pass += 1;
         parfor v in sparse begun { mark[v] max= key; ...; mark[u] max= key };
         parfor v in sparse begun { if mark[v] == key { ... if mark[u] == key { ...; f[u] = ... } }; push left.next v };
         single { swap begun left.next; ... } }`

Two phases, as in deterministic reservations (Blelloch et al. 2012): first all visits gather, and mark what they gather
with the larger of the keys; nothing is written, so all see the same. Then they gather again, as long as all marks are
their own, and those that get to the end write. What they have read is theirs, so it is what it was when they marked.
Others wait for the next pass. The visit with the largest key has all its marks, so each pass gets something done. A key
is the number of the pass, and below that a hash of the vertex: which visits come first depends on neither threads nor
device, and no mark has to be taken away. Who shares vertices with a thousand others has to wait for many of them, so
not all begin at once.

Without atomics marks take three phases (Nasre, Burtscher and Pingali 2013: race, prioritycheck, check). Two visits that
write a mark at once may both miss the larger one. Where all visits of a pass are late, the next one has atomics.

With locks a visit takes them one by one while it gathers, gives all back where one is taken, and waits for the next
pass. Who comes again to a vertex that it has already sees so by `owner`. As two visits may both fail at each other,
what is left of a pass that got nothing done is visited by one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.passes.lowering import (
    FALSE,
    MUTEX,
    TRUE,
    Lowering,
    count_of,
    counted_round,
    lowering,
    note_deferred,
    of_vertices,
    over_active,
    push,
    scalar,
)
from vgraph.compiler.types import BOOL, I32, I64, VID
from vgraph.schedule import FREE, NODE_LOCKED, RACED, SEQUENTIAL

_EFFECTS: Final = (ir.Store, ir.Reduce, ir.ReduceGlobal, ir.Emit)
_HASH: Final = 0x9E3779B1
"""An odd number, so that a product with it, cut off, is another number for each vertex (Knuth 1998, section 6.4)."""
_FIRST: Final = 256
"""The part of all visits that begin first by marks. Where most of a pass have their turn, twice as many begin with the
next one; else none, and later half as many (as Galois does: Nguyen, Lenharth and Pingali 2014)."""
_NONE: Final = ir.Const(-1, VID)

Take = Callable[[ir.Expr], ir.Body]
"""What is done to acquire a vertex; where that fails, the local `goes` becomes false."""


def _lower(low: Lowering, apply: ir.VertexApply) -> ir.Body:
    target, tries = low.target(apply), low.counter("tries")
    visit = _Visit(low, apply, target, tries)
    conflict = apply.chosen.conflict
    if conflict == SEQUENTIAL or (conflict == NODE_LOCKED and low.context.threads == 1):
        loop = over_active(apply, visit.v, visit.free(), ir.VertexWords())
        loops: ir.Body = (ir.Alone((loop,), span=apply.span),)
    else:
        loops = _passes(low, apply, visit)
    return counted_round(apply, target, "vertex", tries, loops)


def _passes(low: Lowering, apply: ir.VertexApply, visit: _Visit) -> ir.Body:
    """Passes over the vertices that had no turn yet, until none is left."""
    left, behind = low.hidden("left"), low.hidden("left.next")
    take: ir.Stmt = ir.FrontierSet(left, ir.FrontierKind.ALL)
    if apply.frontier is not None:
        take = ir.FrontierCopy(left, apply.frontier)
    begin = (take, ir.FrontierConvert(left, ir.Layout.SPARSE), ir.FrontierClear(behind, ir.Layout.SPARSE))
    passes = _by_locks if apply.chosen.conflict == NODE_LOCKED else _by_marks
    return (*begin, *passes(low, visit, left, behind))


def _swap(left: str, behind: str) -> ir.Stmt:
    return ir.Single((ir.FrontierSwap(left, behind), ir.FrontierClear(behind, ir.Layout.SPARSE)))


def _by_locks(low: Lowering, visit: _Visit, left: str, behind: str) -> ir.Body:
    size, before, number = ir.FrontierSize(left), low.fresh("before"), low.counter("pass")
    alone = (
        ir.Alone((visit.over(left, visit.free()),)),
        ir.Single((ir.FrontierClear(left, ir.Layout.SPARSE),)),
    )
    step = (
        ir.Let(before, I64, size),
        visit.over(left, visit.locks(behind)),
        _swap(left, behind),
        ir.If(ir.Compare("==", size, ir.Var(before, I64)), alone),
        *note_deferred(low, visit.apply.label, number, size),
    )
    return (
        ir.SetGlobal(number, scalar(0)),
        ir.While(ir.Compare(">", size, scalar(0)), step),
    )


def _by_marks(low: Lowering, visit: _Visit, rest: str, behind: str) -> ir.Body:
    """Of the vertices in `rest` those of the largest hashes begin first, as many as have their turn soon."""
    left, key, raced = low.hidden("begun"), _Key(low), visit.apply.chosen.conflict == RACED
    bound, upper, width, tried = (ir.Var(low.fresh(n), I64) for n in ("bound", "upper", "width", "tried"))
    late, none = (ir.Var(low.fresh(n), BOOL) for n in ("many.late", "all.late"))
    size, more, number = ir.FrontierSize(left), ir.Compare(">", bound, scalar(0)), low.counter("pass")
    hashed = key.hash(visit.own)
    chosen = ir.Logical("and", ir.Compare(">=", hashed, bound), ir.Compare("<", hashed, upper))
    enters = ir.If(chosen, (ir.FrontierPush(left, visit.own, ir.Layout.SPARSE, False),))
    begin = (
        ir.Assign(upper.name, bound),
        ir.Assign(bound.name, ir.Binary("max", ir.Binary("-", bound, width), scalar(0))),
        visit.over(rest, (enters,)),
    )
    marks: ir.Body = (visit.over(left, visit.marks(key)),)
    if raced:
        marks = (ir.If(none, marks, tuple(visit.over(left, body) for body in visit.races(key))),)
    half = ir.Binary("max", ir.Binary("//", width, scalar(2)), scalar(1))
    twice = ir.Binary("min", ir.Binary("*", width, scalar(2)), key.count)
    step = (
        ir.If(ir.Logical("and", more, ir.Unary("not", late)), begin),
        *key.following(visit.v),
        ir.Let(tried.name, I64, size),
        *marks,
        visit.over(left, visit.wins(key, behind)),
        _swap(left, behind),
        *note_deferred(low, visit.apply.label, number, size),
        *((ir.Assign(none.name, ir.Compare("==", size, tried)),) if raced else ()),
        ir.Assign(late.name, ir.Compare(">", ir.Binary("*", size, scalar(2)), tried)),
        ir.Assign(width.name, ir.Select(late, half, twice)),
    )
    return (
        ir.SetGlobal(number, scalar(0)),
        ir.FrontierClear(left, ir.Layout.SPARSE),
        ir.Let(bound.name, I64, key.count),
        ir.Let(upper.name, I64, key.count),
        ir.Let(width.name, I64, ir.Binary("//", key.count, scalar(_FIRST))),
        ir.Let(late.name, BOOL, FALSE),
        *((ir.Let(none.name, BOOL, FALSE),) if raced else ()),
        ir.While(ir.Logical("or", more, ir.Compare(">", size, scalar(0))), step),
    )


class _Key:
    """The marks of all vertices, and with which key a visit marks them."""

    def __init__(self, low: Lowering) -> None:
        self.mark = of_vertices(low, "mark.of.vertices", I64)
        self.number = f"{self.mark}.pass"
        self.bits = 32 if low.program.target.id_bits == 32 else 40
        if all(g.__dict__["name"] != self.number for g in (*low.program.globals, *low.declared("globals"))):
            low.declare("globals", ir.Global(self.number, I64))
            low.begin.append(ir.SetGlobal(self.number, scalar(0)))

    def following(self, v: str) -> ir.Body:
        """The next pass; where its number would be too large, marks of old ones are taken away."""
        clear = ir.ParFor(v, ir.Vertices(), (ir.Store(self.mark, ir.Var(v, VID), scalar(0)),))
        full = ir.Compare(">=", count_of(self.number), scalar(1 << 62 - self.bits))
        one = ir.Binary("+", count_of(self.number), scalar(1))
        return (ir.If(full, (clear, ir.SetGlobal(self.number, scalar(0)))), ir.SetGlobal(self.number, one))

    def of(self, v: ir.Expr) -> ir.Expr:
        """The key of the visit of v in this pass."""
        return ir.Binary("|", ir.Binary("<<", count_of(self.number), scalar(self.bits)), self.hash(v))

    @property
    def count(self) -> ir.Expr:
        """How many hashes there are."""
        return scalar(1 << self.bits)

    def hash(self, v: ir.Expr) -> ir.Expr:
        """A number of v's own."""
        mixed = ir.Binary("*", ir.Cast(I64, v), scalar(_HASH))
        return ir.Binary("&", mixed, scalar((1 << self.bits) - 1))


class _Visit:
    """The body of a visit, in the forms in which it acquires vertices."""

    def __init__(self, low: Lowering, apply: ir.VertexApply, target: str | None, tries: str) -> None:
        self.low, self.apply, self.target = low, apply, target
        operator = low.operator(apply.op)
        (self.v,) = operator.args
        self.own = ir.Var(self.v, VID)
        acquired = [n for n in ir.walk(operator) if isinstance(n, ir.Acquire)]
        self.lists = list(dict.fromkeys((n.list, n.count) for n in acquired))
        self.types = {n.name: n.type for n in ir.walk(operator) if isinstance(n, ir.Let)}
        written = {n.prop for n in ir.walk(operator) if isinstance(n, ir.Store) and n.index.type == VID}
        lists = {name for pair in self.lists for name in pair}
        lets = (i for i, n in enumerate(operator.body) if isinstance(n, ir.Let) and n.name in lists)
        self.declared = 1 + max(lets)

        def held(n: ir.Node) -> ir.Node | None:
            mine = isinstance(n, ir.Load | ir.Store) and n.prop in written
            return ir.with_fields(n, {"order": ir.Order.HELD}) if mine else None

        self.body = ir.transform_body(operator.body, held)
        self.goes, self.late = low.fresh("goes"), low.fresh("late")
        self.count = ir.ReduceGlobal("+", tries, scalar(1))
        private = dict.fromkeys(n.prop for n in ir.walk(operator) if isinstance(n, ir.ScratchStore))
        self.clear = tuple(ir.ScratchClear(p, span=apply.span) for p in private)

    def over(self, frontier: str, body: ir.Body) -> ir.Stmt:
        """A loop over what is left."""
        return ir.ParFor(self.v, ir.SparseMembers(frontier), body, self.apply.label, span=self.apply.span)

    def free(self) -> ir.Body:
        """One thread acquires nothing."""
        return self._begun((self.count, *self._until(self._effects(), lambda u: ())), self.clear)

    def marks(self, key: _Key) -> ir.Body:
        """The first phase: everything that is gathered is marked, and nothing else is done."""

        def take(u: ir.Expr) -> ir.Body:
            return (ir.Reduce("max", key.mark, u, key.of(self.own)),)

        return self._marking(take)

    def races(self, key: _Key) -> tuple[ir.Body, ir.Body]:
        """The first two phases without atomics: of two that put their marks at once the smaller key may stay. In the
        second one the larger comes again, or gives way to one larger still."""

        def race(u: ir.Expr) -> ir.Body:
            mark, mine = ir.Load(key.mark, u, I64), key.of(self.own)
            return (ir.If(ir.Compare("<", mark, mine), (ir.Store(key.mark, u, mine),)),)

        def settle(u: ir.Expr) -> ir.Body:
            larger = ir.Compare(">", ir.Load(key.mark, u, I64), key.of(self.own))
            return (*race(u), ir.If(larger, (ir.Assign(self.goes, FALSE),)))

        return self._marking(race), self._marking(settle)

    def wins(self, key: _Key, behind: str) -> ir.Body:
        """The second: who finds only its own marks writes."""

        def take(u: ir.Expr) -> ir.Body:
            lost = ir.Compare("!=", ir.Load(key.mark, u, I64), key.of(self.own))
            return (ir.If(lost, (ir.Assign(self.goes, FALSE), ir.Assign(self.late, TRUE))),)

        return self._tried(take, (), behind)

    def locks(self, behind: str) -> ir.Body:
        """What is gathered is locked until the end."""
        mutex = of_vertices(self.low, MUTEX, I32)
        owner = of_vertices(self.low, "owner.of.vertices", VID, first=_NONE)

        def is_mine(u: ir.Expr) -> ir.Expr:
            return ir.Compare("==", ir.Load(owner, u, VID), self.own)

        def take(u: ir.Expr) -> ir.Body:
            have: ir.Body = (ir.Store(owner, u, self.own),)
            free: ir.Body = (
                ir.Lock(self.goes, mutex, u),
                ir.If(ir.Var(self.goes, BOOL), have, (ir.Assign(self.late, TRUE),)),
            )
            return (ir.If(is_mine(u), (), free),)

        def give(u: ir.Expr) -> ir.Stmt:
            return ir.If(is_mine(u), (ir.Store(owner, u, _NONE), ir.Unlock(mutex, u)))

        back: list[ir.Stmt] = []
        for name, count in self.lists:
            i, u = self.low.fresh("i"), self.low.fresh("u")
            there = ir.Element(ir.Var(name, self.types[name]), ir.Var(i, I64))
            body = (ir.Let(u, VID, there), give(ir.Var(u, VID)))
            back.append(ir.For(i, scalar(0), ir.Var(count, I64), scalar(1), body))
        return self._tried(take, (*back, give(self.own)), behind)

    # --- what they share

    def _begun(self, body: ir.Body, end: ir.Body) -> ir.Body:
        lets = (ir.Let(self.goes, BOOL, TRUE), ir.Let(self.late, BOOL, FALSE))
        return (*self.body[: self.declared], *lets, *body, *end)

    def _marking(self, take: Take) -> ir.Body:
        """A visit that does nothing but mark what it gathers."""
        kept = ir.transform_body(self._gathering(), lambda n: () if isinstance(n, _EFFECTS) else None)
        rest = ir.If(ir.Var(self.goes, BOOL), self._until(kept, take))
        return self._begun((*take(self.own), rest), self.clear)

    def _tried(self, take: Take, end: ir.Body, behind: str) -> ir.Body:
        """A visit that is late where it cannot acquire what it gathers."""
        first = (*take(self.own), ir.If(ir.Var(self.goes, BOOL), self._until(self._effects(), take)))
        wait = ir.If(ir.Var(self.late, BOOL), (ir.FrontierPush(behind, self.own, ir.Layout.SPARSE, False),))
        return self._begun((self.count, *first), (*self.clear, *end, wait))

    def _effects(self) -> ir.Body:
        """The body behind the lists, with what it emits."""
        body = self.body[self.declared :]
        if not (body and isinstance(body[-1], ir.Emit)):
            return body
        out = push(self.apply, self.target, self.own, own=True) if self.target else None
        return (*body[:-1], ir.If(body[-1].value, (out,))) if out else body[:-1]

    def _gathering(self) -> ir.Body:
        """The body up to where the last vertex is gathered."""
        body = self.body[self.declared :]
        last = max(i for i, n in enumerate(body) if _gathers(n))
        return body[: last + 1]

    def _until(self, body: ir.Body, take: Take, *, in_loop: bool = False) -> ir.Body:
        """`body` with what `take` does for each vertex, up to where the visit goes no further."""
        done: list[ir.Stmt] = []
        goes = ir.Var(self.goes, BOOL)
        for i, n in enumerate(body):
            if isinstance(n, ir.Leave):
                return (*done, ir.Assign(self.goes, FALSE), *((ir.Break(),) if in_loop else ()))
            if not _gathers(n):
                done.append(n)
                continue
            if isinstance(n, ir.Acquire):
                done += take(n.vertex)
            elif isinstance(n, ir.If):
                sides = {s: self._until(getattr(n, s), take, in_loop=in_loop) for s in ("then", "other")}
                done.append(ir.with_fields(n, sides))
            else:
                done.append(ir.with_fields(n, {"body": self._until(n.__dict__["body"], take, in_loop=True)}))
            rest = self._until(body[i + 1 :], take, in_loop=in_loop)
            if rest or in_loop:
                done.append(ir.If(goes, rest, (ir.Break(),) if in_loop else ()))
            break
        return tuple(done)


def _gathers(n: ir.Stmt) -> bool:
    """Whether a visit may end in a statement."""
    return any(isinstance(m, ir.Acquire | ir.Leave) for m in ir.walk(n))


lower_cautious = lowering(
    "lower-cautious", ir.VertexApply, lambda schedule: schedule.conflict != FREE, _lower
)
