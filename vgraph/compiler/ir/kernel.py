"""Statements of the kernel level, which may stand at the scheduled level, too."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vgraph.compiler.ir.domains import Domain, SparseMembers, Vertices
from vgraph.compiler.ir.expressions import Const, Var
from vgraph.compiler.ir.legality import BINARY
from vgraph.compiler.ir.node import *
from vgraph.compiler.types import I64, Type, Vector, element_of

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker
    from vgraph.schedule import Balance


class Lanes(Enum):
    """Who visits a vertex on devices with warps: a thread; the lanes of a warp; a block; one of them, by degree."""

    THREAD = "thread"
    WARP = "warp"
    BLOCK = "block"
    BINS = "bins"


@written(
    "parfor {vertex}( at {position})? in {domain}( cut {cut}( at {limit})?)?( by {lanes})?( hops {hops})?"
    "( balance {balance})?( as {label})? {body}",
    at=NOWHERE,
    kernel=DRIVER,
)
class ParFor(Stmt):
    """`parfor v in vertices { ... }`, `in sparse f`, `in bitmap f`: dynamic chunks, all threads, barrier at the end.

    Iterations run in any order, at the same time, over a domain (`domains.py`). At the end the thread-local queue
    buffers are flushed and `ReduceGlobal` partials combined, identically everywhere.
    `parfor v at i in ...` also names the place of v as an i64: in a queue, else the number of the vertex.

    `parfor v in vertices cut out { ... }`: the body runs once or more for each vertex, each time with a piece of its
    arcs: loops over `out(v)` walk the piece only. Pieces partition the arcs; a vertex without arcs has one empty piece.
    Pieces of a vertex run at the same time. With `cut out at e` vertices of more than e arcs are cut, into pieces of at
    most e arcs, and others only where threads have too little to do; without, threads take shares of about equally
    many arcs.

    `parfor v in vertices by warp { ... }`: the lanes of a group visit a vertex together: they share the arcs that loops
    over its neighbors walk. What the body means does not depend on it.

    `parfor v in sparse f cut out hops 8 { ...; push f.next u }`: what the body pushes may be visited by the same loop
    instead, if fewer than 8 pushes led there from a member of f. So vertices may be visited by several threads at once.

    Scheduled level: `balance split(1024)` is what the schedule asks, from which `balance-load` makes limit and lanes.
    """

    vertex: NewVid
    domain: Domain
    body: ParallelBody
    label: str = ""
    position: NewI64 | None = None
    cut: Orientation | None = None
    limit: I64Expr | None = None
    lanes: Lanes = Lanes.THREAD
    hops: int = 1
    balance: Balance | None = None

    def verify(self, c: Checker, t: Type) -> None:
        _verify_pieces(c, self)
        c.require(self.cut is None or self.domain.cuts, "vertices of this domain are not cut", self)


def _verify_pieces(c: Checker, n: ParFor | BucketLoop) -> None:
    c.require(n.cut is not None or n.limit is None, "only a loop with pieces has a limit", n)
    ok = n.limit is None or isinstance(n.limit, Const | Var)
    c.require(ok, "the limit is a literal or a parameter", n)
    c.require(n.hops == 1 or (n.hops > 1 and n.cut is not None), "hops are made by a loop with pieces", n)
    c.require(not c.low or n.balance is None, "a balance is limit and lanes at kernel level", n)


@written(
    "pipeline {vertex}( at {position})? in {domain} through ({buffers}) chunks {chunks}"
    "( as {label})? {producer} then {consumer}",
    at=NOWHERE,
    kernel=DRIVER,
    each=True,
)
class Pipeline(Stmt):
    """`pipeline v at i in sparse f through (dist.buffer) chunks 4 { ... } then { ... }`: a producer and a consumer.

    The first body runs for every vertex of the domain, and behind it, perhaps on another thread, the second for the
    same vertex; both run as in `ParFor`, whose domain, `position` and barrier at the end it has. Between them the
    elements of `buffers` that belong to the vertex (its in-arcs', its out-arcs' or its place's) hold what the producer
    stored; before and after they hold nothing. At most `chunks` pieces of the domain lie between the two at a time.
    """

    vertex: NewVid
    domain: Domain
    buffers: tuple[PropertyName, ...]
    chunks: int
    producer: ParallelBody
    consumer: ParallelBody
    label: str = ""
    position: NewI64 | None = None

    def verify(self, c: Checker, t: Type) -> None:
        c.require(
            isinstance(self.domain, Vertices | SparseMembers),
            "a pipeline runs over vertices or a queue",
            self,
        )
        c.require(self.buffers and self.chunks >= 1, "a channel has a buffer and room for a chunk", self)
        props = [c.properties[name] for name in self.buffers]
        sites = (Site.EDGE, Site.EDGE_IN, Site.QUEUE)
        ok = all(p.origin is Origin.LOCAL and p.site in sites for p in props)
        c.require(ok, "the buffers of a channel are local, of arcs or of a queue", self)
        one = len({p.site for p in props}) == 1
        c.require(one, "the buffers of a channel have elements for the same", self)


@written("single {body}", at=NOWHERE, kernel=DRIVER)
class Single(Stmt):
    """`single { ... }`: one thread runs the body, then a barrier. Inside it FrontierSet (empty, single), FrontierClear
    (sparse) and FrontierSwap are plain actions of that thread."""

    body: SingleBody


@written("alone {body}", at=NOWHERE, kernel=DRIVER, each=True)
class Alone(Stmt):
    """`alone { ... }`: a piece of the driver loop in which there is so little to do that one thread had better do it.

    It means what its body means. On a CPU one thread runs it, without barriers and atomics, while the others wait.
    """

    body: AloneBody


@written("barrier", at=NOWHERE, kernel=DRIVER)
class Barrier(Stmt):
    """`barrier`."""


@written(
    "{ok} = ({atomic} )?cas {prop}[{index}] from {expected} with {value}", at=NOWHERE, kernel=PARFOR | SINGLE
)
class CompareAndSwap(Stmt):
    """`ok = cas parent[v] from e with f`: if the place holds `expected` put `value`; the bool local `ok` tells.
    `atomic` as in `Reduce`."""

    ok: BoolLocal
    prop: WrittenName
    index: Index
    expected: Value
    value: Value
    atomic: bool = True

    def verify(self, c: Checker, t: Type) -> None:
        c.require(not isinstance(t, Vector), "a vector is not swapped", self)


@written("{before} = reserve {prop}[{index}]", at=NOWHERE, kernel=PARFOR, each=True)
class Reserve(Stmt):
    """`k = reserve count[p]`: declare k (i64), which the place holds, and that grows by one: each gets another."""

    before: NewI64
    prop: WrittenName
    index: Index

    def verify(self, c: Checker, t: Type) -> None:
        prop = c.properties[self.prop]
        c.require(
            prop.site is Site.QUEUE and prop.type == I64, "numbers are counted in a buffer of i64", self
        )


@written("{ok} = lock {prop}[{index}]", at=NOWHERE, kernel=PARFOR)
class Lock(Stmt):
    """`ok = lock mutex[v]`: take the lock of v if it is free, never wait; the bool local `ok` tells. Who has it sees
    what those saw and did that had it before. `mutex` is 0 where a lock is free."""

    ok: BoolLocal
    prop: WrittenName
    index: Index


@written("unlock {prop}[{index}]", at=NOWHERE, kernel=PARFOR)
class Unlock(Stmt):
    """`unlock mutex[v]`, by the thread that has the lock."""

    prop: WrittenName
    index: Index


@written("push {frontier} {vertex} {layout}( {dedupe})?( {atomic})?", at=NOWHERE, kernel=PARFOR)
class FrontierPush(Stmt):
    """`push next v` inside a `parfor`. SPARSE appends through a thread-local buffer, BITMAP sets the bit.

    `dedupe`: only if v is not yet in it (in-queue flags for SPARSE; always so for BITMAP).
    `atomic`: other threads may push the same vertex (or the same bitmap word).
    """

    frontier: FrontierName
    vertex: VidExpr
    layout: Layout
    dedupe: bool
    atomic: bool = True

    def verify(self, c: Checker, t: Type) -> None:
        needs_flags = c.low and self.dedupe and self.layout is Layout.SPARSE
        ok = not needs_flags or c.frontiers[self.frontier].flags
        c.require(ok, f"{self.frontier} has no in-queue flags", self)


@written("clear {frontier} {layout}", at=NOWHERE, kernel=DRIVER | SINGLE)
class FrontierClear(Stmt):
    """`clear f sparse`, collective: empty it. Sparse: count = 0 and a new epoch for the in-queue flags; bitmap: zero
    the words."""

    frontier: FrontierName
    layout: Layout

    def verify(self, c: Checker, t: Type) -> None:
        ok = c.place is not SINGLE or self.layout is Layout.SPARSE
        c.require(ok, "all threads together clear a bitmap", self)


@written("fold {prop} += {own}", at=NOWHERE, kernel=DRIVER, each=True)
class Fold(Stmt):
    """`fold triangles += triangles.own`, collective: add what all threads have in their copies to the property, and
    make the copies zero again."""

    prop: PropertyName
    own: PropertyName

    def verify(self, c: Checker, t: Type) -> None:
        prop, own = c.properties[self.prop], c.properties[self.own]
        ok = prop.site is Site.VERTEX and own.site is Site.THREAD
        c.require(ok, "copies are folded into a property", self)
        c.require(prop.type == own.type, f"{self.own} is {own.type}, not {prop.type}", self)
        c.require(element_of(prop.type).kind in BINARY["+"], f"+ does not reduce {prop.type}", self)


@written("swap {left} {right}", at=NOWHERE, kernel=DRIVER | SINGLE)
class FrontierSwap(Stmt):
    """`swap f g`, collective: exchange the two descriptors."""

    left: FrontierName
    right: FrontierName


@written("exchange {left} {right}", at=NOWHERE, kernel=DRIVER)
class Exchange(Stmt):
    """`exchange part part.next`, behind a barrier: the arrays of two properties change places. Made for GPUs only."""

    left: PropertyName
    right: PropertyName

    def verify(self, c: Checker, t: Type) -> None:
        left, right = c.properties[self.left], c.properties[self.right]
        ok = left.site is right.site is Site.VERTEX and left.origin is right.origin is Origin.LOCAL
        c.require(
            ok and left.type == right.type, "local properties of vertices, of one type, are exchanged", self
        )


@written("all_to_all ({outs}) to ({gots}) by ({ways})( turn {turn})?", at=NOWHERE, kernel=DRIVER, each=True)
class AllToAll(Stmt):
    """`all_to_all (dist.mail, @n.mail) to (dist.got, @n.got) by (owners, all)`: what the members of a set of devices
    have for each other goes from `outs` to `gots`, collective over the set, with a barrier at both ends.

    `owners`: `outs` has an element for each ghost, `gots` for each place of `set.shared`. `ghosts`: the other way
    round. `all`: `outs` has one element, `gots` one of each member. `each`: `outs` has an element for each member, too.
    `turns`: what goes where the placement says for each turn (`graph/conflicts/dealt.py`), and this is one. Without a
    set nothing gets anywhere.

    Where the first way is `each`, those numbers (i64) say how many elements each member gets of what goes to `owners`
    or to `ghosts`: the first ones; with a negative number all, but then none of the second buffer, which says which
    they are.
    """

    outs: tuple[PropertyName, ...]
    gots: tuple[PropertyName, ...]
    ways: tuple[Word, ...]
    turn: I64Expr | None = None

    def verify(self, c: Checker, t: Type) -> None:
        ok = (self.turn is not None) == ("turns" in self.ways)
        c.require(ok, "a turn goes with what is handed over by turns", self)
        ok = len(self.outs) == len(self.gots) == len(self.ways) and {*self.ways} <= {*WAYS}
        c.require(ok, "each buffer goes to another in a way of its own", self)
        both = [(c.properties[a], c.properties[b]) for a, b in zip(self.outs, self.gots, strict=True)]
        ok = all(a.site is b.site is Site.QUEUE and a.type == b.type for a, b in both)
        c.require(ok, "buffers of one type, by places, are exchanged", self)
        counts = [a for (a, _), way in zip(both, self.ways, strict=True) if way == "each"]
        ok = counts == [a for a, _ in both[:1] if self.ways[0] == "each" and a.type == I64]
        c.require(ok, "how much goes to each is said once, and first", self)


WAYS = ("owners", "ghosts", "all", "each", "turns")


@written("take {got} of {count}", at=NOWHERE, kernel=DRIVER, each=True)
class Take(Stmt):
    """`take sources.taken of n`, collective over a member of a set of devices: it is given iterations of a divided loop
    of n, from the first element of `got` to before the second; none when all have been given. A barrier at both ends.
    Without a set they are all that follow the last ones."""

    got: PropertyName
    count: I64Expr

    def verify(self, c: Checker, t: Type) -> None:
        got = c.properties[self.got]
        c.require(got.site is Site.QUEUE and got.type == I64, "what is taken is two numbers, by places", self)


@written("convert {frontier} to {layout}", at=NOWHERE, kernel=DRIVER)
class FrontierConvert(Stmt):
    """`convert f to bitmap`, collective: change the layout if it has another (run-time test); queues are sorted."""

    frontier: FrontierName
    layout: Layout


@written("clear {buckets} buckets", at=NOWHERE, kernel=DRIVER, each=True)
class BucketsClear(Stmt):
    """`clear work buckets`, collective: no entry is left, and no bucket is under way."""

    buckets: BucketsName


@written("enqueue {buckets} {vertex}", at=NOWHERE, kernel=PARFOR, each=True)
class BucketPush(Stmt):
    """`enqueue work v` inside a parallel loop: an entry for v in the bucket that its key names now.

    Whatever lowers the key of a vertex that has entries must be followed by this, by the same thread.
    """

    buckets: BucketsName
    vertex: VidExpr


@written("{more} = advance {buckets}", at=NOWHERE, kernel=DRIVER, each=True)
class BucketAdvance(Stmt):
    """`more = advance work`, collective: take the lowest bucket that has entries as the one under way; the bool
    local `more` tells whether there is one."""

    more: BoolLocal
    buckets: BucketsName


@written(
    "parbucket {vertex} in {buckets}( cut {cut}( at {limit})?)?( by {lanes})?( hops {hops})?( balance {balance})?"
    "( as {label})? {body}",
    at=NOWHERE,
    kernel=DRIVER,
    each=True,
)
class BucketLoop(Stmt):
    """`parbucket v in work { ... }`: visit the entries of the bucket under way, in any order, all threads; barrier and
    reductions at the end as in `ParFor`.

    An entry whose vertex was visited since it was made is passed over. What is pushed into this very bucket meanwhile
    may be visited by the same loop, or stays for another `advance`; so a vertex may be visited by two threads at once.
    With `strict` buckets there is no bucket under way: one thread visits all entries, the lowest key first, until none
    is left, and passes over those whose vertex has a lower key by now. With `tiles` all entries are visited, too: those
    of one tile after the other, or of several at the same time, in any order, best by key.

    `parbucket v in work cut out at 1024 by bins { ... }`: pieces and lanes as in `ParFor`, on devices with warps.
    """

    vertex: NewVid
    buckets: BucketsName
    body: ParallelBody
    label: str = ""
    cut: Orientation | None = None
    limit: I64Expr | None = None
    lanes: Lanes = Lanes.THREAD
    hops: int = 1
    balance: Balance | None = None

    def verify(self, c: Checker, t: Type) -> None:
        _verify_pieces(c, self)


@written("trace {label} {direction} {active}, {edges}", at=NOWHERE, kernel=DRIVER)
class Trace(Stmt):
    """`trace relax push active, edges`: record the round that just ended: its label, direction, size, arcs."""

    label: str
    direction: Word
    active: I64Expr
    edges: I64Expr
