"""What a backend is: a table of abilities, and `emit` from kernel IR to text."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.compiler import ir
    from vgraph.compiler.abilities import Abilities
    from vgraph.compiler.foreign.externals import External

ENTRY: Final = "vg_main"
"""The exported function of every kernel: `i32 vg_main(Context *ctx, i32 at)`, code for one thread."""
TEAM: Final = "vg_team"
"""`i32 vg_team(Context *ctx, i32 rank, i32 at, i32 generation)`, the same for a team: all members enter at fork point
`at`. Both give the fork point at which the other goes on, or -1 at the end. On a CPU only."""


@dataclass(frozen=True)
class ArgSlot:
    """One 8-byte argument slot. `kind` says what it holds:

    - `property`: address of the array of property `name`: `length` elements of `dtype` per vertex or arc;
    - `adjacency`: address of `out.row_offsets`, `out.column_indices` or the same of `in`;
    - `prepared`: address of an array of a layout of the graph's arcs: `segments.4.bounds` (see `vgraph.graph.layouts`);
      `prepared_number`: a number of one, int64, so that the code does not depend on it: `segments.4.count`;
    - `size`: `num_vertices` or `num_arcs`, int64;
    - `length`: elements, or rows, of array parameter or channel buffer `name`, int64; `columns`: of one with two
      dimensions;
    - `scratch`: address of `num_vertices` zeroed elements for each thread, one thread's after another's; `touched`:
      of as many vertex ids for each thread;
    - `channel`: address of the control block of the channel whose first buffer is `name`: zeroed cache lines, one for
      each of `length` slots and `CHANNEL_LINES` before them;
    - `workspace`: address of zeroed memory called `name`, for the run: `length` elements per vertex and 8 more;
    - `param`: scalar parameter `name`, in its own `dtype`.
    """

    kind: str
    name: str
    dtype: str
    length: int = 1


@dataclass(frozen=True)
class FrontierSlot:
    """One frontier descriptor: which arrays it needs besides the queue. They are numbered in this order."""

    name: str
    bitmap: bool
    flags: bool


@dataclass(frozen=True)
class ResultSlot:
    """One scalar result: stored as `dtype` in an 8-byte result slot, numbered in this order."""

    name: str
    dtype: str


@dataclass(frozen=True)
class KernelInterface:
    """What a kernel wants from its caller; written beside the machine code in the object cache."""

    args: tuple[ArgSlot, ...]
    frontiers: tuple[FrontierSlot, ...]
    lists: tuple[str, ...]
    results: tuple[ResultSlot, ...]
    num_slots: int
    """Reduction slots of 8 bytes for each thread."""
    labels: tuple[str, ...]
    """Names of the traversals, by the label number of a trace record."""
    directions: tuple[str, ...]
    """Names of directions, by the direction number of a trace record."""
    messages: tuple[str, ...]
    """Texts of `Fail`, by the payload of `Status.ABORTED`."""
    id_bits: int
    offset_bits: int
    threads: int
    """1: for a single thread only; 0: for any number."""
    buckets: tuple[int, ...] = ()
    """Sets of vertices queued by priority: the vertices of a tile of each; 0: it has none."""
    transpose: bool = False
    """It walks in-arcs in any case; if not, then only where its parameter `graph.transposed` is true."""
    forks: tuple[int, ...] = ()
    """Items of the smallest chunk of the loop at each fork point, which are numbered from 1."""
    num_state: int = 0
    """8-byte slots for what is handed on at a fork point."""
    state_vertices: tuple[tuple[int, int], ...] = ()
    """Which of it are vertices: the slot, and how many there are in a row from there."""
    shared: int = 0
    """Bytes of memory that the threads of a block would like to share, beside what the text declares; on a GPU only."""
    blocks: int = 0
    """Of the one cluster that runs it on a GPU; 0: as many as there is work for."""
    climbs: bool = False
    """Hardly anything is done but to climb the paths of disjoint sets, once."""
    mailboxes: tuple[str, ...] = ()
    """Properties that take what other members of a set of devices send: the `gots` of exchanges."""
    joins: bool = False
    """It exchanges something with other members of a set, or is given iterations."""

    def slot(self, kind: str, name: str) -> int:
        """The number of an argument slot; KeyError when the kernel does not use it."""
        for index, arg in enumerate(self.args):
            if arg.kind == kind and arg.name == name:
                return index
        raise KeyError((kind, name))

    def to_json(self) -> str:
        """A JSON text from which `from_json` makes an equal interface."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> KernelInterface:
        """The inverse of `to_json`; ValueError, KeyError or TypeError on other text."""
        data: dict[str, Any] = json.loads(text)
        records = {"args": ArgSlot, "frontiers": FrontierSlot, "results": ResultSlot}
        for name, record in records.items():
            data[name] = tuple(record(**row) for row in data[name])
        for name in ("lists", "labels", "directions", "messages", "buckets", "forks", "mailboxes"):
            data[name] = tuple(data[name])
        data["state_vertices"] = tuple(map(tuple, data["state_vertices"]))
        return KernelInterface(**data)


@dataclass(frozen=True)
class SourceText:
    """What `emit` gives: the text of the kernel in the backend's own language, and how to call it."""

    text: str
    interface: KernelInterface


@dataclass(frozen=True)
class Kernel:
    """Loaded machine code. `address` is that of `vg_main`; `owner` keeps the code alive."""

    address: int
    interface: KernelInterface
    owner: object = field(repr=False, compare=False)
    team: int = 0
    """The address of `vg_team`; 0: there is none."""
    learned: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)
    """What runs with so many threads have learned of its loops (`ContextView.learned`)."""


class Backend(ABC):
    """A target of the compiler; what it supports stands in its `abilities`. The runtime loads what it emits."""

    name: ClassVar[str]
    abilities: ClassVar[Abilities]
    emitters: ClassVar[Mapping[type[ir.Node], Callable[..., object]]]
    """The emit function of every node class that may stand in kernel IR."""

    @abstractmethod
    def emit(self, program: ir.Program, *, deep: bool = False, narrow: bool = False) -> SourceText:
        """The kernel's text. Total on verified kernel IR; needs no device. `deep`: rounds are short, on few threads;
        `narrow`: and frontiers are small, all through a search."""

    def refusal(self, external: External) -> str | None:
        """Why a function that somebody else compiled cannot become a part of a kernel; None if it can."""
        return None if self.abilities.externals else "its backend takes no functions of others"


def refuse_externals(program: ir.Program, backend: Backend) -> None:
    """Raise a Refusal at the first call of an external function that the backend cannot compile."""
    from vgraph import refusals
    from vgraph.compiler import ir
    from vgraph.compiler.foreign.externals import PREFIX, known
    from vgraph.compiler.ir.trees import walk

    for node in walk(program):
        if isinstance(node, ir.Call) and node.function.startswith(PREFIX):
            reason = backend.refusal(known(node.function))
            if reason is not None:
                assert node.span is not None
                raise refusals.externals.NumbaDevice(node.span, backend.abilities.device, reason)
