"""A GPU for the executor that is none: NumPy's memory, and kernels that the emulator runs on the CPU.

Install it with `vgraph.runtime.devices.cuda.use(EmulatedDevice())`; then `vg.run(..., device="cuda")` goes through
everything but CuPy. See `emulation/emulation.hpp` on what an emulated run can show.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import time
import weakref
from pathlib import Path

import numpy as np
from emulator import Emulated, KernelFault, compile_text

import vgraph.compiler.backends.cuda as cuda_backend
from vgraph.compiler.backends.cuda.layout import PEERS_DESK
from vgraph.errors import DeviceError, InternalError

GUARD, RUBBISH = 64, 0xA5
INCLUDE = Path(cuda_backend.__file__).parent / "include"


class Group:
    """Kernels that run together, in a thread: those of the members of a set, or a single one. They begin when as many
    are there, or when the host asks one of them to leave."""

    def __init__(self, kernel: Emulated, count: int) -> None:
        self.kernel, self.count = kernel, count
        self.launches: list[EmulatedLaunch] = []
        self.left = np.zeros(count, np.uint32)
        self.failure: KernelFault | None = None
        self.thread = threading.Thread(target=self.go)
        self.begun = False

    def begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.thread.start()

    def go(self) -> None:
        start = time.perf_counter()
        first, devices = self.launches[0], [(x.words, x.grid) for x in self.launches]
        try:
            self.kernel.launch_on(
                devices, first.device.block, first.device.seed, shared=first.shared, left=self.left
            )
            if any(x.device.damaged() for x in self.launches):
                self.failure = KernelFault("the kernel wrote beside an array")
        except KernelFault as failure:
            self.failure = failure
        self.elapsed = time.perf_counter() - start


class EmulatedLaunch:
    """A kernel that runs in a thread."""

    def __init__(
        self, device: EmulatedDevice, group: Group, words: np.ndarray, grid: int, shared: int
    ) -> None:
        self.device, self.group, self.words, self.grid, self.shared = device, group, words, grid, shared
        self.number = len(group.launches)
        group.launches.append(self)
        device.stream.append(self)
        if len(group.launches) == group.count:
            group.begin()

    def done(self) -> bool:
        group = self.group
        early = group.count > 1 and group.left[self.number]  # others of the set may still run
        if not early:
            if not group.begun or group.thread.is_alive():
                return False
            group.thread.join()
        if group.failure is not None:
            raise InternalError(str(group.failure))
        return True

    def seconds(self) -> float:
        self.group.thread.join()
        return self.group.elapsed


class EmulatedDevice:
    """`multiprocessors` of one block each. `shared`: bytes of dynamic shared memory for a block at most; `limit`: bytes
    of memory; `seed`: of the interleaving of threads;
    `every_access`: plain accesses interleave, too; `include`: where the headers are.

    `place`: its name; `machine`: the launches of sets of it and others, see `emulated_machine`; `at_desks`: how many
    GPUs run together in sets whose members find each other through the host.

    `compiled`, `uploads` and `launches` count what was done. As on a stream, a copy back waits for kernels before it.
    """

    name = "an emulated GPU"
    xp = np

    def __init__(
        self,
        *,
        multiprocessors: int = 2,
        block: int = 64,
        shared: int = 4096,
        limit: int = 1 << 34,
        seed: int = 0,
        every_access: bool = False,
        include: Path = INCLUDE,
        place: str = "cuda:emulated",
        machine: list[Group] | None = None,
        at_desks: int = 1,
    ) -> None:
        self.place, self.at_desks = place, at_desks
        self.machine = [] if machine is None else machine
        self.every_access, self.include = every_access, include
        self.multiprocessors, self.block, self.limit, self.seed = multiprocessors, block, limit, seed
        self.shared = shared
        self.used = self.compiled = self.uploads = self.launches = 0
        self.grids: list[int] = []
        self.stream: list[EmulatedLaunch] = []
        self.arrays: dict[int, np.ndarray] = {}  # with what lies on both sides of them

    def current(self):
        return contextlib.nullcontext()

    def stamp(self) -> str:
        return f"emulated {self.block} {self.every_access} {self.include}"

    def parts(self, text: str) -> tuple[str, ...]:
        return ("emulated", self.stamp(), text)

    def compile(self, text: str) -> bytes:
        self.compiled += 1
        return text.encode()

    def load(self, code: bytes) -> Emulated:
        return compile_text(code.decode(), [self.include], self.block, every_access=self.every_access)

    def block_of(self, kernel: Emulated) -> int:
        return self.block

    def room(self, kernel: Emulated, wanted: int) -> int:
        return min(wanted, self.shared)

    def occupancy(self, kernel: Emulated, shared: int) -> int:
        return 1

    # --- memory -------------------------------------------------------------------------------------------

    def empty(self, shape, dtype) -> np.ndarray:
        """Memory that begins as rubbish."""
        size = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
        if self.used + size > self.limit:
            raise MemoryError(f"{size} bytes")
        self.used += size
        whole = np.full(GUARD + size + GUARD, RUBBISH, np.uint8)
        found = np.ndarray(shape, dtype, whole.data, GUARD)
        self.arrays[id(found)] = whole
        weakref.finalize(found, self._free, id(found), size)
        return found

    def _free(self, array: int, size: int) -> None:
        self.used -= size
        del self.arrays[array]

    def damaged(self) -> bool:
        """Whether something was written beside an array."""
        return any(
            (x[:GUARD] != RUBBISH).any() or (x[-GUARD:] != RUBBISH).any() for x in [*self.arrays.values()]
        )

    def zeros(self, shape, dtype) -> np.ndarray:
        found = self.empty(shape, dtype)
        found[...] = 0
        return found

    def upload(self, host: np.ndarray) -> np.ndarray:
        found = self.empty(host.shape, host.dtype)
        found[...] = host
        self.uploads += 1
        return found

    def pin(self, host: np.ndarray) -> np.ndarray:
        return host.copy()

    def download(self, array: np.ndarray) -> np.ndarray:
        while self.stream:
            if self.stream[0].group.thread.ident is not None:  # it was started
                self.stream[0].group.thread.join(timeout=60)
            self.stream.pop(0)
        return array.copy()

    def address(self, array: np.ndarray) -> int:
        return array.ctypes.data

    def memory(self) -> tuple[int, int]:
        return self.limit - self.used, self.limit

    def release(self) -> None:
        pass

    # --- runs ---------------------------------------------------------------------------------------------

    def launch(self, kernel: Emulated, words: np.ndarray, grid: int, shared: int = 0) -> EmulatedLaunch:
        assert 1 <= grid <= self.multiprocessors
        self.launches += 1
        self.grids.append(grid)
        if not kernel.of_a_set:
            return EmulatedLaunch(self, Group(kernel, 1), words, grid, shared)
        if not (self.machine and not self.machine[-1].begun):
            peers = (ctypes.c_uint64 * (PEERS_DESK + 1)).from_address(int(words[-1]))
            self.machine.append(Group(kernel, self.at_desks if peers[PEERS_DESK] else peers[0]))
        return EmulatedLaunch(self, self.machine[-1], words, grid, shared)

    def read(self, array: np.ndarray, start: int, stop: int) -> np.ndarray:
        return array[start:stop].copy()

    def write(self, array: np.ndarray, offset: int, data: bytes) -> None:
        array.view(np.uint8)[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        for group in self.machine:
            group.begin()

    def reach(self, other: EmulatedDevice) -> None:
        if self.machine is not other.machine:
            raise DeviceError(f"{self.place} cannot use the memory of {other.place}")


def emulated_machine(count: int, **options) -> list[EmulatedDevice]:
    """Emulated GPUs that reach each other's memory."""
    machine: list[Group] = []
    return [EmulatedDevice(place=f"cuda:{k}", machine=machine, **options) for k in range(count)]
