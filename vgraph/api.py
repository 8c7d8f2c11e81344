"""The whole user path on one page: `run`, `prepare`, `explain`, `autotune` and `tuned`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vgraph.errors import DeviceError, ParameterError, shown
from vgraph.graph import Graph
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.executor import execute, make_ready
from vgraph.runtime.prepare import check_flags, runner_for
from vgraph.runtime.prepare import prepare as job_of
from vgraph.runtime.progress import Progress, reporter
from vgraph.runtime.result import Result
from vgraph.schedule import Schedule
from vgraph.tracebacks import public

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from vgraph.graph.cuts import HubCut
    from vgraph.graph.relabel import By, Overlap
    from vgraph.partitioning import EdgePartition, Partition
    from vgraph.runtime.devices.groups import CPUGroup
    from vgraph.runtime.explain import Explanation
    from vgraph.runtime.result import LayoutStats
    from vgraph.runtime.tuning.outcome import Tuning, TuningProgress
    from vgraph.sharing import Policy


@public
def run(
    algorithm: AlgorithmDef,
    graph: Graph,
    device: str | CPUGroup | Sequence[str | CPUGroup] | None = None,
    schedule: Schedule | None = None,
    threads: int | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
    relabel: By | Overlap | None = None,
    output: str = "numpy",
    memory: str | None = None,
    deterministic: bool = False,
    max_rounds: int | None = None,
    seed: int | None = None,
    checked: bool = False,
    debug: ArrayLike | None = None,
    placement: ArrayLike | Partition | EdgePartition | HubCut | None = None,
    share: Policy | None = None,
    **params: Any,
) -> Result:
    """Run `algorithm` on `graph` and return its `Result`.

    device: "cpu" or "cuda" (compiled; "cuda:1" is the second GPU) or "python" (the reference interpreter: slow, exact,
    debuggable). By default a large graph goes to the GPU, if there is one with CuPy and nothing that is said below
    is about the other device, or about a schedule; all else goes to the CPU. "auto": the CPU, the GPU, or both,
    whichever takes least for runs like this one, which it tries. A list is a set of devices with memories of their own,
    which run the program together: `["cuda:0", "cuda:1"]`, `["cpu", "cuda"]`, `["cpu:0-3", "cpu:4-7"]` or
    `[vg.cpu(threads=4), vg.cpu(threads=4)]` (docs/devices.md); "cuda:*" are all GPUs.
    schedule: how it runs; what is left out is chosen. threads: of the CPU, 1 to 1024; by default one for each CPU of
    the process.
    progress: True for a bar on stderr, or a function that gets a `Progress` about ten times a second.
    relabel: runs on the graph with its vertices in another order, such as "degree" or "rcm"; `reorder` lists them, and
    says so for all runs. It is made once and kept; parameters and results have the ids of `graph`. A program that could
    tell the difference is refused. "auto": in one that pays, where the program may run so; it is made for the eleventh
    such run on a graph, or by `prepare`. `vg.overlap("rcm")`: the run begins at once in the graph's own order, and goes
    on in that one when it is there.
    output: "cupy" leaves the properties of the result on the GPU, as CuPy arrays (other libraries take them by DLPack).
    memory: where the graph lies for a GPU, "device", or "host": in pinned memory of the host, read over the bus. None:
    there if the GPU has no room for it (`result.stats.from_host`).
    deterministic: True gives results of the same bits at any number of threads and on every schedule that is accepted:
    floats are added in one order, which takes longer (docs/schedules.md says how much). Not on a GPU.
    max_rounds: more rounds (applies) than this many, 1 or more, end the run with AlgorithmError, for programs that may
    never end; rounds are then those of the program's text, in no order of priority. An algorithm that has a parameter
    of this name gets it instead.
    seed: an int from 0 to 2**64 - 1 that all numbers of `vg.random` depend on; by default 0, so that equal calls give
    equal results. An algorithm that has a parameter of this name gets it instead.
    checked: True looks for faults while it runs: neighbors and elements out of bounds, sums of integers that overflow,
    NaN that appears, reads before writes, and races between threads; each is a CheckError with its line. What is
    compiled for the CPU is interpreted for that, thousands of times as slow: for small graphs.
    debug: vertices to watch, such as [3, 7]: after each round the values that the algorithm's properties have there are
    kept, in `result.trace.watched`; `print(result.trace)` shows them. Rounds are then as with max_rounds.
    placement: for a set of devices the member that owns each vertex: an int array, a `Partition`, or "partition" for
    that of `vg.partition`, made once and kept with the graph; or who has which arcs: `vg.cut_hubs`, or an
    `EdgePartition`. By default members own ranges of vertices with about equally many arcs for each thread.
    share: for a set of devices the policy that divides loops over independent sources, `for s in sources:`, such as
    `vg.ASYM_SIZE`; each member then has the whole graph. Those that give shares before they run (`vg.fixed_ratio`,
    `vg.SAMPLE_WEIGHTED`, `vg.ORACLE`) divide the vertices of programs without such a loop.
    params: the algorithm's own parameters, by name.

    Raises ParameterError (a parameter is missing, unknown, of the wrong type or out of range), ScheduleError or
    IllegalSchedule, a Diagnostic for a program outside the language, AlgorithmError where the program ends by
    `vg.fail` or has too many rounds, DeviceError (unknown device, out of memory). Ctrl-C stops it; the graph is never
    changed.
    """
    job = job_of(**locals())
    with reporter(progress, algorithm.name) as report:
        return job.as_seen(execute(replace(job, hurried=True), runner_for(job), report))


AlgorithmDef.runs = staticmethod(run)


@public
def prepare(
    algorithm: AlgorithmDef,
    graph: Graph,
    device: str | CPUGroup | Sequence[str | CPUGroup] | None = None,
    schedule: Schedule | None = None,
    threads: int | None = None,
    relabel: By | Overlap | None = None,
    memory: str | None = None,
    placement: ArrayLike | Partition | EdgePartition | HubCut | None = None,
    share: Policy | None = None,
    **params: Any,
) -> tuple[LayoutStats, ...]:
    """Make ahead what `run` with these arguments would make and keep, for a graph on which much will be run.

    That is machine code, in-arcs, the order of `relabel`, copies on a GPU, and layouts of the graph's arcs: those that
    the schedule asks for, and on a GPU those that pay only over many runs, which `run` otherwise takes by itself after
    ten. Nothing is run; parameters without a value get a stand-in of their type, so `vg.prepare(sssp, graph)` is enough
    for any source. The arguments mean what they mean to `run`.

    Gives name, bytes and seconds of each layout; it is kept as long as the graph. Raises as `run` does.
    """
    job = job_of(**locals(), incomplete=True)
    return make_ready(job, runner_for(job))


@public
def autotune(
    algorithm: AlgorithmDef,
    graph: Graph,
    budget: str | float = "10s",
    *,
    threads: int | None = None,
    seed: int | None = None,
    progress: bool | Callable[[TuningProgress], None] | None = None,
    **params: Any,
) -> Tuning:
    """Search the legal schedules of `algorithm` on `graph` for the fastest, by measuring; a `Tuning`.

    budget: time to spend, compilation included: "10s", "2min", or seconds; what has tried everything ends before.
    seed: as in `run`, and for the part of the search that is random. progress: True for a bar on stderr, or a function
    that gets a `TuningProgress` after each schedule. threads and params as in `run`.

    `schedule` of the result is never slower than the default was, run in turns with it. What is measured is kept in
    the cache's folder: a second search goes on where the first ended, and `tuned` gives the schedule without any.
    Ctrl-C ends the search and keeps what was measured. Raises as `run` does.
    """
    from vgraph.runtime.tuning.autotune import seconds_of, tune

    job = job_of(algorithm, graph, params, threads=threads, progress=progress, seed=seed)
    spend = seconds_of(budget)
    with reporter(progress, f"tuning {algorithm.name}") as report:  # type: ignore[arg-type]
        return tune(job, budget=spend, seed=seed or 0, report=report)  # type: ignore[arg-type]


@public
def tuned(algorithm: AlgorithmDef, graph: Graph, *, threads: int | None = None) -> Schedule | None:
    """The schedule that `autotune` chose last for `algorithm` on graphs like `graph`, on this machine; or None.

    An empty schedule says that nothing was faster than the default. `vg.run` never looks here by itself: write
    `vg.run(algorithm, graph, schedule=vg.tuned(algorithm, graph), ...)`.
    """
    from vgraph.runtime.tuning.autotune import remembered

    return remembered(job_of(algorithm, graph, {}, threads=threads, incomplete=True))


@public
def explain(
    algorithm: AlgorithmDef,
    graph: Graph,
    schedule: Schedule | None = None,
    *,
    passes: bool = True,
    llvm: bool = False,
    assembly: bool = False,
    threads: int | None = None,
    device: str | CPUGroup | Sequence[str | CPUGroup] = "cpu",
    deterministic: bool = False,
    seed: int | None = None,
    placement: ArrayLike | Partition | EdgePartition | HubCut | None = None,
    share: Policy | None = None,
    **params: Any,
) -> Explanation:
    """What the compiler makes of `algorithm` on `graph`: effects, schedule with reasons, IR after each pass.

    Nothing is run. Parameters without a value get a stand-in of their annotated type. `llvm` and `assembly` add the
    generated LLVM IR and machine code. device="cuda", which needs no GPU here, tells how it runs on one, with the
    generated CUDA C++. "auto" tells which device `run` would take, and why. A list is a set of devices, as in `run`:
    then `members` has what each has of the graph, and `reasons` where they exchange what, and how many bytes a round at
    most. deterministic, placement and seed as in `run`; no code depends on a seed. The object prints itself; its parts
    are attributes.
    """
    from vgraph.runtime.explain import explanation

    if isinstance(device, str) and device not in ("auto", "cpu", "cuda"):
        raise DeviceError(
            f'device={shown(device)}: programs are explained for "auto", "cpu", "cuda", and sets, as '
            '["cuda:0", "cuda:1"]'
        )
    check_flags(passes=passes, llvm=llvm, assembly=assembly)
    if isinstance(device, str) and device == "cuda" and (llvm or assembly):
        raise ParameterError('llvm= and assembly= are about the CPU, and device="cuda"')
    job = job_of(
        algorithm,
        graph,
        params,
        device=device,
        schedule=schedule,
        threads=threads,
        deterministic=deterministic,
        seed=seed,
        placement=placement,
        share=share,
        incomplete=True,
    )
    return explanation(job, passes=passes, llvm=llvm, assembly=assembly)
