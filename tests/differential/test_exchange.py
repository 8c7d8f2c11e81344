"""Exchange: updates seen at the end of the round or at once end in the fixpoint of the reference interpreter."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from random_monotone import program_text

import vgraph as vg
from vgraph.compiler.effects import async_obstacle
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir import EdgeApply, Program
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import choose_schedule
from vgraph.compiler.rewrite import Context, PassManager, walk
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.runtime.executor import signature_of

QUICK, MANY = 12, 500
INTERLEAVINGS = 50


def load(path: Path, seed: int) -> vg.AlgorithmDef:
    path = path / f"random_monotone_{seed}.py"
    path.write_text(program_text(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def random_graph(seed: int, n: int, m: int) -> vg.Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    weight = rng.integers(0, 6, m).astype(np.int64)
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=bool(seed % 3), weight=weight)


def at(sync: vg.schedule.Sync, seed: int) -> vg.Schedule:
    """A schedule with this exchange, one of the directions and one of the layouts."""
    direction, layout = (vg.PUSH, vg.PULL)[seed % 2], (vg.SPARSE, vg.BITMAP)[seed // 2 % 2]
    return vg.Schedule().at("update", sync=sync, direction=direction, frontier=layout)


def lowered(program: Program, schedule: vg.Schedule) -> Program:
    return PassManager(Context(schedule)).run(program, PIPELINE)


def obstacle(program: Program) -> tuple[str, object] | None:
    ready = PassManager(Context()).run(program, PIPELINE[: PIPELINE.index(choose_schedule)])
    (apply,) = (n for n in walk(ready) if isinstance(n, EdgeApply))
    return async_obstacle(ready, apply)


def both_ways(algorithm: vg.AlgorithmDef, seed: int, threads: int) -> bool:
    """Compare both exchanges with the reference on two graphs; whether updates may be seen at once."""
    asynchronous = True
    for graph in (random_graph(seed, 9, 20), random_graph(seed + 1, 150, 400)):
        expected = vg.run(algorithm, graph, device="python", source=1)
        for sync in (vg.BSP, vg.ASYNC):
            try:
                found = vg.run(algorithm, graph, schedule=at(sync, seed), threads=threads, source=1)
            except IllegalSchedule as refused:
                assert sync is vg.ASYNC
                line = refused.span.source.line(refused.span.line)
                assert any(word in line for word in ("dst.", "t =", "if ")), line
                asynchronous = False
                continue
            for name in ("x", "y"):
                where = f"seed {seed}, {sync}, threads={threads}: {name}\n{program_text(seed)}"
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), where)
    return asynchronous


def interleavings(algorithm: vg.AlgorithmDef, seed: int, count: int) -> None:
    """All orders of the kernel's steps end in the same fixpoint, where none is said to be impossible."""
    graph = random_graph(seed, 6, 12)
    arguments = {"source": 1}
    program = build_program(algorithm, signature_of(graph, argument_types(algorithm, arguments)))
    expected = vg.run(algorithm, graph, device="python", **arguments)
    if obstacle(program) is not None:
        with pytest.raises(IllegalSchedule):
            lowered(program, at(vg.ASYNC, seed))
        return
    kernel = lowered(program, at(vg.ASYNC, seed))
    for number in range(count):
        found = interpret(kernel, graph, arguments, seed=number, threads=2 + number % 3)
        for name in ("x", "y"):
            where = f"seed {seed}, interleaving {number}: {name}\n{program_text(seed)}"
            np.testing.assert_array_equal(found[name], getattr(expected, name), where)


def test_both_exchanges_give_the_fixpoint(tmp_path: Path) -> None:
    found = [both_ways(load(tmp_path, seed), seed, 1 + seed % 3) for seed in range(QUICK)]
    assert QUICK / 4 < sum(found) < QUICK, "some programs must be proven, and some refused"


@pytest.mark.parametrize("seed", range(QUICK, QUICK + 12))
def test_interleavings(seed: int, tmp_path: Path) -> None:
    interleavings(load(tmp_path, seed), seed, INTERLEAVINGS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + MANY))
def test_many(seed: int, tmp_path: Path) -> None:
    algorithm = load(tmp_path, seed)
    for threads in (1, 2, 3):
        both_ways(algorithm, seed, threads)
    interleavings(algorithm, seed, INTERLEAVINGS)
