"""The IR: one node family for all three levels, each node with the span of the user's text it came from.

- *algorithm*: what the user wrote, typed; reductions recognised; operators apart from the driver loop.
- *scheduled*: the same, every apply carrying a resolved `ApplySchedule`.
- *kernel*: no operators and no applies left; explicit parallel loops, atomics, frontier pushes, collectives.

Which node may stand at which level is data in `verify.py`. The text form shown in each docstring is what
`text.py` prints and parses. Expressions are pure except for the order in which they read memory.
All operands of an operation have the same type: the frontend inserts every cast.

Kernel level runs SPMD: every thread executes the whole body. Scalars of the driver loop (`Let`, `Assign`, globals)
are private copies with equal values everywhere. `ParFor`, `Single` and the frontier collectives are entered by all
threads together and end with a barrier; they have no barrier at their start (`insert-barriers` adds what is needed).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeVar, dataclass_transform

from vgraph.compiler.types import BOOL, EID, I64, VID, Target, Type, Vector
from vgraph.source import Span

if TYPE_CHECKING:
    from vgraph.schedule import ApplySchedule


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """Declare an IR node: a frozen dataclass, compared by its fields, never by its span.

    Comparison, hash and repr come from `Node`: made anew for each class, they would double the time of the import.
    """
    return dataclass(frozen=True, eq=False, repr=False)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def written(form: str) -> Callable[[type[_T]], type[_T]]:
    """Declare a node with its text, fields in braces: `forms.py` says more."""

    def declare(cls: type[_T]) -> type[_T]:
        cls.form = form  # type: ignore[attr-defined]
        return node(cls)

    return declare


@node
class Node:
    """Base of everything in the IR."""

    form: ClassVar[str] = ""
    """Its text as `written` was given it; empty where `text.py` and the grammar have to say more."""
    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)

    def _parts(self) -> tuple[object, ...]:
        """What counts in a comparison: the values of all fields but the span."""
        names = _COMPARED.get(type(self))
        if names is None:
            names = _COMPARED[type(self)] = tuple(f.name for f in fields(self) if f.compare)
        values = self.__dict__
        return tuple([values[name] for name in names])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and isinstance(other, Node) and self._parts() == other._parts()

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = hash((type(self), self._parts()))
        return found

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{type(self).__name__}({shown})"


_COMPARED: dict[type, tuple[str, ...]] = {}


class Expr(Node):
    """A value. `type` is a field of leaves and a property, derived from the operands, elsewhere."""

    type: Type


class Stmt(Node):
    """An action."""


Body = tuple[Stmt, ...]


class Orientation(Enum):
    """Which arcs of a vertex: OUT walks the CSR from a source, IN the transpose into a destination."""

    OUT = "out"
    IN = "in"


class Site(Enum):
    """What a property belongs to; EDGE_IN is an edge property permuted into the order of the transpose, EDGE_SEGMENTS
    into that of its segments, ARRAY an array parameter of any length, indexed by i64; QUEUE (kernel level) has an
    element for each place of a queue of vertices, indexed by i64. THREAD (kernel level): a value per vertex of which
    every thread has its own copy, zero at the start; it reads and writes that alone."""

    VERTEX = "vertex"
    EDGE = "edge"
    EDGE_IN = "edge_in"
    EDGE_SEGMENTS = "edge_segments"
    ARRAY = "array"
    QUEUE = "place"
    THREAD = "thread"


class Origin(Enum):
    """Where a property's memory comes from: the graph, a parameter of the algorithm, the algorithm itself, or the
    worker that visits a vertex (SCRATCH: its own copy, all zero when a visit begins)."""

    GRAPH = "graph"
    PARAM = "param"
    LOCAL = "local"
    SCRATCH = "scratch"


class Order(Enum):
    """Memory order of one access: RELAXED where another thread may write the same place in the same loop."""

    PLAIN = "plain"
    RELAXED = "relaxed"


class Layout(Enum):
    """How a frontier is stored: a queue of vertex ids, or one bit per vertex in 64-bit words."""

    SPARSE = "sparse"
    BITMAP = "bitmap"


# --- expressions ----------------------------------------------------------------------------------------------


@node
class Const(Expr):
    """A literal: `3:i32`, `inf:f64`, `true`, `none` (the vid with all bits set)."""

    value: int | float | bool
    type: Type


@node
class Var(Expr):
    """A local scalar, loop variable, operator argument or parameter: `x`. Declared by what binds it."""

    name: str
    type: Type


@node
class GlobalVar(Expr):
    """A global scalar of the algorithm: `@error`. Inside a round: its value at the round's start."""

    name: str
    type: Type


@node
class Unary(Expr):
    """`neg(x)`, `not(x)` (bool), `invert(x)` (integer)."""

    op: str
    operand: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.operand.type


@node
class Binary(Expr):
    """`(a + b)`: + - * / // % ** & | ^ << >>, and `min(a, b)`, `max(a, b)`. Operands and result have one type.

    `/` is on floats only; `//` and `%` floor as in Python, and give 0 when an integer is divided by 0.
    min and max return NaN when an operand is NaN. Shifts take the count modulo the width.
    """

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.left.type


@node
class Compare(Expr):
    """`(a < b)`: < <= > >= == !=; scalars only. Index types compare unsigned."""

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return BOOL


@node
class Logical(Expr):
    """`(a and b)`, `(a or b)`: the right side is evaluated only when it is needed."""

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return BOOL


@written("select({condition}, {then}, {other})")
class Select(Expr):
    """`select(c, a, b)`: only the chosen side is evaluated."""

    condition: Expr
    then: Expr
    other: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.then.type


@node
class Cast(Expr):
    """`cast<f64>(x)`. Float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
    to bool is `!= 0`. A scalar cast to a vector type is repeated in every element."""

    to: Type
    operand: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.to


@node
class Call(Expr):
    """A function of values, `sqrt(x)`: abs sqrt exp log floor ceil isnan isinf (element-wise where sensible),
    dot(a, b), sum(a) of vectors; `external.f.x0123(x)`, a function that somebody else compiled, named by its
    content (`externals.py`). The frontend gives the result type."""

    function: str
    args: tuple[Expr, ...]
    type: Type


@node
class Element(Expr):
    """`x[[i]]`: one element of a vector; `i` is taken modulo the length, so it is never out of range."""

    vector: Expr
    index: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        assert isinstance(self.vector.type, Vector)
        return self.vector.type.element


@node
class Load(Expr):
    """`dist[v]`: a property read; `relaxed dist[v]` where other threads may write it at the same time."""

    prop: str
    index: Expr
    type: Type
    order: Order = Order.PLAIN


@node
class ScratchLoad(Expr):
    """`scratch count[v]`: an element of a property that is private to this visit."""

    prop: str
    index: Expr
    type: Type


@written("degree.{orientation}({vertex})")
class Degree(Expr):
    """`degree.out(v)`, as i64."""

    vertex: Expr
    orientation: Orientation
    type: Type = I64


@written("neighbor.{orientation}({vertex}, {k})")
class Neighbor(Expr):
    """`neighbor.out(v, k)`: the k-th neighbor in ascending order; undefined unless 0 <= k < degree."""

    vertex: Expr
    orientation: Orientation
    k: Expr
    type: Type = VID


@node
class GraphSize(Expr):
    """`num_vertices` or `num_arcs` of the graph, as i64."""

    what: str
    type: Type = I64


@written("size({frontier})")
class FrontierSize(Expr):
    """`size(frontier)`: how many vertices, as i64. Driver loop only."""

    frontier: str
    type: Type = I64


@written("contains({frontier}, {vertex})")
class InFrontier(Expr):
    """`contains(frontier, v)`: membership; at kernel level the frontier is in BITMAP layout."""

    frontier: str
    vertex: Expr
    type: Type = BOOL


@written("count({list})")
class ListSize(Expr):
    """`count(levels)`: frontiers in a list of frontiers, as i64. Driver loop only."""

    list: str
    type: Type = I64


class Share(Enum):
    """What an iteration of a parallel loop with `cut` may ask of its piece of the vertex's arcs."""

    SIZE = "size"
    """How many arcs it has, as i64."""
    WHOLE = "whole"
    """Whether it is all arcs of the vertex, and no other thread has any."""
    FIRST = "first"
    """True for exactly one piece of each vertex."""


@written("piece.{share}()")
class Piece(Expr):
    """`piece.size()` (i64), `piece.whole()` and `piece.first()` (bool): the piece of the innermost `parfor ... cut`."""

    share: Share

    @property
    def type(self) -> Type:  # type: ignore[override]
        return I64 if self.share is Share.SIZE else BOOL


@written("left({queue})")
class QueueSize(Expr):
    """`left(queue)`: vertices that a priority queue still holds, as i64. Driver loop only."""

    queue: str
    type: Type = I64


@written("level({queue})")
class QueueLevel(Expr):
    """`level(queue)`: the level of the last `pop`, as i64; 0 before the first. Driver loop only."""

    queue: str
    type: Type = I64


@written("bucket({buckets})")
class BucketKey(Expr):
    """`bucket(work)`: the key of the bucket under way, as i64. Kernel level."""

    buckets: str
    type: Type = I64


@written("length({array})")
class ArrayLength(Expr):
    """`length(sources)`: elements of an array parameter, as i64."""

    array: str
    type: Type = I64


# --- statements of every level --------------------------------------------------------------------------------


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


# --- algorithm and scheduled level ----------------------------------------------------------------------------


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


# --- kernel level ---------------------------------------------------------------------------------------------


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


# --- declarations ---------------------------------------------------------------------------------------------


@node
class Param(Node):
    """`param source: vid`: a scalar argument of the algorithm."""

    name: str
    type: Type


@node
class Property(Node):
    """`vertex dist: i32 local`, `edge weight: i32 graph`, `edge_in weight.in: i32 graph`,
    `edge_segments weight.segments.4: i32 graph`: an array per vertex or arc.

    Local properties of arcs and queues exist at kernel level only: they are buffers between two parallel loops.
    `disjoint` marks a property of disjoint sets (written only by `Union`).
    """

    name: str
    type: Type
    site: Site
    origin: Origin
    disjoint: bool = False


@node
class Global(Node):
    """`global @error: f64`: a scalar of the whole algorithm that operators may reduce into."""

    name: str
    type: Type


@node
class FrontierDecl(Node):
    """`frontier next`: a set of vertices. Kernel level: `layouts` it takes and whether it needs in-queue flags."""

    name: str
    layouts: tuple[Layout, ...] = ()
    flags: bool = False


@node
class ListDecl(Node):
    """`list levels`: a growable list of frontiers."""

    name: str


@node
class QueueDecl(Node):
    """`priority q: degree`: vertices by the value of an integer property, the lowest first. Not at kernel level."""

    name: str
    prop: str


@node
class BucketsDecl(Node):
    """`buckets work(v): key`: vertices queued by priority; the one with the lowest key is taken first. Kernel level.

    `key`, of type i64 (or f64 with `strict`), is an expression of the vertex v, parameters and globals. It numbers the
    buckets: vertices of one key are taken together. `strict`: one at a time, exactly in the order of keys.
    """

    name: str
    vertex: str
    key: Expr
    strict: bool = False


@node
class Operator(Node):
    """`operator relax(src, edge, dst) { ... }` (edge operator) or `operator visit(v) { ... }` (vertex operator).

    Arguments are Vars of type vid, eid, vid; or vid.
    """

    name: str
    args: tuple[str, ...]
    body: Body

    @property
    def is_edge(self) -> bool:
        """True for an edge operator."""
        return len(self.args) == 3


@node
class Result(Node):
    """`return dist`: a vertex property, global or driver-loop local that the algorithm gives back under `name`."""

    name: str
    kind: str  # "property" | "scalar"
    value: str | Expr


class Level(Enum):
    """How far a program has been lowered."""

    ALGORITHM = "algorithm"
    SCHEDULED = "scheduled"
    KERNEL = "kernel"


@node
class Program(Node):
    """One algorithm, compiled whole: declarations, operators (none at kernel level), the driver loop, the results."""

    name: str
    level: Level
    target: Target
    params: tuple[Param, ...]
    properties: tuple[Property, ...]
    globals: tuple[Global, ...]
    frontiers: tuple[FrontierDecl, ...]
    lists: tuple[ListDecl, ...]
    operators: tuple[Operator, ...]
    body: Body
    results: tuple[Result, ...]
    threads: int = 0  # kernel level: 1 when compiled for a single thread (plain operations), 0 for many
    buckets: tuple[BucketsDecl, ...] = ()
    queues: tuple[QueueDecl, ...] = ()
    ordered: bool = False  # kernel level: sums of floats are added in the order in which they are written

    def property(self, name: str) -> Property:
        """The declaration of property `name`."""
        return next(p for p in self.properties if p.name == name)

    def operator(self, name: str) -> Operator:
        """The operator called `name`."""
        return next(o for o in self.operators if o.name == name)


MONOTONE = ("min", "max", "|", "&")
ACCUMULATING = ("+", "*")
ARGUMENT_TYPES: dict[int, tuple[Type, ...]] = {3: (VID, EID, VID), 1: (VID,)}
