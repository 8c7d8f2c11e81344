"""Run a random program in every way there is, and say where results differ."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import vgraph as vg
from vgraph.compiler import ir, space
from vgraph.compiler.abilities import CPU as CPU_ABILITIES
from vgraph.compiler.abilities import CPU_SET
from vgraph.compiler.abilities import CUDA as CUDA_ABILITIES
from vgraph.compiler.analysis.effects import is_exclusive
from vgraph.compiler.backends.abi import Steering
from vgraph.compiler.backends.base import refuse_externals
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import argument_types, typed_program
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import chosen
from vgraph.compiler.philox import SEED
from vgraph.config import scope
from vgraph.graph import members
from vgraph.graph.cuts import EdgeCut, HubCut, Placement
from vgraph.reference import run_reference
from vgraph.refusals.base import Refusal
from vgraph.refusals.sets import NotOnASet
from vgraph.runtime import executor, policy
from vgraph.runtime.devices import threads
from vgraph.runtime.devices.python import places_of
from vgraph.runtime.devices.runner import Call, Runner
from vgraph.runtime.plan import plan_of
from vgraph.schedule import Options

from .graphs import Kind, random_graph
from .programs import SETS

SECONDS = 60.0
"""A run that takes longer hangs."""
ROUNDED = "sink"
"""The property whose last digits may differ."""
Outcome = Mapping[str, Any] | str
"""The results by name, or what a run failed with by its own will."""


@dataclass(frozen=True)
class Way:
    """How a program is run: on a device ("interpret", "cpu", "set", "cuda"), with so many threads, or members of a set
    with one each, under a schedule.

    `station` is a pass after which the interpreter runs the program; `opt` LLVM's level; `seed` chooses numbers of the
    policy, facts of the graph, and the order in which an interpreter or an emulator goes.
    """

    device: str
    threads: int = 1
    schedule: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    station: str = ""
    opt: int = 0
    seed: int = 0


class Difference(Exception):
    """What was found: in which way of running (None: the reference itself), on which graph, and how it looks."""

    def __init__(self, way: Way | None, shape: tuple[int, int], message: str) -> None:
        super().__init__(f"{message}\n  {way}\n  graph {shape}")
        self.way, self.shape, self.message = way, shape, message


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="vgraph-fuzz-"))


def noted(text: str, what: str) -> list[str]:
    """What lines of a program's docstring say of something: `graphs: {...}`."""
    lines = text.split('"""')[1].splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith(f"{what}: ")]


class Subject:
    """One program with what it needs to be run. Raises Refusal where the language does not take it."""

    loaded = 0

    def __init__(self, text: str, seed: int) -> None:
        self.text, self.seed = text, seed
        self.kind = Kind(**json.loads(noted(text, "graphs")[0]))
        orders = json.loads((noted(text, "orders") or ["{}"])[0])
        self.orders = {label: {"conflict": order} for label, order in orders.items()}
        """Of operators that do anything to several vertices: in which order they do it."""
        self.algorithm = self._load()
        self.given: dict[str, Any] = {
            "source": 0,
            "several": np.arange(3),
            "rounds": 2 + seed % 2,
            "table": (3, 0, 4, 1, 5),
            "matrix": ((1, 0.5, -2), (4, 0, 8)),
            "dtype": vg.int32 if seed % 3 else vg.int64,
        }
        parameters = self.algorithm.signature.parameters
        self.given = {name: v for name, v in self.given.items() if name in parameters}
        types = argument_types(self.algorithm, self.given)
        signature = executor.signature_of(random_graph(self.kind, seed, (2, 2)), types)
        self.typed: TypedProgram = typed_program(self.algorithm, signature)

    def _load(self) -> vg.AlgorithmDef:
        Subject.loaded += 1
        path = _folder() / f"program_{Subject.loaded}.py"
        path.write_text(self.text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found: vg.AlgorithmDef = module.program
        return found

    def graph(self, shape: tuple[int, int]) -> vg.Graph:
        """The graph of a shape."""
        return random_graph(self.kind, self.seed, shape)

    def arguments(self, graph: vg.Graph) -> dict[str, Any]:
        """What the program is called with."""
        n = graph.num_vertices
        own = {"source": self.seed % n, "several": (np.arange(3) * 7 + self.seed) % n}
        return {**self.given, **{name: v for name, v in own.items() if name in self.given}}

    def expected(self, graph: vg.Graph) -> Outcome:
        """What the reference gives."""
        defaults = {name: p.default for name, p in self.algorithm.signature.parameters.items()}
        try:
            arguments = {**defaults, **self.arguments(graph)}
            schedule = vg.Schedule({label: Options.from_json(o) for label, o in self.orders.items()})
            places = partial(places_of, schedule)
            return run_reference(self.typed, graph, arguments, seed=self.seed, places=places)[0]
        except vg.AlgorithmError as error:
            return _failure(error)

    # --- code

    def context(self, way: Way) -> Context:
        """What the passes are told."""
        r = random.Random(way.seed)
        flags = {name: r.random() < 0.3 for name in ("large", "hubs", "deep", "short_lists")}
        facts = Facts(directed=self.kind.directed, **flags, segments=r.choice([1, 1, 2]))
        abilities = {"cuda": CUDA_ABILITIES, "set": CPU_SET}.get(way.device, CPU_ABILITIES)
        divides = "may" if way.device == "set" and way.seed % 2 else ""
        cut = way.device == "set" and is_cut(way)
        schedule = vg.Schedule({label: Options.from_json(o) for label, o in way.schedule.items()})
        single = way.threads == 1 or way.device == "set"
        return Context(schedule, 1 if single else 0, facts, abilities=abilities, divides=divides, cut=cut)

    @cached_property
    def ready(self) -> ir.Program:
        """The program as schedules are chosen for it."""
        return space.ready(self.typed.program, Context())

    def schedules(self, way: Way, count: int) -> list[vg.Schedule]:
        """Random legal schedules."""
        context = self.context(way)
        ready = space.ready(self.typed.program, context) if context.divides else self.ready
        return space.sample(ready, context, count, way.seed)

    def lowered(self, way: Way) -> dict[str, ir.Program]:
        """The program after each pass."""
        stations: dict[str, ir.Program] = {"": self.typed.program}

        def observe(step: Any, program: ir.Program) -> None:
            stations[step.name] = program

        passes = () if way.device == "interpret" and not way.station else PIPELINE
        PassManager(self.context(way)).run(self.typed.program, passes, on_pass=observe)
        return stations


def _failure(error: Exception) -> str:
    return f"AlgorithmError: {error}"


# --- running --------------------------------------------------------------------------------------------------


@contextmanager
def numbers(seed: int) -> Iterator[None]:
    """Numbers of the policy at extremes, loops of any number of threads: small graphs meet every decision."""
    r = random.Random(seed)
    usual = policy.number
    chosen: dict[str, float] = {}

    def number(name: str, graph: vg.Graph, *where: Any) -> float:
        if not name.startswith("policy.") or name.startswith(policy.DELTA):
            return usual(name, graph, *where)
        if name not in chosen:
            chosen[name] = r.choice([1, 2, 16, 1000])
        return chosen[name]

    with mock.patch.object(policy, "number", number), mock.patch.object(threads, "STEERING", Steering.RANDOM):
        yield


def compiled(program: ir.Program, runner: Runner) -> tuple[Any, Any]:
    """A kernel that is loaded, and its plan."""
    refuse_externals(program, runner.backend)
    source = runner.backend.emit(program)
    plan = plan_of(
        program, source.interface, chosen(program) if program.level is not ir.Level.KERNEL else vg.Schedule()
    )
    return runner.load(runner.compile(source), plan), plan


def patience(progress: Any) -> None:
    """End a run that does not end by itself."""
    if progress.elapsed > SECONDS:
        raise TimeoutError(f"not done after {progress.elapsed:.0f} s")


def runner_of(way: Way) -> Runner:
    """The device of a way."""
    if way.device == "cpu":
        from vgraph.runtime.devices.cpu import CPU

        return CPU(way.threads)
    if way.device == "set":
        from vgraph.runtime.devices.sets import CPUSet

        return CPUSet([vg.cpu(threads=1)] * way.threads, None)
    from vgraph.runtime.devices.cuda.executor import CUDA

    return CUDA(emulated(way.seed))


def no_emulation() -> str | None:
    """Why there is no emulated GPU here; None where there is one."""
    _beside_cuda()
    from emulator import unavailable

    found: str | None = unavailable()
    return found


def _beside_cuda() -> None:
    folder = str(Path(__file__).parents[1] / "cuda")
    if folder not in sys.path:
        sys.path.append(folder)


def emulated(seed: int) -> Any:
    """An emulated GPU of some launch shape."""
    _beside_cuda()
    from emulated_device import EmulatedDevice

    multiprocessors, block = ((1, 32), (2, 64), (3, 32), (2, 128))[seed % 4]
    return EmulatedDevice(multiprocessors=multiprocessors, block=block, seed=seed)


def is_cut(way: Way) -> bool:
    """Whether members of a set have some of the arcs of a vertex each, and tell each other of each round."""
    delayed = any(options.get("exchange") == "delayed" for options in way.schedule.values())
    return way.seed % 5 in (1, 2) and not delayed


def placed(way: Way, graph: vg.Graph) -> Placement:
    """A placement for the members of a set: ranges, at random, one with one vertex, all on one; arcs at random, or
    those of hubs where their other ends are."""
    n = graph.num_vertices
    rng = np.random.default_rng(way.seed + n)
    last = way.threads - 1
    if is_cut(way):
        some = rng.integers(0, way.threads, graph.num_arcs)
        chosen = rng.integers(4)
        return EdgeCut(np.minimum(some, chosen)) if chosen else HubCut(float(rng.choice([0, 1, 2])))
    kinds = (
        lambda: None,
        lambda: rng.integers(0, way.threads, n),
        lambda: np.where(np.arange(n) == rng.integers(n), last, 0),
        lambda: np.full(n, last),
    )
    return kinds[rng.choice(4, p=(0.2, 0.6, 0.1, 0.1))]()  # type: ignore[no-untyped-call]


class Runs:
    """A program in one way, on many graphs."""

    def __init__(self, subject: Subject, way: Way) -> None:
        self.subject, self.way = subject, way
        stations = subject.lowered(way)
        self.program = stations[way.station] if way.device == "interpret" else list(stations.values())[-1]
        if way.device != "interpret":
            self.runner = runner_of(way)
            with scope(opt=way.opt):
                self.kernel, self.plan = compiled(self.program, self.runner)

    def on(self, graph: vg.Graph) -> Outcome:
        """The outcome on a graph."""
        arguments = self.subject.arguments(graph)
        with numbers(self.way.seed):
            try:
                if self.way.device == "interpret":
                    names = [p.name for p in self.program.params if "." in p.name and p.name != SEED]
                    hidden = {SEED: self.subject.seed, **{name: policy.number(name, graph) for name in names}}
                    order = {"seed": self.way.seed, "threads": self.way.threads}
                    low = self.program.level is ir.Level.KERNEL
                    return interpret(self.program, graph, arguments | hidden, **(order if low else {}))
                call = Call(self.plan, graph, arguments, seed=self.subject.seed)
                if self.way.device == "set":
                    self._meet(graph)
                ran = self.runner.run(self.kernel, call, patience)
                found = executor._outputs(ran, self.plan, self.runner)
                sets = {o.name for o in self.plan.outputs if o.members}  # interpreters tell of each vertex
                return {
                    k: members.marked(v, graph.num_vertices) if k in sets else v for k, v in found.items()
                }
            except vg.AlgorithmError as error:
                return _failure(error)

    def _meet(self, graph: vg.Graph) -> None:
        """Other parts of the graph for the members of a set, and another policy for its loops."""
        from vgraph import sharing
        from vgraph.runtime.devices.shares import Shared

        policies = [p for p in vars(sharing).values() if isinstance(p, sharing.Policy)]
        policy = policies[self.way.seed % len(policies)]
        self.runner.placement = placed(self.way, graph)
        self.runner.shared = Shared(policy, graph, "fuzz") if self.way.seed % 2 else None


# --- comparing ------------------------------------------------------------------------------------------------


def difference(found: Outcome, expected: Outcome) -> str:
    """How two outcomes differ; an empty string where they do not."""
    if isinstance(found, str) or isinstance(expected, str):
        same = isinstance(found, str) and isinstance(expected, str)
        return "" if same else f"found {found!s:.300}, expected {expected!s:.300}"
    for name, wanted in expected.items():
        a, b = np.asarray(found[name]), np.asarray(wanted)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{name}: found {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if name == ROUNDED:
            same = np.allclose(a, b, rtol=1e-5, atol=0, equal_nan=True)
        else:
            same = np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        if not same:
            at = np.flatnonzero(~((a == b) | ((a != a) & (b != b))).reshape(-1))[:5]
            return f"{name}: at {at.tolist()} found {a.reshape(-1)[at]}, expected {b.reshape(-1)[at]}"
    return ""


def options_of(schedule: vg.Schedule) -> dict[str, dict[str, Any]]:
    """A schedule as JSON, only what is asked for."""
    return {label: options.to_json() for label, options in schedule.labels.items()}


SMALL = ((1, 0), (1, 3), (5, 7), (9, 40))
LARGE = ((30, 60), (150, 400))


def ways(subject: Subject, r: random.Random, cuda: bool) -> Iterator[Way]:
    """The ways in which a program is tried."""
    seed = r.randrange(1 << 30)
    orders, stations = subject.orders, [p.name for p in PIPELINE]
    if orders:
        stations = stations[stations.index("lower-conflicts") :]  # before that they come as they stand
    else:
        yield Way("interpret")
    first = Way("cpu", r.choice([2, 5]), seed=seed)
    scheduled = [{**options_of(s), **orders} for s in subject.schedules(first, 2)] or [orders]
    yield replace(first, schedule=scheduled[0])
    kernel = Way("interpret", r.choice([1, 3]), scheduled[-1], PIPELINE[-1].name, seed=seed)
    yield kernel
    # Before the last passes it is for one thread: atomics and barriers are still to come.
    yield replace(kernel, station=r.choice(stations), threads=1, seed=seed + 1)
    yield Way("cpu", 1, orders, opt=3 if r.random() < 0.05 else 0, seed=seed + 2)
    yield Way("cpu", r.choice([2, 5]), scheduled[-1], seed=seed + 3)
    alone = [op for op in subject.ready.operators if is_exclusive(op)]
    sequential = {"conflict": "sequential"} in orders.values()
    on_a_gpu = not sequential and all(op.is_edge for op in alone)  # it gathers vertices on request only
    others = [Way("cuda", 0, seed=seed + 4)] if cuda and on_a_gpu else []
    if subject.seed % SETS == 0 and all(op.is_edge for op in alone):
        others += [Way("set", r.choice([2, 3]), seed=seed + 5)]
    for way in others:
        for schedule in subject.schedules(way, 1):
            yield replace(way, schedule={**options_of(schedule), **orders})


def check(subject: Subject, cuda: bool = False, large: bool = False) -> int:
    """Run a program in several ways on several graphs; how many runs were compared. Raises Difference."""
    r = random.Random(subject.seed)
    shapes = [r.choice(SMALL[:2]), *SMALL[2:], *([r.choice(LARGE)] if large else [])]
    expected: dict[tuple[int, int], Outcome] = {}
    for shape in shapes:
        try:
            expected[shape] = subject.expected(subject.graph(shape))
        except Exception as error:
            raise Difference(None, shape, f"the reference: {type(error).__name__}: {error}") from error
    compared = 0
    for way in ways(subject, r, cuda):
        try:
            runs = Runs(subject, way)
        except NotOnASet:
            continue
        except Refusal:
            raise
        except Exception as error:
            raise Difference(way, (0, 0), f"{type(error).__name__}: {error}") from error
        for shape in shapes:
            if way.device == "interpret" and shape in LARGE:
                continue  # slow
            compare(runs, shape, expected[shape])
            compared += 1
    return compared


def compare(runs: Runs, shape: tuple[int, int], expected: Outcome) -> None:
    """Raise Difference where a run does not give what is expected.

    The graph is a fresh one, so that some ways find a transpose and others do not.
    """
    graph = runs.subject.graph(shape)
    if runs.way.seed % 2:
        _ = graph.in_
    try:
        found = runs.on(graph)
    except Exception as error:
        raise Difference(runs.way, shape, f"{type(error).__name__}: {error}") from error
    message = difference(found, expected)
    if message:
        raise Difference(runs.way, shape, message)


__all__ = ["Difference", "Runs", "Subject", "Way", "check", "compare", "time"]
