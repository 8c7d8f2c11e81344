"""As much of CuPy as `CupyDevice` uses, with NumPy's memory and the emulator's kernels.

Every name, argument and error is as in CuPy 14, so that the calls are tried where there is no GPU. What differs: a
kernel has ended when its launch returns.
"""

from __future__ import annotations

import ctypes
import types
from pathlib import Path

import numpy as np
from emulator import compile_text

import vgraph.compiler.backends.cuda as cuda_backend

INCLUDE = Path(cuda_backend.__file__).parent / "include"
BLOCK = 64


class CUDARuntimeError(RuntimeError):
    """Its text is the name of the status and what it means."""

    def __init__(self, status: int) -> None:
        self.status = status
        names = {2: "cudaErrorMemoryAllocation: out of memory", 35: "cudaErrorInsufficientDriver: too old"}
        super().__init__(names.get(status, f"cudaErrorIllegalAddress: status {status}"))


class CUDADriverError(RuntimeError):
    """The same of the driver."""


class MemoryPointer:
    def __init__(self, array: np.ndarray) -> None:
        self.ptr = array.ctypes.data

    def memset_async(self, value: int, size: int, stream: object = None) -> None:
        ctypes.memset(self.ptr, value, size)


class ndarray:
    """A CuPy array; what it does not have, the device must not use."""

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self._values = np.empty(shape, dtype)
        self.data = MemoryPointer(self._values)
        self.dtype, self.shape, self.nbytes = self._values.dtype, self._values.shape, self._values.nbytes
        self.ndim = self._values.ndim

    def __len__(self) -> int:
        return len(self._values)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return dict(self._values.__array_interface__)

    def get(self) -> np.ndarray:
        return self._values.copy()

    def set(self, host: np.ndarray) -> None:
        assert isinstance(host, np.ndarray)
        assert (host.shape, host.dtype) == (self.shape, self.dtype)
        self._values[...] = host

    def view(self, dtype: str) -> ndarray:
        found = ndarray((0,), dtype)
        found._values = self._values.view(dtype)
        found.data, found.dtype = self.data, found._values.dtype
        return found


class PinnedMemory:
    def __init__(self, size: int, flags: int = 0) -> None:
        if size > Fake.pinned_limit:
            raise CUDARuntimeError(2)
        self.buffer = (ctypes.c_uint8 * size)()
        self.ptr = ctypes.addressof(self.buffer)


def PinnedMemoryPointer(memory: PinnedMemory, offset: int) -> ctypes.Array[ctypes.c_uint8]:
    """A buffer that knows where it begins and keeps the memory alive."""
    kind = type("Pinned", (ctypes.c_uint8 * len(memory.buffer),), {})
    found = kind.from_address(memory.ptr + offset)
    found.memory, found.ptr = memory, memory.ptr
    return found


class Stream:
    ptr = 7

    def __init__(self, non_blocking: bool = False) -> None:
        pass

    def synchronize(self) -> None:
        pass


class Event:
    ptr = 9

    def record(self, stream: Stream | None = None) -> None:
        pass


class Device:
    attributes = types.MappingProxyType(
        {
            "CooperativeLaunch": 1,
            "MaxSharedMemoryPerMultiprocessor": 100 << 10,
            "MaxSharedMemoryPerBlockOptin": 99 << 10,
        }
    )

    def __init__(self, number: int) -> None:
        self.id = number

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Function:
    def __init__(self, module: Module, name: str) -> None:
        assert name == "vg_main"
        Fake.kernels.append(module.kernel)
        self.ptr = len(Fake.kernels) - 1


class Module:
    def load(self, code: bytes) -> None:
        assert isinstance(code, bytes)
        self.kernel = compile_text(code.decode(), [INCLUDE], BLOCK)

    def get_function(self, name: str) -> Function:
        return Function(self, name)


class Fake:
    """The state behind the module, reset by `install`."""

    kernels: list[object] = []  # noqa: RUF012
    gpus = 1
    event_status = 0
    pinned_limit = 1 << 30
    words = 0
    most_dynamic = 0
    peers = ""
    """What is known of peer access: "none", "already" there, or a list of what was asked for."""


def launch_cooperative_kernel(
    function: int,
    gx: int,
    gy: int,
    gz: int,
    bx: int,
    by: int,
    bz: int,
    shared: int,
    stream: int,
    parameters: int,
) -> None:
    assert (gy, gz, by, bz, stream) == (1, 1, 1, 1, Stream.ptr)
    words = ctypes.cast(ctypes.c_void_p.from_address(parameters).value, ctypes.POINTER(ctypes.c_uint64))
    Fake.kernels[function].launch(np.ctypeslib.as_array(words, (Fake.words,)).copy(), gx, bx, shared=shared)


def memcpy_async(to: int, source: int, size: int, kind: int, stream: int) -> None:
    assert kind in (1, 2)
    ctypes.memmove(to, source, size)


def enable_peer_access(other: int) -> None:
    if Fake.peers in ("already", "fails"):
        raise CUDARuntimeError(704 if Fake.peers == "already" else 700)
    Fake.peers += str(other)


def _count() -> int:
    if Fake.gpus < 0:
        raise CUDARuntimeError(35)
    return Fake.gpus


def make() -> tuple[types.ModuleType, types.ModuleType]:
    """The modules `cupy` and `cupy.cuda`."""
    Fake.kernels, Fake.gpus, Fake.event_status, Fake.pinned_limit = [], 1, 0, 1 << 30
    cupy, cuda = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
    pool = types.SimpleNamespace(free_bytes=lambda: 5, free_all_blocks=lambda: None)
    cupy.cuda, cupy.empty, cupy.get_default_memory_pool = cuda, ndarray, lambda: pool
    cupy.get_default_pinned_memory_pool = lambda: pool
    cuda.alloc_pinned_memory = lambda size: PinnedMemoryPointer(PinnedMemory(size), 0)
    cuda.runtime = types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=_count,
        getDeviceProperties=lambda number: {
            "name": b"NVIDIA Fake", "major": 9, "minor": 0, "multiProcessorCount": 2
        },
        memGetInfo=lambda: (1 << 30, 1 << 31),
        eventQuery=lambda event: Fake.event_status,
        memcpyAsync=memcpy_async,
        deviceCanAccessPeer=lambda number, other: Fake.peers != "none",
        deviceEnablePeerAccess=enable_peer_access,
    )  # fmt: skip
    cuda.driver = types.SimpleNamespace(
        CUDADriverError=CUDADriverError,
        launchCooperativeKernel=launch_cooperative_kernel,
        occupancyMaxActiveBlocksPerMultiprocessor=lambda function, block, shared: 2,
        funcGetAttribute=lambda attribute, function: {0: BLOCK, 1: 1000, 11: 0}[attribute],
        funcSetAttribute=lambda function, attribute, value: setattr(Fake, "most_dynamic", value),
    )
    cuda.function = types.SimpleNamespace(Module=Module)
    for kind in (Device, Event, PinnedMemory, PinnedMemoryPointer, Stream):
        setattr(cuda, kind.__name__, kind)
    cuda.get_current_stream = Stream
    cuda.get_elapsed_time = lambda begin, end: 0.25
    return cupy, cuda
