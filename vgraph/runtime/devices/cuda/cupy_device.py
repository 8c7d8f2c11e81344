"""A GPU by CuPy: memory from its pool, work on the stream that is CuPy's current one.

So runs are ordered with the caller's own work in CuPy, and arrays handed to the caller need no further care. A
second stream, which waits for nothing, reads and writes while a kernel runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vgraph.compiler.backends.base import ENTRY
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.layout import BLOCK, WHOLE_BLOCK
from vgraph.compiler.backends.cuda.texts import CREWED, WHOLE
from vgraph.errors import DeviceError, InternalError
from vgraph.runtime.devices.cuda.detect import EXTRA
from vgraph.runtime.devices.cuda.registry import no_such

_NOT_READY = 600  # cudaErrorNotReady
_NO_MEMORY = 2  # cudaErrorMemoryAllocation
_ALREADY = 704  # cudaErrorPeerAccessAlreadyEnabled
_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind
_SCRATCH_BYTES = 1 << 16
_MOST_THREADS, _SHARED_BYTES, _MOST_DYNAMIC_SHARED_BYTES = 0, 1, 8  # CU_FUNC_ATTRIBUTE_...
_CLUSTER_WIDTH, _ANY_CLUSTER = 11, 14  # REQUIRED_CLUSTER_WIDTH, NON_PORTABLE_CLUSTER_SIZE_ALLOWED
_WIDE_CLUSTERS, _WHOLE_GPU = ("sm_90", "sm_100", "sm_103"), 100
"""Clusters of 16 blocks run on these, if not on every part of one; others have 8 at most."""
_ALIGNED = 128
_RESERVED = 1024  # bytes of each block's shared memory that CUDA takes for itself


class CupyDevice:
    """GPU `number` of the process. Raises DeviceError if there is no such GPU, or CuPy cannot be used."""

    def __init__(self, number: int) -> None:
        self._cuda = cuda = _cupy_cuda()
        count = _count(cuda)
        if number >= count:
            raise DeviceError(no_such(number, count))
        self._number = number
        self._device = cuda.Device(number)
        properties = cuda.runtime.getDeviceProperties(number)
        self._name = str(properties["name"].decode())
        self._arch = f"sm_{properties['major']}{properties['minor']}"
        self._multiprocessors = int(properties["multiProcessorCount"])
        self._clusters = self._arch in _WIDE_CLUSTERS and self._multiprocessors >= _WHOLE_GPU
        if not self._device.attributes["CooperativeLaunch"]:
            raise DeviceError(f"{self._name} ({self._arch}) cannot start all blocks of a kernel at a time")
        with self.current():
            self._aside = cuda.Stream(non_blocking=True)
            self._pinned = cuda.PinnedMemoryPointer(cuda.PinnedMemory(_SCRATCH_BYTES), 0)
        self._scratch = np.frombuffer(self._pinned, np.uint8, _SCRATCH_BYTES)
        self._scratch_lock = threading.Lock()
        self._reached: set[int] = set()

    @property
    def name(self) -> str:
        return self._name

    @property
    def arch(self) -> str:
        """Its architecture as the compiler calls it: `sm_90`."""
        return self._arch

    @property
    def place(self) -> str:
        return f"cuda:{self._number}"

    @property
    def multiprocessors(self) -> int:
        return self._multiprocessors

    @property
    def block(self) -> int:
        return BLOCK

    def block_of(self, kernel: Any) -> int:
        return int(self._cuda.driver.funcGetAttribute(_MOST_THREADS, kernel.ptr))

    @property
    def xp(self) -> Any:
        import cupy

        return cupy

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        with self._device, _failures(self._cuda):
            yield

    # --- code ---------------------------------------------------------------------------------------------

    def stamp(self) -> str:
        return f"{self._arch} {self.block} {self._clusters} {nvrtc.stamp()}"

    def parts(self, text: str) -> tuple[str, ...]:
        return nvrtc.cubin_parts(text, self._arch, block_for(text), clusters=self._clusters)

    def compile(self, text: str) -> bytes:
        return nvrtc.compile(text, self._arch, block_for(text), clusters=self._clusters)

    def load(self, code: bytes) -> Any:
        with self.current():
            module = self._cuda.function.Module()
            module.load(code)
            kernel = module.get_function(ENTRY)
            if self._cluster_of(kernel):
                self._cuda.driver.funcSetAttribute(kernel.ptr, _ANY_CLUSTER, 1)
            return kernel

    def _cluster_of(self, kernel: Any) -> int:
        """Blocks of a cluster, 0 of a kernel without."""
        return int(self._cuda.driver.funcGetAttribute(_CLUSTER_WIDTH, kernel.ptr))

    def room(self, kernel: Any, wanted: int) -> int:
        if not wanted:
            return 0
        driver, attributes = self._cuda.driver, self._device.attributes
        whole = self.block_of(kernel) > self.block
        blocks = 1 if whole else max(1, self.occupancy(kernel, 0))
        most = min(
            attributes["MaxSharedMemoryPerMultiprocessor"] // blocks - _RESERVED,
            attributes["MaxSharedMemoryPerBlockOptin"],
        )
        room = most - driver.funcGetAttribute(_SHARED_BYTES, kernel.ptr)
        shared = max(0, min(-(-wanted // _ALIGNED), room // _ALIGNED)) * _ALIGNED
        driver.funcSetAttribute(kernel.ptr, _MOST_DYNAMIC_SHARED_BYTES, shared)
        return int(shared)

    def occupancy(self, kernel: Any, shared: int) -> int:
        return int(
            self._cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
                kernel.ptr, self.block_of(kernel), shared
            )
        )

    # --- memory -------------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        import cupy

        return cupy.empty(shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        found = self.empty(shape, dtype)
        if found.nbytes:
            found.data.memset_async(0, found.nbytes)
        return found

    def upload(self, host: NDArray[Any]) -> Any:
        found = self.empty(host.shape, host.dtype)
        if found.nbytes:
            found.set(host)
        return found

    def pin(self, host: NDArray[Any]) -> Any:
        try:
            memory = self._cuda.alloc_pinned_memory(max(1, host.nbytes))
        except self._cuda.runtime.CUDARuntimeError as error:
            if error.status != _NO_MEMORY:
                raise
            raise MemoryError(f"the system pins no {host.nbytes:,} bytes more") from None
        found = np.frombuffer(memory, host.dtype, host.size).reshape(host.shape)  # keeps the memory alive
        found[...] = host
        return found

    def download(self, array: Any) -> NDArray[Any]:
        return np.asarray(array.get())

    def address(self, array: Any) -> int:
        # With unified addresses, which 64-bit systems have, pinned memory has one address for both.
        return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)

    def memory(self) -> tuple[int, int]:
        free, total = self._cuda.runtime.memGetInfo()
        import cupy

        return int(free) + int(cupy.get_default_memory_pool().free_bytes()), int(total)

    def release(self) -> None:
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()

    def reach(self, other: CupyDevice) -> None:
        if other._number in self._reached:
            return
        runtime = self._cuda.runtime
        if not runtime.deviceCanAccessPeer(self._number, other._number):
            raise DeviceError(
                f"{self.place} ({self._name}) cannot use the memory of {other.place}: GPUs of a set need peer access, "
                "as by NVLink"
            )
        with self.current():
            try:
                runtime.deviceEnablePeerAccess(other._number)
            except self._cuda.runtime.CUDARuntimeError as fault:
                if fault.status != _ALREADY:
                    raise
        self._reached.add(other._number)

    # --- runs ---------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, words: NDArray[Any], grid: int, shared: int = 0) -> CupyLaunch:
        stream = self._cuda.get_current_stream()
        begin, end = self._cuda.Event(), self._cuda.Event()
        parameters = (ctypes.c_void_p * 1)(words.ctypes.data)  # copied by the call
        shape = grid, 1, 1, self.block_of(kernel), 1, 1, shared, stream.ptr, ctypes.addressof(parameters)
        driver = self._cuda.driver
        begin.record(stream)
        if self._cluster_of(kernel):  # its blocks run together in any case
            driver.launchKernel(kernel.ptr, *shape, 0)
        else:
            driver.launchCooperativeKernel(kernel.ptr, *shape)
        end.record(stream)
        return CupyLaunch(self._cuda, begin, end)

    def read(self, array: Any, start: int, stop: int) -> NDArray[Any]:
        size = array.dtype.itemsize
        parts = []
        for first in range(start, stop, _SCRATCH_BYTES // size):
            count = min(stop - first, _SCRATCH_BYTES // size)
            with self._scratch_lock:
                self._copy(self._pinned.ptr, array.data.ptr + first * size, count * size, _TO_HOST)
                parts.append(self._scratch[: count * size].view(array.dtype).copy())
        return np.concatenate(parts) if parts else np.empty(0, array.dtype)

    def write(self, array: Any, offset: int, data: bytes) -> None:
        assert len(data) <= _SCRATCH_BYTES
        with self._scratch_lock:
            self._scratch[: len(data)] = np.frombuffer(data, np.uint8)
            self._copy(array.data.ptr + offset, self._pinned.ptr, len(data), _TO_DEVICE)

    def _copy(self, to: int, source: int, size: int, kind: int) -> None:
        self._cuda.runtime.memcpyAsync(to, source, size, kind, self._aside.ptr)
        self._aside.synchronize()


def block_for(text: str) -> int:
    """Threads of a block of the kernel with this text."""
    return WHOLE_BLOCK if WHOLE in text or CREWED in text else BLOCK


class CupyLaunch:
    """A kernel under way, between two events."""

    def __init__(self, cuda: Any, begin: Any, end: Any) -> None:
        self._cuda, self._begin, self._end = cuda, begin, end

    def done(self) -> bool:
        status = self._cuda.runtime.eventQuery(self._end.ptr)
        if status not in (0, _NOT_READY):
            raise InternalError(_lost(str(self._cuda.runtime.CUDARuntimeError(status))))
        return bool(status == 0)

    def seconds(self) -> float:
        milliseconds = float(self._cuda.get_elapsed_time(self._begin, self._end))
        return milliseconds * 1e-3 if math.isfinite(milliseconds) else 0.0


# --- what can go wrong ----------------------------------------------------------------------------------------


def _cupy_cuda() -> Any:
    try:
        import cupy.cuda
    except ImportError as fault:
        last = str(fault).strip().splitlines()[-1]
        raise DeviceError(
            f"running on a GPU needs CuPy, which cannot be imported ({last}): {EXTRA}"
        ) from fault
    return cupy.cuda


def _count(cuda: Any) -> int:
    """How many GPUs there are, at least one."""
    try:
        count = int(cuda.runtime.getDeviceCount())
    except cuda.runtime.CUDARuntimeError as fault:
        raise DeviceError(f"running on a GPU needs an NVIDIA GPU with its driver: {fault}") from fault
    if not count:
        raise DeviceError("running on a GPU needs an NVIDIA GPU: the driver sees none")
    return count


@contextlib.contextmanager
def _failures(cuda: Any) -> Iterator[None]:
    """Errors of CUDA as ours; those about memory as MemoryError, which CuPy's own is already."""
    try:
        yield
    except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as fault:
        text = str(fault)
        if "OUT_OF_MEMORY" in text or "MemoryAllocation" in text:
            raise MemoryError(text) from fault
        raise InternalError(_lost(text)) from fault


def _lost(text: str) -> str:
    return f"the GPU refuses to go on: {text}; this process may not be able to use it any more"
