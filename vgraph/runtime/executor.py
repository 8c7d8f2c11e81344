"""Plan, compile, execute: from an algorithm and a graph to a result, on any device."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.cache import CacheWarning, cache_key, cached_object, default_cache
from vgraph.compiler.facts import Facts
from vgraph.compiler.types import I32, I64, NUMPY_NAMES, U32, Target, Type, Vector
from vgraph.config import knobs
from vgraph.errors import DeviceError, PassError
from vgraph.runtime import policy
from vgraph.runtime.arguments import check_vertex, renumbered
from vgraph.runtime.devices.runner import Call, Ran, Runner
from vgraph.runtime.plan import Plan, plan_of
from vgraph.runtime.result import Result, Round, Stats, Trace
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.compiler import Observer, ir
    from vgraph.compiler.frontend import Signature
    from vgraph.compiler.ir.rewrite import Pass
    from vgraph.compiler.user_passes import UserPass
    from vgraph.graph import Graph
    from vgraph.graph.relabel import Relabelled
    from vgraph.language.decorators import AlgorithmDef
    from vgraph.runtime.progress import ProgressCallback

_LOADED: Final = 256
"""Kernels kept in memory, the least recently used go first."""


@dataclass(frozen=True)
class Loaded:
    """A kernel ready to run, and whether its code came from the cache on disk."""

    plan: Plan
    kernel: Any
    """What the device's `load` made of the code."""
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
    """A hash of vgraph's own code, as far as plans and the text of kernels depend on it.

    Reading all of it takes longer than the rest of a warm start, so the hash is kept under what the system says of the
    files: they are read again where one of them may have changed, and a new copy of the same code has the same hash.
    """
    root = os.fspath(Path(__file__).parents[1])
    files = {entry.path[len(root) :]: entry for entry in _own_files(root)}
    rows = []
    for name in sorted(files):
        s = files[name].stat()
        rows.append(f"{name} {s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}")

    def read() -> bytes:
        contents = ((name, Path(files[name]).read_bytes()) for name in sorted(files))
        return cache_key(itertools.chain.from_iterable(contents)).encode()

    return cached_object(("vgraph's code", *rows), read, {"what": "hash of vgraph's code"})[0].decode()


def _own_files(root: str) -> Iterator[os.DirEntry[str]]:
    folders = [root, os.path.join(root, "compiler"), os.path.join(root, "language")]
    while folders:
        folder = folders.pop()
        for entry in os.scandir(folder):
            if entry.is_file() and not entry.name.endswith(".pyc"):
                yield entry
            elif folder != root and entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry.path)
    yield from (entry for entry in os.scandir(os.path.join(root, "runtime")) if entry.name == "plan.py")


def prepare(
    definition: AlgorithmDef,
    signature: Signature,
    schedule: Schedule,
    runner: Runner,
    facts: Facts,
    relabel: bool = False,
    deterministic: bool = False,
) -> Loaded:
    """The kernel for this program on `runner`, from memory, from the cache on disk, or compiled now.

    `relabel`: it must give the same on a graph in another order of vertices; `deterministic`: with any threads.
    """
    from vgraph.compiler.frontend import source_parts

    own = _own_passes()
    marks = pass_marks(own)
    if marks is None:
        return _compile(None, definition, signature, schedule, runner, facts, own, relabel, deterministic)
    asked = ";".join(f"{k}={v!r}" for k, v in sorted(schedule.labels.items()))
    known = (repr(signature), asked, str(runner.single), repr(facts), str(relabel), str(deterministic))
    key = cache_key((code_stamp(), runner.name, runner.stamp(), *source_parts(definition), *known, *marks))
    place = f"{runner.place} {key}"
    with _lock:
        found = _loaded.get(place)
        if found is not None:
            _loaded.move_to_end(place)
            return found
    loaded = _from_cache(key, runner)
    if loaded is None:
        loaded = _compile(key, definition, signature, schedule, runner, facts, own, relabel, deterministic)
    with _lock:
        _loaded[place] = loaded
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


def _from_cache(key: str, runner: Runner) -> Loaded | None:
    cache = default_cache()
    data = cache.get(key) if cache is not None else None
    if cache is None or data is None:
        return None
    plan, code_key = Plan.unpack(data)
    code = cache.get(code_key)
    return None if code is None else Loaded(plan, runner.load(code, plan), True)


def _compile(
    key: str | None,
    definition: AlgorithmDef,
    signature: Signature,
    schedule: Schedule,
    runner: Runner,
    facts: Facts,
    own: tuple[UserPass, ...],
    relabel: bool,
    deterministic: bool,
) -> Loaded:
    """The program compiled now, its text to machine code only if the cache has none for the same text.

    Without a key the plan is not kept.
    """
    from vgraph.compiler import build
    from vgraph.compiler.user_passes import pipeline

    stations: dict[str, str] = {}
    try:
        compiled = build(
            definition,
            signature,
            runner.backend,
            schedule=schedule,
            threads=runner.single,
            facts=facts,
            deterministic=deterministic,
            passes=pipeline(own),
            observe=_observer(stations, relabel),
        )
    except PassError:
        _show(definition.name, str(schedule), "", runner, stations)
        raise
    _show(definition.name, str(compiled.schedule), compiled.source.text, runner, stations)
    about = {"algorithm": definition.name, "schedule": str(compiled.schedule), "device": runner.name}
    parts = runner.parts(compiled.source)
    code, found = cached_object(parts, lambda: runner.compile(compiled.source), about)
    plan = plan_of(compiled.kernel, compiled.source.interface, compiled.schedule)
    cache = default_cache()
    if cache is not None and key is not None:
        cache.put(key, plan.pack(cache_key(parts)), about)
    return Loaded(plan, runner.load(code, plan), found)


def _observer(stations: dict[str, str], relabel: bool) -> Observer | None:
    """Keep the IR of every station if the knobs ask for it; check the program if it is to `relabel`."""
    keeps = knobs().debug >= 4 or knobs().dump_dir is not None
    if not keeps and not relabel:
        return None
    from vgraph.compiler.analysis.numbering import check_numbering
    from vgraph.compiler.ir.text import print_program

    def observe(step: Pass | None, program: ir.Program) -> None:
        if relabel and step is not None and step.name == "simplify":
            check_numbering(program)
        if keeps:
            stations[step.name if step else "frontend"] = print_program(program)

    return observe


def _show(name: str, schedule: str, code: str, runner: Runner, stations: Mapping[str, str]) -> None:
    """Print and write what the VGRAPH_DEBUG and VGRAPH_DUMP_DIR knobs ask for."""
    level, folder = knobs().debug, knobs().dump_dir
    texts = {"schedule": schedule} if level >= 1 else {}
    texts |= {f"after {k}": v for k, v in stations.items()} if level >= 4 else {}
    texts |= {runner.language: code} if level >= 3 else {}
    for title, text in texts.items():
        print(f"== {name}: {title} ==\n{text}", file=sys.stderr)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (station, text) in enumerate(stations.items()):
            (folder / f"{name}-{number}-{station}.ir").write_text(text, encoding="utf-8")
        (folder / f"{name}{runner.suffix}").write_text(code, encoding="utf-8")


# --- runs -----------------------------------------------------------------------------------------------------


def execute(
    definition: AlgorithmDef,
    graph: Graph,
    arguments: Mapping[str, Any],
    types: Mapping[str, Any],
    schedule: Schedule,
    runner: Runner,
    progress: ProgressCallback | None = None,
    relabel: str | None = None,
    deterministic: bool = False,
    max_rounds: int | None = None,
) -> Result:
    """Run an algorithm with complete `arguments` of the given `types` on `runner`.

    `relabel`: on the graph in this order of its vertices; arguments and results keep the ids of `graph`.
    `deterministic`: the bits of the result do not depend on the number of threads, nor on the schedule. A run of more
    than `max_rounds` rounds ends with AlgorithmError.
    """
    with _room_for(definition, graph):
        start = time.perf_counter()
        facts = policy.facts_of(graph, runner.name)
        signature, relabels = signature_of(graph, types), relabel is not None
        if max_rounds is not None:
            from vgraph.compiler.frontend import typed_program
            from vgraph.runtime import rounds as counting

            schedule = counting.with_rounds(schedule, typed_program(definition, signature).program)
            progress = counting.limited(progress, definition.name, max_rounds)
        loaded = prepare(definition, signature, schedule, runner, facts, relabels, deterministic)
        compiled = time.perf_counter()
        plan = loaded.plan
        for name in plan.vertex_params:
            check_vertex(name, arguments[name], graph)
        numbers = graph.relabelled(relabel) if relabel is not None else None
        call = Call(plan, graph, arguments)
        if numbers is not None:
            call = Call(plan, numbers.graph, renumbered(plan, arguments, numbers), numbers)
        ran = runner.run(loaded.kernel, call, progress)
        values = _outputs(ran, plan, runner, numbers)
        if max_rounds is not None and len(ran.records):
            # it may have gone on, and ended, before it was looked at
            first_too_many = int(ran.records[min(max_rounds, len(ran.records) - 1), 2])
            counting.check_rounds(definition.name, max_rounds, len(ran.records) + ran.dropped, first_too_many)
        ways = np.array([d != "vertex" for d in plan.interface.directions], np.bool_)
        rounds = int(ways[ran.records[:, 1]].sum()) or len(ran.records)
        stats = Stats(
            runner.name,
            ran.threads,
            rounds + ran.dropped,
            int(ran.records[:, 3].sum()),
            compiled - start,
            ran.prepare_seconds,
            ran.run_seconds,
            loaded.cached,
            ran.transfer_seconds,
            ran.kernel_seconds,
            ran.waited,
        )
        names = (a.name for a in plan.interface.args)
        used = policy.with_deltas(plan.schedule, names, graph, runner.name)
        return Result(definition.name, values, stats, _trace(ran.records, plan), used)


@contextlib.contextmanager
def _room_for(definition: AlgorithmDef, graph: Graph) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise DeviceError(f"out of memory: {definition.name} on {graph!r} does not fit") from error


def _outputs(ran: Ran, plan: Plan, runner: Runner, numbers: Relabelled | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for output in plan.outputs:
        if output.array:
            found = ran.arrays[output.array]
            if numbers is not None:
                found = numbers.to_old(found, ids=output.ids)
            signed = found.view(f"int{found.dtype.itemsize * 8}") if output.ids else found
            values[output.name] = runner.finish(signed)
            continue
        scalar = ran.scalar(output.slot, plan.interface.results[output.slot].dtype)
        if numbers is not None and output.ids:
            scalar = numbers.renumber(np.atleast_1d(scalar), numbers.old_of_new)[0]
        values[output.name] = scalar.view(f"int{scalar.dtype.itemsize * 8}") if output.ids else scalar
    return values


def _trace(records: NDArray[np.int64], plan: Plan) -> Trace:
    labels, directions = plan.interface.labels, plan.interface.directions

    def make() -> list[Round]:
        return [
            Round(labels[label], directions[direction], active, edges, ns * 1e-9, waited * 1e-9)
            for label, direction, active, edges, ns, waited in records.tolist()
        ]

    return Trace(make, len(records))


__all__ = ["execute", "path_type", "prepare", "signature_of"]
