"""The text builder: lines, scopes, names, and what emit functions share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.backends.base import KernelInterface
from vgraph.compiler.backends.cuda.foreign import device_function
from vgraph.compiler.backends.cuda.texts import Names, type_name
from vgraph.compiler.backends.scan import Scan
from vgraph.compiler.foreign.externals import known
from vgraph.compiler.types import Type
from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.compiler.backends.cuda.hops import Ahead, Carried
    from vgraph.compiler.backends.cuda.tiles import Tile

_ENDS = (ir.ParFor, ir.BucketLoop)
_LOCAL = (ir.Trace, ir.Let, ir.Assign, ir.SetGlobal, ir.Accumulate)


class Place(Enum):
    """Who executes what is being emitted."""

    DRIVER = "driver"
    """All threads of the grid, with equal values."""
    SINGLE = "single"
    """One thread of the grid."""
    THREAD = "thread"
    """A thread at a vertex or an arc, by itself."""
    GROUP = "group"
    """The lanes that visit a vertex together, with equal values: only one of them may have effects."""


@dataclass(frozen=True)
class Marked:
    """The list that is marked while a group goes through arcs as one."""

    vertex: str
    side: ir.Orientation
    name: str
    """The variable of the marks."""
    other: str
    """The other end of the arc that the group has come to, ..."""
    walked: ir.Orientation
    """... on whose list's bounds `arcs` reads ahead."""
    arcs: str
    heads: str = ""
    """The heads of lists, if they have any."""


@dataclass(frozen=True)
class Spread:
    """How the lanes of a group share vectors."""

    length: int
    """The elements of each, ..."""
    lanes: int
    each: int
    """... and those that a lane has of them, or room for them."""


@dataclass
class Region:
    """The parallel loop being emitted: what its threads combine at its end."""

    partials: dict[tuple[str, str], str] = field(default_factory=dict)
    """The variable of each `(op, global)`."""
    counts: dict[str, str] = field(default_factory=dict)
    """By frontier: the variable that counts bits which this thread set."""
    queues: list[str] = field(default_factory=list)
    """Frontiers whose queues are pushed to."""
    lowest: dict[str, str] = field(default_factory=dict)
    """By set of buckets: the variable with the smallest key that this thread piled up."""
    own: dict[str, str] = field(default_factory=dict)
    """By frontier: the flag that says whether this thread's vertex is pushed; the warp writes the bits together."""
    vertex: str = ""
    written: frozenset[str] = frozenset()
    """Properties that the loop writes; `read`: that it reads."""
    read: frozenset[str] = frozenset()
    side: ir.Orientation | None = None
    pieces: bool = False
    """Whether loops over `side` of `vertex` walk `begin` to `end`, strided over lanes."""
    ahead: Ahead | None = None
    """How the block goes on with what it pushes."""
    tile: Tile | None = None
    """What it keeps of the tile that it visits."""
    rows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By side: what was read ahead of the row of `vertex`."""
    planned: str = ""
    """The place of the arc in its plan, in a loop along one."""
    kept: frozenset[str] = frozenset()
    """Properties whose values at the ends of the arc each lane has, read before any is written."""
    fetched: dict[tuple[str, str], str] = field(default_factory=dict)
    """What was read before of properties, at the vertices or arcs of such names."""
    spread: Spread | None = None
    """How lanes share vectors."""
    deltas: frozenset[str] = frozenset()
    """The sides of which rows are read as differences, "in" and "out"."""
    shared: frozenset[int] = frozenset()
    """Identities of the loops that lanes share while all else is done by the group."""
    marks: Marked | None = None
    shelf: str = ""
    """What the loop has of the pool of shared memory; empty if nothing."""
    counters: list[str] = field(default_factory=list)
    """Properties that have counters on the shelf."""
    boxes: dict[str, list[str]] = field(default_factory=dict)
    """By frontier or set of buckets: the outboxes in which its pushes go together."""


class Emitter:
    """Builds the text of one kernel. Emit functions get it as their first argument."""

    def __init__(
        self,
        program: ir.Program,
        scan: Scan,
        interface: KernelInterface,
        table: Mapping[type[ir.Node], Callable[..., Any]],
    ) -> None:
        self.program, self.scan, self.interface, self.table = program, scan, interface, table
        self.names = Names()
        self.lines: list[str] = []
        self.depth = 1
        self.soon: dict[str, tuple[str, str]] = {}  # vertex, its row, and the array of its neighbors
        self.recorded: frozenset[str] = frozenset()  # sums that go into the next record, and nowhere else
        self.early: dict[
            int, str
        ] = {}  # by the identity of a loop: what was looked up for it before a barrier
        self.crew = False  # whether one cluster of blocks runs the kernel
        self.place = Place.DRIVER
        self.region: Region | None = None
        self.loops = 0  # sequential loops around, inside a parallel one
        self.common = 0  # loops over common neighbors around
        self.leave = "return"  # how the rest of a visit is passed over, outside sequential loops
        self.pushed: frozenset[str] = frozenset()  # queues that the last parallel loop pushed to
        self.fresh = False  # whether nothing but local work was done since a barrier behind pushes
        self.rest: ir.Body = ()  # what follows the statement in its body
        self.views: frozenset[str] = frozenset()  # frontiers whose ids are in a list
        # Property, vertex, and what was just written there.
        self.offered: tuple[str, ir.Expr, ir.Var] | None = None
        self.seen: tuple[str, ir.Expr, str] | None = None  # the same of a sum, for the statement behind it
        self.slots = 0
        self.shared = 0  # bytes of dynamic shared memory
        self.written = written_properties(program.body)
        self.externals: dict[str, str] = {}  # definitions of the functions that somebody else compiled
        self._count = 0

    # --- text

    def line(self, text: str) -> None:
        """Append one line."""
        self.lines.append("  " * self.depth + text if text else "")

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """`head {`, what is emitted inside, and `tail`."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    def temporary(self, hint: str) -> str:
        """A fresh identifier."""
        self._count += 1
        return self.names.of("temporary", f"{hint} {self._count}")

    def define(self, t: Type, hint: str, value: str) -> str:
        """A fresh local with a value."""
        name = self.temporary(hint)
        self.line(f"{type_name(t)} {name} = {value};")
        return name

    # --- names

    def local(self, name: str) -> str:
        """The identifier of a local of the program."""
        return self.names.of("local", name)

    def prop(self, name: str) -> str:
        """The identifier of a property's array."""
        return self.names.of("property", name)

    def global_(self, name: str) -> str:
        """The identifier of a global scalar."""
        return self.names.of("global", name)

    def frontier(self, name: str) -> str:
        """The identifier of a frontier's descriptor."""
        return self.names.of("frontier", name)

    def buckets(self, name: str) -> str:
        """The identifier of a set of buckets."""
        return self.names.of("buckets", name)

    def array(self, name: str) -> str:
        """The identifier of an array of the graph: `out.row_offsets` is `out_rows`."""
        short = name.replace("row_offsets", "rows").replace("column_indices", "columns")
        return self.names.of("array", short)

    @property
    def num_vertices(self) -> str:
        """The number of vertices."""
        return self.names.of("size", "num_vertices")

    def row(self, side: str, v: str) -> tuple[str, str]:
        """Where the row of v begins and ends."""
        rows = self.array(f"{side}.row_offsets")
        return f"fixed(&{rows}[{v}])", f"fixed(&{rows}[{v} + 1])"

    def row_of(self, v: ir.Expr, side: str) -> tuple[str, ...]:
        """What was read ahead of the row of v: a word of differences, or begin and end in CSR; else nothing."""
        region = self.region
        own = region is not None and isinstance(v, ir.Var) and v.name == region.vertex
        return region.rows.get(side, ()) if region is not None and own else ()

    @property
    def carried(self) -> Carried | None:
        """What comes with a vertex with which a block goes on."""
        ahead = self.region.ahead if self.region is not None else None
        return ahead.carried if ahead is not None else None

    def external(self, name: str) -> str:
        """The name of a device function of somebody else's, which is defined before the kernel."""
        found = device_function(known(name))
        self.externals[name] = found.text
        return found.name

    # --- nodes

    def expr(self, node: ir.Expr) -> str:
        """The text of an expression."""
        text: str = self.table[type(node)](self, node)
        return text

    def body(self, body: ir.Body) -> None:
        """Emit statements; in the driver loop, note whether a parallel loop has just ended."""
        for k, stmt in enumerate(body):
            self.rest = body[k + 1 :]
            self.table[type(stmt)](self, stmt)
            if self.region is None:
                self.fresh = isinstance(stmt, _ENDS) or (self.fresh and isinstance(stmt, _LOCAL))

    def visit(self, body: ir.Body, leave: str, place: Place = Place.THREAD) -> None:
        """Emit the body of a visit; `leave` ends it early."""
        saved = self.loops, self.leave
        self.loops, self.leave = 0, leave
        with self.at(place):
            self.body(body)
        self.loops, self.leave = saved

    @contextmanager
    def sequential(self) -> Iterator[None]:
        """Inside a sequential loop `break` and `continue` are its own."""
        self.loops += 1
        self.fresh = False
        yield
        self.loops -= 1
        self.fresh = False

    def stops(self, call: str) -> None:
        """Emit what the whole grid does together; all leave if it says that the run is to stop."""
        self.line(f"if ({call}) return;")

    @contextmanager
    def effect(self) -> Iterator[None]:
        """Around an action that must happen once: of a group only the first lane does it."""
        if self.place is Place.GROUP:
            with self.block("if (lanes.leads())"):
                yield
        else:
            yield

    @property
    def spread(self) -> Spread | None:
        """How the lanes of a group share vectors."""
        return self.region.spread if self.region is not None else None

    def agreed(self, node: ir.Expr) -> str:
        """The text of a value for use inside `effect`: the lanes of a group agree on it before one of them acts."""
        return self.agreed_text(self.expr(node), node.type)

    def agreed_text(self, text: str, t: Type) -> str:
        """The same of the text of a value."""
        return self.define(t, "value", text) if self.place is Place.GROUP and "(" in text else text

    @contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Emit for others to execute."""
        saved, self.place = self.place, place
        yield
        self.place = saved


def written_properties(body: ir.Body) -> frozenset[str]:
    """Properties that are written in a body."""
    from vgraph.compiler.backends.scan import walk_body

    kinds = (ir.Store, ir.Reduce, ir.CompareAndSwap, ir.Reserve, ir.Fill, ir.Fold)
    nodes = list(walk_body(body))
    swapped = (name for n in nodes if isinstance(n, ir.Exchange) for name in (n.left, n.right))
    sent = (name for n in nodes if isinstance(n, ir.AllToAll) for name in n.gots)
    taken = (n.got for n in nodes if isinstance(n, ir.Take))
    return frozenset((*swapped, *sent, *taken, *(n.prop for n in nodes if isinstance(n, kinds))))
