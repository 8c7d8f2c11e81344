"""Storms of Ctrl-C: python tests/runtime/storm.py STORMS SEED

A storm is a burst of interrupts, from 0.2 to 4 ms apart, while programs run that use lists, buckets and a
trace; what they return between the interrupts must be right. At the end there are no more threads than pools need.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import random
import signal
import sys
import time
from types import FrameType
from typing import Any

import numpy as np

import vgraph as vg
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import Steering
from vgraph.runtime.devices import threads
from vgraph.runtime.devices.compiled import CompiledRunner

RUNS = (
    (vg.algorithms.sssp, {"source": 0}, "dist"),
    (vg.algorithms.betweenness, {"sources": [0, 5]}, "centrality"),
    (vg.algorithms.bfs, {"source": 3}, "level"),
    (vg.algorithms.k_core, {}, "core"),
)


ALLOCATOR = {
    "malloc": "2.2.5",
    "calloc": "2.2.5",
    "realloc": "2.2.5",
    "free": "2.2.5",
    "aligned_alloc": "2.16",
}
"""Since which version of the C library."""


def check_native_code() -> bool:
    """Whether native code uses the allocator of `libc_malloc_debug.so`, and not that of the C library.

    The checking allocator's symbols are hidden from a search that names no version.
    """
    if "libc_malloc_debug" not in os.environ.get("LD_PRELOAD", ""):
        return False
    find = ctypes.CDLL(None).dlvsym
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    checking = {n: find(None, n.encode(), f"GLIBC_{v}".encode()) for n, v in ALLOCATOR.items()}
    assert all(checking.values()), checking
    usual = jit.process_symbol
    jit.process_symbol = lambda name: checking.get(name) or usual(name)
    return True


def graph(rng: random.Random) -> vg.Graph:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    ends = numbers.integers(0, 2000, (2, 12000))
    return vg.Graph.from_edges(
        *ends, num_vertices=2000, directed=False, weight=numbers.integers(1, 60, 12000)
    )


def attempt(algorithm: Any, given: vg.Graph, more: dict[str, Any], name: str) -> Any:
    """One run: the only place that interrupts come from."""
    return getattr(vg.run(algorithm, given, threads=2, **more), name)


def strike(_number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is attempt.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back


def os_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def main(storms: int, seed: int) -> None:
    faulthandler.enable()
    checked = check_native_code()
    rng = random.Random(seed)
    given = graph(rng)
    alone = os_threads()
    right = [getattr(vg.run(a, given, threads=1, **more), name) for a, more, name in RUNS]
    for a, more, _ in RUNS:
        vg.run(a, given, threads=2, **more)  # compiled before the storms, which are about runs
    CompiledRunner._compile = None  # what is compiled is found again, wherever a run was interrupted
    signal.signal(signal.SIGALRM, strike)
    struck = whole = 0
    for _ in range(storms):
        threads.STEERING = rng.choice(tuple(Steering))
        pause = 10 ** rng.uniform(-3.7, -2.4)
        end = time.monotonic() + 0.03
        signal.setitimer(signal.ITIMER_REAL, pause, pause)
        while time.monotonic() < end:
            k = rng.randrange(len(RUNS))
            algorithm, more, name = RUNS[k]
            try:
                found = attempt(algorithm, given, more, name)
            except KeyboardInterrupt:
                struck += 1
                continue
            np.testing.assert_allclose(found, right[k], rtol=1e-6)
            whole += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    for (algorithm, more, name), expected in zip(RUNS, right, strict=True):
        np.testing.assert_allclose(
            getattr(vg.run(algorithm, given, threads=2, **more), name), expected, rtol=1e-6
        )
    threads.close_idle_pools()
    assert os_threads() == alone, f"{os_threads()} threads, {alone} before"
    assert not threads._runs
    print(f"{storms} storms: {struck} interrupts, {whole} whole runs{', heap checked' * checked}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
