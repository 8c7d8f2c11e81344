"""Statements of the kernel level."""

from __future__ import annotations

from enum import Enum

from vgraph.compiler.ir.node import Body, Expr, Layout, Orientation, Stmt, node, written


class Lanes(Enum):
    """Who visits a vertex on devices with warps: a thread; the lanes of a warp; a block; one of them, by degree."""

    THREAD = "thread"
    WARP = "warp"
    BLOCK = "block"
    BINS = "bins"


@node
class ParFor(Stmt):
    """`parfor v in vertices { ... }`, `in sparse f`, `in bitmap f`: dynamic chunks, all threads, barrier at the end.

    Iterations run in any order, at the same time. With BITMAP (and with `vertices` when `words` is set) one thread
    owns whole 64-bit words of vertex ids, so it may write bitmap words of its own vertices without atomics.
    At the end the thread-local queue buffers are flushed and `ReduceGlobal` partials combined, identically everywhere.
    `parfor v at i in ...` also names the place of v as an i64: in the queue if SPARSE, else the number of the vertex.

    `parfor v in vertices cut out { ... }`: the body runs once or more for each vertex, each time with a piece of its
    arcs: loops over `out(v)` walk the piece only. Pieces partition the arcs; a vertex without arcs has one empty piece.
    Pieces of a vertex run at the same time. With `cut out at e` only vertices of more than e arcs are cut, into pieces
    of about equal size and at most e arcs; without, threads take shares of about equally many arcs.

    `parfor v in vertices segments 4 { ... }`: the vertices (sources of arcs) fall into 4 ranges. For one range after
    the other, with a barrier between, every vertex that has an in-arc from it is visited.

    `parfor v in vertices by warp { ... }`: the lanes of a group visit a vertex together: they share the arcs that loops
    over its neighbors walk. What the body means does not depend on it.
    """

    vertex: str
    layout: Layout | None
    frontier: str | None
    body: Body
    label: str = ""
    words: bool = False
    position: str | None = None
    cut: Orientation | None = None
    limit: Expr | None = None
    segments: int = 1
    lanes: Lanes = Lanes.THREAD


@node
class Pipeline(Stmt):
    """`pipeline v at i in sparse f through (dist.buffer) chunks 4 { ... } then { ... }`: a producer and a consumer.

    The first body runs for every vertex of the domain, and behind it, perhaps on another thread, the second for the
    same vertex; both run as in `ParFor`, whose domain, `position` and barrier at the end it has. Between them the
    elements of `buffers` that belong to the vertex (its in-arcs', its out-arcs' or its place's) hold what the producer
    stored; before and after they hold nothing. At most `chunks` pieces of the domain lie between the two at a time.
    """

    vertex: str
    layout: Layout | None
    frontier: str | None
    buffers: tuple[str, ...]
    chunks: int
    producer: Body
    consumer: Body
    label: str = ""
    position: str | None = None


@written("single")
class Single(Stmt):
    """`single { ... }`: one thread runs the body, then a barrier. Inside it FrontierSet (empty, single), FrontierClear
    (sparse) and FrontierSwap are plain actions of that thread."""

    body: Body


@written("alone")
class Alone(Stmt):
    """`alone { ... }`: a piece of the driver loop in which there is so little to do that one thread had better do it.

    It means what its body means. On a CPU one thread runs it, without barriers and atomics, while the others wait.
    """

    body: Body


@written("barrier")
class Barrier(Stmt):
    """`barrier`."""


@written("{ok} = {atomic} cas {prop}[{index}] from {expected} with {value}")
class CompareAndSwap(Stmt):
    """`ok = cas parent[v] from e with f`: if the place holds `expected` put `value`; the bool local `ok` tells.
    `atomic` as in `Reduce`."""

    ok: str
    prop: str
    index: Expr
    expected: Expr
    value: Expr
    atomic: bool = True


@written("push {frontier} {vertex} {layout} {dedupe} {atomic}")
class FrontierPush(Stmt):
    """`push next v` inside a `parfor`. SPARSE appends through a thread-local buffer, BITMAP sets the bit.

    `dedupe`: only if v is not yet in it (in-queue flags for SPARSE; always so for BITMAP).
    `atomic`: other threads may push the same vertex (or the same bitmap word).
    """

    frontier: str
    vertex: Expr
    layout: Layout
    dedupe: bool
    atomic: bool = True


@written("clear {frontier} {layout}")
class FrontierClear(Stmt):
    """`clear f sparse`, collective: empty it. Sparse: count = 0 and a new epoch for the in-queue flags; bitmap: zero
    the words."""

    frontier: str
    layout: Layout


@written("fold {prop} += {own}")
class Fold(Stmt):
    """`fold triangles += triangles.own`, collective: add what all threads have in their copies to the property, and
    make the copies zero again."""

    prop: str
    own: str


@written("swap {left} {right}")
class FrontierSwap(Stmt):
    """`swap f g`, collective: exchange the two descriptors."""

    left: str
    right: str


@written("convert {frontier} to {layout}")
class FrontierConvert(Stmt):
    """`convert f to bitmap`, collective: change the layout if it has another (run-time test); queues are sorted."""

    frontier: str
    layout: Layout


@written("clear {buckets} buckets")
class BucketsClear(Stmt):
    """`clear work buckets`, collective: no entry is left, and no bucket is under way."""

    buckets: str


@written("enqueue {buckets} {vertex}")
class BucketPush(Stmt):
    """`enqueue work v` inside a parallel loop: an entry for v in the bucket that its key names now.

    Whatever lowers the key of a vertex that has entries must be followed by this, by the same thread.
    """

    buckets: str
    vertex: Expr


@written("{more} = advance {buckets}")
class BucketAdvance(Stmt):
    """`more = advance work`, collective: take the lowest bucket that has entries as the one under way; the bool
    local `more` tells whether there is one."""

    more: str
    buckets: str


@node
class BucketLoop(Stmt):
    """`parbucket v in work { ... }`: visit the entries of the bucket under way, in any order, all threads; barrier and
    reductions at the end as in `ParFor`.

    An entry whose vertex was visited since it was made is passed over. What is pushed into this very bucket meanwhile
    may be visited by the same loop, or stays for another `advance`; so a vertex may be visited by two threads at once.
    With `strict` buckets there is no bucket under way: one thread visits all entries, the lowest key first, until none
    is left, and passes over those whose vertex has a lower key by now.

    `parbucket v in work cut out at 1024 by bins { ... }`: pieces and lanes as in `ParFor`, on devices with warps.
    """

    vertex: str
    buckets: str
    body: Body
    label: str = ""
    cut: Orientation | None = None
    limit: Expr | None = None
    lanes: Lanes = Lanes.THREAD


@node
class Trace(Stmt):
    """`trace relax push active, edges`: record the round that just ended: its label, direction, size, arcs."""

    label: str
    direction: str
    active: Expr
    edges: Expr
