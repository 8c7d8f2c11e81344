"""Every algorithm of the library on a GPU, under legal schedules, on graphs of every shape.

By default a sample on the emulated GPU, with `-m slow` all of it; with `-m cuda` a larger sample on the real one.
"""

from __future__ import annotations

from typing import Any

import pytest
from emulated_device import EmulatedDevice
from library_arguments import library
from matrix import ALGORITHMS, agree, cases, cells, program_of, seed_of
from schedule_matrix import KINDS, Kind, groups

import vgraph as vg
from vgraph.compiler import space

SAMPLE, ON_GPU = 2, 8
"""Schedules of each algorithm on graphs of one kind."""
MIXED = 20
"""Schedules with all labels varied at once, beside all schedules that vary one label."""


@pytest.mark.parametrize("algorithm", library())
def test_a_sample(algorithm: vg.AlgorithmDef, gpu: Any) -> None:
    seed = seed_of(algorithm.name)
    kinds = [KINDS[(seed + 2 * k) % len(KINDS)] for k in range(len(KINDS))]
    found = next(filter(None, (cases(algorithm, kind, seed) for kind in kinds)))
    count = SAMPLE if isinstance(gpu, EmulatedDevice) else ON_GPU
    group = max(groups(algorithm, found, 0, program_of), key=lambda g: len(g.cases))
    schedules = [vg.Schedule(), *space.sample(group.program, group.context, count - 1, seed)]
    for case, schedule, interleaving in cells(algorithm, group.cases, schedules):
        agree(algorithm, case, schedule, gpu, interleaving)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_all(algorithm: vg.AlgorithmDef, kind: Kind, emulated: EmulatedDevice) -> None:
    found = cases(algorithm, kind, seed=3)
    if not found:
        pytest.skip(f"{algorithm.name} takes no graphs that are {kind}")
    for group in groups(algorithm, found, 0, program_of):
        asked = group.program, group.context
        schedules = [*space.schedules(*asked), *space.sample(*asked, MIXED, seed=3)]
        for case, schedule, interleaving in cells(algorithm, group.cases, schedules):
            agree(algorithm, case, schedule, emulated, interleaving)
