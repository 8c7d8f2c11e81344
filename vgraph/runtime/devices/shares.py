"""Divided loops of a run on a set of devices: native code asks for iterations, and a policy gives them.

`vgraph/sharing/` decides; here are the clock, the members that wait, and what earlier runs have shown. A member's
thread calls `Shares.give` from native code, so Python runs in it: no exception may leave, and whoever waits looks
whether its run was cancelled.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph.compiler.analysis import placement as part
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgraph.compiler.backends.context import ContextView
    from vgraph.runtime.devices.groups import Member

_NAP: Final = 0.005
"""Seconds after which a member that waits looks whether its run was cancelled."""
_NOTED: Final = 1024
"""Runs of a loop that are remembered, the first ones."""
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
_past: weakref.WeakKeyDictionary[Graph, dict[object, list[Outcome]]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _forget() -> None:
    """In a forked child: nobody is inside the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


@dataclass(frozen=True, eq=False)
class Shared:
    """How a set divides: the policy, and what its runs before have shown."""

    policy: Policy
    graph: Graph
    algorithm: str

    def past(self, loop: str, members: Sequence[Member]) -> list[Outcome]:
        """What the runs of a loop on these members did; "" for whole runs on placements."""
        with _lock:
            key = self.algorithm, loop, self.policy, tuple(members)
            return [*_past.get(self.graph, {}).get(key, ())]

    def note(self, loop: str, members: Sequence[Member], outcome: Outcome) -> None:
        with _lock:
            key = self.algorithm, loop, self.policy, tuple(members)
            past = _past.setdefault(self.graph, {}).setdefault(key, [])
            if len(past) < _NOTED:
                past.append(outcome)


def workers_of(members: Sequence[Member]) -> list[Worker]:
    """The members as policies see them: each runs one iteration at a time, on all of its threads."""
    return [Worker(m.name, 1, m.share / m.slowed, m.kind) for m in members]


@dataclass
class _Loop:
    """A loop under way, the iterations that were given, and the members that have had all of it."""

    division: Division
    began: float
    given: NDArray[np.bool_]
    over: int = 0

    def take(self, member: int) -> range | None:
        """What the policy gives a member now. Raises ParameterError for what cannot be given: native code would run
        it."""
        found = self.division.take(member, time.perf_counter())
        if not found:
            return found
        inside = (
            isinstance(found, range) and found.step == 1 and 0 <= found.start < found.stop <= self.given.size
        )
        if not inside or self.given[found.start : found.stop].any():
            raise ParameterError(
                f"the policy gave {found} of {self.given.size} iterations: a range of some that nobody had, by 1"
            )
        self.given[found.start : found.stop] = True
        return found


class Shares:
    """The divided loops of one run."""

    def __init__(
        self, shared: Shared, members: Sequence[Member], graph: Graph, given: Mapping[str, Any]
    ) -> None:
        self.shared, self.members, self.graph, self.given = shared, members, graph, given
        self.workers = workers_of(members)
        self.contexts: list[ContextView] = []
        self.arrays: list[Mapping[str, NDArray[Any]]] = []
        self.iterations = [0] * len(members)
        self.waited = [0.0] * len(members)
        self.failure: BaseException | None = None
        self._loops: dict[tuple[str, int], _Loop] = {}
        self._passed: list[dict[str, int]] = [{} for _ in members]
        """How often each member has had all of a loop."""
        self._since = [0.0] * len(members)
        """When it got what it runs."""
        self._changed = threading.Condition()
        self._callback = _CALLBACK(self.give)

    def join(self, context: ContextView, arrays: Mapping[str, NDArray[Any]]) -> None:
        """A member, in their order."""
        self.contexts.append(context)
        self.arrays.append(arrays)
        context.set("share", ctypes.cast(self._callback, ctypes.c_void_p).value or 0)
        context.keep(self)

    def give(self, address: int, count: int, got: int) -> None:
        """Give a member some iterations of a loop of `count`: called by its first thread."""
        member = next(k for k, c in enumerate(self.contexts) if c.address == address)
        name = next(n for n, a in self.arrays[member].items() if a.ctypes.data == got and part.items_of(n))
        self.arrays[member][name][:2] = 0
        try:
            found = self._taken(member, name, count)
            self.arrays[member][name][:2] = found.start, found.stop
        except BaseException as error:
            self.failure = self.failure or error  # others may come from what is left of the loop
            for context in self.contexts:
                context.cancel()

    def _taken(self, member: int, name: str, count: int) -> range:
        self._slow_down(member)
        with self._changed:
            turn = self._passed[member].get(name, 0)
            loop = self._loops.get((name, turn)) or self._begin(name, turn, count)
            found = loop.take(member)
            self._changed.notify_all()
            asked = time.perf_counter()
            while found is None and not self.contexts[member].get("cancel"):
                self._changed.wait(_NAP)
                found = loop.take(member)
            self.waited[member] += time.perf_counter() - asked
            self._since[member] = time.perf_counter() if found else 0.0
            if found or found is None:
                self.iterations[member] += len(found or ())
                return found or range(0)
            self._passed[member][name] = turn + 1
            loop.over += 1
            if loop.over == len(self.members):
                self._end(name, self._loops.pop((name, turn)))
            return range(0)

    def _slow_down(self, member: int) -> None:
        """A slowed member takes a multiple of its time."""
        now = time.perf_counter()
        until = now + (self.members[member].slowed - 1.0) * (now - self._since[member])
        while self._since[member] and now < until and not self.contexts[member].get("cancel"):
            time.sleep(min(_NAP, until - now))
            now = time.perf_counter()

    def _begin(self, name: str, turn: int, count: int) -> _Loop:
        past = self.shared.past(name, self.members)
        division = self.shared.policy.divide(Work(count, self._arcs(name, count)), self.workers, past)
        loop = self._loops[name, turn] = _Loop(division, time.perf_counter(), np.zeros(count, np.bool_))
        return loop

    def _end(self, name: str, loop: _Loop) -> None:
        made = time.perf_counter() - loop.began
        d, lacking = loop.division, loop.given.size - np.count_nonzero(loop.given)
        if lacking:
            raise ParameterError(f"the policy gave {lacking} of {loop.given.size} iterations to nobody")
        self.shared.note(name, self.members, Outcome(tuple(d.done), tuple(d.busy), made))

    def _arcs(self, name: str, count: int) -> NDArray[np.int64] | None:
        """The arcs at the vertices that a loop goes over, where it goes over an array of them."""
        items = np.asarray(self.given.get(part.items_of(name) or ""))
        if items.ndim != 1 or items.dtype.kind not in "iu" or len(items) != count:
            return None
        arcs: NDArray[np.int64] = self.graph.out_degree[items].astype(np.int64)
        return arcs
