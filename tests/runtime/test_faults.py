"""Every allocation and every start of a thread in a run fails once: a DeviceError, and the next run is fine."""

from __future__ import annotations

import ctypes
import gc
import os
import re

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends import elf, jit
from vgraph.compiler.backends.abi import Steering
from vgraph.compiler.backends.native import native_text
from vgraph.errors import DeviceError
from vgraph.runtime.devices import compiled, cpu
from vgraph.runtime.devices import threads as native_threads

NATIVE = {
    "realloc": ("ptr", "ptr %a, i64 %b", "ptr, i64", "null"),
    "aligned_alloc": ("ptr", "i64 %a, i64 %b", "i64, i64", "null"),
    "pthread_create": ("i32", "ptr %a, ptr %b, ptr %c, ptr %d", "ptr, ptr, ptr, ptr", "11"),
}
"""What the native runtime asks the system for: result, parameters, their types, and what a refusal is."""

FAULTY = """
declare {result} @{name}({types})
define {result} @faulty_{name}({parameters}) {{
  %left = inttoptr i64 {counter} to ptr
  %before = atomicrmw sub ptr %left, i64 1 seq_cst
  %now = icmp eq i64 %before, 1
  br i1 %now, label %refuse, label %grant
refuse:
  ret {result} {refusal}
grant:
  %given = call {result} @{name}({parameters})
  ret {result} %given
}}
"""


class Faults:
    """A native runtime of which the `left`-th request from now on is refused; `left` 0: none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left = np.zeros(1, np.int64)
        host = os.uname()
        text = "".join(
            FAULTY.format(
                name=name, result=result, parameters=parameters, types=types, refusal=refusal,
                counter=self._left.ctypes.data,
            )
            for name, (result, parameters, types, refusal) in NATIVE.items()
        )  # fmt: skip
        self._faulty = jit.load_object(jit.compile_ir(text, opt=0), {})
        code = jit.compile_ir(native_text(host.sysname, host.machine), opt=0)
        symbols = {name: self._faulty.address(f"faulty_{name}") for name in NATIVE}
        native = native_threads.native_functions(jit.load_object(code, symbols))
        for module in (native_threads, cpu):
            monkeypatch.setattr(module, "native_runtime", lambda: native)
        monkeypatch.setattr(native_threads, "_pools", [])
        monkeypatch.setattr(compiled, "_loaded", type(compiled._loaded)())

    @property
    def left(self) -> int:
        return int(self._left[0])

    @left.setter
    def left(self, count: int) -> None:
        self._left[0] = count


@pytest.fixture
def faults(monkeypatch):
    yield Faults(monkeypatch)
    native_threads.close_idle_pools()


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(2)
    ends = rng.integers(0, 1500, (2, 9000))
    return vg.Graph.from_edges(*ends, num_vertices=1500, directed=False, weight=rng.integers(1, 900, 9000))


RUNS = {
    "lists": (vg.algorithms.betweenness, {"sources": [0, 7]}, None, "centrality"),
    "buckets": (vg.algorithms.sssp, {"source": 0}, vg.delta_stepping(16), "dist"),
    "heap": (vg.algorithms.sssp, {"source": 0}, vg.STRICT, "dist"),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("steering", [Steering.TOGETHER, Steering.ADAPTIVE], ids=lambda s: s.name)
def test_every_request_of_native_code_fails_once(faults, graph, monkeypatch, name, steering):
    monkeypatch.setattr(native_threads, "STEERING", steering)
    algorithm, arguments, order, result = RUNS[name]
    schedule = None if order is None else vg.Schedule().at("relax", order=order)
    threads = 1 if order is vg.STRICT else 2
    expected = getattr(vg.run(algorithm, graph, threads=1, **arguments), result)

    def run():
        return getattr(vg.run(algorithm, graph, threads=threads, schedule=schedule, **arguments), result)

    np.testing.assert_allclose(run(), expected)
    faults.left = far = 1 << 40
    native_threads.close_idle_pools()
    np.testing.assert_allclose(run(), expected)
    requests = far - faults.left
    assert requests > threads
    failed = []
    for n in range(1, requests + 1):
        native_threads.close_idle_pools()
        faults.left = n
        try:
            found = run()
        except DeviceError as fault:
            failed.append(str(fault))
        else:  # memory for the trace, which is told shorter then
            np.testing.assert_allclose(found, expected)
        faults.left = 0
        np.testing.assert_allclose(run(), expected)
    assert len(failed) > threads
    assert all(re.search("out of memory|refuses to start", text) for text in failed)


@pytest.mark.parametrize("name", ["mmap", "mprotect"])
def test_a_kernel_for_which_there_is_no_memory(graph, monkeypatch, name):
    monkeypatch.setattr(compiled, "_loaded", type(compiled._loaded)())
    libc = elf._libc()
    with monkeypatch.context() as patch:
        patch.setattr(libc, name, lambda *_: ctypes.c_void_p(-1).value if name == "mmap" else -1)
        with pytest.raises(DeviceError, match="out of memory"):
            vg.run(vg.algorithms.bfs, graph, source=0, threads=2)
    assert vg.run(vg.algorithms.bfs, graph, source=0, threads=2).level[0] == 0


def test_every_array_of_a_run_fails_once(graph, monkeypatch):
    run = lambda: vg.run(vg.algorithms.sssp, graph, source=0, threads=2).dist  # noqa: E731
    expected = run()
    state = {"left": 0}

    def failing(make):
        def maybe(*arguments, **more):
            state["left"] -= 1
            if state["left"] == 0:
                raise MemoryError
            return make(*arguments, **more)

        return maybe

    makers = {name: failing(getattr(np, name)) for name in ("empty", "zeros", "stack", "array")}
    with monkeypatch.context() as patch:
        for name, make in makers.items():
            patch.setattr(np, name, make)
        run()
        count = -state["left"]
        assert count > 10
        for n in range(1, count + 1):
            state["left"] = n
            with pytest.raises(DeviceError, match="out of memory"):
                run()
    np.testing.assert_array_equal(run(), expected)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="looks into /proc")
def test_machine_code_that_nobody_runs_any_more_is_given_back(graph):
    def maps():
        with open("/proc/self/maps") as file:
            return len(file.readlines())

    code = jit.compile_ir("define i32 @f() {\n  ret i32 7\n}", opt=0)
    loaded = jit.load_object(code, {})
    assert ctypes.CFUNCTYPE(ctypes.c_int32)(loaded.address("f"))() == 7
    before = maps()
    kept = [jit.load_object(code, {}) for _ in range(50)]
    assert maps() >= before + 50
    del kept
    gc.collect()
    assert maps() <= before + 5
