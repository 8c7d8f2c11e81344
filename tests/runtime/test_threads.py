"""Pools, Ctrl-C, fork, Python threads, progress."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from kernels import EMPTY, ENDLESS, ROUNDS, kernel

import vgraph as vg
from vgraph import config, cpus
from vgraph.compiler.backends.abi import Status, Steering
from vgraph.compiler.backends.context import ContextView
from vgraph.errors import ParameterError
from vgraph.runtime.devices import threads as native_threads
from vgraph.runtime.devices.threads import close_idle_pools, run_native

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(autouse=True)
def steered_by_a_die(monkeypatch):
    """Here all threads take part always, so that it is known what they do."""
    monkeypatch.setattr(native_threads, "STEERING", Steering.TOGETHER)


def rounds(threads, count):
    with ContextView(threads, num_args=1, num_slots=1) as context:
        context.set_scalar(0, count, np.int64)
        run_native(kernel(ROUNDS), context, threads)
        return context.status is Status.OK and context.get("barrier_epoch") == 2 * count


def python(code):
    """Run code in a new process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)


def os_threads():
    return len(os.listdir("/proc/self/task"))


def settled_threads():
    """How many there are when their number no longer falls: one that was joined is listed for a moment longer."""
    count, since = os_threads(), time.monotonic()
    while time.monotonic() < since + 0.1:
        if os_threads() != count:
            count, since = os_threads(), time.monotonic()
        time.sleep(0.001)
    return count


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
def test_pools_are_reused_and_bounded():
    close_idle_pools()
    before = settled_threads()
    for _ in range(20):
        assert rounds(3, 5)
    assert settled_threads() == before + 3
    for threads in range(1, 13):
        rounds(threads, 1)
    assert settled_threads() == before + sum(range(5, 13))
    close_idle_pools()
    assert settled_threads() == before


def test_python_threads_run_at_once():
    failures = []

    def work(threads):
        failures.extend(threads for _ in range(30) if not rounds(threads, 50))

    workers = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_two_endless_runs_are_cancelled_apart():
    contexts = [ContextView(2), ContextView(2)]
    workers = [threading.Thread(target=run_native, args=(kernel(ENDLESS), c, 2)) for c in contexts]
    for worker in workers:
        worker.start()
    contexts[0].cancel()
    workers[0].join(60)
    assert not workers[0].is_alive()
    seen = contexts[1].get("rounds")
    deadline = time.monotonic() + 60
    while contexts[1].get("rounds") <= seen and time.monotonic() < deadline:
        time.sleep(0.001)
    assert contexts[1].get("rounds") > seen
    assert workers[1].is_alive()
    contexts[1].cancel()
    workers[1].join(60)
    assert not workers[1].is_alive()
    for context in contexts:
        context.close()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_exception_in_progress_stops_the_run(threads):
    seen = []

    def report(progress):
        if progress.rounds:  # a busy machine starts threads late
            seen.append(progress)
        if len(seen) > 3 and seen[-1].rounds > seen[0].rounds:
            raise RuntimeError("enough")

    with ContextView(threads) as context:
        with pytest.raises(RuntimeError, match="enough"):
            run_native(kernel(ENDLESS), context, threads, progress=report)
        assert not context.busy
    # Neighbors may be equal, while the records of rounds get more memory.
    assert 0 < seen[0].rounds < seen[-1].rounds
    assert seen[0].frontier_size == 7
    # read one after the other: they may be from neighboring rounds, never from before `rounds`
    assert seen[1].edges >= 100 * (seen[1].rounds - 1)
    assert seen[0].elapsed >= 0.1


INTERRUPT = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts with &
sys.path.insert(0, {here!r})
from kernels import EMPTY, ENDLESS, kernel
from vgraph.compiler.backends.context import ContextView
from vgraph.runtime.devices.threads import run_native
run_native(kernel(EMPTY), ContextView({threads}), {threads})
context = ContextView({threads})
sent = []
def strike():
    while context.get("rounds") < 10: time.sleep(0.001)
    time.sleep(0.05)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=strike).start()
try:
    run_native(kernel(ENDLESS), context, {threads})
except KeyboardInterrupt:
    assert time.monotonic() - sent[0] < 30  # about 0.01; on a busy machine more
    run_native(kernel(EMPTY), ContextView({threads}), {threads})
    print("usable")
"""


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_ctrl_c_stops_an_endless_kernel(threads):
    code = INTERRUPT.format(here=str(HERE), threads=threads)
    done = python(code)
    assert (done.returncode, done.stdout) == (0, "usable\n"), done.stderr


def test_process_ends_cleanly_with_pools_idle_and_busy():
    code = f"""
import sys, threading, time
sys.path.insert(0, {str(HERE)!r})
from kernels import EMPTY, ENDLESS, kernel
from vgraph.compiler.backends.context import ContextView
from vgraph.runtime.devices.threads import run_native
run_native(kernel(EMPTY), ContextView(4), 4)
context = ContextView(2)
threading.Thread(target=run_native, args=(kernel(ENDLESS), context, 2), daemon=True).start()
while context.get("rounds") < 10: time.sleep(0.001)
print("end")
"""
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def in_child(action):
    """Exit status of a forked child that runs `action`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        status = 1
        try:
            status = 0 if action() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_forked_child_has_its_own_pools():
    assert rounds(2, 10)
    assert in_child(lambda: rounds(2, 10) and rounds(3, 10)) == 0
    assert rounds(2, 10)


def test_fork_while_another_thread_runs():
    context = ContextView(2)
    worker = threading.Thread(target=run_native, args=(kernel(ENDLESS), context, 2))
    worker.start()
    try:
        assert in_child(lambda: rounds(2, 10)) == 0
    finally:
        context.cancel()
        worker.join()
    context.close()


@linux
def test_no_native_thread_survives_the_moment_of_a_fork():
    rounds(4, 1)
    close_idle_pools()
    before = settled_threads()
    rounds(4, 1)
    in_child(lambda: True)
    assert settled_threads() == before


STARVED = """
import sys
sys.path.insert(0, {here!r})
from kernels import EMPTY, kernel
from vgraph.compiler.backends.context import ContextView
from vgraph.errors import DeviceError
from vgraph.runtime.devices.threads import run_native
import resource
run_native(kernel(EMPTY), ContextView(1), 1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (30 << 20),) * 2)  # stacks of 2 MiB for about fifteen threads
try:
    run_native(kernel(EMPTY), ContextView(200), 200)
except DeviceError as fault:
    print(fault)
run_native(kernel(EMPTY), ContextView(3), 3)
"""


@linux
def test_threads_that_the_system_refuses_are_an_error_and_leave_no_trace():
    code = STARVED.format(here=str(HERE))
    done = python(code)
    assert (done.stdout, done.stderr) == ("the system refuses to start 200 threads\n", "")


@pytest.mark.parametrize("threads", [0, -1, 1025, 10**6, True, 2.5])
def test_number_of_threads_is_checked(threads):
    graph = vg.Graph.from_edges([0], [1])
    with pytest.raises(ParameterError, match=f"threads={threads}: an int from 1 to 1024"):
        vg.run(vg.algorithms.bfs, graph, source=0, threads=threads)


def test_the_number_of_threads_of_the_knob_is_checked(monkeypatch):
    monkeypatch.setenv("VGRAPH_THREADS", "1000000")
    graph = vg.Graph.from_edges([0], [1])
    with pytest.raises(ParameterError, match="threads=1000000: an int from 1 to 1024"):
        vg.run(vg.algorithms.bfs, graph, source=0)


def test_latency_of_a_trivial_run():
    with ContextView(1) as context:
        times = []
        for _ in range(200):
            start = time.perf_counter()
            run_native(kernel(EMPTY), context, 1)
            times.append(time.perf_counter() - start)
    assert min(times) < 0.01  # about 10 microseconds; a lost wake-up takes 20 ms


def test_default_threads_follows_the_knob_then_the_machine(monkeypatch):
    monkeypatch.delenv("VGRAPH_THREADS", raising=False)
    monkeypatch.setattr(cpus, "available_cpus", lambda: 6)
    assert cpus.default_threads() == 6
    monkeypatch.setenv("VGRAPH_THREADS", "3")
    assert cpus.default_threads() == 3
    with config.scope(threads=9):
        assert cpus.default_threads() == 9


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000"}, None),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "400000 100000"}, 4.0),
        ("0::/a\n", {"a/cpu.max": "400000 100000", "cpu.max": "200000 100000"}, 2.0),
        ("4:cpu,cpuacct:/x\n", {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("0::/\n", {"cpu.max": "garbage"}, None),
    ],
)
def test_quota_of_the_control_group(tmp_path, membership, files, expected):
    (tmp_path / "membership").write_text(membership)
    for name, text in files.items():
        file = tmp_path / "mount" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert cpus.cgroup_quota(tmp_path / "membership", tmp_path / "mount") == expected
    assert cpus.cgroup_quota(tmp_path / "absent", tmp_path / "mount") is None
    assert cpus.available_cpus() >= 1
