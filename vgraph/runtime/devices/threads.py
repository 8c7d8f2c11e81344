"""Native threads: the loaded native runtime, a registry of thread pools, and `run_native`.

Python's own thread never runs native kernels: it sleeps beside the pool and wakes at once for a signal and a
few times a second for progress. So Ctrl-C works, also with one thread.

An interrupt may come between any two bytecodes, so nothing here relies on Python to know what native code does.
Native code says so itself: in a context (`ContextView.busy`) and in a pool (whether it is free). A context is in
`_runs` before native code gets it and stays there until native code has left it, a pool is in `_pools` before it has
threads and until they have ended; both only grow and shrink by single calls that cannot be interrupted.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import DECLARATIONS, POOL, Status, Steering
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.backends.context import ContextView, aligned_zeros
from vgraph.compiler.backends.native import native_text
from vgraph.cpus import available_cpus
from vgraph.errors import DeviceError, InternalError
from vgraph.records import dataclass
from vgraph.runtime.progress import Progress, ProgressCallback
from vgraph.stamp import code_stamp

SPIN_LIMIT: Final = 2000
"""Polls of a thread that waits at a barrier before it sleeps, when there is a CPU for every thread."""
STEERING = Steering.ADAPTIVE
"""Who decides how many threads a loop gets; tests set it."""
_WAKE_NS: Final = 20_000_000
_LOOK_NS: Final = 200_000
"""The same where others than native threads are looked at."""
_PROGRESS_SECONDS: Final = 0.1
_IDLE_POOLS: Final = 8
"""Idle pools kept for reuse."""
_IDLE, _TAKEN = 0, 1
"""What a pool's `claim` says; anything else: it has no threads any more."""


@dataclass(frozen=True)
class NativeRuntime:
    """The native runtime in this process: `symbols` for the loader of kernels, and what only the host calls."""

    symbols: Mapping[str, int]
    pool_start: Callable[[int, int], int]
    pool_end: Callable[[int], int]
    submit: Callable[[int, int, int, int], int]
    wait: Callable[[int, int], int]
    finish: Callable[[int], None]
    release: Callable[[int], None]
    exchange: int
    """The address of `vg_exchange`, the channel between members in this process's memory."""
    serve: int
    """The address of `vg_serve`, which acts for a GPU."""
    owner: object
    """Keeps the code alive."""


@functools.cache
def native_runtime() -> NativeRuntime:
    """The native runtime: from the cache, or compiled; loaded once for each process."""
    host = os.uname()
    written, _ = cached_object(
        ("native runtime", code_stamp(), host.sysname, host.machine),
        lambda: native_text(host.sysname, host.machine).encode(),
        {"what": "text of the native runtime"},
    )
    text = written.decode()
    # unoptimised: its hot loop waits for memory anyway, and it compiles several times faster
    code, _ = cached_object(
        jit.object_parts(text, opt=0),
        lambda: jit.compile_ir(text, opt=0),
        {"what": "native runtime"},
    )
    return native_functions(jit.load_object(code, {}))


def native_functions(loaded: jit.LoadedObject) -> NativeRuntime:
    """The functions of a native runtime in memory."""
    pointer, i32, i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64

    def function(name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))

    return NativeRuntime(
        symbols={name: loaded.address(name) for name in DECLARATIONS},
        pool_start=function("vg_pool_start", i32, pointer, i32),
        pool_end=function("vg_pool_end", i32, pointer),
        submit=function("vg_submit", i32, pointer, pointer, pointer, pointer),
        wait=function("vg_wait", i32, pointer, i64),
        finish=function("vg_finish", None, pointer),
        release=function("vg_release", None, pointer),
        exchange=loaded.address("vg_exchange"),
        serve=loaded.address("vg_serve"),
        owner=loaded,
    )


class _Pool:
    """The memory of one native pool, taken until its threads have been started."""

    def __init__(self, threads: int, cores: tuple[int, ...], nice: int) -> None:
        self.threads, self.cores, self.nice = threads, cores, nice
        self.used = 0
        self._memory = aligned_zeros(POOL.size + 8 * threads)
        self._fields = self._memory[: POOL.size].view(POOL.dtype)
        self.address = int(self._memory.ctypes.data)
        self._fields["threads"] = self.address + POOL.size
        self._fields["claim"] = _TAKEN

    @property
    def idle(self) -> bool:
        return int(self._fields["claim"][0]) == _IDLE


class _Host:
    """Whoever waits for a run: gone when `run_native` is left, by whatever exception."""


_pools: list[_Pool] = []
"""Every pool that has threads, or is about to get some."""
_runs: dict[int, tuple[ContextView, weakref.ref[_Host]]] = {}
"""By its address every context that native code may touch, and who waits for it."""
_turns: Final = itertools.count(1)


def run_native(
    kernel: Kernel,
    context: ContextView,
    threads: int,
    *,
    progress: ProgressCallback | None = None,
    due: Callable[[], bool] | None = None,
) -> None:
    """Run `kernel` on at most `threads` threads to its end, or from where it was halted.

    `context` must be made for the same number of threads. Any exception meanwhile (Ctrl-C, or one raised by
    `progress`) cancels the run, waits until native code has left, and goes on; so does a failure of native
    code, as `DeviceError`. When it is `due`, the run is halted: then `context.halted`, or it had come to its end.
    """
    run_together([(kernel, context, threads, ())], progress=progress, due=due)


def run_together(
    members: Sequence[tuple[Kernel, ContextView, int, tuple[int, ...]]],
    *,
    progress: ProgressCallback | None = None,
    due: Callable[[], bool] | None = None,
    look: Callable[[], None] | None = None,
) -> None:
    """Run kernels in contexts of their own at the same time, each on so many threads and on these cores (none: any),
    until all have ended; as `run_native`, where a failure of one ends all, and so does an exception of `look`, which is
    called five thousand times a second."""
    native = native_runtime()
    finish, host = native.finish, _Host()
    spin = SPIN_LIMIT if sum(threads for _, _, threads, _ in members) <= available_cpus() else 0
    for kernel, context, threads, _ in members:
        assert context.get("num_threads") == threads
        finish(context.address)  # it may have been abandoned, by an interrupt in the block `finally` below
        context.release = native.release
        context.keep(kernel)
        if threads in kernel.learned:
            context.recall(kernel.learned[threads])
        context.set("spin_limit", spin)
        context.set("steering", STEERING)
        context.set("seed", next(_turns) * 0x9E3779B97F4A7C15 % (1 << 64) | 1)
        _runs[context.address] = context, weakref.ref(host)
    try:
        untried = [*_pools]
        for kernel, context, threads, cores in members:
            _submit(kernel, context, threads, cores, untried)
        _wait([context for _, context, _, _ in members], progress, due, look)
    except BaseException:
        for _, context, _, _ in members:  # all of them now: each leaves when it looks
            context.cancel()
        raise
    finally:
        for _, context, _, _ in members:
            finish(
                context.address
            )  # one call, which no interrupt divides: native code is asked to leave, and has left
        _tidy()
    for kernel, context, threads, _ in members:
        kernel.learned[threads] = context.learned()
    for _, context, _, _ in members:
        raise_for_status(context)


def _submit(
    kernel: Kernel, context: ContextView, threads: int, cores: tuple[int, ...], untried: list[_Pool]
) -> None:
    """Start the run on a free pool, or on a new one; its threads stand back as much as the one that asks. Pools that
    were tried are not `untried` any more."""
    native = native_runtime()
    wanted = threads, cores, os.getpriority(os.PRIO_PROCESS, 0)
    while True:
        while (
            pool := next((p for p in untried if (p.threads, p.cores, p.nice) == wanted), None)
        ) is not None:
            untried.remove(pool)
            if native.submit(pool.address, context.address, kernel.address, kernel.team):
                pool.used = next(_turns)
                return
        pool = _Pool(*wanted)
        _pools.append(pool)
        untried.append(pool)
        with _on(cores):
            started = native.pool_start(pool.address, threads)
        if not started:
            _pools.remove(pool)
            raise DeviceError(f"the system refuses to start {threads} threads")


@contextmanager
def _on(cores: tuple[int, ...]) -> Iterator[None]:
    """Threads that are started here may run on these cores only, which they inherit."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _wait(
    contexts: Sequence[ContextView],
    progress: ProgressCallback | None,
    due: Callable[[], bool] | None,
    look: Callable[[], None] | None,
) -> None:
    """Wait until native code has left all contexts; when it leaves one early, the others are told to."""
    wait = native_runtime().wait
    start = report = time.monotonic()
    running = list(contexts)
    while running:
        left = wait(running[0].address, _WAKE_NS if look is None else _LOOK_NS)
        if look is not None:
            look()
        ended = [context for context in running if not context.busy]
        running = [context for context in running if context.busy]
        if any(context.status is not Status.OK for context in ended):
            for context in running:
                context.cancel()
        if left:
            continue
        if due is not None and due():
            contexts[0].halt()
        if progress is None:
            continue
        now = time.monotonic()
        if now - report >= _PROGRESS_SECONDS:
            report = now
            # members have the same rounds, or divide them
            rounds = max(c.get("rounds") for c in contexts)
            size, edges = (sum(c.get(name) for c in contexts) for name in ("frontier_size", "edges"))
            progress(Progress(rounds, size, edges, now - start))


def raise_for_status(context: ContextView) -> None:
    """Turn a failure recorded by native code into an exception; what means something to the caller passes."""
    match context.status:
        case Status.OUT_OF_MEMORY:
            raise DeviceError(f"out of memory: {context.get('payload'):,} more bytes are not to be had")
        case Status.OUT_OF_RANGE:
            raise InternalError(f"generated code met the index {context.get('payload')} out of range")


# --- the registry -----------------------------------------------------------------------------------------


def _tidy() -> None:
    """Let go of contexts that native code has left, cancel runs that nobody waits for, end pools beyond those kept."""
    for address, (context, host) in tuple(_runs.items()):
        if host() is None:
            context.cancel()
        if not context.busy:
            _runs.pop(address, None)
    idle = sorted((pool for pool in tuple(_pools) if pool.idle), key=lambda pool: pool.used)
    _end(idle[: max(0, len(idle) - _IDLE_POOLS)])


def _end(pools: list[_Pool]) -> None:
    """End the threads of pools, unless somebody has taken them meanwhile."""
    for pool in pools:
        if native_runtime().pool_end(pool.address) and pool in _pools:
            _pools.remove(pool)


def close_idle_pools() -> None:
    """End the threads of all idle pools; new ones start when needed."""
    _end([pool for pool in tuple(_pools) if pool.idle])


def _leave() -> None:
    """At the end of the process: no native code may run on when memory is given back."""
    for address, (_, host) in tuple(_runs.items()):
        if host() is None:
            native_runtime().finish(address)
    close_idle_pools()


def _forget() -> None:
    """In a forked child: the threads are gone, and so are the runs of other Python threads."""
    _pools.clear()
    _runs.clear()


# Idle threads end before a fork, so a process that only once ran vgraph forks as a single-threaded one.
os.register_at_fork(before=close_idle_pools, after_in_child=_forget)
atexit.register(_leave)
