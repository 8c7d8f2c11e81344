"""Runs on a GPU: one cooperative launch for a whole program, watched from Python."""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from vgraph.compiler.backends.cuda.layout import OVERFLOW, TRACE_WORDS, ControlLayout
from vgraph.errors import DeviceError, DeviceMemoryError, InternalError
from vgraph.records import dataclass
from vgraph.runtime import policy
from vgraph.runtime.arguments import adjacency, host_array, needed
from vgraph.runtime.devices.compiled import CompiledRunner
from vgraph.runtime.devices.cuda.memory import LIST_SLACK, TRACE_ROOM, Memory, workers_for
from vgraph.runtime.devices.cuda.resident import Resident
from vgraph.runtime.devices.runner import Call, Ran, raise_failure
from vgraph.runtime.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vgraph.compiler.backends.base import Backend, SourceText
    from vgraph.graph.layouts import Prepared
    from vgraph.runtime.devices.cuda.device import Device, Launch
    from vgraph.runtime.plan import Plan
    from vgraph.runtime.progress import ProgressCallback

_SPIN_SECONDS: Final = 2e-3
"""A kernel is looked at without a pause for so long; to sleep and to wake costs some 60 us."""
_SLEEP_SECONDS: Final = 1e-3
_PROGRESS_SECONDS: Final = 0.1
_WARP: Final = 32
_U32: Final = 0xFFFF_FFFF

_residents: weakref.WeakKeyDictionary[Device, Resident] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


@functools.cache
def backend() -> Backend:
    """The backend that emits CUDA C++."""
    from vgraph.compiler.backends.cuda.backend import CUDABackend

    return CUDABackend()


def resident_on(device: Device) -> Resident:
    """The arrays of graphs that stay on `device`."""
    with _lock:
        if device not in _residents:
            _residents[device] = Resident(device)
        return _residents[device]


@dataclass(frozen=True)
class Loaded:
    """A kernel on a device, how many blocks of it a multiprocessor takes, and the shared memory and threads of each."""

    function: Any
    occupancy: int
    shared: int
    block: int


class CUDA(CompiledRunner):
    """One GPU. `output`: "numpy" or "cupy", what property arrays of results are; `memory`: "device", or "host" for
    graphs that stay in the host's memory; None: the device's, if there is room."""

    name: ClassVar[str] = "cuda"
    language: ClassVar[str] = "CUDA C++"
    suffix: ClassVar[str] = ".cu"

    def __init__(self, device: Device, *, output: str = "numpy", memory: str | None = None) -> None:
        self.device = device
        self.resident = resident_on(device)
        self._on_device = output == "cupy"
        self.memory, self.pinned = memory, memory == "host"

    @property
    def backend(self) -> Backend:
        return backend()

    @property
    def place(self) -> str:
        return self.device.place

    def stamp(self) -> str:
        return self.device.stamp()

    def parts(self, source: SourceText) -> tuple[str, ...]:
        return self.device.parts(source.text)

    def compile(self, source: SourceText) -> bytes:
        return self.device.compile(source.text)

    def load(self, code: bytes, plan: Plan) -> Loaded:
        with self.device.current():
            function = self.device.load(code)
            shared = self.device.room(function, plan.interface.shared)
            occupancy = self.device.occupancy(function, shared)
        if not occupancy:
            raise DeviceError(f"a block of {self.device.block} threads does not fit on {self.device.name}")
        return Loaded(function, occupancy, shared, self.device.block_of(function))

    def run(self, kernel: Loaded, call: Call, progress: ProgressCallback | None) -> Ran:
        text = ""
        for pinned in self.tries(call, self.place):
            self.pinned = pinned
            try:
                with self.device.current():
                    return self._attempt(kernel, call, progress)
            except MemoryError as fault:
                text = str(
                    fault
                )  # go on outside of the handler, whose exception keeps this run's arrays alive
            self._make_room()
        raise DeviceMemoryError(self._full(call, text))

    def tries(self, call: Call, where: Hashable) -> Iterator[bool]:
        """Whether the graph is left in the host's memory, try after try: what is kept of others makes room first, then,
        if nobody has said where it is to lie, the graph itself, which is known from then on of this program there."""
        there = self.resident.beyond.setdefault(call.graph, set())
        program = call.plan.arrays, where
        first = self.memory == "host" or (self.memory is None and program in there)
        yield from (first, first)
        if self.memory is None and not first:
            there.add(program)
            yield True

    def make_ready(self, kernel: Loaded, call: Call) -> Sequence[Prepared]:
        with self.device.current():
            rooms = [1] * len(call.plan.interface.lists)
            memory = Memory(self.device, self.resident, call, 1, rooms, self.pinned, kernel.shared)
            return tuple(memory.layouts.values())

    def _make_room(self) -> None:
        self.resident.drop()
        with self.device.current():
            self.device.release()

    def _attempt(self, kernel: Loaded, call: Call, progress: ProgressCallback | None) -> Ran:
        """One run; more launches if a list of frontiers was too short."""
        grid = self._grid(kernel, call)
        threads = grid * kernel.block
        free = self.device.memory()[0]
        workers = workers_for(call, threads // _WARP, free)
        rooms = [call.graph.num_vertices + LIST_SLACK] * len(call.plan.interface.lists)
        while True:
            start, copied = time.perf_counter(), self.resident.seconds
            memory = Memory(self.device, self.resident, call, workers, rooms, self.pinned, kernel.shared)
            prepared = time.perf_counter()
            (launch,) = watch([(memory, self.beginning(kernel, memory, grid))], progress)
            ran = time.perf_counter()
            control = self.device.download(memory.control)
            status, payload = status_of(control, memory.layout)
            if status != OVERFLOW:
                break
            rooms = list(rooms)
            rooms[payload] = 2 * max(rooms[payload], int(control[memory.layout.NEEDED]))
            del memory
        raise_failure(call.plan.interface, status, payload)
        found = self._ran(call, memory, control, launch, threads, (start, prepared, ran), copied)
        return replace(found, free=free)

    def beginning(self, kernel: Loaded, memory: Memory, grid: int) -> Callable[[], Launch]:
        """What launches a kernel."""
        return functools.partial(self.device.launch, kernel.function, memory.packed(), grid, kernel.shared)

    def _grid(self, kernel: Loaded, call: Call) -> int:
        """Blocks to launch: as many as run at a time, or fewer where there is less to do."""
        most = self.device.multiprocessors * kernel.occupancy
        if call.plan.interface.blocks:
            return min(call.plan.interface.blocks, most)
        if call.plan.interface.climbs and call.graph.num_vertices > policy.HALVING_VERTICES:
            most = min(most, self.device.multiprocessors * policy.CUDA_CLIMBING_BLOCKS)
        return policy.cuda_blocks(call.graph, self.device.multiprocessors, most, kernel.block)

    def _ran(
        self,
        call: Call,
        memory: Memory,
        control: np.ndarray[Any, Any],
        launch: Launch,
        threads: int,
        times: tuple[float, float, float],
        copied: float,
    ) -> Ran:
        begin = time.perf_counter()
        outputs = [o.array for o in call.plan.outputs if o.array]
        keep = self._on_device and call.numbers is None  # another order of vertices is undone on the host
        fetch = {
            a.name for a in call.plan.arrays if not keep or a.site in ("numbered", "array")
        }  # as is that of edges
        arrays = {name: memory.arrays[name] for name in outputs}
        arrays |= {name: self.device.download(arrays[name]) for name in outputs if name in fetch}
        count = int(control[memory.layout.TRACE])
        records = _records(self.device, memory, 0, min(count, TRACE_ROOM))
        downloaded = time.perf_counter() - begin
        results = control[memory.layout.RESULTS :]
        start, prepared, ran = times
        return Ran(
            arrays,
            [results[s : s + 1].view(r.dtype)[0] for s, r in enumerate(call.plan.interface.results)],
            np.pad(records[:, :5].astype(np.int64), ((0, 0), (0, 1))),
            threads=threads,
            prepare_seconds=prepared - start,
            run_seconds=ran - prepared,
            transfer_seconds=self.resident.seconds - copied + downloaded,
            kernel_seconds=launch.seconds(),
            from_host=self.pinned,
            dropped=max(0, count - TRACE_ROOM),
            layouts=tuple(memory.layouts.values()),
        )

    def finish(self, value: Any) -> Any:
        if self._on_device and isinstance(value, np.ndarray):
            with self.device.current():
                return self.device.upload(value)
        return value

    def _full(self, call: Call, text: str) -> str:
        with self.device.current():
            free, total = self.device.memory()
        graph = graph_bytes(call)
        hint = "" if self.pinned else '; memory="host" leaves the graph in the host\'s memory'
        return (
            f"out of memory: {self.device.name} has {_amount(free)} of {_amount(total)} free; the graph takes "
            f"{_amount(graph)} and the run needs more than the rest ({text.rstrip('.')}){hint}"
        )


def _amount(size: int) -> str:
    """Bytes for people."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} bytes"


def graph_bytes(call: Call) -> int:
    """Bytes of what a kernel reads of its graph."""
    plan = call.plan
    found = sum(adjacency(a, call).nbytes for a in plan.interface.args if a.kind == "adjacency")
    own = [a for a in plan.arrays if needed(a, plan) and a.origin == "graph" and a.site != "edge_segments"]
    return found + sum(host_array(a, call).nbytes for a in own)


# --- watching -------------------------------------------------------------------------------------------------


class _Host:
    """Whoever waits for a kernel: gone when `watch` is left, by whatever exception."""


@dataclass
class Flight:
    """A kernel that may be under way, and the memory that it uses."""

    device: Device
    memory: Memory
    host: weakref.ref[_Host]
    launch: Launch | None = None

    def ended(self) -> bool:
        """Whether it is known to have ended, well or badly."""
        try:
            return self.launch is not None and self.launch.done()
        except InternalError:
            return True

    def land(self) -> None:
        """Ask it to leave, unless it has ended, and wait until it has."""
        if self.ended():
            return
        self.cancel()
        if self.launch is None:  # it may have begun all the same: a copy back waits for it
            self.device.download(self.memory.control)
            return
        while not self.ended():
            time.sleep(_SLEEP_SECONDS)

    def cancel(self) -> None:
        """Ask it to leave."""
        self.device.write(self.memory.control, 8 * self.memory.layout.CANCEL, (1).to_bytes(4, "little"))

    def failed(self) -> bool:
        """Whether it ended before its time."""
        word = self.memory.layout.CANCEL
        return bool(_halves(int(self.device.read(self.memory.control, word, word + 1)[0]))[1])


_flights: dict[int, Flight] = {}
"""Every kernel that may be under way: its memory is kept here, whatever becomes of those who wait for it."""


def watch(
    kernels: Sequence[tuple[Memory, Callable[[], Launch]]], progress: ProgressCallback | None
) -> list[Launch]:
    """Launch kernels that run together and wait for their end, awake to Ctrl-C; one that fails ends all."""
    with under_way(kernels) as flights:
        return _wait(flights, progress)


@contextmanager
def under_way(kernels: Sequence[tuple[Memory, Callable[[], Launch]]]) -> Iterator[list[Flight]]:
    """Launch kernels that run together. Those that still run at the end of the block are cancelled, and it goes on when
    all have ended; if an exception comes before that, they are seen off by the next run."""
    for key, left in tuple(_flights.items()):
        if left.host() is None:
            left.land()
            _flights.pop(key, None)
    host = _Host()
    flights = [Flight(memory.device, memory, weakref.ref(host)) for memory, _ in kernels]
    _flights.update((id(f.memory), f) for f in flights)
    try:
        for flight, (_, begin) in zip(flights, kernels, strict=True):
            with flight.device.current():
                flight.launch = begin()
        yield flights
    finally:
        for flight in flights[1:]:  # all of them now: each leaves when it looks
            if not flight.ended():
                flight.cancel()
        for flight in flights:
            flight.land()
            _flights.pop(id(flight.memory), None)


def _wait(flights: Sequence[Flight], progress: ProgressCallback | None) -> list[Launch]:
    start = report = time.monotonic()
    seen = edges = 0
    launches = [f.launch for f in flights if f.launch is not None]
    running, first = list(flights), flights[0]
    while running:
        for flight in [f for f in running if f.launch is not None and f.launch.done()]:
            running.remove(flight)
            if running and flight.failed():
                for other in running:
                    other.cancel()
        now = time.monotonic()
        if now - start > _SPIN_SECONDS and running:
            time.sleep(min(_SLEEP_SECONDS, (now - start) / 20))
        if progress is None or now - report < _PROGRESS_SECONDS or not running:
            continue
        report = now
        control = first.device.read(first.memory.control, 0, first.memory.layout.RESULTS)
        count = min(int(control[first.memory.layout.TRACE]), TRACE_ROOM)
        edges += int(_records(first.device, first.memory, seen, count)[:, 3].sum())
        seen = count
        rounds, size = _halves(int(control[first.memory.layout.PROGRESS]))
        progress(Progress(rounds, size, edges, now - start))
    return launches


def _records(device: Device, memory: Memory, start: int, stop: int) -> np.ndarray[Any, Any]:
    """Records of the trace, one per row."""
    return device.read(memory.trace, start * TRACE_WORDS, stop * TRACE_WORDS).reshape(-1, TRACE_WORDS)


def _halves(word: int) -> tuple[int, int]:
    return word & _U32, word >> 32


def status_of(control: np.ndarray[Any, Any], layout: ControlLayout) -> tuple[int, int]:
    """The status and its payload."""
    return _halves(int(control[layout.CANCEL]))[1], int(control[layout.PAYLOAD])
