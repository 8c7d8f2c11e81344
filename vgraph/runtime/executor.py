"""A job, and its run: from an algorithm and a graph to a result, on any device."""

from __future__ import annotations

import functools
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler import Compiled, Observer, build
from vgraph.compiler.facts import DEFERRED, Facts
from vgraph.compiler.frontend import ArgumentType, Signature
from vgraph.compiler.frontend.lengths import names_of_lengths
from vgraph.compiler.frontend.sources import Reached, reached
from vgraph.compiler.types import I32, I64, NUMPY_NAMES, U32, Scalar, Target, Type, Vector
from vgraph.errors import AlgorithmError, DeviceError, DeviceMemoryError
from vgraph.graph import members
from vgraph.graph.cuts import Cut, Placement
from vgraph.graph.relabel import made_beside
from vgraph.records import dataclass
from vgraph.runtime import policy
from vgraph.runtime.arguments import check_arguments, renumbered
from vgraph.runtime.devices.runner import Call, Loaded, Ran, Runner
from vgraph.runtime.plan import Plan
from vgraph.runtime.result import LayoutStats, Result, Round, Stats, Trace, Watched
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.compiler.backends.base import Backend
    from vgraph.compiler.frontend.typed import TypedProgram
    from vgraph.compiler.ir.rewrite import Pass
    from vgraph.graph import Graph
    from vgraph.graph.layouts import Prepared
    from vgraph.graph.relabel import By
    from vgraph.language.decorators import AlgorithmDef
    from vgraph.runtime.devices.groups import Member
    from vgraph.runtime.devices.overlap import Beside, Trial
    from vgraph.runtime.progress import ProgressCallback
    from vgraph.sharing import Policy


# --- signatures -----------------------------------------------------------------------------------------------


def lengths_of(
    names: frozenset[str], graph: Graph, types: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Mapping[str, int]:
    """The numbers that lengths of an algorithm's vectors are made of, by their names."""
    sizes = {"num_vertices": graph.num_vertices} if "num_vertices" in names else {}
    whole = (n for n in sorted(names) if isinstance(types.get(n), Scalar) and types[n].is_integer)
    return sizes | {name: int(arguments[name]) for name in whole}


def signature_of(
    graph: Graph, arguments: Mapping[str, Any], lengths: Mapping[str, int] = MappingProxyType({})
) -> Signature:
    """All that the types of a program depend on, for this graph and these argument types."""
    return Signature(
        Target(graph.id_dtype.itemsize * 8, graph.offset_dtype.itemsize * 8),
        {name: property_type(a) for name, a in graph.vertex_properties.items()},
        {name: property_type(a) for name, a in graph.edge_properties.items()},
        {name: path_type(graph, name) for name in graph.edge_properties},
        graph.directed,
        arguments,
        lengths,
    )


def property_type(array: np.ndarray[Any, Any]) -> Type:
    """The language's type for one element of a graph's property."""
    element = NUMPY_NAMES[array.dtype.name]
    return Vector(element, array.shape[1]) if array.ndim == 2 else element


def path_type(graph: Graph, name: str) -> Type:
    """A type for sums of an edge property along a path: 64-bit where 32 bits might overflow."""
    declared = property_type(graph.edge_properties[name])
    if declared not in (I32, U32) or not graph.num_arcs:
        return declared
    low, high, _ = graph.edge_property_range(name)
    longest = max(abs(int(low)), abs(int(high))) * max(1, graph.num_vertices)
    limit = np.iinfo(np.int32 if declared == I32 else np.uint32).max
    return declared if longest < limit else I64


# --- jobs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Job:
    """An algorithm on a graph, with all that was asked for: `prepare` checks it and fills it in."""

    algorithm: AlgorithmDef
    graph: Graph
    """As the algorithm prepared it, with `arguments` of all parameters and their `types` that go with it."""
    arguments: Mapping[str, Any]
    types: Mapping[str, ArgumentType]
    given: tuple[Graph, Mapping[str, Any]]
    """The user's graph and arguments."""
    rank: NDArray[Any] | None
    """Where the user's vertices are in `graph`; None: in their places."""
    schedule: Schedule
    device: str
    """"cpu", "cuda", "cuda:1", "python" or "checked"."""
    threads: int
    """Of a CPU; 0: the device has none, or chooses."""
    relabel: str | None
    """Run on the graph in this order of its vertices; arguments and results keep the ids of `graph`."""
    overlap: str | None
    """The order that is made while it runs, to go on in."""
    trial: Trial | None
    """Of an order that is made while runs on a GPU go on, for the next ones: what they have shown so far."""
    must_renumber: bool
    """The call asked for `relabel`: a program that may not run so is refused. Else it runs in the graph's own order."""
    deterministic: bool
    """The bits of the result do not depend on the number of threads, nor on the schedule."""
    max_rounds: int | None
    """A run of more rounds ends with AlgorithmError."""
    seed: int
    """Of `vg.random`: 0 to 2**64 - 1, no part of compiled code."""
    debug: NDArray[np.int64] | None
    """The user's vertices whose values are kept after each round; None: nobody asked."""
    output: str
    memory: str | None
    members: tuple[Member, ...] = ()
    """The devices that run it together, each on a part of the graph; none: one device does."""
    placement: Placement = None
    """The member of each vertex, or a cut of the arcs; None: ranges of vertices with about as many arcs for each
    thread."""
    share: Policy | None = None
    """How members divide loops over independent sources, or the graph; None: they divide no loops."""
    hurried: bool = False
    """Somebody waits for one run, and has not said that there will be more: `vg.run`."""
    why: str = ""
    """Why this device was chosen; and what runs it is one of, to know next time how long they take on it."""
    like: Hashable = None

    @functools.cached_property
    def reached(self) -> Reached:
        """The definitions that make the program, with what they capture now."""
        return reached(self.algorithm)

    @functools.cached_property
    def signature(self) -> Signature:
        """All that the types of the program depend on."""
        lengths = lengths_of(
            names_of_lengths(self.algorithm, self.reached), self.graph, self.types, self.arguments
        )
        return signature_of(self.graph, self.types, lengths)

    @functools.cached_property
    def typed(self) -> TypedProgram:
        """The program at algorithm level. Raises a Refusal for what the language does not take."""
        from vgraph.runtime.typed import typed

        return typed(self)

    @property
    def single(self) -> int:
        """1: code for one thread only, without atomics; 0: for any number, which has fork points."""
        return 1 if self.threads == 1 and self.overlap is None else 0

    @property
    def divides(self) -> str:
        """As of the compiler's context."""
        return "" if self.share is None else "may" if self.share.places else "must"

    @property
    def cut(self) -> bool:
        """As of the compiler's context."""
        return isinstance(self.placement, Cut)

    @property
    def mixed(self) -> bool:
        """Whether members are devices of several kinds."""
        return len({type(m) for m in self.members}) > 1

    @property
    def facts(self) -> Facts:
        """What the compiler knows of the graph, and of those who walk it."""
        found = policy.facts_of(self.walked, self.device.partition(":")[0])
        return replace(found, crowd=policy.crowd(self.threads)) if found.large else found

    @property
    def walked(self) -> Graph:
        """The graph whose arcs are walked: `graph`, in the order of `relabel`."""
        return self.graph if self.relabel is None else self.graph.relabelled(self.relabel).graph

    def compiled(
        self, backend: Backend, passes: Sequence[Pass] | None = None, observe: Observer | None = None
    ) -> Compiled:
        """The program compiled for `backend`, as `vgraph.compiler.build` does."""
        if self.debug is not None:
            from vgraph.compiler.passes.watch_rounds import watch_rounds
            from vgraph.compiler.user_passes import pipeline

            passes = (watch_rounds, *(pipeline() if passes is None else passes))
        return build(
            self.typed.program,
            backend,
            schedule=self.schedule,
            threads=self.single,
            facts=self.facts,
            deterministic=self.deterministic,
            distributed=bool(self.members),
            divides=self.divides,
            cut=self.cut,
            mixed=self.mixed,
            passes=passes,
            observe=observe,
        )

    def as_seen(self, result: Result) -> Result:
        """The result in the order of the user's graph, as the algorithm finishes it."""
        ordered = result if self.rank is None else result.reordered(self.rank)
        if self.algorithm.endings:
            ordered = ordered.finished(lambda values: self.algorithm.finish(values, self.arguments))
        return ordered.made_from(self.algorithm, *self.given)


# --- runs -----------------------------------------------------------------------------------------------------


def execute(job: Job, runner: Runner, progress: ProgressCallback | None = None) -> Result:
    """Run a job; the result is that of its own graph, not yet `as_seen`. Where layouts that nobody asked for do not fit
    on a GPU, it goes on without."""
    try:
        return _execute(job, runner, progress)
    except DeviceMemoryError:
        if not policy.forgo_layouts(job.walked, job.facts):
            raise
    return _execute(job, runner, progress)


def _execute(job: Job, runner: Runner, progress: ProgressCallback | None) -> Result:
    start = time.perf_counter()
    name, most = job.algorithm.name, job.max_rounds
    try:
        if most is not None or job.debug is not None:
            from vgraph.runtime import rounds

            job = replace(job, schedule=rounds.with_rounds(job))
            progress = progress if most is None else rounds.limited(progress, name, most)
        loaded = runner.build(job)
        job, loaded = _in_order(job, loaded, runner)
        compile_seconds = time.perf_counter() - start
        plan = loaded.plan
        call = _call(plan, job, runner)
        ran = runner.run(loaded.kernel, call, progress)
        call = ran.call or call
        if job.trial is not None:
            ran = replace(ran, overlap=job.trial.noted(job.graph, name, ran, call.order is not None))
        policy.note_run(job.walked, ran.free)
        if job.like is not None:
            taken = ran.prepare_seconds + ran.run_seconds + ran.transfer_seconds
            policy.note_seconds(job.given[0], job.like, "set" if job.members else job.device, taken)
        if runner.name == "cpu":
            policy.note_pulls(job.walked, _pulled(ran, plan))
        values = _outputs(ran, plan, runner, call)
        if most is not None and len(ran.records):
            # it may have gone on, and ended, before it was looked at
            first_too_many = int(ran.records[min(most, len(ran.records) - 1), 2])
            rounds.check_rounds(name, most, len(ran.records) + ran.dropped, first_too_many)
        stats = _stats(ran, plan, runner, compile_seconds + ran.compile_seconds, loaded.cached, call.order)
        parameters = (a.name for a in plan.interface.args)
        used = policy.with_deltas(plan.schedule, parameters, job.graph, runner.name, ran.threads)
        sets = frozenset(o.name for o in plan.outputs if o.members)
        trace = _trace(ran.records, plan, _watched(job, values, len(ran.records) + ran.dropped))
        return Result(name, values, stats, trace, used, sets, _of_edges(plan))
    except AlgorithmError as error:
        if job.device != "python":  # whose frames tell it
            from vgraph.runtime.failures import note_places

            note_places(error, job)
        raise
    except MemoryError as error:
        which = f" ({error})" if str(error) else ""  # which array, and how large
        raise DeviceError(f"out of memory: {name} on {job.graph!r} does not fit{which}") from error


def run_loaded(job: Job, runner: Runner, loaded: Loaded) -> dict[str, Any]:
    """The results by name of a job whose code is there already, for callers that run a program on many small graphs."""
    call = _call(loaded.plan, job, runner)
    return _outputs(runner.run(loaded.kernel, call, None), loaded.plan, runner, call)


def make_ready(job: Job, runner: Runner) -> tuple[LayoutStats, ...]:
    """Make what a run of the job would make and keep: its code, layouts, copies of the graph on a GPU."""
    policy.expect_runs(job.walked)
    try:
        loaded = runner.build(job)
        job, loaded = _in_order(job, loaded, runner)
        pulls = loaded.plan.interface.transpose and not job.members
        if runner.name == "cpu" and pulls and not job.walked.has_transpose:
            _ = job.walked.in_  # which facts are known of only now
            loaded = runner.build(job)
        return _layout_stats(runner.make_ready(loaded.kernel, _call(loaded.plan, job, runner)))
    except MemoryError as error:
        raise DeviceError(
            f"out of memory: what {job.algorithm.name} needs of {job.graph!r} does not fit ({error})"
        ) from error


def _in_order(job: Job, loaded: Loaded, runner: Runner) -> tuple[Job, Loaded]:
    """Job and program in the order that is wanted; in the graph's own, where the program could tell another one."""
    if job.overlap is not None and not (loaded.plan.renumbers and loaded.plan.moves):
        job = replace(job, overlap=None)
        loaded = runner.build(job)
    if job.relabel is None or loaded.plan.renumbers:
        return job, loaded
    job = replace(job, relabel=None)
    return job, runner.build(job)


def _layout_stats(found: Sequence[Prepared]) -> tuple[LayoutStats, ...]:
    return tuple(LayoutStats(x.key, x.nbytes, x.seconds) for x in found)


def _call(plan: Plan, job: Job, runner: Runner) -> Call:
    """The run of a plan, its arguments checked."""
    arguments = job.arguments
    if job.debug is not None:
        from vgraph.runtime.watching import with_rings

        at = job.debug if job.rank is None else job.rank[job.debug].astype(np.int64)
        arguments = with_rings(arguments, plan, at)
    check_arguments(plan, job.graph, arguments)
    if plan.called:
        from vgraph.runtime.hooks import check_called

        check_called(plan, job)
    beside = None if job.overlap is None else _beside(plan, job, runner, job.overlap)
    if job.relabel is None or not runner.relabels:
        return Call(plan, job.graph, arguments, None, job.max_rounds, job.seed, None, beside)
    numbers = job.graph.relabelled(job.relabel)
    moved = renumbered(plan, arguments, numbers)
    return Call(plan, numbers.graph, moved, numbers, job.max_rounds, job.seed, job.relabel, beside)


def _beside(plan: Plan, job: Job, runner: Runner, order: str) -> Beside:
    """The same run in another order, to be made while it runs."""
    from vgraph.runtime.devices.overlap import Beside

    def make(by: By | None) -> Call:
        name = made_beside(job.graph, order if by is None else by)
        return _call(plan, replace(job, relabel=name, overlap=None), runner)

    return Beside(make, order)


def _watched(job: Job, values: dict[str, Any], rounds: int) -> Watched | None:
    """What was kept of the vertices that are watched, taken out of the results."""
    if job.debug is None:
        return None
    from vgraph.runtime.watching import is_ring, watched

    rings = {name: values.pop(name) for name in tuple(values) if is_ring(name)}
    return watched(rings, job.debug, rounds)


def _stats(
    ran: Ran, plan: Plan, runner: Runner, compile_seconds: float, cached: bool, order: str | None
) -> Stats:
    ways = np.array([d != "vertex" for d in plan.interface.directions], np.bool_)
    rounds = int(ways[ran.records[:, 1]].sum()) or len(ran.records)
    return Stats(
        runner.name,
        ran.threads,
        rounds + ran.dropped,
        int(ran.records[:, 3].sum()),
        compile_seconds,
        ran.prepare_seconds,
        ran.run_seconds,
        cached,
        ran.transfer_seconds,
        ran.kernel_seconds,
        ran.from_host,
        ran.waited,
        _layout_stats(ran.layouts),
        order,
        tuple(ran.members),
        _deferred(ran, plan),
        ran.overlap,
    )


def _deferred(ran: Ran, plan: Plan) -> dict[str, tuple[int, ...]]:
    """By label what passes put off, up to the last one that did."""
    found = dict[str, list[int]]()
    for output in plan.outputs:
        if output.name.startswith(DEFERRED):
            label = output.name.removeprefix(DEFERRED).rpartition(".")[0]
            found.setdefault(label, []).append(int(ran.scalars[output.slot]))
    return {label: tuple(np.trim_zeros(many, "b")) for label, many in found.items()}


def _of_edges(plan: Plan) -> frozenset[str]:
    """The results that have an element for each edge."""
    arrays = {a.name for a in plan.arrays if a.site == "numbered"}
    return frozenset(o.name for o in plan.outputs if o.array in arrays)


def _outputs(ran: Ran, plan: Plan, runner: Runner, call: Call | None = None) -> dict[str, Any]:
    """The results by name, for a `call` in the user's order of vertices and edges; else in that of the kernel."""
    values: dict[str, Any] = {}
    numbers, of_edges = None if call is None else call.numbers, _of_edges(plan)
    sites = {a.name: a.site for a in plan.arrays}
    for output in plan.outputs:
        if output.name.startswith(DEFERRED):
            continue
        if output.array:
            found = ran.arrays[output.array]
            if call is not None and output.name in of_edges:
                found = call.graph.in_given_order(found)
                if numbers is not None and output.ids:
                    found = numbers.renumber(found, numbers.old_of_new)
            elif numbers is not None and sites[output.array] == "vertex":
                found = numbers.to_old(found, ids=output.ids)
            elif numbers is not None and output.ids:
                found = numbers.renumber(found, numbers.old_of_new)
            signed = found.view(f"int{found.dtype.itemsize * 8}") if output.ids else found
            whole = members.ids(signed) if output.members else signed
            values[output.name] = whole if sites[output.array] == "array" else runner.finish(whole)
            continue
        scalar = ran.scalars[output.slot]
        if numbers is not None and output.ids:
            scalar = numbers.renumber(np.atleast_1d(scalar), numbers.old_of_new)[0]
        values[output.name] = scalar.view(f"int{scalar.dtype.itemsize * 8}") if output.ids else scalar
    return values


def _pulled(ran: Ran, plan: Plan) -> int:
    """Arcs of the rounds that pulled."""
    way = plan.interface.directions.index("pull") if "pull" in plan.interface.directions else -1
    return int(ran.records[ran.records[:, 1] == way, 3].sum())


def _trace(records: NDArray[np.int64], plan: Plan, kept: Watched | None) -> Trace:
    labels, directions = plan.interface.labels, plan.interface.directions

    def make() -> list[Round]:
        return [
            Round(labels[label], directions[direction], active, edges, ns * 1e-9, waited * 1e-9)
            for label, direction, active, edges, ns, waited in records.tolist()
        ]

    return Trace(make, len(records), kept)
