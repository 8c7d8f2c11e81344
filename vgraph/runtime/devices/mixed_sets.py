"""Runs on sets with GPUs whose members meet in the host's memory: groups of CPU threads beside GPUs, and GPUs that
divide loops.

A GPU runs the whole program in one launch, as ever. For what members do together it has a *desk* in the host's memory
(`DESK` of `abi.py`): it writes there what it wants and waits, and a thread of the host, in a native context of its own
(`vg_serve`), does it in its place: an exchange as `vg_exchange` makes it, or the call for more iterations. Buffers of
exchanges lie in pinned memory, where the kernel fills them, and native code copies them. So groups of threads need not
know who is beside them, and one that fails, or Ctrl-C, ends all as it does among them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vgraph.compiler.analysis import placement as part
from vgraph.compiler.backends.abi import DESK, MAIL
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.backends.context import ContextView
from vgraph.compiler.backends.cuda.layout import OVERFLOW
from vgraph.errors import DeviceMemoryError
from vgraph.records import dataclass
from vgraph.runtime.devices.cuda.executor import CUDA, Flight, status_of, under_way
from vgraph.runtime.devices.cuda.memory import LIST_SLACK, Memory
from vgraph.runtime.devices.cuda.registry import device_for
from vgraph.runtime.devices.gpu_sets import GPUMember, downloaded, memory_of, peers_at_desk
from vgraph.runtime.devices.groups import GPU
from vgraph.runtime.devices.runner import Call, Loaded, Ran, raise_failure
from vgraph.runtime.devices.sets import CPUSet, Seated, call_of
from vgraph.runtime.devices.threads import native_runtime, run_together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vgraph.graph.cuts import Placement
    from vgraph.graph.placement import Part
    from vgraph.runtime.devices.cuda.device import Launch
    from vgraph.runtime.devices.groups import Member
    from vgraph.runtime.devices.shares import Shared
    from vgraph.runtime.executor import Job
    from vgraph.runtime.plan import Plan
    from vgraph.runtime.progress import ProgressCallback


class _TooShortError(Exception):
    """A list of frontiers was too short: the run begins again."""

    def __init__(self, room: tuple[int, int], needed: int) -> None:
        super().__init__(room)
        self.room, self.needed = room, needed


@dataclass
class _AtDesk(Seated):
    """A GPU in a run, and the thread that acts for it."""

    number: int
    gpu: GPUMember
    memory: Memory
    words: NDArray[Any]
    """The desk."""
    like: Plan
    """What its run left is named as there."""
    flight: Flight | None = None
    over: bool = False

    @property
    def desk(self) -> int:
        return int(self.words.ctypes.data)

    def launch(self) -> tuple[Memory, Callable[[], Launch]]:
        """What launches its kernel."""
        return self.memory, self.gpu.runner.beginning(self.gpu.kernel, self.memory, self.gpu.grid)

    def look(self) -> None:
        """Whether its kernel has ended. Raises what it ended with."""
        assert self.flight is not None
        assert self.flight.launch is not None
        if self.over or not self.flight.launch.done():
            return
        self.over = True
        control, layout = downloaded(self.gpu, self.memory.control), self.memory.layout
        status, payload = status_of(control, layout)
        if status == OVERFLOW:
            raise _TooShortError((self.number, payload), int(control[layout.NEEDED]))
        raise_failure(self.call.plan.interface, status, payload)
        self.words[: DESK.size].view(DESK.dtype)["left"] = 1

    def left(self) -> Ran:
        assert self.flight is not None
        assert self.flight.launch is not None
        gpu, plan = self.gpu, self.call.plan
        control = downloaded(gpu, self.memory.control)
        threads = gpu.grid * gpu.kernel.block
        with gpu.runner.device.current():
            found = gpu.runner._ran(
                self.call, self.memory, control, self.flight.launch, threads, (0.0, 0.0, 0.0), 0.0
            )
        theirs = {o.name: o.array for o in plan.outputs}
        arrays = {o.array: found.arrays[theirs[o.name]] for o in self.like.outputs if o.array}
        for column, (ours, its) in enumerate(
            (getattr(p.interface, what) for p in (self.like, plan)) for what in ("labels", "directions")
        ):
            found.records[:, column] = np.array([ours.index(x) for x in its] or [0])[found.records[:, column]]
        return replace(found, arrays=arrays)


class MixedSet(CPUSet):
    """Members of which some are GPUs."""

    name: ClassVar[str] = "set"

    def __init__(
        self,
        members: Sequence[Member],
        placement: Placement,
        shared: Shared | None = None,
        memory: str | None = None,
    ) -> None:
        super().__init__(members, placement, shared)
        asked = ", ".join(f'"{m.name}"' if isinstance(m, GPU) else repr(m) for m in members)
        gpus = {k: m.number for k, m in enumerate(members) if isinstance(m, GPU)}
        self.runners = {
            k: CUDA(device_for(number, asked=f"[{asked}]"), memory=memory) for k, number in gpus.items()
        }
        self.rooms: dict[tuple[int, int], int] = {}

    def build(self, job: Job) -> Loaded:
        """A kernel for each kind of member; numbers of labels are those of the first, and more."""
        found: dict[int | None, Loaded] = {}
        if len(self.runners) < len(self.members):
            found[None] = super().build(job)
        for k, runner in self.runners.items():
            found[k] = runner.build(replace(job, device=self.members[k].name, threads=0))
        plans = [loaded.plan for loaded in found.values()]
        first = plans[0]
        assert len({p.interface.mailboxes for p in plans}) == 1, "members come to the same exchanges"
        labels, directions = (
            tuple(dict.fromkeys(x for p in plans for x in getattr(p.interface, what)))
            for what in ("labels", "directions")
        )
        plan = replace(first, interface=replace(first.interface, labels=labels, directions=directions))
        return Loaded(plan, found, all(loaded.cached for loaded in found.values()))

    def run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        text = ""
        for pinned in next(iter(self.runners.values())).tries(call, self.members):
            for runner in self.runners.values():
                runner.pinned = pinned
            try:
                return self._run(kernel, call, progress)
            except MemoryError as fault:
                text = str(fault)
            for runner in self.runners.values():  # outside of the handler, whose exception keeps arrays alive
                runner._make_room()
        raise DeviceMemoryError(
            f"out of memory: a GPU of the set has no room for its part and the run ({text.rstrip('.')})"
        )

    def _run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        while True:
            try:
                return super().run(kernel, call, progress)
            except _TooShortError as short:
                known = self.rooms.get(short.room, call.graph.num_vertices + LIST_SLACK)
                self.rooms[short.room] = 2 * max(known, short.needed)

    def _seated(self, kernel: Any, call: Call, own: Part, number: int) -> Seated:
        if number not in self.runners:
            return super()._seated(kernel[None].kernel, replace(call, plan=kernel[None].plan), own, number)
        loaded, runner = kernel[number], self.runners[number]
        device, first = runner.device, own.graph.num_vertices + LIST_SLACK
        mine = call_of(replace(call, plan=loaded.plan), own, number, len(self.members))
        interface = mine.plan.interface
        rooms = [self.rooms.get((number, k), first) for k in range(len(interface.lists))]
        with device.current():
            grid = runner._grid(loaded.kernel, mine)
            gpu = GPUMember(runner, loaded.kernel, own, mine, grid, rooms, None)
            names = (a.name for a in mine.plan.arrays if part.way_of(a.name) or part.items_of(a.name))
            memory = memory_of(gpu, by_host=frozenset(names))
            words = device.pin(np.zeros(DESK.size + MAIL.size * max(1, len(interface.mailboxes)), np.uint8))
            peers = device.upload(np.array(peers_at_desk(memory, device.address(words)), np.uint64))
        memory.join(peers, words)
        native, context = native_runtime(), ContextView(1)
        context.keep(words)  # a thread that interrupts have abandoned may still look at the desk
        arrays = {name: a for name, a in memory.arrays.items() if isinstance(a, np.ndarray)}
        return _AtDesk(
            self.members[number], own, Kernel(native.serve, interface, native.owner), context, 1, (), mine,
            arrays, number, gpu, memory, words, call.plan,
        )  # fmt: skip

    def _together(self, there: Sequence[Seated], progress: ProgressCallback | None) -> None:
        gpus = [m for m in there if isinstance(m, _AtDesk)]

        def look() -> None:
            for m in gpus:
                m.look()

        with under_way([m.launch() for m in gpus]) as flights:
            for m, flight in zip(gpus, flights, strict=True):
                m.flight = flight
            rows = [(m.kernel, m.context, m.threads, m.cores) for m in there]
            run_together(rows, progress=progress, look=look)
