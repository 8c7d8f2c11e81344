"""A team or one thread on a machine that is busy, and on one that is not: the choice, from planted times."""

from __future__ import annotations

import ctypes
import time

import numpy as np
import pytest
from kernels import EMPTY, field, kernel

from vgraph.compiler.backends.abi import ARMS, POOL, Steering
from vgraph.compiler.backends.context import ContextView, aligned_zeros
from vgraph.runtime.devices import threads as native_threads
from vgraph.runtime.devices.threads import native_runtime, run_native

SECOND = 10**9
FUTURE = 1 << 61


def signed(arms):
    """The struct with its integers of 64 bits as differences of times."""
    return {
        name: arms[name].view(np.int64 if arms[name].itemsize == 8 else np.int32) for name in arms.dtype.names
    }


class Ways:
    """What native code knows of the two ways; a window of 20 s, in which the first thread ran all the time, is over."""

    def __init__(self, context, *, busy, stalls=False, **arms):
        self.memory = aligned_zeros(POOL.size)
        self.pool = self.memory.view(POOL.dtype)
        self.pool["few"] = self.pool["spin"] = 2000
        self.pool["busy_until"] = FUTURE if busy or stalls else 0
        self.pool["shared_until"] = FUTURE if busy else 0
        self.context = context
        self.arms = signed(context._arms)
        context.set("pool", self.memory.ctypes.data)
        context.set("steering", Steering.ADAPTIVE)
        context.set("loop_alone", 1)
        context.set("loop_size", 1000)
        now = time.monotonic_ns()
        # a second of room in each, for the test itself may wait for a processor
        planted = {
            "start": now - 20 * SECOND,
            "idle": now - time.thread_time_ns() + SECOND,
            "patience": SECOND,
        }
        planted |= {"left": FUTURE, "work": 20 * SECOND}
        for name, value in (planted | arms).items():
            self.arms[name][:] = value

    def end_loop(self):
        """The next loop begins, so the last one is over."""
        fork = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64)
        self.context.set("loop_fork", 1)
        fork(native_runtime().symbols["vg_fork"])(self.context.address, 1, 1000)
        return {name: int(value[0]) for name, value in self.arms.items()}


@pytest.fixture
def ways():
    with ContextView(2, forks=[64]) as context:
        yield lambda **known: Ways(context, **known)


@pytest.mark.parametrize("stopped", [True, False])
def test_a_machine_is_busy_if_one_thread_was_not_run(ways, stopped):
    now = time.monotonic_ns()
    known = ways(busy=False, alone=1, start=now - 3 * SECOND)
    if stopped:
        known.arms["idle"] -= 2 * SECOND
    known.end_loop()
    assert (known.pool["busy_until"][0] > now) == (known.pool["shared_until"][0] > now) == stopped


def test_a_team_that_waits_is_not_taken_for_a_busy_machine_once_more(ways):
    known = ways(busy=False, alone=0)
    known.arms["idle"] -= 2 * SECOND
    known.end_loop()
    assert known.pool["busy_until"][0] == 0


@pytest.mark.parametrize("busy", [True, False])
def test_a_team_is_tried_later_on_a_busy_machine(ways, busy):
    arms = ways(busy=busy, alone=1, left=10 * SECOND).end_loop()
    assert (arms["alone"], arms["trying"]) == ((1, 0) if busy else (0, 1))


def test_uneven_work_that_was_waited_for_does_not_keep_teams_from_being_tried(ways):
    arms = ways(busy=False, stalls=True, alone=1, left=10 * SECOND).end_loop()
    assert (arms["alone"], arms["trying"]) == (0, 1)


def test_one_thread_is_tried_as_soon_on_a_busy_machine(ways):
    arms = ways(busy=True, alone=0, left=10 * SECOND).end_loop()
    assert (arms["alone"], arms["trying"]) == (1, 1)


@pytest.mark.parametrize(("busy", "alone"), [(True, 1), (False, 1), (True, 0), (False, 0)])
def test_only_one_thread_on_a_busy_machine_may_have_become_slower_by_chance(ways, busy, alone):
    other = "team" if alone else "alone"
    known = ways(busy=busy, alone=alone, **{f"{other}_work": 40 * SECOND, f"{other}_wall": 10 * SECOND})
    arms = known.end_loop()
    assert arms["trying"] == (0 if busy and alone else 1)
    assert arms["alone"] == (alone if busy and alone else 1 - alone)


@pytest.mark.parametrize(
    ("busy", "work", "stays"), [(False, 25, 1), (True, 25, 0), (True, 35, 1), (False, 20, 0)]
)
def test_a_team_must_win_clearly_on_a_busy_machine(ways, busy, work, stays):
    known = ways(
        busy=busy, alone=0, trying=2, work=work * SECOND, alone_work=10 * SECOND, alone_wall=10 * SECOND
    )
    arms = known.end_loop()
    assert (arms["alone"], arms["trying"]) == (1 - stays, 0)


@pytest.mark.parametrize("idled", [True, False])
def test_a_trial_that_got_nothing_done_because_nobody_was_run_is_lost(ways, idled):
    # a window spent on something else says nothing, but this one was not spent on anything
    known = ways(busy=True, alone=0, trying=1, work=SECOND // 2, alone_work=SECOND, alone_wall=SECOND)
    if idled:
        known.arms["idle"] -= 20 * SECOND
    arms = known.end_loop()
    assert (arms["alone"], arms["trying"]) == ((1, 0) if idled else (0, 1))


@pytest.mark.parametrize("busy", [True, False])
def test_a_new_kernel_begins_with_what_the_pool_knows(busy, monkeypatch):
    monkeypatch.setattr(native_threads, "STEERING", Steering.ADAPTIVE)
    empty = kernel(EMPTY)
    empty.learned.clear()
    with ContextView(3) as context:
        run_native(empty, context, 3)
    pools = [pool for pool in native_threads._pools if pool.threads == 3]
    before = [pool._fields["shared_until"].copy() for pool in pools]
    empty.learned.clear()
    try:
        for pool in pools:
            pool._fields["shared_until"] = FUTURE if busy else 0
        with ContextView(3) as context:
            run_native(empty, context, 3)
    finally:
        for pool, until in zip(pools, before, strict=True):
            pool._fields["shared_until"] = until
    assert empty.learned[3][1]["alone"][0] == busy


def test_a_new_window_forgets_how_long_the_first_thread_was_not_run(ways):
    known = ways(busy=False, alone=0)
    known.arms["idle"] -= 10**6 * SECOND
    arms = known.end_loop()
    assert arms["work"] == 0
    assert abs(arms["idle"] - (time.monotonic_ns() - time.thread_time_ns())) < 1000 * SECOND


IDLE = f"""
define i32 @kernel(ptr %ctx, i32 %at) {{
  %arms.p = {field("arms")}
  %arms = load ptr, ptr %arms.p
  %idle.p = getelementptr i8, ptr %arms, i64 {ARMS.offset("idle")}
  %idle = load i64, ptr %idle.p
  %told.p = {field("traced")}
  store i64 %idle, ptr %told.p
  ret i32 -1
}}
"""


def test_a_window_goes_on_in_the_next_run():
    spent, near = 10**8 * SECOND, 10**5 * SECOND
    arms = np.zeros(1, ARMS.dtype)
    arms["start"] = arms["idle"] = spent
    idle = kernel(IDLE)
    with ContextView(1) as context:
        idle.learned[1] = context.learned()[0], arms
        run_native(idle, context, 1)
        within = int(np.uint64(context.get("traced")).view(np.int64))
    after = signed(idle.learned.pop(1)[1])
    assert abs(time.monotonic_ns() - spent - within) < near
    assert abs(int(after["start"][0]) - spent) < near
    assert abs(int(after["idle"][0]) - spent) < near
