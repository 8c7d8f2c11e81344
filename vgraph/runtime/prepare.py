"""From a call to a job: what `run`, `explain`, `autotune` and `tuned` are given is checked here, and what is left out
is chosen."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler.frontend import ArgumentType, argument_types, unknown
from vgraph.compiler.types import Target, Vector, element_of
from vgraph.config import knob
from vgraph.cpus import MAX_THREADS, default_threads
from vgraph.errors import DeviceError, ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.relabel import By, Overlap
from vgraph.language.decorators import AlgorithmDef
from vgraph.language.names import (
    ArrayAnnotation,
    BoundsAnnotation,
    EdgePropertyAnnotation,
    PropertyAnnotation,
)
from vgraph.records import dataclass
from vgraph.runtime import policy
from vgraph.runtime.devices.groups import GPU, CPUGroup, Member, all_gpus, members_of
from vgraph.runtime.executor import Job
from vgraph.runtime.members import check_for_set, device_of_set, placement_of, policy_of
from vgraph.runtime.ordering import orders_of
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.runtime.devices.runner import Runner
    from vgraph.runtime.devices.shares import Shared

DEVICES: Final = ("cpu", "cuda", "python")
OUTPUTS: Final = ("numpy", "cupy")
MEMORIES: Final = ("device", "host")
_SHARED: Final = ("max_rounds", "seed")
"""Arguments that an algorithm gets instead if it has a parameter of that name."""


def prepare(
    algorithm: AlgorithmDef, graph: Graph, params: Mapping[str, Any], *, device: Any = "cpu", **asked: Any
) -> Job:
    """The job of a call with these arguments, which mean what they mean to `vg.run`.

    `incomplete`: parameters without a value get a stand-in of their annotated type, of which nothing is checked.
    """
    if not (isinstance(device, str) and device == "auto"):
        return _job(algorithm, graph, params, device=device, **asked)
    alone = functools.partial(_job, algorithm, graph, params, **asked)
    said = {name for name, value in asked.items() if not _by_default(value)}
    if said - {"progress", "seed", "incomplete"}:
        return alone(device=None)  # as that says
    _check_subject(algorithm, graph, None)
    from vgraph.compiler.analysis.iterations import divisible
    from vgraph.runtime.auto import choose

    chosen = choose(
        algorithm,
        graph,
        params,
        lambda: bool(divisible(alone(device="cpu").typed.program)[0]),
        only_known=asked.get("incomplete", False),
    )
    why = f"device: {chosen.why}"
    return alone(device=chosen.device, share=chosen.share, why=why, like=chosen.like)


def _by_default(value: object) -> bool:
    """Whether an option says what it says by default."""
    return value is None or value is False or (isinstance(value, str) and value in ("numpy", "device"))


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """What a call says besides algorithm, graph and parameters, in the words of `vg.run`."""

    device: Any = "cpu"
    schedule: Schedule | None = None
    threads: int | None = None
    progress: object = None
    relabel: By | Overlap | None = None
    output: str = "numpy"
    memory: str | None = None
    deterministic: bool = False
    max_rounds: int | None = None
    seed: int | None = None
    checked: bool = False
    debug: object = None
    placement: object = None
    share: object = None


_OF_ONE: Final = ("relabel", "deterministic", "checked", "debug")
"""What a set of devices does not do."""
_OWN: Final = {"algorithm", "graph", *(f.name for f in fields(Asked))} - {*_SHARED}
"""The names in a call of `run` that do not reach the algorithm."""


def _job(
    algorithm: AlgorithmDef,
    graph: Graph,
    params: Mapping[str, Any],
    *,
    incomplete: bool = False,
    why: str = "",
    like: Hashable = None,
    **options: Any,
) -> Job:
    """The job on a device, or on none in particular; `why` that one, and what runs it is `like`, as in `Job`."""
    asked = Asked(**options)
    _check_subject(algorithm, graph, asked.schedule)
    check_flags(deterministic=asked.deterministic, checked=asked.checked)
    if not (asked.progress is None or isinstance(asked.progress, bool) or callable(asked.progress)):
        raise ParameterError(f"progress={shown(asked.progress)}: True, False or a function")
    device, threads, members = _where(asked, graph)
    on_gpu = device.partition(":")[0] == "cuda"
    if asked.deterministic and on_gpu:
        raise DeviceError(
            f"deterministic=True and device={device!r}: on a GPU sums have no fixed order; use device='cpu'"
        )
    params, max_rounds, seed = _shared(algorithm, params, asked.max_rounds, asked.seed)
    if asked.checked:
        _check_checked(device, asked.relabel)
        device = "checked"
    stood_in = _stand_ins(algorithm, graph, params) if incomplete else {}
    with _place("cpu" if members else device, asked.memory):
        prepared = _prepared(algorithm, graph, params, stood_in)
    return Job(
        algorithm,
        *prepared,
        schedule=asked.schedule or Schedule(),
        device=device,
        threads=_threads(threads, device),
        **orders_of(
            asked.relabel,
            graph,
            prepared[0],
            own=asked.checked or bool(members),
            now=incomplete,
            launched=algorithm.name if on_gpu else "",
            deterministic=asked.deterministic,
        ),
        deterministic=asked.deterministic,
        max_rounds=max_rounds,
        seed=_seed(seed),
        debug=_vertices(asked.debug, graph),
        output=asked.output,
        memory=asked.memory,
        members=members,
        placement=placement_of(asked.placement, graph, members, prepared[0], prepared[-1]),
        share=policy_of(asked.share, members, asked.placement),
        why=why,
        like=like,
    )


def _where(asked: Asked, graph: Graph) -> tuple[str, int | None, tuple[Member, ...]]:
    """The device, its threads if that is said, and the devices of a set."""
    device, threads = asked.device, asked.threads
    if device is None:
        device = knob("device") or ("cpu" if asked.deterministic or asked.checked else None)
    if isinstance(device, str) and device == "cuda:*":
        device = all_gpus()
    members: tuple[Member, ...] = ()
    if not (device is None or isinstance(device, str)):
        members = members_of([device] if isinstance(device, CPUGroup) else device)
        if threads is not None:
            raise ParameterError(
                f"threads={shown(threads)}: each member of a set has its own, vg.cpu(threads=...)"
            )
        check_for_set(**{name: getattr(asked, name) for name in _OF_ONE})
        device, threads = device_of_set(members, asked.output)
    gpus = any(isinstance(m, GPU) for m in members)
    found = _device(device, graph, asked.schedule, threads, asked.output, asked.memory, gpus=gpus)
    return found, threads, members


def _shared(
    algorithm: AlgorithmDef, params: Mapping[str, Any], max_rounds: int | None, seed: int | None
) -> tuple[Mapping[str, Any], int | None, int | None]:
    """The parameters with those that the algorithm has itself, and what is left of those: `max_rounds` and `seed`."""
    asked = {"max_rounds": max_rounds, "seed": seed}
    own = {n: v for n, v in asked.items() if v is not None and n in algorithm.signature.parameters}
    max_rounds, seed = (None if name in own else value for name, value in asked.items())
    if max_rounds is not None and (
        isinstance(max_rounds, bool) or not isinstance(max_rounds, int) or max_rounds < 1
    ):
        raise ParameterError(f"max_rounds={shown(max_rounds)}: an int of at least 1")
    return {**params, **own}, max_rounds, seed


def _check_checked(device: str, relabel: object) -> None:
    """Refuse what a run that checks every access does not do."""
    if device != "cpu":
        raise DeviceError(f"checked=True and device={shown(device)}: what is checked is the code for the CPU")
    if relabel is not None:
        text = f"checked=True and relabel={shown(relabel)}: leave `relabel` out, it finds as much"
        raise ParameterError(text)


def _prepared(
    algorithm: AlgorithmDef, graph: Graph, params: Mapping[str, Any], stood_in: Mapping[str, Any]
) -> tuple[
    Graph, Mapping[str, Any], Mapping[str, ArgumentType], tuple[Graph, Mapping[str, Any]], NDArray[Any] | None
]:
    """Graph, arguments and types to run with, the user's graph and arguments, and the rank; see `Job`."""
    for name in params:
        if name.startswith("_"):
            raise ParameterError(unknown(algorithm, name))
    types = argument_types(algorithm, {**stood_in, **params})
    defaults = {name: p.default for name, p in algorithm.signature.parameters.items()}
    given = {**defaults, **stood_in, **params}
    algorithm.check(graph, {name: value for name, value in given.items() if name not in stood_in})
    prepared, rank, replaced = algorithm.prepare(graph, given)
    arguments = {**given, **replaced}
    if replaced:
        types = argument_types(algorithm, arguments)
    return prepared, arguments, types, (graph, given), rank


@contextmanager
def _place(device: str, memory: str | None) -> Iterator[None]:
    """Around preparations of graphs: those that can are made on the GPU, if the graph is to lie there."""
    if device.partition(":")[0] != "cuda" or memory == "host":
        yield
        return
    from vgraph.graph import layouts
    from vgraph.runtime.devices.cuda.executor import resident_on
    from vgraph.runtime.devices.cuda.registry import device_for, number_of
    from vgraph.runtime.devices.cuda.resident import DeviceArcs

    try:
        gpu = device_for(number_of(device) or 0)
    except DeviceError:  # an explanation needs none
        yield
        return
    with gpu.current(), layouts.on_device(lambda graph: DeviceArcs(resident_on(gpu), graph)):
        yield


def runner_for(job: Job) -> Runner:
    """The device of a job; of its code only that of this device is imported."""
    if job.members:
        return _runner_for_set(job)
    if job.device == "cpu":
        from vgraph.runtime.devices.cpu import CPU

        return CPU(job.threads)
    if job.device == "python":
        from vgraph.runtime.devices.python import Python

        return Python()
    if job.device == "checked":
        from vgraph.runtime.devices.checked import Checked

        return Checked(job.threads)
    from vgraph.runtime.devices.cuda.executor import CUDA
    from vgraph.runtime.devices.cuda.registry import device_for, number_of

    number = number_of(job.device)
    assert number is not None
    return CUDA(device_for(number, asked=f'"{job.device}"'), output=job.output, memory=job.memory)


def _runner_for_set(job: Job) -> Runner:
    """The devices of a job that has several."""
    gpus = [m for m in job.members if isinstance(m, GPU)]
    if len(gpus) == len(job.members) and job.share is None:
        from vgraph.runtime.devices.gpu_sets import CUDASet

        return CUDASet(gpus, job.placement, job.memory)
    if gpus:
        from vgraph.runtime.devices.mixed_sets import MixedSet

        found = MixedSet(job.members, job.placement, shared_of(job), job.memory)
        found.waits = job.like is not None  # nobody asked for a set
        return found
    from vgraph.runtime.devices.sets import CPUSet

    return CPUSet(job.members, job.placement, shared_of(job))


def shared_of(job: Job) -> Shared | None:
    """How the members of a job divide it."""
    from vgraph.runtime.devices.shares import Shared

    return None if job.share is None else Shared(job.share, job.given[0], job.algorithm.describe())


# --- checks ---------------------------------------------------------------------------------------------------


def _check_subject(algorithm: object, graph: object, schedule: object) -> None:
    if not isinstance(algorithm, AlgorithmDef):
        hint = " (decorate it with @vg.algorithm)" if callable(algorithm) else ""
        raise ParameterError(f"{shown(algorithm)} is not an algorithm{hint}")
    if not isinstance(graph, Graph):
        raise ParameterError(f"the graph is {_whose(graph)}; give a vg.Graph: {_converter(graph)}")
    if schedule is not None and not isinstance(schedule, Schedule):
        raise ParameterError(f"schedule={shown(schedule)} is not a vg.Schedule")
    for name in algorithm.signature.parameters:
        if name in _OWN:
            raise ParameterError(
                f"{algorithm.describe()}: vg.run has a parameter {name!r} of its own; call the algorithm's otherwise"
            )


_CONVERTERS: Final = {
    "networkx": "vg.Graph.from_networkx(graph)",
    "scipy": "vg.Graph.from_scipy(matrix)",
    "pandas": "vg.Graph.from_pandas(edges, source, target)",
    "igraph": "vg.Graph.from_edges(*zip(*graph.get_edgelist()), num_vertices=graph.vcount(), "
    "directed=graph.is_directed())",
    "networkit": "vg.Graph.from_edges(*zip(*graph.iterEdges()), num_vertices=graph.numberOfNodes(), "
    "directed=graph.isDirected())",
}
"""What makes a graph of those of other libraries."""


def _whose(graph: object) -> str:
    """What was given, and whose it is."""
    library = type(graph).__module__.partition(".")[0]
    return f"a {type(graph).__name__}" + (f" of {library}" if library in _CONVERTERS else "")


def _converter(graph: object) -> str:
    library = type(graph).__module__.partition(".")[0]
    return _CONVERTERS.get(library, "vg.Graph.from_edges(sources, targets), or vg.read a file")


def check_flags(**flags: object) -> None:
    """Refuse arguments that are neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ParameterError(f"{name}={shown(value)}: True or False")


def _seed(seed: object) -> int:
    """The seed of `vg.random`: by default 0."""
    if seed is None:
        return 0
    if isinstance(seed, bool | np.bool_) or not hasattr(seed, "__index__") or not 0 <= index(seed) < 1 << 64:
        raise ParameterError(f"seed={shown(seed)}: an int from 0 to 2**64 - 1")
    return index(seed)


def _vertices(debug: object, graph: Graph) -> NDArray[np.int64] | None:
    """The vertices to watch, each once, in the order given; None if there are none."""
    if debug is None:
        return None
    try:
        found = np.atleast_1d(np.asarray(debug))
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ParameterError(f"debug={shown(debug)}: the vertices to watch, such as debug=[3, 7]")
    _, places = np.unique(found, return_index=True)
    kept = found[np.sort(places)]
    outside = kept[(kept < 0) | (kept >= graph.num_vertices)]
    if outside.size:
        raise ParameterError(f"debug={shown(debug)}: the graph has no vertex {outside[0]}")
    return kept.astype(np.int64) if kept.size else None


def _threads(threads: int | None, device: str) -> int:
    """How many threads: by default one for each CPU of the process, where they are for speed; 0 where not."""
    if threads is None and device != "cpu":
        return 0
    if threads is None:
        threads = default_threads()
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise ParameterError(f"threads={shown(threads)}: an int from 1 to {MAX_THREADS}")
    return threads


# --- devices --------------------------------------------------------------------------------------------------


def _device(
    asked: str | None,
    graph: Graph,
    schedule: Schedule | None,
    threads: int | None,
    output: str,
    memory: str | None,
    *,
    gpus: bool,
) -> str:
    """The device to run on, with everything that was said about devices checked; `gpus`: some of a set are GPUs."""
    for name, value, known in (
        ("output", output, OUTPUTS),
        ("memory", MEMORIES[0] if memory is None else memory, MEMORIES),
    ):
        if not isinstance(value, str) or value not in known:
            raise ParameterError(f"{name}={shown(value)}: it is {' or '.join(map(repr, known))}")
    for_gpu = output != "numpy" or memory == "host"
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
    if asked.startswith("cpu:"):
        members_of([asked])  # which says what is wrong with the name
        raise DeviceError(
            f"device={shown(asked)}: cores are named in a set of devices: device=[{shown(asked)}]"
        )
    if asked not in DEVICES:
        raise DeviceError(
            f"device={shown(asked)} is not available; the devices are {', '.join(DEVICES)}, or auto"
        )
    if for_gpu and not gpus:
        what = f"output={shown(output)}" if output != "numpy" else f"memory={shown(memory)}"
        raise ParameterError(f"{what} needs a GPU, and device={shown(asked)}")
    return asked


def _worth(graph: Graph) -> str:
    """The device for a run that names none."""
    if graph.num_arcs < policy.CUDA_ARCS:
        return "cpu"
    from vgraph.runtime.devices.cuda.registry import candidate

    device = candidate()
    if device is None:
        return "cpu"
    with device.current():
        total = device.memory()[1]
    return "cuda" if policy.worth_cuda(graph, total) else "cpu"


# --- stand-ins ------------------------------------------------------------------------------------------------


def _stand_ins(algorithm: AlgorithmDef, graph: Graph, params: Mapping[str, Any]) -> dict[str, Any]:
    """A value of a fitting type for each parameter that has neither a value nor a default."""
    names = [n for n, p in algorithm.signature.parameters.items() if n not in params and p.default is p.empty]
    return {name: _stand_in(algorithm.annotations.get(name), graph) for name in names}


def _stand_in(annotation: object, graph: Graph) -> Any:
    """Zero, or a property of zeros."""
    if isinstance(annotation, BoundsAnnotation):
        return min(max(annotation.low, 0), annotation.high)
    if isinstance(annotation, EdgePropertyAnnotation):
        return np.zeros(graph.num_arcs, Target().numpy_name(element_of(annotation.dtype.type)))
    if isinstance(annotation, ArrayAnnotation):
        return np.zeros((1,) * annotation.dimensions, Target().numpy_name(element_of(annotation.dtype.type)))
    if not isinstance(annotation, PropertyAnnotation):
        return 0
    t = annotation.dtype.type
    shape = (graph.num_vertices, t.length) if isinstance(t, Vector) else graph.num_vertices
    return np.zeros(shape, Target().numpy_name(element_of(t)))
