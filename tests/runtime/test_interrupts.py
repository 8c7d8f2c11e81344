"""An interrupt at every bytecode of a run, and storms of them: memory that native code uses stays, no pool is lost."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kernels import EMPTY, ENDLESS, ROUNDS, kernel

from vgraph.compiler.backends import context as context_module
from vgraph.compiler.backends.abi import CONTEXT, Status, Steering
from vgraph.compiler.backends.context import ContextView
from vgraph.runtime.devices import threads as native_threads
from vgraph.runtime.devices.threads import close_idle_pools, run_native

HERE = Path(__file__).parent
MANY = pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def steered_by_a_die(monkeypatch):
    """Here all threads take part always, so that it is known what they do."""
    monkeypatch.setattr(native_threads, "STEERING", Steering.TOGETHER)


class Strike:
    """Raises KeyboardInterrupt before one bytecode of `run_native` or of what it calls, at this count.

    Counted are the bytecodes of `vgraph/runtime/devices/threads.py` and of the context's methods. `count` tells how
    many there were. (Python ends the tracing by a function that raises, so there is no second one. Bytecodes without a
    line, by which it handles exceptions, are left out: no signal can come there, and CPython loses the frame for
    good.)
    """

    FILES = (native_threads.__file__, context_module.__file__)

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.count = 0

    def __call__(self, frame, event, _argument):
        if frame.f_code.co_filename not in self.FILES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lineno is not None:
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt(
                    f"bytecode {self.count}: {frame.f_code.co_name}, line {frame.f_lineno}"
                )
        return self

    def during(self, action) -> bool:
        """Whether an interrupt came out of `action`."""
        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = (
            True  # Python 3.12 asks when tracing starts whether any frame wants opcodes
        )
        sys.settrace(self)
        try:
            action()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


def context_of(threads: int, rounds: int = 30) -> ContextView:
    context = ContextView(threads, num_args=1, num_slots=1)
    context.set_scalar(0, rounds, np.int64)
    return context


def os_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def check_all_is_well(context: ContextView, threads: int) -> None:
    """Behind an interrupt: what native code may still touch is kept; the next run is fine, and then all is let go."""
    assert not context.busy or context.address in native_threads._runs
    with context_of(threads) as following:
        run_native(kernel(ROUNDS), following, threads)
        assert following.status is Status.OK
    native_threads._tidy()
    while context.busy:  # it was asked to leave
        assert context.get("cancel") == 1
        time.sleep(1e-4)
    native_threads._tidy()
    assert not native_threads._runs


@MANY
def test_an_interrupt_at_every_bytecode_of_a_run(threads):
    run_native(kernel(ROUNDS), context_of(threads), threads)
    usual = Strike()
    assert not usual.during(lambda: run_native(kernel(ROUNDS), context_of(threads), threads))
    assert usual.count > 150
    before, pools = os_threads(), len(native_threads._pools)
    for n in range(1, usual.count + 1):
        context = context_of(threads)
        Strike(n).during(lambda context=context: run_native(kernel(ROUNDS), context, threads))
        check_all_is_well(context, threads)
        del context
    # One pool more, if the first was busy when it was asked for.
    assert os_threads() <= before + threads
    assert len(native_threads._pools) <= pools + 1


@MANY
def test_an_interrupt_at_every_bytecode_of_starting_a_pool(threads):
    close_idle_pools()
    native_threads._pools.clear()
    before = os_threads()
    usual = Strike()
    assert not usual.during(lambda: run_native(kernel(EMPTY), context_of(threads), threads))
    for n in range(1, usual.count + 1):
        close_idle_pools()
        context = context_of(threads)
        Strike(n).during(lambda context=context: run_native(kernel(EMPTY), context, threads))
        check_all_is_well(context, threads)
    close_idle_pools()
    assert os_threads() == before
    assert all(not pool.idle for pool in native_threads._pools)  # what was struck before it had threads
    native_threads._pools.clear()


def interrupted(contexts, *_):
    """In place of `_wait`: the first interrupt, when the run is under way."""
    words, rounds = contexts[0]._words["i64"], CONTEXT.offset("rounds") // 8
    while not words[rounds]:  # no bytecode that is counted
        time.sleep(1e-4)
    raise KeyboardInterrupt


@MANY
def test_an_interrupt_at_every_bytecode_of_leaving_an_endless_run(monkeypatch, threads):
    """The first one leaves the run; a second one strikes before and behind it."""
    usual = Strike()
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "_wait", interrupted)
        assert usual.during(lambda: run_native(kernel(ENDLESS), context_of(threads), threads))
    before = os_threads()
    for n in range(1, usual.count + 1):
        context = context_of(threads)
        with monkeypatch.context() as patch:
            patch.setattr(native_threads, "_wait", interrupted)
            assert Strike(n).during(lambda context=context: run_native(kernel(ENDLESS), context, threads))
        check_all_is_well(context, threads)
    gc.collect()
    assert os_threads() <= before + threads


def test_memory_is_kept_while_native_code_runs_and_not_longer(monkeypatch):
    threads, native = 2, native_threads.native_runtime()
    context = context_of(threads)
    array = np.zeros(1000)
    context.keep(array)
    count = sys.getrefcount(array)
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "_wait", interrupted)
        abandoned = replace(native, finish=lambda _: None)  # as if an interrupt came in its place
        patch.setattr(native_threads, "native_runtime", lambda: abandoned)
        with pytest.raises(KeyboardInterrupt):
            run_native(kernel(ENDLESS), context, threads)
    assert context.busy
    del context
    gc.collect()
    assert sys.getrefcount(array) == count
    run_native(kernel(EMPTY), context_of(threads), threads)
    while native_threads._runs:
        native_threads._tidy()
    gc.collect()
    assert sys.getrefcount(array) == count - 1


STORM = HERE / "storm.py"
CHECKING = "/lib/x86_64-linux-gnu/libc_malloc_debug.so.0"


def storms(count: int, seed: int) -> subprocess.CompletedProcess[str]:
    """Storms in a process whose allocators fill what is freed and check what they hand out."""
    environment = os.environ | {"MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3", "PYTHONMALLOC": "debug"}
    if Path(CHECKING).exists():
        environment["LD_PRELOAD"] = CHECKING
    command = [sys.executable, STORM, str(count), str(seed)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=HERE.parents[1], env=environment, timeout=600
    )


def test_a_few_storms_of_interrupts():
    done = storms(8, 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("8 storms")
    assert Path(CHECKING).exists() == done.stdout.rstrip().endswith("heap checked")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_storms_of_interrupts(seed):
    done = storms(100, seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("100 storms")
