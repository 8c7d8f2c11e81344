"""`place-exchanges`: from a program for one memory to one that each member of a set of devices runs on its own part.

before: `frontier = edge_apply(relax, frontier)` with `dist[dst] min= ...`
after:  `frontier = edge_apply(relax.part, frontier)`
        `parfor v in sparse frontier { if v < set.owned { push frontier.kept v } }`
        `parfor g at i in listed set.ghosts { dist.to_owners[i] = dist[g] }`
        `all_to_all (dist.to_owners) to (dist.at_owners) by (owners)`
        `parfor v at i in listed set.shared { dist[v] min= dist.at_owners[i] -> c; if c { push frontier.kept v } }`
        `swap frontier frontier.kept`, and the sizes of all parts together become `@frontier.size`

Every member runs the whole driver loop; its scalars are the same everywhere, so all members come to the same exchanges.
Between two statements of the driver loop (1) a frontier has owned vertices only, (2) at ghosts a property that anybody
reads there is what its owner has. A push reduces into ghosts, which so combine what goes to one owner; then the owner
takes it, once for each member. Nothing is done where no member is another's neighbor: that is up to the channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.analysis.placement import CLAIM, Visit
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.agree_on_buckets import AgreedQueue, by_priority, in_buckets
from vgraph.compiler.passes.deal_blocks import deal_blocks
from vgraph.compiler.passes.divide_loops import divided_loop
from vgraph.compiler.passes.exchanges import GHOST, ONE, PLACE, ZERO, Exchanging, Folds, Mails
from vgraph.compiler.passes.lowering import FALSE, TRUE
from vgraph.compiler.passes.own_applies import note, own_apply, pushes, to_owners
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.schedule import (
    BASE,
    BITMAP,
    COMBINE,
    DATA,
    DELAYED,
    DENSE,
    FREE,
    PULL,
    PUSH,
    SPARSE,
    TOPOLOGY,
    Conflict,
    Exchange,
    Volume,
)
from vgraph.source import Span

_NONE = ir.Const(-1, VID)


class Placing(Exchanging):
    """The pass on its way through a program."""

    def __init__(self, program: ir.Program, context: Context, *, whole: bool) -> None:
        super().__init__(program, context)
        self.whole, self.cut = whole, context.cut and not whole
        self.dealt: Conflict | None = None
        if not whole:
            self.number(part.OWNED, VID)
        for p in program.properties:
            if p.site is ir.Site.NUMBERED:
                part.refuse(
                    program, self.first(p.name), "values of edges, by their numbers, are those of one device"
                )
        self.queues = {q.name: AgreedQueue(self, q) for q in program.queues}
        self.divided = [n for n in ir.driver(program.body) if isinstance(n, ir.For) and n.divided]
        inside = {id(n) for loop in self.divided for n in ir.driver(loop.body)}
        applies = [n for n in ir.driver(program.body) if isinstance(n, ir.Apply) and id(n) not in inside]
        self.forms = {id(n): _forms(n) for n in applies if n.chosen.exchange is Exchange.AUTO}
        each = [form for n in applies for form in self.forms.get(id(n), (n,))]
        self.visits: dict[int, Visit] = {id(n): self.visit(n) for n in each}
        found = self.visits.values()
        self.writes = {(name, op) for v in found for name, op in v.writes.items()}
        self.near = {name for v in found for name in v.reads}
        self.near |= {name for name, op in self.writes if op == CLAIM and not self.stays_behind(name, op)}
        self.near |= {name for n in each if n.out for name in _beside_sums(self.visits[id(n)])}
        # What is dealt is handed on for whole blocks, with what nobody stored there.
        self.near |= {name for n in each if n.chosen.conflict != FREE for name in self.visits[id(n)].stored}
        self.sized = self.asked_sizes()

    def first(self, name: str) -> Span | None:
        """Where the driver loop first names something."""
        return next((n.span for n in ir.walk(self.program) if name in n.__dict__.values() and n.span), None)

    def visit(self, n: ir.Apply) -> Visit:
        """The operator of an apply for a member."""
        operator = self.program.operator(n.op)
        if n.chosen.conflict == FREE:
            own = operator.args[0 if pushes(n) else 2]
            return part.visit(self.program, operator, own, whole=self.whole, cut=self.cut)
        if not self.whole:
            part.refuse(self.program, n.span, "edges of both of whose ends it is about lie on any member")
        if (self.dealt or n.chosen.conflict) != n.chosen.conflict:
            part.refuse(self.program, n.span, "blocks of the matrix are dealt in two ways")
        self.dealt = n.chosen.conflict
        return part.visit(self.program, operator, "", whole=True)

    def stays_behind(self, name: str, op: str) -> bool:
        """Whether a ghost never has more of the property than its owner: all that is done to it is this operation, or
        is done to all copies alike."""
        visits = self.visits.values()
        ways = {way for v in visits for prop, way in (*v.writes.items(), *v.reduced) if prop == name}
        set_apart = any(name in v.stored for v in visits) and not (
            op == CLAIM and all(name not in v.stored or name in v.claims for v in visits)
        )
        each = any(
            isinstance(n, ir.FillEach | ir.FrontierMark) and n.prop == name
            for n in ir.driver(self.program.body)
        )
        one = len({v.claims[name].expected for v in visits if name in v.claims}) <= 1
        return ways == {op} and op not in ir.ACCUMULATING and not set_apart and not each and one

    def asked_sizes(self) -> dict[str, str]:
        """A global for the size of each frontier whose size is asked for, or that of one it becomes."""
        asked = {n.frontier for n in ir.walk(self.program) if isinstance(n, ir.FrontierSize)}
        asked |= {push.frontier for push, _ in self.forms.values() if push.frontier}
        asked |= {n.out for n in ir.driver(self.program.body) if isinstance(n, ir.QueuePop)}
        copies = [n for n in ir.driver(self.program.body) if isinstance(n, ir.FrontierCopy)]
        for _ in copies:
            asked |= {n.source for n in copies if n.out in asked}
        return {f.name: self.counter(f"{f.name}.size") for f in self.program.frontiers if f.name in asked}

    def size(self, mails: Mails, frontier: str | None) -> None:
        """The size of a frontier is that of all parts together."""
        if frontier in self.sized:
            assert frontier is not None
            self.fold(mails, self.sized[frontier], I64, "+", ir.FrontierSize(frontier), ZERO)

    # --- the driver loop --------------------------------------------------------------------------------------

    def body(self, body: ir.Body) -> ir.Body:
        """A body of the driver loop."""
        return tuple(ir.with_span(new, s.span) for s in body for new in self.statement(s))

    def statement(self, n: ir.Stmt) -> list[ir.Stmt]:
        """What a statement of the driver loop becomes."""
        match n:
            case ir.EdgeApply() | ir.VertexApply():
                return self.apply(n)
            case ir.If(condition=c, then=then, other=other):
                before, c = self.value(c)
                return [
                    *before,
                    ir.with_fields(n, {"condition": c, "then": self.body(then), "other": self.body(other)}),
                ]
            case ir.While() if (ordered := by_priority(n)) is not None:
                return in_buckets(self, ordered)
            case ir.While(condition=c, body=body):
                before, c = self.value(c)
                if before and any(isinstance(m, ir.Continue) for m in ir.walk(n)):
                    part.refuse(
                        self.program, n.span, "the condition of a loop with `continue` reads one vertex"
                    )
                again = self.apart(before)
                return [*before, ir.with_fields(n, {"condition": c, "body": (*self.body(body), *again)})]
            case ir.For(divided=True):
                (first, start), (second, stop) = self.value(n.start), self.value(n.stop)
                n = ir.with_fields(n, {"start": start, "stop": stop})
                return [*first, *second, *divided_loop(self, n, self.divided)]
            case ir.For(body=body):
                heads = {name: self.value(getattr(n, name)) for name in ("start", "stop", "step")}
                changes = {name: value for name, (_, value) in heads.items()} | {"body": self.body(body)}
                return [*(s for before, _ in heads.values() for s in before), ir.with_fields(n, changes)]
            case ir.Store(prop=name, index=at) if self.program.property(name).site is ir.Site.VERTEX:
                return self.store(n, at)
            case ir.Fill(prop=name, value=None) if not self.whole:
                v = self.fresh("v")
                return [ir.FillEach(name, v, ir.Load(self.number_property(), ir.Var(v, VID), VID))]
            case ir.FillEach():
                return self.fill_each(n)
            case ir.QueueFill(queue=name):
                everybody = self.number(part.SIZES["num_vertices"])
                return self.queues[name].filled(everybody=everybody, mine=self.mine())
            case ir.QueuePop(out=out, queue=name):
                return self.queues[name].popped(out, self.sized[out])
        return self.frontier(n)

    def apart(self, statements: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """The statements once more, with locals of their own."""
        names = {
            n.name: self.fresh(n.name)
            for s in statements
            for n in ir.walk(s)
            if isinstance(n, ir.Let | ir.For)
        }
        names |= {
            v: self.fresh(v)
            for s in statements
            for n in ir.walk(s)
            if isinstance(n, ir.ParFor)
            for v in (n.vertex,)
        }
        return [ir.rename(s, names) for s in statements]

    def frontier(self, n: ir.Stmt) -> list[ir.Stmt]:
        """Statements that make frontiers, and all others."""
        mails = Mails()
        match n:
            case ir.FrontierSet(out=out, kind=ir.FrontierKind.SINGLE, vertex=at):
                assert at is not None
                before, here = self.here(at)
                mine = ir.FrontierSet(out, ir.FrontierKind.SINGLE, here)
                none = ir.FrontierSet(out, ir.FrontierKind.EMPTY)
                return [*before, ir.If(self.owned(here), (mine,), (none,)), *self.sizes(out, ONE)]
            case ir.FrontierSet(out=out, kind=ir.FrontierKind.EMPTY):
                return [n, *self.sizes(out, ZERO)]
            case ir.FrontierSet(out=out):
                everybody = self.number(part.SIZES["num_vertices"])
                return [ir.FrontierWhere(out, self.mine()), *self.sizes(out, everybody)]
            case ir.FrontierCopy(out=out, source=source):
                known = self.sized.get(source)
                return [n, *(self.sizes(out, ir.GlobalVar(known, I64)) if known else ())]
            case ir.FrontierWhere(out=out):
                self.size(mails, out)
                return [n, *self.only_owned(out), *self.exchange(mails)]
            case ir.FrontierMark(prop=name):
                if name in self.near:
                    self.refresh(mails, name)
                return [n, *self.exchange(mails)]
            case ir.FrontierCombine(out=out):
                self.size(mails, out)
                return [n, *self.exchange(mails)]
            case ir.ListGet(out=out, index=index):
                before, index = self.value(index)
                self.size(mails, out)
                return [*before, ir.with_fields(n, {"index": index}), *self.exchange(mails)]
        return self.others(n)

    def others(self, n: ir.Stmt) -> list[ir.Stmt]:
        """Statements that only have expressions."""
        before: list[ir.Stmt] = []

        def rule(e: ir.Node) -> ir.Node:
            assert isinstance(e, ir.Expr)
            more, value = self.value(e)
            before.extend(more)
            return value

        new = ir.map_children(n, rule)
        return [*before, new]

    def sizes(self, frontier: str, value: ir.Expr) -> list[ir.Stmt]:
        """The size of a frontier that is known everywhere."""
        return [ir.SetGlobal(self.sized[frontier], value)] if frontier in self.sized else []

    def only_owned(self, frontier: str, ghosts: Sequence[ir.Stmt] = ()) -> list[ir.Stmt]:
        """A frontier without its ghosts, for each of which `ghosts` is done."""
        kept = self.hidden(f"{frontier}.kept")
        v = self.fresh("v")
        push = ir.FrontierPush(kept, ir.Var(v, VID), ir.Layout.SPARSE, dedupe=True)
        test = ir.If(self.owned(ir.Var(v, VID)), (push,), tuple(_at(s, v) for s in ghosts))
        return [
            ir.FrontierConvert(frontier, ir.Layout.SPARSE),
            ir.FrontierClear(kept, ir.Layout.SPARSE),
            ir.ParFor(v, ir.SparseMembers(frontier), (test,)),
            ir.FrontierSwap(frontier, kept),
        ]

    # --- single vertices --------------------------------------------------------------------------------------

    def here(self, at: ir.Expr) -> tuple[list[ir.Stmt], ir.Expr]:
        """The number on this member of a vertex of the graph, or none."""
        before, at = self.value(at)
        if self.whole:
            return before, at
        name = self.fresh("here")
        found = ir.Lookup(self.array(part.PLACE), (ir.Cast(I64, at),), _NONE)
        return [*before, ir.Let(name, VID, found)], ir.Var(name, VID)

    def owned(self, here: ir.Expr) -> ir.Expr:
        if self.whole:
            return ir.Load(self.mine(), here, BOOL)
        return ir.Compare("<", here, self.number(part.OWNED, VID))

    def mine(self) -> str:
        return self.given(part.MINE, BOOL, ir.Site.VERTEX, ir.Origin.GRAPH)

    def number_property(self) -> str:
        return self.given(part.NUMBER, VID, ir.Site.VERTEX, ir.Origin.GRAPH)

    def store(self, n: ir.Store, at: ir.Expr) -> list[ir.Stmt]:
        """All copies of the element get the value."""
        first, value = self.value(n.value)
        before, here = self.here(at)
        stored = ir.with_fields(n, {"index": here, "value": value})
        if self.whole:
            return [*first, *before, stored]
        return [*first, *before, ir.If(ir.Compare("!=", here, _NONE), (stored,))]

    def value(self, e: ir.Expr) -> tuple[list[ir.Stmt], ir.Expr]:
        """An expression of the driver loop, and what has to be done before: elements come from their owners."""
        before: list[ir.Stmt] = []

        def rule(n: ir.Node) -> ir.Node | None:
            match n:
                case ir.GraphSize(what=what) if not self.whole:
                    return self.number(part.SIZES[what])
                case ir.FrontierSize(frontier=f):
                    return ir.GlobalVar(self.sized[f], I64)
                case ir.QueueSize(queue=name):
                    return ir.GlobalVar(self.queues[name].left, I64)
                case ir.QueueLevel(queue=name):
                    return ir.GlobalVar(self.queues[name].level, I64)
                case ir.Load(prop=name, index=at) if at.type == VID:
                    return self.element(before, n, name, at)
                case ir.Degree() | ir.Neighbor() | ir.HasNeighbor() if not self.whole:
                    part.refuse(self.program, n.span, "the driver loop asks for the neighbors of one vertex")
                case ir.InFrontier():
                    part.refuse(self.program, n.span, "the driver loop asks for one vertex of a frontier")
                case ir.Call() | ir.Binary() if self.context.mixed and (word := part.inexact(n)):
                    reason = f"the last bit of {word} in the driver loop may be another on a GPU, and members disagree"
                    part.refuse(self.program, n.span, reason)
            return None

        return before, ir.transform(e, rule)

    def element(self, before: list[ir.Stmt], n: ir.Load, name: str, at: ir.Expr) -> ir.Expr:
        """One element of a property, which its owner tells all others."""
        first, here = self.here(at)
        t, mails = n.type, Mails()
        found, told = self.fresh(f"{name}.element"), self.fresh("owner")
        self.declare("globals", ir.Global(found, t))
        out, got = self.mail(mails, found, t, "all")
        has, who = self.mail(mails, told, BOOL, "all")
        mine = self.owned(here)
        mails.before += [
            ir.If(mine, (ir.Store(out, ZERO, ir.Load(name, here, t)), ir.Store(has, ZERO, TRUE)),
                  (ir.Store(has, ZERO, FALSE),)),
        ]  # fmt: skip
        k = self.fresh("k")
        take = ir.If(
            ir.Load(who, ir.Var(k, I64), BOOL), (ir.SetGlobal(found, ir.Load(got, ir.Var(k, I64), t)),)
        )
        mails.after.append(ir.For(k, ZERO, self.number(part.MEMBERS), ONE, (take,)))
        before += [*first, *self.exchange(mails)]
        return ir.GlobalVar(found, t)

    def fill_each(self, n: ir.FillEach) -> list[ir.Stmt]:
        """Every element of a property; ghosts may not have what it is made of."""
        mails = Mails()

        def rule(e: ir.Node) -> ir.Node | None:
            return self.number(part.SIZES[e.what]) if isinstance(e, ir.GraphSize) and not self.whole else None

        value = ir.transform(n.value, rule)
        if n.prop in self.near:
            self.refresh(mails, n.prop)
        return [ir.with_fields(n, {"value": value}), *self.exchange(mails)]

    # --- applies ----------------------------------------------------------------------------------------------

    def apply(self, n: ir.Apply) -> list[ir.Stmt]:
        """An apply on the member's part, and what the members then tell each other."""
        if id(n) in self.forms:
            return self.either(*self.forms[id(n)])
        visit = self.visits[id(n)]
        if isinstance(n, ir.EdgeApply) and n.chosen.conflict != FREE:
            return deal_blocks(self, n, visit)
        ahead, folds, renames = self.parts(visit)
        call = own_apply(self, n, visit, renames)
        owners = Mails()
        ghosts = Mails() if visit.writes else owners
        between = to_owners(self, n, visit, owners, ahead)
        folds(owners)
        near = self.near & (visit.stored | visit.writes.keys() | {name for name, _ in visit.reduced})
        for name in sorted(near):
            self.refresh(ghosts, name)
        once = n.chosen.exchange is not DELAYED  # the frontier behind has what changed last
        if once and all(self.agrees(visit, name) for name in near):
            ghosts.volume = n.chosen.volume
            ghosts.changed = (n.out if isinstance(n, ir.EdgeApply) else n.frontier) or ""
        self.size(ghosts, n.out)
        note(self, n, owners, ghosts)
        first = self.exchange(owners) if visit.writes else ()
        return [*ahead, *self.rounds(n, call, between), *first, *self.exchange(ghosts)]

    def either(self, push: ir.EdgeApply, pull: ir.EdgeApply) -> list[ir.Stmt]:
        """A pull where a large part of all vertices is active, which is the same everywhere, else a push."""
        assert push.frontier is not None
        size = ir.GlobalVar(self.sized[push.frontier], I64)
        many = ir.Binary("*", size, self.number("policy.set_share"))
        test = ir.Compare(">", many, self.number(part.SIZES["num_vertices"]))
        return [ir.If(test, tuple(self.apply(pull)), tuple(self.apply(push)))]

    def agrees(self, visit: Visit, name: str) -> bool:
        """Whether ghosts hold what owners do when those that have changed are told: no other was written to."""
        if name not in visit.writes and name in visit.stored:
            return not visit.writes or visit.claims.keys() <= self.near
        return visit.writes.get(name) not in ir.ACCUMULATING

    def rounds(self, n: ir.Apply, call: ir.Apply, sieve: list[ir.Stmt]) -> list[ir.Stmt]:
        """The apply itself: once, or until nothing changes here. A pull has to know which ghosts are active, and so has
        who walks arcs of ghosts."""
        walked = isinstance(n, ir.EdgeApply) and (self.cut or n.chosen.direction is not PUSH)
        active = n.frontier if walked else None
        ahead = self.everywhere(active, n.chosen.volume) if active else []
        if n.chosen.exchange is DELAYED:
            assert n.out is not None
            some = ir.Compare(">", ir.FrontierSize(n.out), ZERO)
            return [ir.While(some, (call, *sieve))]
        behind = self.only_owned(active) if active and active != n.out else []
        return [*ahead, call, *sieve, *behind]

    def everywhere(self, frontier: str, volume: Volume) -> list[ir.Stmt]:
        """A frontier in which ghosts are, too."""
        bitmap = ir.FrontierConvert(frontier, ir.Layout.BITMAP)
        mails = Mails(volume=volume, changed=frontier, packed=[bitmap])
        out, got = self.mail(mails, f"{frontier}.active", BOOL, "ghosts")
        mails.out[part.SHARED].append(ir.Store(out, PLACE, ir.InFrontier(frontier, GHOST)))
        push = ir.FrontierPush(frontier, GHOST, ir.Layout.BITMAP, dedupe=True)
        mails.got[part.GHOSTS].append(ir.If(ir.Load(got, PLACE, BOOL), (push,)))
        return [*([bitmap] if volume is DENSE else ()), *self.exchange(mails)]

    def parts(self, visit: Visit) -> tuple[list[ir.Stmt], Folds, dict[str, str]]:
        """What each member adds to globals is kept apart; it is combined when the round has ended."""
        types = {g.name: g.type for g in self.program.globals}
        renames = {name: self.fresh(f"{name}.part") for name in visit.globals}
        ahead: list[ir.Stmt] = []
        for name, own in renames.items():
            self.declare("globals", ir.Global(own, types[name]))
            ahead.append(ir.SetGlobal(own, identity(visit.globals[name], types[name])))

        def folds(mails: Mails) -> None:
            for name, own in renames.items():
                t = types[name]
                self.fold(mails, name, t, visit.globals[name], ir.GlobalVar(own, t), ir.GlobalVar(name, t))

        return ahead, folds, renames


def _forms(n: ir.Apply) -> tuple[ir.EdgeApply, ir.EdgeApply]:
    """A push and a pull in place of an apply that is to be either."""
    assert isinstance(n, ir.EdgeApply)
    chosen: tuple[dict[str, Any], ...] = (
        {"exchange": COMBINE, "direction": PUSH, "drive": DATA, "frontier": SPARSE},
        {"exchange": BASE, "direction": PULL, "drive": TOPOLOGY, "frontier": BITMAP},
    )
    push, pull = (ir.with_fields(n, {"schedule": replace(n.chosen, **how)}) for how in chosen)
    return push, pull


def _beside_sums(visit: Visit) -> set[str]:
    """What is not added up where something else is: a ghost that is touched enters the frontier at its owner, so it may
    not take for a change what is none there."""
    sums = {name for name, op in visit.writes.items() if op in ir.ACCUMULATING}
    return visit.writes.keys() - sums if sums else set()


def _at(n: ir.Stmt, vertex: str) -> ir.Stmt:
    return ir.transform(n, lambda m: ir.Var(vertex, VID) if m == GHOST else None)


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not context.distributed:
        return program
    from vgraph.refusals.sets import NotOnASet

    notes = len(context.notes)
    try:
        if any(isinstance(n, ir.For) and n.divided for n in ir.driver(program.body)):
            return _placed(program, context, whole=True)
        return _placed(program, context, whole=False)
    except NotOnASet as obstacle:
        del context.notes[notes:]
        context.notes.append(f"every member has all arcs and a copy of every vertex: {obstacle.reason}")
        return _placed(program, context, whole=True)


def _placed(program: ir.Program, context: Context, *, whole: bool) -> ir.Program:
    """The program on parts of the graph, or on copies of all of it. Raises NotOnASet where that is not enough."""
    placing = Placing(program, context, whole=whole)
    body = placing.body(program.body)
    results = []
    for r in program.results:
        before, value = placing.value(r.value) if isinstance(r.value, ir.Expr) else ([], r.value)
        body = (*body, *before)
        results.append(ir.with_fields(r, {"value": value}))
    placing.program = ir.with_fields(program, {"operators": (), "queues": (), "results": tuple(results)})
    return placing.finished(body)


place_exchanges = Pass("place-exchanges", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)
