"""Runs on a set of GPUs: each has its part of the graph and runs the kernel on it, in one launch for the whole program.

The kernels write into each other's memory and meet there (`include/channel.cuh`); the host tells each where that is,
launches all, and puts the results together.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from vgraph.compiler.backends.abi import Way
from vgraph.compiler.backends.cuda.layout import OVERFLOW, PEERS_RECEIVED, PEERS_WAITED, STALLED
from vgraph.errors import DeviceError
from vgraph.records import dataclass
from vgraph.runtime.devices.cuda.executor import CUDA, Loaded, status_of, watch
from vgraph.runtime.devices.cuda.memory import LIST_SLACK, Memory, workers_for
from vgraph.runtime.devices.cuda.registry import device_for
from vgraph.runtime.devices.runner import Call, Ran, raise_failure
from vgraph.runtime.devices.sets import call_of, gathered, parts_of, records, reserved, turns_for
from vgraph.runtime.result import MemberStats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vgraph.graph.conflicts import Turns
    from vgraph.graph.cuts import Placement
    from vgraph.graph.layouts import Prepared
    from vgraph.graph.placement import Part
    from vgraph.runtime.devices.groups import GPU
    from vgraph.runtime.plan import Plan
    from vgraph.runtime.progress import ProgressCallback

PATIENCE: Final = 1 << 28
"""Times that a member looks whether another has come to an exchange, about half a microsecond each, before it fails:
rounds may be long, but a member that is lost must not keep the others for good."""
_HALVES: Final = 2
"""Of a mailbox: they take turns."""
_WARP: Final = 32


@dataclass
class GPUMember:
    """A GPU in a run of a set."""

    runner: CUDA
    kernel: Loaded
    part: Part
    call: Call
    grid: int
    rooms: list[int]

    turns: Turns | None
    """What it hands over where blocks of the matrix are dealt to members."""


class CUDASet(CUDA):
    """GPUs that run a program together."""

    relabels: ClassVar[bool] = False

    def __init__(self, gpus: Sequence[GPU], placement: Placement, memory: str | None = None) -> None:
        asked = ", ".join(f'"{gpu.name}"' for gpu in gpus)
        devices = [device_for(gpu.number, asked=f"[{asked}]") for gpu in gpus]
        super().__init__(devices[0], memory=memory)
        self.gpus, self.placement = tuple(gpus), placement
        self.runners = [CUDA(device, memory=memory) for device in devices]
        for gpu, device in zip(gpus, devices, strict=True):
            if device.stamp() != self.device.stamp():
                raise DeviceError(
                    f"{gpu.name} is {device.name}, {gpus[0].name} is {self.device.name}: GPUs of a set are of one kind"
                )
        for device in devices:
            for other in devices:
                if other is not device:
                    device.reach(other)

    @property
    def place(self) -> str:
        return " ".join(runner.place for runner in self.runners)

    def load(self, code: bytes, plan: Plan) -> Any:
        return tuple(runner.load(code, plan) for runner in self.runners)

    def make_ready(self, kernel: Any, call: Call) -> Sequence[Prepared]:
        for m in self._members(kernel, call):
            m.runner.make_ready(m.kernel, m.call)
        return ()

    def run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        with reserved(self.gpus):
            return super().run(kernel, call, progress)

    def _make_room(self) -> None:
        for runner in self.runners:
            CUDA._make_room(runner)

    def _full(self, call: Call, text: str) -> str:
        return f"out of memory: a GPU of the set has no room for its part and the run ({text.rstrip('.')})"

    def _members(self, kernels: Sequence[Loaded], call: Call) -> list[GPUMember]:
        parts = parts_of(call.graph, call.plan.interface, self.gpus, self.placement)
        found = []
        for k, (runner, kernel, own) in enumerate(zip(self.runners, kernels, parts, strict=True)):
            runner.pinned = self.pinned
            mine = call_of(call, own, k, len(parts), _HALVES)
            rooms = [own.graph.num_vertices + LIST_SLACK] * len(call.plan.interface.lists)
            grid, turns = runner._grid(kernel, mine), turns_for(mine, k, len(parts))
            found.append(GPUMember(runner, kernel, own, mine, grid, rooms, turns))
        return found

    def _attempt(self, kernels: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        start = time.perf_counter()
        copied = [runner.resident.seconds for runner in self.runners]
        there = self._members(kernels, call)
        while True:
            memories = [memory_of(m) for m in there]
            peers = _joined(there, memories)
            prepared = time.perf_counter()
            begins = [m.runner.beginning(m.kernel, x, m.grid) for m, x in zip(there, memories, strict=True)]
            launches = watch(list(zip(memories, begins, strict=True)), progress)
            ran = time.perf_counter()
            controls = [downloaded(m, x.control) for m, x in zip(there, memories, strict=True)]
            states = [status_of(c, x.layout) for c, x in zip(controls, memories, strict=True)]
            full = [k for k, (status, _) in enumerate(states) if status == OVERFLOW]
            if not full:
                break
            for k in full:
                at = states[k][1]
                there[k].rooms[at] = 2 * max(there[k].rooms[at], int(controls[k][memories[k].layout.NEEDED]))
            del memories, peers
        for gpu, (status, payload) in zip(self.gpus, states, strict=True):
            if status == STALLED:
                raise DeviceError(
                    f"{gpu.name} waited in vain for {self.gpus[payload].name} to come to an exchange"
                )
            raise_failure(call.plan.interface, status, payload)
        found = []
        for m, x, c, launch, before in zip(there, memories, controls, launches, copied, strict=True):
            with m.runner.device.current():
                threads = m.grid * m.kernel.block
                found.append(m.runner._ran(m.call, x, c, launch, threads, (start, prepared, ran), before))
        tables = [downloaded(m, table) for m, table in zip(there, peers, strict=True)]
        return self._together(call, there, found, tables)

    def _together(
        self,
        call: Call,
        there: Sequence[GPUMember],
        found: Sequence[Ran],
        tables: Sequence[NDArray[np.uint64]],
    ) -> Ran:
        parts = [m.part for m in there]
        stats = [
            MemberStats(
                gpu.name,
                max(0.0, r.kernel_seconds - int(table[PEERS_WAITED]) * 1e-9),
                len(own.owned),
                own.arcs,
                len(own.ghosts_at),
                own.nbytes,
                int(table[PEERS_RECEIVED]),
            )
            for gpu, own, r, table in zip(self.gpus, parts, found, tables, strict=True)
        ]
        return replace(
            found[0],
            arrays=gathered(call, parts, [r.arrays for r in found]),
            records=records(parts, [r.records for r in found], 1),
            threads=sum(r.threads for r in found),
            transfer_seconds=sum(r.transfer_seconds for r in found),
            kernel_seconds=max(r.kernel_seconds for r in found),
            dropped=max(r.dropped for r in found),
            layouts=tuple(x for r in found for x in r.layouts),
            members=stats,
        )


def memory_of(m: GPUMember, *, by_host: frozenset[str] = frozenset()) -> Memory:
    """The memory of its launch, with some arrays in that of the host."""
    device = m.runner.device
    with device.current():
        workers = workers_for(m.call, m.grid * m.kernel.block // _WARP, device.memory()[0])
        return Memory(
            device, m.runner.resident, m.call, workers, m.rooms, m.runner.pinned, m.kernel.shared, by_host
        )


def downloaded(m: GPUMember, array: Any) -> NDArray[np.uint64]:
    """A copy of an array of its memory."""
    with m.runner.device.current():
        return m.runner.device.download(array)


# --- what members know of each other --------------------------------------------------------------------------


def _joined(there: Sequence[GPUMember], memories: Sequence[Memory]) -> list[Any]:
    """Tell every kernel of the others' memory; what it knows of them, as `Peers` of `include/channel.cuh`. When this is
    done, everything is there that others may write to."""
    names = there[0].call.plan.interface.mailboxes
    noted = []
    for m in there:
        with m.runner.device.current():
            noted.append(m.runner.device.zeros((len(there),), np.uint64))
    boxes = [
        m.runner.device.address(memory.arrays[name])
        for name in names
        for m, memory in zip(there, memories, strict=True)
    ]
    # who is abandoned by interrupts may still write to another, which has left
    kept = [*noted, *(memory.arrays[name] for name in names for memory in memories)]
    arrivals = [m.runner.device.address(a) for m, a in zip(there, noted, strict=True)]
    tables = []
    for k, (m, memory) in enumerate(zip(there, memories, strict=True)):
        words = [*_routes(there, k), *boxes]
        sizes = _sizes(m.part, len(there), m.turns)
        incoming = [*sizes[:2], *[len(there) - 1] * 2]  # a member has no ghosts of its own vertices
        incoming += [] if m.turns is None else m.turns.came[:, -1].tolist()
        table = [len(there), k, PATIENCE, 0, 0, 0, *sizes, len(incoming), *arrivals, *incoming, *words]
        with m.runner.device.current():
            tables.append(m.runner.device.upload(np.array(table, np.uint64)))
        memory.join(tables[-1], *kept)
    for m, a in zip(there, noted, strict=True):
        downloaded(m, a)  # behind all that was to be done before
    return tables


def peers_at_desk(memory: Memory, desk: int) -> list[int]:
    """What a kernel knows that finds all others through the host."""
    boxes = [memory.device.address(memory.arrays[name]) for name in memory.call.plan.interface.mailboxes]
    ways = nobody = 0  # nor anything that goes there
    return [1, 0, PATIENCE, 0, 0, desk, *[0] * len(Way), ways, nobody, *boxes]


def _sizes(own: Part, count: int, turns: Turns | None) -> tuple[int, int, int, int, int]:
    """By way, the elements that a member gets in all; of turns those of one at most."""
    return int(own.shared[-1]), int(own.ghosts[-1]), count, count, 0 if turns is None else turns.room


def _routes(there: Sequence[GPUMember], k: int) -> list[int]:
    """By way and member, a `Route` each from member k."""
    parts, count = [m.part for m in there], len(there)
    found: list[int] = []
    for way, (starts, at) in enumerate((("ghosts", "shared"), ("shared", "ghosts"))):
        mine = getattr(parts[k], starts)
        for p, other in enumerate(parts):
            size = int(mine[p + 1]) - int(mine[p])
            found += [int(mine[p]), size, int(getattr(other, at)[k]), _sizes(other, count, None)[way]]
    found += [word for _ in parts for word in (0, 1, k, count)]
    found += [word for p in range(count) for word in (p, 1, k, count)]
    own = there[k].turns
    for t, row in enumerate(() if own is None else own.sent.tolist()):
        for p, its in enumerate(m.turns for m in there):
            assert its is not None
            found += [row[p], row[p + 1] - row[p], int(its.came[t, k]), its.room]
    return found
