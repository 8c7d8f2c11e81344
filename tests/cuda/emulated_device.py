"""A GPU for the executor that is none: NumPy's memory, and kernels that the emulator runs on the CPU.

Install it with `vgraph.runtime.devices.cuda.use(EmulatedDevice())`; then `vg.run(..., device="cuda")` goes through
everything but CuPy. See `emulation/emulation.hpp` on what an emulated run can show.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
from emulator import Emulated, KernelFault, compile_text

import vgraph.compiler.backends.cuda as cuda_backend
from vgraph.errors import InternalError

GUARD, RUBBISH = 64, 0xA5
INCLUDE = Path(cuda_backend.__file__).parent / "include"


class EmulatedLaunch:
    """A kernel that runs in a thread."""

    def __init__(
        self,
        kernel: Emulated,
        words: np.ndarray,
        grid: int,
        block: int,
        shared: int,
        seed: int,
        stream: list[EmulatedLaunch],
        damaged: Callable[[], bool],
    ) -> None:
        self.failure: KernelFault | None = None
        self.elapsed = 0.0

        def go() -> None:
            start = time.perf_counter()
            try:
                kernel.launch(words, grid, block, seed, shared=shared)
                if damaged():
                    self.failure = KernelFault("the kernel wrote beside an array")
            except KernelFault as failure:
                self.failure = failure
            self.elapsed = time.perf_counter() - start

        self.thread = threading.Thread(target=go)
        stream.append(self)
        self.thread.start()

    def done(self) -> bool:
        if self.thread.is_alive():
            return False
        self.thread.join()
        if self.failure is not None:
            raise InternalError(str(self.failure))
        return True

    def seconds(self) -> float:
        return self.elapsed


class EmulatedDevice:
    """`multiprocessors` of one block each. `shared`: bytes of dynamic shared memory for a block at most; `limit`: bytes
    of memory; `seed`: of the interleaving of threads;
    `every_access`: plain accesses interleave, too; `include`: where the headers are.

    `compiled`, `uploads` and `launches` count what was done. As on a stream, a copy back waits for kernels before it.
    """

    name = "an emulated GPU"
    place = "cuda:emulated"
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
    ) -> None:
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
            if self.stream[0].thread.ident is not None:  # it was started
                self.stream[0].thread.join(timeout=60)
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
        return EmulatedLaunch(kernel, words, grid, self.block, shared, self.seed, self.stream, self.damaged)

    def read(self, array: np.ndarray, start: int, stop: int) -> np.ndarray:
        return array[start:stop].copy()

    def write(self, array: np.ndarray, offset: int, data: bytes) -> None:
        array.view(np.uint8)[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
