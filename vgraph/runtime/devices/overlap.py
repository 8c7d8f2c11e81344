"""Runs that change to another order of vertices on their way: it is made by a thread beside them.

A run is halted at a fork point, between two parallel loops, where all that it holds is known: what stands at vertices,
frontiers, and the driver's numbers. That is put into the new order, and native code goes on there with the new arcs.
On a GPU a run is one launch that nobody halts: there it is the next run that changes.
"""

from __future__ import annotations

import atexit
import contextvars
import ctypes
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.cpus import available_cpus
from vgraph.graph import layouts
from vgraph.graph.relabel import By, Relabelled, made_beside
from vgraph.records import dataclass
from vgraph.runtime.arguments import host_array, topology_array
from vgraph.runtime.devices.threads import run_native
from vgraph.runtime.result import OverlapStats

if TYPE_CHECKING:
    from vgraph.compiler.backends.base import Kernel
    from vgraph.compiler.backends.context import ContextView
    from vgraph.graph import Graph
    from vgraph.runtime.devices.runner import Call, Ran
    from vgraph.runtime.progress import ProgressCallback

Arrays = dict[str, np.ndarray[Any, Any]]

TRIAL_ROUNDS: Final = 6
TRIAL_SECONDS: Final = 0.05
"""After so many rounds, and so long, in the new order it is compared with the old one."""
LOSS: Final = 1.02
"""A run goes back if rounds take so many times as long as before."""
LEAST: Final = 3
"""Rounds of one label, on each side, that can be compared."""
NICE: Final = 19
"""How far the thread stands back where the run has all processors: it gets 1.5 % of one that is busy."""

FORCED: Sequence[By] = ()
"""Orders that a run changes to at its fork points, one after the other; tests set it, and `SKIP`: how many fork points
it passes before each."""
SKIP = 0


_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _leave() -> None:
    """At the end of the process: nobody needs these orders any more."""
    for thread in tuple(_threads):
        while (
            thread.is_alive() and thread.ident is not None
        ):  # what is raised in a callback of NumPy's is lost
            stop = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(*stop)
            thread.join(0.05)


atexit.register(_leave)


class Beside:
    """A call in another order: made by a thread, which begins when it is first asked whether it is there.

    That is when the run has lasted a moment, so what ends before costs nothing more. The thread goes on when the run
    ends sooner: what it makes is kept with the graph, for the next. It ends with the process.
    """

    def __init__(self, make: Callable[[By | None], Call], order: str) -> None:
        self.make, self.order = make, order
        self.call: Call | None = None
        self.seconds: float | None = None
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def ready(self, alike: Call, threads: int) -> bool:
        """Whether it is there. Raises what the thread had to say."""
        if self._thread is None:
            work = contextvars.copy_context().run
            self._thread = threading.Thread(
                target=work, args=(self._work, alike, threads), name="vgraph overlap", daemon=True
            )
            _threads.add(self._thread)
            self._thread.start()
        if self._thread.is_alive():
            return False
        if self._error is not None:
            raise self._error
        return True

    def _work(self, alike: Call, threads: int) -> None:
        start = time.perf_counter()
        try:
            if threads >= available_cpus() and sys.platform == "linux":  # elsewhere it would be the process
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
            self.call = made_like(alike, self.make(None))
        except Exception as error:
            self._error = error
        self.seconds = time.perf_counter() - start


def made_like(alike: Call, call: Call) -> Call:
    """The call, with all arrays of arcs that a run of `alike` walks."""
    if alike.transposed:
        _ = call.graph.in_
    for arg in call.plan.interface.args:
        if arg.kind in ("adjacency", "prepared"):
            topology_array(arg, call)
    for array in call.plan.arrays:
        if array.origin == "graph":
            host_array(array, call)
    return call


class Trial:
    """Runs on a GPU, each in one launch, while a thread makes an order: the next one that begins takes it.

    After some runs of a program in it their arcs are compared with those before; if they take longer, its next runs go
    back. Kept with the arcs. The thread begins after the first run: while that loads what it needs, another thread must
    not import the same modules.
    """

    def __init__(self, order: str) -> None:
        self.order = order
        self.seconds: float | None = None
        self._error: Exception | None = None
        self._rates: dict[str, tuple[list[float], list[float]]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def _begin(self, graph: Graph) -> None:
        """Have the thread make the order, if it has not begun."""
        with self._lock:
            if self._thread is None:
                work = contextvars.copy_context().run
                self._thread = threading.Thread(
                    target=work, args=(self._work, graph), name="vgraph overlap", daemon=True
                )
                _threads.add(self._thread)
                self._thread.start()

    def _work(self, graph: Graph) -> None:
        start = time.perf_counter()
        try:
            made_beside(graph, self.order)
        except Exception as error:
            self._error = error
        self.seconds = time.perf_counter() - start

    def order_for(self, program: str) -> str | None:
        """The order for the next run of a program; None: the graph's own. Raises what the thread had to say."""
        if self._error is not None:
            raise self._error
        return self.order if self.seconds is not None and self._worth(program)[1] else None

    def noted(self, graph: Graph, program: str, ran: Ran, changed: bool) -> OverlapStats:
        """What became of it, after a run of a program in its order, if it `changed`, or in the graph's own."""
        self._begin(graph)
        arcs = int(ran.records[:, 3].sum())
        with self._lock:
            rates = self._rates.setdefault(program, ([], []))
            if arcs and not ran.dropped:
                rates[changed].append(ran.kernel_seconds / arcs)
        return OverlapStats(
            self.order, self.seconds, len(rates[False]) if changed else None, 0.0, *self._worth(program)
        )

    def _worth(self, program: str) -> tuple[float | None, bool]:
        """How many times as long an arc took before, if that can be told, and whether runs are to be in the order."""
        with self._lock:
            before, after = self._rates.get(program, ((), ()))
            if min(len(before), len(after)) < LEAST:
                return None, True
            gain = float(np.quantile(before, 0.25) / np.quantile(after, 0.25))
        return gain, gain * LOSS >= 1


@dataclass
class _Run:
    """A run that may change."""

    kernel: Kernel
    context: ContextView
    arrays: Arrays
    call: Call
    progress: ProgressCallback | None

    def go(self, due: Callable[[], bool] | None = None) -> bool:
        """Go on, to the end or to where it is halted; whether it was."""
        threads = self.context.get("num_threads")
        run_native(self.kernel, self.context, threads, progress=self.progress, due=due)
        self.context.set("halt", 0)
        return self.context.halted

    def change(self, call: Call) -> float:
        """Put all that the halted run holds into the order of `call`; the seconds it took."""
        start = time.perf_counter()
        numbers, context, interface = between(self.call, call), self.context, call.plan.interface

        def renumber(ids: NDArray[Any]) -> NDArray[Any]:
            return numbers.renumber(ids, numbers.new_of_old)

        for array in call.plan.arrays:
            values = self.arrays.get(array.name)
            if values is None:
                continue
            if array.origin == "graph":
                self.arrays[array.name] = host_array(array, call)
            elif array.site == "vertex":
                values[:] = numbers.to_new(values, ids=array.ids)
            elif array.site == "thread":
                values[:] = values[:, numbers.old_of_new]
            elif array.ids:
                values[:] = renumber(values)
        for slot, arg in enumerate(interface.args):
            match arg.kind:
                case "property":
                    context.set_array(slot, self.arrays[arg.name])
                case "adjacency" | "prepared":
                    context.set_array(slot, topology_array(arg, call))
                case "prepared_number":
                    key, _, number = arg.name.rpartition(".")
                    context.set_scalar(slot, layouts.on_host(call.graph, key).numbers[number], arg.dtype)
                case "param" if arg.name in call.plan.vertex_params:
                    context.set_scalar(slot, call.arguments[arg.name], arg.dtype)
        context.renumber(renumber, numbers.old_of_new)
        for word, count in interface.state_vertices:
            nbytes = count * interface.id_bits // 8
            ids = context.state[8 * word : 8 * word + nbytes].view(f"u{interface.id_bits // 8}")
            ids[:] = renumber(ids)
        self.call = call
        return time.perf_counter() - start


def between(old: Call, new: Call) -> Relabelled:
    """The vertices of one call as those of another."""
    to_user = np.arange(new.graph.num_vertices) if new.numbers is None else new.numbers.old_of_new
    old_of_new = to_user if old.numbers is None else old.numbers.new_of_old[to_user]
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(old_of_new.size)
    return Relabelled(new.graph, old_of_new, new_of_old)


def run_beside(
    kernel: Kernel, context: ContextView, arrays: Arrays, call: Call, progress: ProgressCallback | None
) -> tuple[Call, OverlapStats]:
    """Run `call` to its end while `call.beside` is made, and from then on in that order unless it is slower; the call
    that it ended as, and what became of it."""
    beside, run = call.beside, _Run(kernel, context, arrays, call, progress)
    assert beside is not None
    if FORCED:
        return _forced(beside, run)
    threads = context.get("num_threads")
    if not run.go(lambda: beside.ready(call, threads)):
        return run.call, OverlapStats(beside.order, beside.seconds)
    assert beside.call is not None
    rounds, begin = context.get("rounds"), time.perf_counter()
    seconds = run.change(beside.call)

    def tried() -> bool:
        enough = context.get("rounds") >= rounds + TRIAL_ROUNDS
        return enough and time.perf_counter() - begin >= TRIAL_SECONDS

    halted, kept = run.go(tried), True
    gain = _gain(context.trace(), rounds)
    if halted:
        kept = gain is None or gain * LOSS >= 1
        if not kept:
            seconds += run.change(call)
        run.go()
    return run.call, OverlapStats(beside.order, beside.seconds, rounds, seconds, gain, kept)


def _forced(beside: Beside, run: _Run) -> tuple[Call, OverlapStats]:
    """Changes as often as can be, for tests."""
    first, changes = run.call, 0
    calls = [made_like(first, beside.make(by)) for by in FORCED]
    while True:
        run.context.set("halt", 1)
        run.context.set("skip", SKIP)
        if not run.go():
            return run.call, OverlapStats(beside.order, 0.0, changes)
        run.change(calls[changes % len(calls)])
        changes += 1


def _gain(trace: NDArray[Any], rounds: int) -> float | None:
    """How many times as long rounds took before the first `rounds` had passed as they did afterwards, for as many arcs
    and vertices; None where too few can be compared. Quick ones are, for others on the machine slow down some."""
    before, after = trace[:rounds], trace[rounds + 1 :]  # the one between them has the change in it
    usual = taken = 0.0
    for kind in np.unique(after[["label", "direction"]]):
        rates, work = [], 0.0
        for part in (before, after):
            rows = part[part[["label", "direction"]] == kind]
            size = np.maximum(rows["edges"] + rows["frontier"], 1)
            rates.append(rows["ns"] / size)
            work = float(size.sum())
        if min(map(len, rates)) >= LEAST:
            old, new = (float(np.quantile(rate, 0.25)) for rate in rates)
            usual, taken = usual + old * work, taken + new * work
    return usual / taken if taken else None
