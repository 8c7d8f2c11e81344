"""Runs on a set of devices: each member has its part of the graph, properties and frontiers of its own.

Members that are groups of CPU threads run the same machine code, each in a native context with a pool of its own, and
meet in `vg_exchange`, their *channel*: what generated code calls to give others what it has for them. GPUs are members
of sets in `gpu_sets.py`; what goes into a member's run and comes out of it is the same.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vgraph.cache import cache_key
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.backends.abi import PEER, SET
from vgraph.compiler.backends.context import ContextView, aligned_zeros
from vgraph.cpus import available_cpus
from vgraph.errors import DeviceError
from vgraph.graph import Graph, conflicts, members
from vgraph.graph.conflicts import Turns
from vgraph.graph.layouts import plans
from vgraph.graph.placement import Part, placed, ranges
from vgraph.records import dataclass
from vgraph.runtime.arguments import needed
from vgraph.runtime.devices.cpu import CPU, RECORD, bind, new_context
from vgraph.runtime.devices.groups import CPUGroup
from vgraph.runtime.devices.runner import Call, Ran, raise_failure
from vgraph.runtime.devices.shares import Shared, Shares, workers_of
from vgraph.runtime.devices.threads import SPIN_LIMIT, native_runtime, run_together
from vgraph.runtime.result import MemberStats
from vgraph.sharing.base import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgraph.compiler.backends.base import Kernel, KernelInterface
    from vgraph.graph.cuts import Placement
    from vgraph.graph.layouts import Prepared
    from vgraph.runtime.devices.groups import Member
    from vgraph.runtime.progress import ProgressCallback

_lock = threading.Condition()
_busy: set[int | str] = set()
"""Cores and GPUs that members of runs under way have been given."""


@dataclass
class Seated:
    """A member in a run, and the native code that runs it, or acts for it: `arrays` are those of `call`."""

    member: Member
    part: Part
    kernel: Kernel
    context: ContextView
    threads: int
    cores: tuple[int, ...]
    call: Call
    arrays: dict[str, NDArray[Any]]

    @property
    def desk(self) -> int:
        """Where a GPU asks for what native code does for it; 0: there is none."""
        return 0

    def left(self) -> Ran:
        """What its run left."""
        trace, results = self.context.trace(), self.call.plan.interface.results
        return Ran(
            self.arrays,
            [self.context.result(slot, r.dtype) for slot, r in enumerate(results)],
            np.stack([trace[name] for name in RECORD], axis=1).astype(np.int64),
            threads=self.threads,
            prepare_seconds=0.0,
            run_seconds=0.0,
            dropped=int(self.context.get("trace_dropped")),
            waited=self.context.waited,
        )


class CPUSet(CPU):
    """Groups of threads that run a program together."""

    name: ClassVar[str] = "cpu"
    relabels: ClassVar[bool] = False

    def __init__(self, members: Sequence[Member], placement: Placement, shared: Shared | None = None) -> None:
        super().__init__(sum(m.threads for m in members if isinstance(m, CPUGroup)))
        self.members, self.placement, self.shared = tuple(members), placement, shared
        self.waits = False
        """For members that another run has."""

    def make_ready(self, kernel: Any, call: Call) -> Sequence[Prepared]:
        self._parts(call)
        return ()

    def _parts(self, call: Call) -> tuple[Part, ...]:
        return parts_of(call.graph, call.plan.interface, self.members, self.placement, self.shared)

    def run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        start = time.perf_counter()
        with reserved(self.members, waits=self.waits):
            there: list[Seated] = []
            shares = None
            if self.shared is not None and divides(call.plan.interface):
                shares = Shares(self.shared, self.members, call.graph, call.arguments)
            try:
                for k, own in enumerate(self._parts(call)):
                    there.append(self._seated(kernel, call, own, k))
                    if shares is not None:
                        shares.join(there[-1].context, there[-1].arrays)
                peers = self._joined(there)
                prepared = time.perf_counter()
                self._together(there, progress)
                seconds = time.perf_counter() - prepared
                if shares is not None and shares.failure is not None:
                    raise shares.failure
                for m in there:
                    raise_failure(m.call.plan.interface, m.context.status, m.context.get("payload"))
                return self._ran(call, there, peers, shares, prepared - start, seconds)
            finally:
                for m in there:
                    m.context.close()

    def _seated(self, kernel: Any, call: Call, own: Part, number: int) -> Seated:
        """A member with all that its run needs."""
        group = self.members[number]
        assert isinstance(group, CPUGroup)
        context = new_context(call.plan, group.threads)
        try:
            mine = call_of(call, own, number, len(self.members))
            arrays = bind(context, mine)
        except BaseException:
            context.close()
            raise
        return Seated(group, own, kernel, context, group.threads, group.cores, mine, arrays)

    def _together(self, there: Sequence[Seated], progress: ProgressCallback | None) -> None:
        """Run all members to their end."""
        run_together([(m.kernel, m.context, m.threads, m.cores) for m in there], progress=progress)

    def _joined(self, there: Sequence[Seated]) -> NDArray[Any]:
        """Tell every member of the others; what native code knows of them."""
        members = aligned_zeros(SET.size).view(SET.dtype)
        peers = aligned_zeros(PEER.size * len(there)).view(PEER.dtype)
        members["members"], members["peers"] = len(there), peers.ctypes.data
        members["spin_limit"] = SPIN_LIMIT if self.threads <= available_cpus() else 0
        outs = [np.zeros(1 + len(m.arrays), np.uint64) for m in there]
        turns = [turns_for(m.call, k, len(there)) for k, m in enumerate(there)]
        # one that interrupts have abandoned may still copy what another has for it, which has left
        looked_at = (members, peers, *outs, *(m.part for m in there), *(m.arrays for m in there), *turns)
        for k, m in enumerate(there):
            peers[k]["set"], peers[k]["number"] = members.ctypes.data, k
            peers[k]["ghosts"], peers[k]["shared"] = m.part.ghosts.ctypes.data, m.part.shared.ctypes.data
            peers[k]["outs"], peers[k]["desk"] = outs[k].ctypes.data, m.desk
            if (own := turns[k]) is not None:
                peers[k]["sent"], peers[k]["came"] = own.sent.ctypes.data, own.came.ctypes.data
            m.context.set("channel", native_runtime().exchange)
            m.context.set("peer", peers.ctypes.data + k * PEER.size)
            m.context.keep(looked_at)
        return peers

    def _ran(
        self,
        call: Call,
        there: Sequence[Seated],
        peers: NDArray[Any],
        shares: Shares | None,
        prepared: float,
        seconds: float,
    ) -> Ran:
        parts, left = [m.part for m in there], [m.left() for m in there]
        rows = [r.records for r in left]
        rested = shares.waited if shares is not None else [0.0] * len(there)
        ran = shares.iterations if shares is not None else [0] * len(there)
        stats = [
            MemberStats(
                m.member.name,
                max(0.0, seconds - int(peer["waited"]) * 1e-9 - rested[k]),
                len(m.part.owned),
                m.part.arcs,
                len(m.part.ghosts_at),
                m.part.nbytes,
                int(peer["received"]),
                ran[k],
            )
            for k, (m, peer) in enumerate(zip(there, peers, strict=True))
        ]
        if self.shared is not None and shares is None:
            work = tuple(s.vertices + s.arcs for s in stats)
            self.shared.note("", self.members, Outcome(work, tuple(s.seconds for s in stats), seconds))
        threads = sum(r.threads for r in left)
        return Ran(
            gathered(call, parts, [r.arrays for r in left]),
            left[0].scalars,
            np.concatenate(rows) if shares is not None else records(parts, rows, threads),
            threads=threads,
            prepare_seconds=prepared,
            run_seconds=seconds,
            transfer_seconds=sum(r.transfer_seconds for r in left),
            kernel_seconds=max(r.kernel_seconds for r in left),
            from_host=any(r.from_host for r in left),
            dropped=max(r.dropped for r in left),
            waited=sum(r.waited for r in left) / threads,
            members=stats,
        )


def parts_of(
    graph: Graph,
    interface: KernelInterface,
    members: Sequence[Member],
    placement: Placement,
    shared: Shared | None = None,
) -> tuple[Part, ...]:
    """The part of each member for a kernel, made now if the graph has none."""
    count, whole = len(members), all(a.name != part.OWNED for a in interface.args)
    counts = any(a.name == part.IN_DEGREE for a in interface.args)
    form = {"both": interface.transpose or counts, "whole": whole}
    if isinstance(placement, np.ndarray):
        key = (count, cache_key((placement.tobytes().hex(),)))
        return placed(graph, lambda: (placement, None), count, key, **form)
    shares: tuple[float, ...] = tuple(m.share for m in members)
    if placement is not None:
        return placed(graph, lambda: placement.place(graph, shares), count, (placement.key, shares), **form)
    if shared is not None and shared.policy.places and not divides(interface):
        found = shared.policy.shares(workers_of(members), shared.past("", members))
        shares = tuple(float(f"{s / sum(found):.2g}") for s in found)  # parts are kept by them
    return placed(graph, lambda: (ranges(graph, shares), None), count, shares, **form)


def divides(interface: KernelInterface) -> bool:
    """Whether members take iterations of divided loops."""
    return any(part.items_of(a.name) is not None for a in interface.args)


def _forget() -> None:
    """In a forked child: nobody runs, and nobody is inside the lock."""
    global _lock
    _lock = threading.Condition()
    _busy.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def reserved(members: Sequence[Member], *, waits: bool = False) -> Iterator[None]:
    """Nobody else's members are given the cores, or the GPUs, of these. Where another run has one of them this is an
    error, unless it `waits`."""
    wanted = {it for m in members for it in m.held}
    with _lock:
        while waits and not wanted.isdisjoint(_busy):
            _lock.wait()
        for m in members:
            for it in m.held:
                if it in _busy:
                    what = f"core {it}" if isinstance(it, int) else "it"
                    raise DeviceError(f"{m.name} is busy: another run on a set of devices has {what}")
        _busy.update(wanted)
    try:
        yield
    finally:
        with _lock:
            _busy.difference_update(wanted)
            _lock.notify_all()


_COPIES = (part.COPIES, part.COPY_OF, part.COPY_AT)


# --- what goes in ---------------------------------------------------------------------------------------------


def call_of(call: Call, own: Part, number: int, count: int, halves: int = 1) -> Call:
    """The run of a plan on one member: arguments of vertices are cut to its part. `halves`: of a buffer that takes what
    others send."""
    graph, plan = call.graph, call.plan
    given = dict(call.arguments)
    given |= {part.OWNED: len(own.owned), part.MEMBERS: count}
    given |= {name: getattr(graph, what) for what, name in part.SIZES.items()}
    given[part.EDGES] = graph.num_edges
    at_ghosts = own.ghosts_at
    turns = turns_for(call, number, count)
    most, room = (0, 0) if turns is None else (turns.most, turns.room)
    sizes = {"owners": len(at_ghosts), "ghosts": len(own.at), "all": 1, "each": count, "turns": most}
    at_sizes = {"owners": len(own.at), "ghosts": len(at_ghosts), "all": count, "each": count, "turns": room}
    lists = {part.GHOSTS: at_ghosts, part.SHARED: own.at}
    lists |= {part.STARTS[part.GHOSTS]: own.ghosts, part.STARTS[part.SHARED]: own.shared}
    for array in plan.arrays:
        name = array.name
        buffer = part.way_of(name) if array.site == "place" else None
        if buffer is not None:
            end, way = buffer
            size = sizes[way] if end == "to" else halves * at_sizes[way]
            given[name] = np.broadcast_to(np.uint8(0), (size, array.length) if array.length else (size,))
        elif part.items_of(name) is not None:
            given[name] = np.zeros(2, np.uint8)
        elif (told := part.parts_of(name)) is not None:
            given[name] = getattr(turns, told[0]).astype(np.int64 if told[0] == "spans" else graph.id_dtype)
        elif name == part.COUNTS:
            given[name] = np.broadcast_to(np.uint8(0), count)
        elif name in lists:
            given[name] = lists[name]
        elif name in _COPIES:
            given[name] = own.copies[_COPIES.index(name)]
        elif name == part.PLACE:
            given[name] = own.here(graph.num_vertices)
        elif array.origin == "param" and array.site == "vertex":
            given[name] = np.asarray(given[name])[own.numbers]
        elif array.origin == "members":
            ids = np.asarray(given[members.array_name(name)], np.int64)
            given[name] = np.flatnonzero(members.marked(ids, graph.num_vertices)[own.numbers])
    return Call(plan, own.graph, given, None, call.max_rounds, call.seed)


def turns_for(call: Call, number: int, count: int) -> Turns | None:
    """What one of so many members does along blocks of the matrix; None for a plan without any."""
    parts = next((found[1] for a in call.plan.arrays if (found := part.parts_of(a.name))), None)
    if parts is None:
        return None
    assert plans.coloring is not None
    return conflicts.turns_of(call.graph, parts, count, plans.coloring)[number]


# --- what comes out -------------------------------------------------------------------------------------------


def gathered(
    call: Call, parts: Sequence[Part], arrays: Sequence[Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """The arrays of the results, of which members have these: each vertex's element as its owner has it."""
    plan, found = call.plan, {}
    returned = {o.array for o in plan.outputs}
    for array in plan.arrays:
        name = array.name
        if name not in returned or not needed(array, plan):
            continue
        found[name] = first = arrays[0][name]
        if array.site == "vertex":
            found[name] = np.empty((call.graph.num_vertices, *first.shape[1:]), first.dtype)
            for own, here in zip(parts, arrays, strict=True):
                found[name][own.numbers[own.owned]] = here[name][own.owned]
    return found


def records(parts: Sequence[Part], found: Sequence[NDArray[np.int64]], threads: int) -> NDArray[np.int64]:
    """The rounds, which all members have in the same order, with the active vertices and arcs of all."""
    for own, rows in zip(parts, found, strict=True):
        rows[:, 2] = np.minimum(rows[:, 2], len(own.owned))  # a loop over all vertices passes over ghosts
    rounds = max(map(len, found))
    # members that go on by themselves do not have the same number of rounds
    found = [np.concatenate([rows, np.zeros((rounds - len(rows), 6), np.int64)]) for rows in found]
    made = max(found, key=lambda rows: np.count_nonzero(rows[:, 4])).copy()
    made[:, 2] = np.sum([rows[:, 2] for rows in found], axis=0)
    made[:, 3] = np.sum([rows[:, 3] for rows in found], axis=0)
    made[:, 4] = np.max([rows[:, 4] for rows in found], axis=0)
    made[:, 5] = np.sum([rows[:, 5] for rows in found], axis=0) // threads
    return made
