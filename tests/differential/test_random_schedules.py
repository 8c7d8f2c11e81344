"""Random programs under random schedules, all axes of all labels varied at once, against the reference interpreter."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_monotone
import random_operators
from schedule_matrix import same

import vgraph as vg
from vgraph.compiler.axes import space
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.rewrite import Context
from vgraph.runtime.executor import signature_of
from vgraph.runtime.policy import facts_of

QUICK, MANY = 12, 400
KINDS = {"any": random_operators.program_text, "monotone": random_monotone.program_text}
SHAPES = ((0, 1), (12, 1), (40, 9), (400, 150))
"""Edges and vertices of the graphs."""


def load(path: Path, text: str, name: str) -> vg.AlgorithmDef:
    path = path / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def random_graph(seed: int, m: int, n: int) -> vg.Graph:
    """A graph of `m` edges, many of them at a hub."""
    rng = np.random.default_rng([seed, m])
    ends = rng.integers(0, n, m), np.where(rng.random(m) < 0.3, seed % n, rng.integers(0, n, m))
    weight = rng.integers(0, 6, m).astype(np.int32)
    return vg.Graph.from_edges(
        *(ends if seed % 2 else ends[::-1]), num_vertices=n, directed=bool(seed % 3), weight=weight
    )


def check(text: Callable[[int], str], seed: int, count: int, folder: Path) -> None:
    algorithm = load(folder, text(seed), f"random_schedules_{seed}")
    graphs = [random_graph(seed, m, n) for m, n in SHAPES]
    expected = [vg.run(algorithm, g, device="python", source=0) for g in graphs]
    types = argument_types(algorithm, {**defaults(algorithm), "source": 0})
    for threads in (1, 2, 3):
        context = Context(threads=int(threads == 1), facts=facts_of(graphs[0]))
        program = space.ready(build_program(algorithm, signature_of(graphs[0], types)), context)
        for schedule in space.sample(program, context, count, seed + threads):
            for graph, want in zip(graphs, expected, strict=True):
                where = f"seed {seed}, {graph}, threads={threads}, {dict(schedule.labels)!r}\n{text(seed)}"
                try:
                    found = vg.run(algorithm, graph, schedule=schedule, threads=threads, source=0)
                except Exception as error:
                    raise AssertionError(where) from error
                for name in want.names:
                    same(getattr(found, name), getattr(want, name), f"{name}: {where}")


def defaults(algorithm: vg.AlgorithmDef) -> dict[str, Any]:
    parameters = algorithm.signature.parameters.items()
    return {name: p.default for name, p in parameters if p.default is not p.empty}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(QUICK))
def test_random_schedules(seed: int, kind: str, tmp_path: Path) -> None:
    check(KINDS[kind], seed, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(QUICK, QUICK + MANY))
def test_many_random_schedules(seed: int, kind: str, tmp_path: Path) -> None:
    check(KINDS[kind], seed, 4, tmp_path)
