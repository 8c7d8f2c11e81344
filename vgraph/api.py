"""The whole user path on one page: `run`, `explain`, `autotune` and `tuned`."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vgraph.config import knobs
from vgraph.errors import DeviceError, ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.relabel import ORDERS
from vgraph.language.decorators import AlgorithmDef
from vgraph.schedule import Schedule
from vgraph.tracebacks import public

if TYPE_CHECKING:
    from vgraph.runtime.devices.runner import Runner
    from vgraph.runtime.explain import Explanation
    from vgraph.runtime.progress import Progress, ProgressCallback
    from vgraph.runtime.result import Result
    from vgraph.runtime.tuning.outcome import Tuning, TuningProgress

DEVICES = ("cpu", "cuda", "python")
OUTPUTS = ("numpy", "cupy")
MEMORIES = ("device", "host")


@public
def run(
    algorithm: AlgorithmDef,
    graph: Graph,
    device: str | None = None,
    schedule: Schedule | None = None,
    threads: int | None = None,
    progress: bool | Callable[[Progress], None] | None = None,
    relabel: str | None = None,
    output: str = "numpy",
    memory: str = "device",
    deterministic: bool = False,
    max_rounds: int | None = None,
    checked: bool = False,
    **params: Any,
) -> Result:
    """Run `algorithm` on `graph` and return its `Result`.

    device: "cpu" or "cuda" (compiled; "cuda:1" is the second GPU) or "python" (the reference interpreter: slow, exact,
    debuggable). By default a large graph goes to the GPU, if there is one with CuPy and nothing that is said below
    is about the other device, or about a schedule; all else goes to the CPU.
    schedule: how it runs; what is left out is chosen. threads: of the CPU, 1 to 1024; by default one for each CPU of
    the process.
    progress: True for a bar on stderr, or a function that gets a `Progress` about ten times a second.
    relabel: "degree" runs on the graph with its vertices in the order of their degrees, which is made once and kept;
    parameters and results have the ids of `graph`. A program that could tell the difference is refused.
    output: "cupy" leaves the properties of the result on the GPU, as CuPy arrays (other libraries take them by DLPack).
    memory: "host" leaves the graph in pinned memory of the host, for graphs that do not fit on the GPU: slower.
    deterministic: True gives results of the same bits at any number of threads and on every schedule that is accepted:
    floats are added in one order, which takes longer (docs/schedules.md says how much). Not on a GPU.
    max_rounds: more rounds (applies) than this many, 1 or more, end the run with AlgorithmError, for programs that may
    never end; rounds are then those of the program's text, in no order of priority. An algorithm that has a parameter
    of this name gets it instead.
    checked: True looks for faults while it runs: neighbors and elements out of bounds, sums of integers that overflow,
    NaN that appears, reads before writes, and races between threads; each is a CheckError with its line. What is
    compiled for the CPU is interpreted for that, thousands of times as slow: for small graphs.
    params: the algorithm's own parameters, by name.

    Raises ParameterError (a parameter is missing, unknown, of the wrong type or out of range), ScheduleError or
    IllegalSchedule, a Diagnostic for a program outside the language, AlgorithmError where the program ends by
    `vg.fail` or has too many rounds, DeviceError (unknown device, out of memory). Ctrl-C stops it; the graph is never
    changed.
    """
    from vgraph.compiler.frontend import argument_types
    from vgraph.runtime.progress import reporter

    _check(algorithm, graph, schedule)
    _check_relabel(relabel)
    _check_flag("deterministic", deterministic)
    _check_flag("checked", checked)
    _check_progress(progress)
    if device is None:
        device = knobs().device or ("cpu" if deterministic or checked else None)
    device = _device(device, graph, schedule, threads, output, memory)
    _check_deterministic(deterministic, device)
    if max_rounds is not None and "max_rounds" in algorithm.signature.parameters:
        params, max_rounds = {**params, "max_rounds": max_rounds}, None
    _check_max_rounds(max_rounds)
    _check_checked(checked, device, relabel)
    types = argument_types(algorithm, params)
    arguments = {name: params.get(name, p.default) for name, p in algorithm.signature.parameters.items()}
    algorithm.check(graph, arguments)
    given = algorithm, graph, arguments
    graph, rank, replaced = algorithm.prepare(graph, params)
    if replaced:
        arguments = {**arguments, **replaced}
        types = argument_types(algorithm, {**params, **replaced})
    program = algorithm, graph, arguments, types, schedule or Schedule()
    with reporter(progress, algorithm.name) as report:
        if device == "python":
            result = _interpret(*program, report, relabel, max_rounds)
        elif checked:
            from vgraph.runtime.devices.checked import run_checked

            count = None if threads is None else _threads(threads)
            result = run_checked(*program, count, deterministic, report, max_rounds)
        else:
            from vgraph.runtime.executor import execute

            runner = _runner(device, threads, output, memory)
            result = execute(*program, runner, report, relabel, deterministic, max_rounds)
    return _as_seen(algorithm, result, rank).made_from(*given)


def _as_seen(algorithm: AlgorithmDef, result: Result, rank: Any) -> Result:
    """The result in the order of the user's graph, as the algorithm finishes it."""
    ordered = result if rank is None else result.reordered(rank)
    return ordered.finished(algorithm.finish) if algorithm.endings else ordered


@public
def autotune(
    algorithm: AlgorithmDef,
    graph: Graph,
    budget: str | float = "10s",
    *,
    threads: int | None = None,
    seed: int = 0,
    progress: bool | Callable[[TuningProgress], None] | None = None,
    **params: Any,
) -> Tuning:
    """Search the legal schedules of `algorithm` on `graph` for the fastest, by measuring; a `Tuning`.

    budget: time to spend, compilation included: "10s", "2min", or seconds; what has tried everything ends before.
    seed: for the part of the search that is random. progress: True for a bar on stderr, or a function that gets a
    `TuningProgress` after each schedule. threads and params as in `run`.

    `schedule` of the result is never slower than the default was, run in turns with it. What is measured is kept in
    the cache's folder: a second search goes on where the first ended, and `tuned` gives the schedule without any.
    Ctrl-C ends the search and keeps what was measured. Raises as `run` does.
    """
    from vgraph.compiler.frontend import argument_types
    from vgraph.runtime.progress import reporter
    from vgraph.runtime.tuning.autotune import seconds_of, tune
    from vgraph.runtime.tuning.table import default_table

    _check(algorithm, graph, None)
    _check_progress(progress)
    if not hasattr(seed, "__index__"):
        raise ParameterError(f"seed={shown(seed)}: a whole number")
    spend = seconds_of(budget)
    types = argument_types(algorithm, params)
    arguments = {name: params.get(name, p.default) for name, p in algorithm.signature.parameters.items()}
    algorithm.check(graph, arguments)
    graph, _, replaced = algorithm.prepare(graph, params)
    if replaced:
        arguments |= replaced
        types = argument_types(algorithm, {**params, **replaced})
    count = _threads(threads)
    with reporter(progress, f"tuning {algorithm.name}") as report:  # type: ignore[arg-type]
        return tune(
            algorithm,
            graph,
            arguments,
            types,
            count,
            budget=spend,
            seed=seed,
            table=default_table(),
            report=report,  # type: ignore[arg-type]
        )


@public
def tuned(algorithm: AlgorithmDef, graph: Graph, *, threads: int | None = None) -> Schedule | None:
    """The schedule that `autotune` chose last for `algorithm` on graphs like `graph`, on this machine; or None.

    An empty schedule says that nothing was faster than the default. `vg.run` never looks here by itself: write
    `vg.run(algorithm, graph, schedule=vg.tuned(algorithm, graph), ...)`.
    """
    from vgraph.runtime.explain import stand_ins
    from vgraph.runtime.tuning.autotune import remembered
    from vgraph.runtime.tuning.table import default_table

    _check(algorithm, graph, None)
    prepared, _, replaced = algorithm.prepare(graph, stand_ins(algorithm, graph, {}))
    return remembered(algorithm, prepared, replaced, _threads(threads), default_table())


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
    device: str = "cpu",
    deterministic: bool = False,
    **params: Any,
) -> Explanation:
    """What the compiler makes of `algorithm` on `graph`: effects, schedule with reasons, IR after each pass.

    Nothing is run. Parameters without a value get a stand-in of their annotated type. `llvm` and `assembly` add the
    generated LLVM IR and machine code. device="cuda", which needs no GPU here, tells how it runs on one, with the
    generated CUDA C++. deterministic as in `run`. The object prints itself; its parts are attributes.
    """
    from vgraph.compiler.frontend import argument_types
    from vgraph.runtime.explain import explanation, stand_ins

    _check(algorithm, graph, schedule)
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise DeviceError(f'device={shown(device)}: programs are compiled for "cpu" and "cuda"')
    flags = {"passes": passes, "llvm": llvm, "assembly": assembly, "deterministic": deterministic}
    for name, flag in flags.items():
        _check_flag(name, flag)
    _check_deterministic(deterministic, device)
    if device == "cuda" and (llvm or assembly):
        raise ParameterError('llvm= and assembly= are about the CPU, and device="cuda"')
    if device == "cuda" and threads is not None:
        raise ParameterError(f'threads={shown(threads)}: threads are of the CPU, and device="cuda"')
    stood_in = stand_ins(algorithm, graph, params)
    given = {**stood_in, **params}
    argument_types(algorithm, given)
    parameters = algorithm.signature.parameters.items()
    algorithm.check(graph, {n: params.get(n, p.default) for n, p in parameters if n not in stood_in})
    graph, _, replaced = algorithm.prepare(graph, given)
    return explanation(
        algorithm,
        graph,
        schedule or Schedule(),
        {**given, **replaced},
        _threads(threads) if device == "cpu" else 0,
        device=device,
        passes=passes,
        llvm=llvm,
        assembly=assembly,
        deterministic=deterministic,
    )


def _device(
    asked: str | None,
    graph: Graph,
    schedule: Schedule | None,
    threads: int | None,
    output: str,
    memory: str,
) -> str:
    """The device to run on, with everything that was said about devices checked."""
    for name, value, known in (("output", output, OUTPUTS), ("memory", memory, MEMORIES)):
        if not isinstance(value, str) or value not in known:
            raise ParameterError(f"{name}={shown(value)}: it is {' or '.join(map(repr, known))}")
    for_gpu = output != "numpy" or memory != "device"
    if asked is None and for_gpu:
        asked = "cuda"
    if asked is None:
        return "cpu" if schedule is not None or threads is not None else _worth(graph)
    if not isinstance(asked, str):
        raise DeviceError(f"device={shown(asked)}: a device has a name; the devices are {', '.join(DEVICES)}")
    if asked.partition(":")[0] == "cuda":
        from vgraph.runtime.devices.cuda.registry import number_of

        if number_of(asked) is None:
            raise DeviceError(f'device={shown(asked)}: GPUs are called "cuda", "cuda:1" and so on')
        if threads is not None:
            raise ParameterError(
                f"threads={shown(threads)}: threads are of the CPU, and device={shown(asked)}"
            )
        return asked
    if asked not in DEVICES:
        raise DeviceError(f"device={shown(asked)} is not available; the devices are {', '.join(DEVICES)}")
    if for_gpu:
        what = f"output={shown(output)}" if output != "numpy" else f"memory={shown(memory)}"
        raise ParameterError(f"{what} needs a GPU, and device={shown(asked)}")
    return asked


def _worth(graph: Graph) -> str:
    """The device for a run that names none."""
    from vgraph.runtime import policy

    if graph.num_arcs < policy.CUDA_ARCS:
        return "cpu"
    from vgraph.runtime.devices.cuda.registry import candidate

    device = candidate()
    if device is None:
        return "cpu"
    with device.current():
        total = device.memory()[1]
    return "cuda" if policy.worth_cuda(graph, total) else "cpu"


def _runner(device: str, threads: int | None, output: str, memory: str) -> Runner:
    """What runs programs on a device."""
    if device == "cpu":
        from vgraph.runtime.devices.cpu import CPU

        return CPU(_threads(threads))
    from vgraph.runtime.devices.cuda.executor import CUDA
    from vgraph.runtime.devices.cuda.registry import device_for, number_of

    number = number_of(device)
    assert number is not None
    return CUDA(device_for(number), output=output, memory=memory)


def _check(algorithm: object, graph: object, schedule: object) -> None:
    if not isinstance(algorithm, AlgorithmDef):
        hint = " (decorate it with @vg.algorithm)" if callable(algorithm) else ""
        raise ParameterError(f"{shown(algorithm)} is not an algorithm{hint}")
    if not isinstance(graph, Graph):
        raise ParameterError(
            f"the graph is a {type(graph).__name__}; make a vg.Graph of it, or vg.read a file"
        )
    if schedule is not None and not isinstance(schedule, Schedule):
        raise ParameterError(f"schedule={shown(schedule)} is not a vg.Schedule")
    for name in algorithm.signature.parameters:
        if name in _own_parameters():
            raise ParameterError(
                f"{algorithm.describe()}: vg.run has a parameter {name!r} of its own; call the algorithm's otherwise"
            )


@functools.cache
def _own_parameters() -> frozenset[str]:
    """The names in a call of `run` that do not reach the algorithm."""
    names = inspect.signature(run).parameters
    return frozenset(name for name, p in names.items() if p.kind is not p.VAR_KEYWORD) - {"max_rounds"}


def _check_relabel(relabel: object) -> None:
    if relabel is not None and not (isinstance(relabel, str) and relabel in ORDERS):
        known = ", ".join(map(repr, ORDERS))
        raise ParameterError(f"relabel={shown(relabel)}: the orders are {known}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ParameterError(f"{name}={shown(value)}: True or False")


def _check_progress(progress: object) -> None:
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ParameterError(f"progress={shown(progress)}: True, False or a function")


def _check_deterministic(deterministic: bool, device: str) -> None:
    if deterministic and device.partition(":")[0] == "cuda":
        raise DeviceError(
            f"deterministic=True and device={device!r}: on a GPU sums have no fixed order; use device='cpu'"
        )


def _check_max_rounds(count: object) -> None:
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ParameterError(f"max_rounds={shown(count)}: an int of at least 1")


def _check_checked(checked: bool, device: str, relabel: str | None) -> None:
    if checked and device != "cpu":
        raise DeviceError(f"checked=True and device={shown(device)}: what is checked is the code for the CPU")
    if checked and relabel is not None:
        raise ParameterError(
            f"checked=True and relabel={shown(relabel)}: leave `relabel` out, it finds as much"
        )


def _threads(threads: int | None) -> int:
    from vgraph.compiler.backends.abi import MAX_THREADS
    from vgraph.runtime.devices.threads import default_threads

    count = default_threads() if threads is None else threads
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_THREADS:
        raise ParameterError(f"threads={shown(count)}: an int from 1 to {MAX_THREADS}")
    return count


def _interpret(
    algorithm: AlgorithmDef,
    graph: Graph,
    arguments: Mapping[str, Any],
    types: Mapping[str, Any],
    schedule: Schedule,
    progress: ProgressCallback | None,
    relabel: str | None,
    max_rounds: int | None,
) -> Result:
    """Run on the reference interpreter, in the graph's own order of vertices.

    Program and schedule are checked as on a device.
    """
    from vgraph.compiler import ir
    from vgraph.compiler.analysis.numbering import check_numbering
    from vgraph.compiler.frontend import typed_program
    from vgraph.compiler.ir.rewrite import walk
    from vgraph.compiler.passes.choose_schedule import check_labels
    from vgraph.compiler.types import VID
    from vgraph.reference import run_reference
    from vgraph.runtime.arguments import check_property, check_vertex
    from vgraph.runtime.executor import signature_of
    from vgraph.runtime.result import Result, Round, Stats, Trace
    from vgraph.runtime.rounds import each_round, with_rounds

    start = time.perf_counter()
    typed = typed_program(algorithm, signature_of(graph, types))
    program = typed.program
    check_labels(program, schedule)
    if max_rounds is not None:
        with_rounds(schedule, program)
    if relabel is not None:
        check_numbering(program)
    for param in program.params:
        if param.type == VID:
            check_vertex(param.name, arguments[param.name], graph)
    for given in program.properties:
        if given.name in arguments and given.site is ir.Site.VERTEX:
            check_property(given.name, arguments[given.name], graph)
    checked = time.perf_counter()
    values, records = run_reference(typed, graph, arguments, each_round(progress, algorithm.name, max_rounds))
    done = time.perf_counter()
    vertex_labels = {n.label for n in walk(program) if isinstance(n, ir.VertexApply)}
    ways = ("push", "vertex")
    trace = Trace([Round(r.label, ways[r.label in vertex_labels], r.active, r.edges, 0.0) for r in records])
    rounds = sum(r.direction != "vertex" for r in trace) or len(trace)
    edges = sum(r.edges for r in trace)
    stats = Stats("python", 1, rounds, edges, checked - start, 0.0, done - checked, False)
    return Result(algorithm.name, values, stats, trace, schedule)
