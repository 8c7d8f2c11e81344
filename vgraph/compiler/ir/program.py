"""Declarations, and the program that they make up."""

from __future__ import annotations

from enum import Enum

from vgraph.compiler.ir.node import *
from vgraph.compiler.types import EID, VID, Target, Type


@written("param {name}: {type}")
class Param(Node):
    """`param source: vid`: a scalar argument of the algorithm."""

    name: str
    type: Type


@written("{site} {name}: {type} {origin}( {disjoint})?")
class Property(Node):
    """`vertex dist: i32 local`, `edge weight: i32 graph`, `edge_in weight.in: i32 graph`,
    `edge_segments weight.segments.4: i32 graph`, `numbered flow: i32 local`: an array per vertex, arc or edge.

    Local properties of arcs and queues exist at kernel level only: they are buffers between two parallel loops.
    `disjoint` marks a property of disjoint sets (written only by `Union`).
    """

    name: str
    type: Type
    site: Site
    origin: Origin
    disjoint: bool = False


@written("global @{name}: {type}")
class Global(Node):
    """`global @error: f64`: a scalar of the whole algorithm that operators may reduce into."""

    name: str
    type: Type


@written("frontier {name}( {layouts})?( {flags})?")
class FrontierDecl(Node):
    """`frontier next`: a set of vertices. Kernel level: `layouts` it takes and whether it needs in-queue flags."""

    name: str
    layouts: tuple[Layout, ...] = ()
    flags: bool = False


@written("list {name}")
class ListDecl(Node):
    """`list levels`: a growable list of frontiers."""

    name: str


@written("priority {name}: {prop}")
class QueueDecl(Node):
    """`priority q: degree`: vertices by the value of an integer property, the lowest first. Not at kernel level."""

    name: str
    prop: PropertyName


@written("buckets {name}({vertex}): {key}( {strict})?( tiles {tiles})?( {mirrored})?")
class BucketsDecl(Node):
    """`buckets work(v): key`: vertices queued by priority; the one with the lowest key is taken first. Kernel level.

    `key`, of type i64 (or f64 with `strict`), is an expression of the vertex v, parameters and globals. It numbers the
    buckets: vertices of one key are taken together. `strict`: one at a time, exactly in the order of keys. `tiles 64`:
    ranges of 64 ids are tiles, each of which has buckets of its own; there is none of all vertices. `mirrored`: each
    arc that is walked for them has one the other way, with the same values.
    """

    name: str
    vertex: NewVid
    key: KeyExpr
    strict: bool = False
    tiles: int = 0
    mirrored: bool = False


@written("operator {name}({args}) {body}")
class Operator(Node):
    """`operator relax(src, edge, dst) { ... }` (edge operator) or `operator visit(v) { ... }` (vertex operator).

    Arguments are Vars of type vid, eid, vid; or vid.
    """

    name: str
    args: tuple[NewLocal, ...]
    body: Body

    @property
    def is_edge(self) -> bool:
        """True for an edge operator."""
        return len(self.args) == 3


@written("called {name} with {given}")
class Called(Node):
    """`called "vgraph.algorithms.sssp.sssp" with "{}"`: the program has a part that is this algorithm, by module and
    name, whose checks and preparations in Python are for these arguments: in JSON, by the names of its parameters, a
    constant (`["value", 1]`) or a parameter of the program (`["parameter", "source"]`)."""

    name: Text
    given: Text


@node
class Result(Node):
    """`return dist`: a vertex property, global or driver-loop local that the algorithm gives back under `name`.

    `return reached = members reached.members`: the vertices at which a property of bools is true, ascending.
    """

    name: str
    kind: str  # "property" | "members" | "scalar"
    value: Expr | str


class Level(Enum):
    """How far a program has been lowered.

    ALGORITHM: operators and applies. SCHEDULED: each apply has its complete schedule; passes lower one kind of apply
    after the other, so that loops stand beside applies. KERNEL: loops alone, and how frontiers and edge properties
    are stored.
    """

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
    called: tuple[Called, ...] = ()
    ordered: bool = False  # kernel level: sums of floats are added in the order in which they are written

    def property(self, name: str) -> Property:
        """The declaration of property `name`."""
        return next(p for p in self.properties if p.name == name)

    def operator(self, name: str) -> Operator:
        """The operator called `name`."""
        return next(o for o in self.operators if o.name == name)

    def bucket_set(self, name: str) -> BucketsDecl:
        """The declaration of the set of buckets called `name`."""
        return next(b for b in self.buckets if b.name == name)


ARGUMENT_TYPES: dict[int, tuple[Type, ...]] = {3: (VID, EID, VID), 1: (VID,)}
