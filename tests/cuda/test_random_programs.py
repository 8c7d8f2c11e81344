"""Random programs under random legal schedules on a GPU: what CPython gives, the GPU gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from emulated_device import EmulatedDevice
from matrix import program_of, shaped
from schedule_matrix import Case, same
from test_random_schedules import KINDS, SHAPES, load, random_graph

import vgraph as vg
from vgraph.compiler.axes import space

QUICK = (0, 2, 8, 10, 13)
"""Of every kind; 8 to 13 once had lanes of a warp wait for each other inside what only the first of them does."""
MANY = 200


def check(kind: str, seed: int, count: int, folder: Path, device: Any) -> None:
    text = KINDS[kind](seed)
    algorithm = load(folder, text, f"random_cuda_{seed}")
    graphs = [random_graph(seed, m, n) for m, n in SHAPES]
    expected = [vg.run(algorithm, g, device="python", source=0) for g in graphs]
    asked = program_of(algorithm, Case("", graphs[0], {"source": 0}, None))
    for number, schedule in enumerate(space.sample(*asked, count, seed)):
        shaped(device, seed + number)
        for graph, want in zip(graphs, expected, strict=True):
            where = f"seed {seed}, {graph}, {dict(schedule.labels)!r}\n{text}"
            try:
                found = vg.run(algorithm, graph, schedule=schedule, device="cuda", source=0)
            except Exception as error:
                raise AssertionError(where) from error
            for name in want.names:
                same(getattr(found, name), getattr(want, name), f"{name}: {where}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", QUICK)
def test_random_programs(seed: int, kind: str, gpu: Any, tmp_path: Path) -> None:
    check(kind, seed, 2, tmp_path, gpu)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", sorted({*range(MANY)} - {*QUICK}))
def test_many_random_programs(seed: int, kind: str, emulated: EmulatedDevice, tmp_path: Path) -> None:
    check(kind, seed, 3, tmp_path, emulated)
