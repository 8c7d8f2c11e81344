"""The memory of one run on a GPU: the words of a kernel's argument, and the arrays that they point to."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vgraph.compiler.backends.cuda.layout import (
    BUCKET_MARKS,
    BUCKET_QUEUES,
    TRACE_WORDS,
    ControlLayout,
    num_words,
)
from vgraph.errors import InternalError
from vgraph.graph.arrays import on_gpu
from vgraph.graph.layouts import Prepared, split_name
from vgraph.records import dataclass
from vgraph.runtime.arguments import adjacency, host_array, local_shape, needed, scalar_argument

if TYPE_CHECKING:
    from vgraph.runtime.devices.cuda.device import Device
    from vgraph.runtime.devices.cuda.resident import Resident
    from vgraph.runtime.devices.runner import Call
    from vgraph.runtime.plan import Array

TRACE_ROOM: Final = 1 << 16
"""Records of the trace that are kept, 3 MB; more are only counted."""
SCRATCH_SHARE: Final = 0.25
"""Part of the free memory that scratch memory may take, unless a single worker needs more."""
LIST_SLACK: Final = 1024
"""A list of frontiers begins with room for so many more ids, and frontiers, than there are vertices: the levels of a
search hold each vertex once."""


@dataclass
class Memory:
    """Everything that one launch of a kernel needs; made anew for each, so that a second one begins as the first did.

    `rooms`: ids, and frontiers, that each list has room for. `workers`: how many have scratch memory.
    `shared`: bytes of dynamic shared memory of a block. `by_host`: arrays by name that are in the host's memory.
    """

    device: Device
    resident: Resident
    call: Call
    workers: int
    rooms: list[int]
    pinned: bool = False
    shared: int = 0
    by_host: frozenset[str] = frozenset()
    words: list[int] = field(default_factory=list)
    arrays: dict[str, Any] = field(default_factory=dict)
    layouts: dict[str, Prepared] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plan = self.call.plan
        self.layout = ControlLayout(plan.interface)
        self.control = self._zeros(self.layout.size, np.uint64)
        self._keep: list[Any] = []
        self.words.append(self._at(self.control))
        self.arrays = {a.name: self._array(a) for a in plan.arrays if needed(a, plan)}
        self._arguments()
        self._frontiers()
        self._lists()
        self._buckets()
        records = self.device.zeros if plan.interface.blocks else self.device.empty
        self.trace = records((TRACE_ROOM * TRACE_WORDS,), np.uint64)
        self.words += [self._at(self.trace), TRACE_ROOM, self.workers]

    def join(self, peers: Any, *kept: Any) -> None:
        """Tell the kernel where it finds what it has to know of other members of a set, if it exchanges anything."""
        self._keep += kept
        if self.call.plan.interface.joins:
            self.words.append(self._at(peers))

    def packed(self) -> NDArray[np.uint64]:
        """The words as they are passed to the kernel."""
        assert len(self.words) == num_words(self.call.plan.interface)
        return np.array(self.words, np.uint64)

    # --- pieces -------------------------------------------------------------------------------------------

    def _at(self, array: Any) -> int:
        self._keep.append(array)
        return self.device.address(array)

    def _zeros(self, count: int, dtype: DTypeLike) -> Any:
        return self.device.zeros((count,), dtype)

    def _array(self, array: Array) -> Any:
        if array.site == "thread":
            raise InternalError(f"{array.name}: threads of a GPU have no copies of their own")
        if array.name in self.by_host:
            return self.device.pin(np.zeros(local_shape(array, self.call), array.dtype))
        if array.origin == "local":
            return self.device.empty(local_shape(array, self.call), array.dtype)
        if array.site == "edge_segments":
            return self.resident.ordered(self.call.graph, *split_name(array.name), self.shared)
        given = self.call.arguments.get(array.name) if array.given else None
        if on_gpu(given) and self.call.numbers is None:
            return self.device.xp.array(given, array.dtype, order="C")
        host = host_array(array, self.call)
        if array.given:
            return self.device.upload(host)
        return self.resident.copy(host, pinned=self.pinned)

    def _arguments(self) -> None:
        n = self.call.graph.num_vertices
        for arg in self.call.plan.interface.args:
            match arg.kind:
                case "property":
                    word = self._at(self.arrays[arg.name])
                case "adjacency":
                    word = self._at(self.resident.copy(adjacency(arg, self.call), pinned=self.pinned))
                case "prepared" | "prepared_number":
                    word = self._layout(*arg.name.rpartition(".")[::2])
                case "scratch" | "touched":
                    word = self._at(self._zeros(self.workers * n, arg.dtype))
                case "workspace":
                    word = self._at(self._zeros(arg.length * n + 8, arg.dtype))
                case "length":
                    word = len(self.arrays[arg.name])
                case "columns":
                    word = self.arrays[arg.name].shape[1]
                case "channel":
                    raise InternalError(f"{arg.name}: a GPU has no channels")
                case _:
                    word = scalar_word(*scalar_argument(arg, self.call, "cuda"))
            self.words.append(word)

    def _layout(self, key: str, name: str) -> int:
        """A number of a layout, or where an array of it lies."""
        if key not in self.layouts:
            self.layouts[key] = self.resident.layout(self.call.graph, key, self.shared)
        found = self.layouts[key]
        return found.numbers[name] if name in found.numbers else self._at(found.arrays[name])

    def _frontiers(self) -> None:
        n = self.call.graph.num_vertices
        for frontier in self.call.plan.interface.frontiers:
            queue = self.device.empty((n,), self._ids)
            bitmap = self._at(self._zeros(-(-n // 64), np.uint64)) if frontier.bitmap else 0
            flags = self._at(self._zeros(n, np.uint32)) if frontier.flags else 0
            self.words += [self._at(queue), bitmap, flags]

    def _lists(self) -> None:
        for room in self.rooms:
            ids, starts = self.device.empty((room,), self._ids), self._zeros(room + 1, np.uint64)
            self.words += [self._at(ids), self._at(starts), room, room]

    def _buckets(self) -> None:
        n = self.call.graph.num_vertices
        for tile in self.call.plan.interface.buckets:
            room = 2 * n if tile else n  # of tiles, one queue holds 8 bytes for each
            queues = [self.device.empty((room,), self._ids) for _ in range(BUCKET_QUEUES)]
            marks = [self._zeros(n, np.uint32) for _ in range(BUCKET_MARKS)]
            self.words += [self._at(array) for array in (*queues, *marks)]

    @property
    def _ids(self) -> np.dtype[Any]:
        return np.dtype(f"uint{self.call.plan.interface.id_bits}")


def scalar_word(value: Any, dtype: DTypeLike) -> int:
    """A scalar in the low bytes of an 8-byte word."""
    data = np.asarray(value).astype(dtype, casting="unsafe").tobytes()
    return int.from_bytes(data, "little")


def workers_for(call: Call, warps: int, free: int) -> int:
    """Workers with scratch memory in a grid of so many warps: one per warp, or fewer, which take part of the memory."""
    args = [a for a in call.plan.interface.args if a.kind in ("scratch", "touched")]
    each = call.graph.num_vertices * sum(np.dtype(a.dtype).itemsize for a in args)
    return min(warps, max(1, int(SCRATCH_SHARE * free) // each)) if each else warps
