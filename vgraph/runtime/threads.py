"""Native threads: the loaded native runtime, a registry of thread pools, and `run_native`.

Python's own thread never runs native kernels: it sleeps beside the pool and wakes at once for a signal and a
few times a second for progress. So Ctrl-C works, also with one thread.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import DECLARATIONS, MAX_THREADS, ContextView, Status
from vgraph.compiler.backends.native import native_text
from vgraph.config import knobs
from vgraph.errors import DeviceError, InternalError, ParameterError
from vgraph.runtime.cpus import available_cpus
from vgraph.runtime.progress import Progress, ProgressCallback

SPIN_LIMIT: Final = 2000
"""Polls of a thread that waits at a barrier before it sleeps, when there is a CPU for every thread."""
_WAKE_NS: Final = 20_000_000
_PROGRESS_SECONDS: Final = 0.1
_IDLE_POOLS: Final = 8
"""Idle pools kept for reuse."""


@dataclass(frozen=True)
class NativeRuntime:
    """The native runtime in this process: `symbols` for the loader of kernels, and the pool's functions."""

    symbols: Mapping[str, int]
    pool_create: Callable[[int], int | None]
    pool_submit: Callable[[int, int, int, int], None]
    pool_wait: Callable[[int, int], int]
    pool_destroy: Callable[[int], None]


_lock = threading.RLock()
_idle: list[_Pool] = []
_stuck: list[tuple[_Pool, ContextView]] = []


@functools.cache
def native_runtime() -> NativeRuntime:
    """The native runtime: from the cache, or compiled; loaded once for each process."""
    with _lock:
        host = os.uname()
        text = native_text(host.sysname, host.machine)
        # unoptimised: its hot loop waits for memory anyway, and it compiles several times faster
        code, _ = cached_object(
            jit.object_parts(text, opt=0),
            lambda: jit.compile_ir(text, opt=0),
            {"what": "native runtime"},
        )
        loaded = jit.load_object(code, {})
    pointer, i32, i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64

    def function(name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))

    return NativeRuntime(
        symbols={name: loaded.address(name) for name in DECLARATIONS},
        pool_create=function("vg_pool_create", pointer, i32),
        pool_submit=function("vg_pool_submit", None, pointer, pointer, pointer, i32),
        pool_wait=function("vg_pool_wait", i32, pointer, i64),
        pool_destroy=function("vg_pool_destroy", None, pointer),
    )


class _Pool:
    """One native pool; used by one Python thread at a time."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._native = native_runtime()
        handle = self._native.pool_create(threads)
        if not handle:
            raise DeviceError(f"the system refuses to start {threads} threads")
        self._handle = handle

    def submit(self, function: int, context: ContextView) -> None:
        """Start `function(context, tid)` on all threads."""
        self._native.pool_submit(self._handle, function, context.address, self.threads)

    def wait(self, nanoseconds: int) -> bool:
        """Whether the job is done; waits at most about `nanoseconds`, less if a signal comes."""
        return bool(self._native.pool_wait(self._handle, nanoseconds))

    def destroy(self) -> None:
        """End the threads; only when idle."""
        self._native.pool_destroy(self._handle)


def default_threads() -> int:
    """Threads of a run that names no number: the VGRAPH_THREADS knob, else the CPUs this process may use."""
    return knobs().threads or available_cpus()


def run_native(
    function: int, context: ContextView, threads: int, *, progress: ProgressCallback | None = None
) -> None:
    """Run the kernel at address `function`, a `void (ptr ctx, i32 tid)`, on `threads` threads to its end.

    `context` must be made for the same number of threads. Any exception meanwhile (Ctrl-C, or one raised by
    `progress`) cancels the run, waits until native code has left, and goes on; so does a failure of native
    code, as `DeviceError`.
    """
    if not 1 <= threads <= MAX_THREADS:
        raise ParameterError(f"threads={threads}: must be from 1 to {MAX_THREADS}")
    assert context.get("num_threads") == threads
    context.set("spin_limit", SPIN_LIMIT if threads <= available_cpus() else 0)
    pool = _take(threads)
    done = False
    try:
        context.busy = True
        pool.submit(function, context)
        _wait(pool, context, progress)
        done = True
    finally:
        if not done:
            done = _drain(pool, context)
        if done:
            context.busy = False
            _give(pool)
        else:  # a second interrupt while draining: native code may still run, so nothing of it may be freed
            _stuck.append((pool, context))
    raise_for_status(context)


def _wait(pool: _Pool, context: ContextView, progress: ProgressCallback | None) -> None:
    start = report = time.monotonic()
    while not pool.wait(_WAKE_NS):
        if progress is None:
            continue
        now = time.monotonic()
        if now - report >= _PROGRESS_SECONDS:
            report = now
            rounds, size, edges = map(context.get, ("rounds", "frontier_size", "edges"))
            progress(Progress(rounds, size, edges, now - start))


def _drain(pool: _Pool, context: ContextView) -> bool:
    """Cancel and wait until native code has left, through further interrupts if it must be."""
    for _ in range(100):
        try:
            context.cancel()
            while not pool.wait(_WAKE_NS):
                pass
            return True
        except KeyboardInterrupt:
            continue
    return False


def raise_for_status(context: ContextView) -> None:
    """Turn a failure recorded by native code into an exception; what means something to the caller passes."""
    match context.status:
        case Status.OUT_OF_MEMORY:
            raise DeviceError(f"out of memory: {context.get('payload'):,} more bytes are not to be had")
        case Status.OUT_OF_RANGE:
            raise InternalError(f"generated code met the index {context.get('payload')} out of range")


# --- the registry -----------------------------------------------------------------------------------------


def _take(threads: int) -> _Pool:
    with _lock:
        for index in range(len(_idle) - 1, -1, -1):
            if _idle[index].threads == threads:
                return _idle.pop(index)
    return _Pool(threads)


def _give(pool: _Pool) -> None:
    with _lock:
        _idle.append(pool)
        surplus = _idle.pop(0) if len(_idle) > _IDLE_POOLS else None
    if surplus:
        surplus.destroy()


def close_idle_pools() -> None:
    """End the threads of all idle pools; new ones start when needed."""
    with _lock:
        pools = _idle[:]
        _idle.clear()
    for pool in pools:
        pool.destroy()


def _forget_pools() -> None:
    """In a forked child: the threads are gone, and so are the runs of other Python threads."""
    global _lock
    _lock = threading.RLock()
    _idle.clear()


# Idle threads end before a fork, so a process that only once ran vgraph forks as a single-threaded one.
os.register_at_fork(before=close_idle_pools, after_in_child=_forget_pools)
atexit.register(close_idle_pools)
