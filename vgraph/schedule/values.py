"""The values of axes, a class for those of each; `names.py` has them by the names that programs use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from vgraph.records import dataclass
from vgraph.schedule.record import Kind, Word


class Direction(Word):
    """Which end of the arcs the loop runs over."""

    PUSH = "push"
    """for v in active: for u in out(v): update u (atomically)."""
    PULL = "pull"
    """for v in vertices: for u in in(v), if u is active: update v, written once."""
    AUTO = "auto"
    """Chosen per round at run time, in a resolved schedule too."""


class Phases(Word):
    """How reading along the arcs and writing the vertices are split."""

    FUSED = "fused"
    """Read, compute and write in one loop."""
    GATHER_APPLY = "gather_apply"
    """Gather: every arc's contribution into a buffer in the order of in-arcs. Apply: each vertex reduces its part."""
    APPLY_SCATTER = "apply_scatter"
    """Apply: every active vertex's value into a buffer, in order. Scatter: along the out-arcs, update the ends."""
    AUTO = "auto"


class Payload(Word):
    """What the buffer between two phases holds."""

    RAW = "raw"
    """The fields as they were read; the consumer computes."""
    COMPUTED = "computed"
    """What the producer computed from them."""
    AUTO = "auto"


class Drive(Word):
    """Who is visited in a round."""

    TOPOLOGY = "topology"
    """for v in vertices: if v is active: ... (no queue is kept)."""
    DATA = "data"
    """for v in queue of active vertices: ..."""
    AUTO = "auto"
    """Chosen per round at run time, in a resolved schedule too."""


class FrontierLayout(Word):
    """How a frontier is stored."""

    SPARSE = "sparse"
    """A queue of vertex ids."""
    BITMAP = "bitmap"
    """One bit per vertex, in 64-bit words."""
    AUTO = "auto"


class Sync(Word):
    """When an update becomes visible to other vertices."""

    BSP = "bsp"
    """At the end of the round: properties both read and written are double-buffered."""
    ASYNC = "async"
    """At once: legal where the fixpoint does not depend on it."""
    AUTO = "auto"


class Exchange(Word):
    """What the members of a set of devices tell each other in a round, each of which owns some of the vertices."""

    LOCAL = "local"
    """Nothing: there is one device."""
    BASE = "base"
    """Members get the values at the far ends of arcs into their vertices, and compute for these alone."""
    COMBINE = "combine"
    """Members compute along the arcs that leave their vertices; for each vertex of others what it gets is combined,
    then goes to its owner."""
    DELAYED = "delayed"
    """The same, but members go on by themselves until nothing changes, and only then tell each other."""
    AUTO = "auto"


class Volume(Word):
    """How much of a property members of a set of devices tell each other behind a round."""

    DENSE = "dense"
    """The values of all ghosts."""
    CHANGED = "changed"
    """Those that the round has changed, and which."""
    AUTO = "auto"
    """Whichever takes less time, each member in each round for itself."""


class Rows(Word):
    """How the neighbors of a vertex are stored where a loop walks them."""

    CSR = "csr"
    """Where a row begins, and the neighbors one behind the other."""
    SLICES = "slices"
    """On CPUs: 16-bit offsets from the first source of a segment, of 16 destinations side by side (SELL-16)."""
    DELTA = "delta"
    """Up to four neighbors as 16-bit differences to the vertex, 8 bytes a row; what does not fit is read from CSR."""
    AUTO = "auto"


@dataclass(frozen=True)
class Order(Kind):
    """In which order active vertices are taken: `kind` is unordered, delta, strict or auto.

    delta: buckets of width `delta` (in units of the value that orders; None: from the weights), the lowest first
    (Meyer and Sanders 2003). strict: the smallest value first, on one thread (Dijkstra 1959).
    """

    delta: float | None = None
    makers: ClassVar[Mapping[str, str]] = {"delta": "delta_stepping"}

    def __str__(self) -> str:
        if self.delta is None:
            return self.kind
        short = f"{self.delta:g}"
        return f"{self.kind}({short if float(short) == self.delta else repr(self.delta)})"


@dataclass(frozen=True)
class Balance(Kind):
    """How a loop's work is cut for threads: `kind` is vertex, edge, split, warp, block, twc or auto.

    vertex: chunks with equally many vertices. edge: chunks with equally many arcs; a hub's arcs may be shared. split:
    a vertex of more than `limit` arcs (None: from the histogram of degrees) becomes several of at most so many.
    warp, block, twc (thread, warp or block by degree): GPU only.
    """

    limit: int | None = None
    makers: ClassVar[Mapping[str, str]] = {"split": "SPLIT"}

    def __str__(self) -> str:
        return self.kind if self.limit is None else f"{self.kind}({self.limit})"


@dataclass(frozen=True)
class Conflict(Kind):
    """How activations of an operator that writes both ends of its edge, or what it gathers, are kept from meeting.

    free: nothing to keep apart, for other operators. sequential: one after the other, in the order of the user's edges,
    or of the vertices.
    Online, by locks: edge_locked (both ends tried, else the edge waits for the next pass), node_locked (one thread has
    all arcs of a source), hybrid (one pass of the second, the rest by the first). By a plan, with a barrier between
    phases: agm_e, agm_n, sgm (matchings), diagonal and blocked_diagonals (of the matrix, in blocks of `rows` x
    `columns`, or made by degree), dealt_blocks (`rows` x `rows` blocks for several devices), even_blocks (as many of
    equally many arcs for the threads of a CPU), colored. Of operators that
    gather vertices: sequential, node_locked (all that is gathered is tried), marked (all mark what they gather, and who
    has all of its marks goes on), or raced (the same without atomics, in three phases in place of two).
    """

    rows: int = 0
    columns: int = 0
    makers: ClassVar[Mapping[str, str]] = {
        "blocked_diagonals": "blocked_diagonals",
        "dealt_blocks": "dealt_blocks",
        "even_blocks": "even_blocks",
    }

    def __str__(self) -> str:
        size = f"{self.rows}x{self.columns}" if self.columns else str(self.rows)
        return f"{self.kind}({size})" if self.rows else self.kind

    @property
    def key(self) -> str:
        """The name of its plan among the layouts of arcs (`graph/layouts/plans.py`); "" where it has none."""
        if self.kind in ("auto", "free", *MARKING, *LOCKING):
            return ""
        size = f".{_BLOCK}" if self.kind in ("agm_n", "sgm") else ""
        if self.rows:
            size = f".{self.rows}.{self.columns}" if self.columns else f".{self.rows}"
        return f"{self.kind}{size}"


_BLOCK: Final = 256
"""Sources of a block of `agm_n` and `sgm`: as many as a block of a GPU has threads."""
LOCKING: Final = ("edge_locked", "node_locked", "hybrid")
MARKING: Final = ("marked", "raced")
PLANNED: Final = ("sequential", "agm_e", "agm_n", "sgm", "diagonal", "colored")

__all__ = [
    "LOCKING",
    "MARKING",
    "PLANNED",
    "Balance",
    "Conflict",
    "Direction",
    "Drive",
    "Exchange",
    "FrontierLayout",
    "Order",
    "Payload",
    "Phases",
    "Rows",
    "Sync",
    "Volume",
]  # fmt: skip
