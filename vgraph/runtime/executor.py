"""Plan, compile, execute: from an algorithm and a graph to a result on the CPU."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vgraph import _segments
from vgraph.compiler.backends.abi import CHANNEL_LINES, LINE, ContextView, Status, aligned_zeros
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.facts import Facts
from vgraph.compiler.types import I32, I64, NUMPY_NAMES, U32, Target, Type, Vector
from vgraph.config import knobs
from vgraph.errors import AlgorithmError, DeviceError, ParameterError, PassError
from vgraph.runtime import policy
from vgraph.runtime.cache import CacheWarning, cache_key, default_cache
from vgraph.runtime.plan import Array, Plan, plan_of
from vgraph.runtime.result import Result, Round, Stats, Trace
from vgraph.runtime.threads import native_runtime, run_native
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph._relabel import Relabelled
    from vgraph.compiler import Observer
    from vgraph.compiler.backends.llvm import LLVMBackend
    from vgraph.compiler.frontend import Signature
    from vgraph.compiler.ir import Program
    from vgraph.compiler.rewrite import Pass
    from vgraph.compiler.user_passes import UserPass
    from vgraph.decorators import AlgorithmDef
    from vgraph.graph import Graph
    from vgraph.runtime.progress import ProgressCallback

_LOADED: Final = 256
"""Kernels kept in memory, the least recently used go first."""


@dataclass(frozen=True)
class Loaded:
    """A kernel ready to run, and whether its code came from the cache on disk."""

    plan: Plan
    kernel: Kernel
    cached: bool


_loaded: OrderedDict[str, Loaded] = OrderedDict()
_lock = threading.Lock()


# --- signatures -----------------------------------------------------------------------------------------------


def signature_of(graph: Graph, arguments: Mapping[str, Any]) -> Signature:
    """All that the types of a program depend on, for this graph and these argument types."""
    from vgraph.compiler.frontend import Signature

    return Signature(
        Target(graph.id_dtype.itemsize * 8, graph.offset_dtype.itemsize * 8),
        {name: property_type(a) for name, a in graph.vertex_properties.items()},
        {name: property_type(a) for name, a in graph.edge_properties.items()},
        {name: path_type(graph, name) for name in graph.edge_properties},
        graph.directed,
        arguments,
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


# --- code -----------------------------------------------------------------------------------------------------


@functools.cache
def code_stamp() -> str:
    """Changes with every change of vgraph's own code."""
    root = Path(__file__).parents[1]
    rows: list[str] = []
    folders = [os.fspath(root / "compiler")]
    entries = [*os.scandir(root), *(e for e in os.scandir(root / "runtime") if e.name == "plan.py")]
    while folders:
        for entry in os.scandir(folders.pop()):
            if not entry.is_dir():
                entries.append(entry)
            elif entry.name != "__pycache__":
                folders.append(entry.path)
    for entry in entries:
        if entry.is_file() and not entry.name.endswith(".pyc"):
            status = entry.stat()
            rows.append(f"{entry.path[len(os.fspath(root)) :]} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(sorted(rows))


@functools.cache
def backend() -> LLVMBackend:
    """The CPU backend with the native runtime's symbols."""
    from vgraph.compiler.backends.llvm import LLVMBackend

    return LLVMBackend(lambda: native_runtime().symbols)


def prepare(
    definition: AlgorithmDef,
    signature: Signature,
    schedule: Schedule,
    threads: int,
    facts: Facts,
    relabel: bool = False,
) -> Loaded:
    """The kernel for this program, from memory, from the cache on disk, or compiled now.

    `relabel`: it must give the same on a graph in another order of vertices.
    """
    from vgraph.compiler.backends.jit import target_key
    from vgraph.compiler.frontend import source_parts

    single = 1 if threads == 1 else 0
    own = _own_passes()
    marks = pass_marks(own)
    if marks is None:
        return _compile(None, definition, signature, schedule, single, facts, own, relabel)
    asked = ";".join(f"{k}={v!r}" for k, v in sorted(schedule.labels.items()))
    known = (repr(signature), asked, str(single), repr(facts), str(relabel))
    key = cache_key((code_stamp(), target_key(), *source_parts(definition), *known, *marks))
    with _lock:
        found = _loaded.get(key)
        if found is not None:
            _loaded.move_to_end(key)
            return found
    loaded = _from_cache(key) or _compile(key, definition, signature, schedule, single, facts, own, relabel)
    with _lock:
        _loaded[key] = loaded
        while len(_loaded) > _LOADED:
            _loaded.popitem(last=False)
    return loaded


def _own_passes() -> tuple[UserPass, ...]:
    """The user's passes. Their module is there once one is registered; without, a warm start loads no passes at all."""
    keeper = sys.modules.get("vgraph.compiler.user_passes")
    return () if keeper is None else keeper.registered()


def pass_marks(own: tuple[UserPass, ...] | None = None) -> tuple[str, ...] | None:
    """What of the user's passes is in the key; None, with a warning, if code that they made cannot be kept."""
    own = _own_passes() if own is None else own
    if not own:
        return ()
    from vgraph.compiler.fingerprints import NoFingerprintError
    from vgraph.compiler.user_passes import fingerprints

    try:
        return fingerprints(own)
    except NoFingerprintError as error:
        _tell_uncached(str(error))
        return None


@functools.cache
def _tell_uncached(reason: str) -> None:
    warnings.warn(f"programs are compiled anew for each run: {reason}", CacheWarning, stacklevel=5)


def _from_cache(key: str) -> Loaded | None:
    cache = default_cache()
    data = cache.get(key) if cache is not None else None
    if data is None:
        return None
    plan, code = Plan.unpack(data)
    return Loaded(plan, _load(code, plan), True)


def _load(code: bytes, plan: Plan) -> Kernel:
    from vgraph.compiler.backends.base import ENTRY
    from vgraph.compiler.backends.jit import load_object

    loaded = load_object(code, native_runtime().symbols)
    return Kernel(loaded.address(ENTRY), plan.interface, loaded)


def _compile(
    key: str | None,
    definition: AlgorithmDef,
    signature: Signature,
    schedule: Schedule,
    threads: int,
    facts: Facts,
    own: tuple[UserPass, ...],
    relabel: bool,
) -> Loaded:
    """Code made now; without a key it is not kept."""
    from vgraph.compiler import build
    from vgraph.compiler.user_passes import pipeline

    stations: dict[str, str] = {}
    try:
        compiled = build(
            definition,
            signature,
            backend(),
            schedule=schedule,
            threads=threads,
            facts=facts,
            passes=pipeline(own),
            observe=_observer(stations, relabel),
        )
    except PassError:
        _show(definition.name, str(schedule), "", stations)
        raise
    _show(definition.name, str(compiled.schedule), compiled.source.text, stations)
    code = backend().compile(compiled.source)
    plan = plan_of(compiled.kernel, compiled.source.interface, compiled.schedule)
    loaded = Loaded(plan, _load(code, plan), False)
    cache = default_cache()
    if cache is not None and key is not None:
        cache.put(key, plan.pack(code), {"algorithm": definition.name, "schedule": str(compiled.schedule)})
    return loaded


def _observer(stations: dict[str, str], relabel: bool) -> Observer | None:
    """Keep the IR of every station if the knobs ask for it; check the program if it is to `relabel`."""
    keeps = knobs().debug >= 4 or knobs().dump_dir is not None
    if not keeps and not relabel:
        return None
    from vgraph.compiler.numbering import check_numbering
    from vgraph.compiler.text import print_program

    def observe(step: Pass | None, program: Program) -> None:
        if relabel and step is not None and step.name == "simplify":
            check_numbering(program)
        if keeps:
            stations[step.name if step else "frontend"] = print_program(program)

    return observe


def _show(name: str, schedule: str, code: str, stations: Mapping[str, str]) -> None:
    """Print and write what the VGRAPH_DEBUG and VGRAPH_DUMP_DIR knobs ask for."""
    level, folder = knobs().debug, knobs().dump_dir
    texts = {"schedule": schedule} if level >= 1 else {}
    texts |= {f"after {k}": v for k, v in stations.items()} if level >= 4 else {}
    texts |= {"LLVM IR": code} if level >= 3 else {}
    for title, text in texts.items():
        print(f"== {name}: {title} ==\n{text}", file=sys.stderr)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (station, text) in enumerate(stations.items()):
            (folder / f"{name}-{number}-{station}.ir").write_text(text, encoding="utf-8")
        (folder / f"{name}.ll").write_text(code, encoding="utf-8")


# --- runs -----------------------------------------------------------------------------------------------------


def execute(
    definition: AlgorithmDef,
    graph: Graph,
    arguments: Mapping[str, Any],
    types: Mapping[str, Any],
    schedule: Schedule,
    threads: int,
    progress: ProgressCallback | None = None,
    relabel: str | None = None,
) -> Result:
    """Run an algorithm with complete `arguments` of the given `types` on `threads` threads of the CPU.

    `relabel`: on the graph in this order of its vertices; arguments and results keep the ids of `graph`.
    """
    start = time.perf_counter()
    facts = policy.facts_of(graph)
    loaded = prepare(definition, signature_of(graph, types), schedule, threads, facts, relabel is not None)
    compiled = time.perf_counter()
    plan = loaded.plan
    for name in plan.vertex_params:
        check_vertex(name, arguments[name], graph)
    numbers = graph.relabelled(relabel) if relabel is not None else None
    if numbers is not None:
        arguments = _renumbered(plan, arguments, numbers)
    interface = plan.interface
    context = new_context(plan, threads)
    try:
        arrays = _bind(context, plan, graph, arguments, numbers)
        prepared = time.perf_counter()
        run_native(loaded.kernel.address, context, threads, progress=progress)
        ran = time.perf_counter()
        if context.status is Status.ABORTED:
            raise AlgorithmError(interface.messages[context.get("payload")])
        values = _outputs(context, plan, arrays, numbers)
        trace = _trace(context, plan)
    except MemoryError as error:
        raise DeviceError(f"out of memory: {definition.name} on {graph!r} does not fit") from error
    finally:
        context.close()
    rounds = sum(r.direction != "vertex" for r in trace) or len(trace)
    edges = sum(r.edges for r in trace)
    stats = Stats(
        "cpu", threads, rounds, edges, compiled - start, prepared - compiled, ran - prepared, loaded.cached
    )
    used = policy.with_deltas(plan.schedule, (a.name for a in interface.args), graph)
    return Result(definition.name, values, stats, trace, used)


def new_context(plan: Plan, threads: int) -> ContextView:
    """The native context of one run, with room for all that the kernel's interface names."""
    interface = plan.interface
    return ContextView(
        threads,
        num_args=len(interface.args),
        num_results=len(interface.results),
        num_slots=interface.num_slots,
        num_frontiers=len(interface.frontiers),
        num_lists=len(interface.lists),
        num_buckets=interface.buckets,
    )


def check_vertex(name: str, value: Any, graph: Graph) -> None:
    """Refuse a vertex that the graph does not have."""
    if not 0 <= int(value) < graph.num_vertices:
        n = graph.num_vertices
        which = f"its vertices are 0 to {n - 1:,}" if n else "it has none"
        raise ParameterError(f"{name}={value} is not a vertex of the graph; {which}")


def _bind(
    context: ContextView,
    plan: Plan,
    graph: Graph,
    arguments: Mapping[str, Any],
    numbers: Relabelled | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Fill the argument slots and allocate what the kernel writes; the arrays by name."""
    if numbers is not None:
        graph = numbers.graph
    threads = int(context.get("num_threads"))
    arrays = {a.name: _array(a, graph, arguments, numbers, threads) for a in plan.arrays if _needed(a, plan)}
    for slot, arg in enumerate(plan.interface.args):
        if arg.kind == "property":
            context.set_array(slot, arrays[arg.name])
        elif arg.kind in ("scratch", "touched"):
            # Zeroed lazily, page by page, and a visit leaves it as it was.
            size = context.get("num_threads") * graph.num_vertices
            context.set_array(slot, np.zeros(size, arg.dtype))
        elif arg.kind == "adjacency":
            side, _, which = arg.name.partition(".")
            context.set_array(slot, getattr(graph.out if side == "out" else graph.in_, which))
        elif arg.kind == "segments":
            count, _, which = arg.name.partition(".")
            context.set_array(slot, getattr(_segments.segments_of(graph, int(count)), which))
        elif arg.kind == "segment_count":
            context.set_scalar(slot, int(arg.name), "int64")
        elif arg.kind == "size":
            context.set_scalar(slot, getattr(graph, arg.name), "int64")
        elif arg.kind == "channel":
            context.set_array(slot, aligned_zeros((CHANNEL_LINES + arg.length) * LINE))
        elif arg.kind == "workspace":
            context.set_array(slot, np.zeros(arg.length * graph.num_vertices + 8, arg.dtype))
        elif arg.kind == "length":
            context.set_scalar(slot, len(arrays[arg.name]), "int64")
        elif arg.name.startswith(("graph.", "policy.")):
            context.set_scalar(slot, policy.number(arg.name, graph), arg.dtype)
        else:
            context.set_scalar(slot, arguments[arg.name], arg.dtype)
    ids = np.dtype(f"uint{plan.interface.id_bits}")
    for index, frontier in enumerate(plan.interface.frontiers):
        context.add_frontier(index, graph.num_vertices, ids, bitmap=frontier.bitmap, flags=frontier.flags)
    for index in range(plan.interface.buckets):
        context.add_buckets(index, graph.num_vertices)
    return arrays


def _needed(array: Array, plan: Plan) -> bool:
    used = any(a.kind in ("property", "length") and a.name == array.name for a in plan.interface.args)
    return used or any(o.array == array.name for o in plan.outputs)


def _renumbered(plan: Plan, arguments: Mapping[str, Any], numbers: Relabelled) -> dict[str, Any]:
    """The arguments with single vertices by their new numbers."""
    moved = {name: int(numbers.new_of_old[int(arguments[name])]) for name in plan.vertex_params}
    return {**arguments, **moved}


def _array(
    array: Array, graph: Graph, arguments: Mapping[str, Any], numbers: Relabelled | None, threads: int
) -> np.ndarray[Any, Any]:
    name = array.name
    if array.site == "thread":
        return np.zeros((threads, graph.num_vertices, max(1, array.length)), array.dtype)
    if array.origin == "local":
        size = graph.num_arcs if array.site in ("edge", "edge_in") else graph.num_vertices
        if array.chunks:
            size = array.chunks * policy.channel_room(array.site, graph)
        return np.empty((size, array.length) if array.length else size, array.dtype)
    if array.origin == "param":
        given = _given(array, graph, arguments[name])
        if numbers is None:
            return given
        if array.site == "vertex":
            return numbers.to_new(given, ids=array.ids)
        return numbers.renumber(given, numbers.new_of_old) if array.ids else given
    if array.site == "vertex":
        return graph.vertex_properties[name]
    if array.site == "edge_segments":
        return _segments.segment_property(graph, *_segments.split_name(name))
    if array.site == "edge_in":
        return graph.in_property(name.removesuffix(".in"))
    return graph.edge_properties[name]


def _given(array: Array, graph: Graph, value: Any) -> np.ndarray[Any, Any]:
    """A copy of an array parameter in the kernel's type, checked."""
    given = np.asarray(value)
    if array.site == "vertex" and len(given) != graph.num_vertices:
        raise ParameterError(
            f"{array.name} has {len(given):,} elements; it needs one per vertex, {graph.num_vertices:,}"
        )
    if array.ids and given.size:
        outside = (given < 0) | (given >= graph.num_vertices)
        if outside.any():
            check_vertex(array.name, given[outside][0], graph)
    return np.array(given, array.dtype, order="C")


def _outputs(
    context: ContextView,
    plan: Plan,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    numbers: Relabelled | None = None,
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for output in plan.outputs:
        if output.array:
            found = arrays[output.array]
            if numbers is not None:
                found = numbers.to_old(found, ids=output.ids)
            values[output.name] = found.view(f"int{found.dtype.itemsize * 8}") if output.ids else found
            continue
        scalar = context.result(output.slot, plan.interface.results[output.slot].dtype)
        if numbers is not None and output.ids:
            scalar = numbers.renumber(np.atleast_1d(scalar), numbers.old_of_new)[0]
        values[output.name] = scalar.view(f"int{scalar.dtype.itemsize * 8}") if output.ids else scalar
    return values


def _trace(context: ContextView, plan: Plan) -> Trace:
    interface = plan.interface
    return Trace(
        [
            Round(
                interface.labels[label],
                interface.directions[direction],
                int(frontier),
                int(edges),
                ns * 1e-9,
            )
            for label, direction, frontier, edges, ns, _ in context.trace().tolist()
        ]
    )


__all__ = ["execute", "path_type", "prepare", "signature_of"]
