"""The matrix of algorithms, legal schedules and numbers of threads: a sample of it, and with `-m slow` all of it."""

from __future__ import annotations

import zlib
from itertools import islice

import pytest
from library_arguments import NAMES, UNDIRECTED
from schedule_matrix import KINDS, SHAPES, Kind, agree, cases, groups, sampled

import vgraph as vg
from vgraph.compiler import space

ALGORITHMS = [getattr(vg.algorithms, name) for name in NAMES]
SAMPLE = 4
"""Schedules of each algorithm on a kind of graphs: by default one, three with `-m slow`."""
ENOUGH = 4
"""Different schedules that are tried of each algorithm, where there are so many."""
MIXED = 150
"""Schedules with all labels varied at once, beside all schedules that vary one label."""


@pytest.mark.covering
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_a_sample_of_the_matrix(algorithm: vg.AlgorithmDef, number: int) -> None:
    seed = zlib.crc32(algorithm.name.encode()) % 1000
    kinds = [k for k in KINDS if not (k.directed and algorithm.name in UNDIRECTED)]
    shapes = [s for s in SHAPES if s != ("star", "power law")[seed % 2]]  # one of the two large ones
    found = cases(algorithm, kinds[(seed + number) % len(kinds)], seed, shapes)
    assert found
    tried: set[vg.Schedule] = set()
    asked: set[str] = set()
    for case, schedule, threads in sampled(algorithm, found, SAMPLE, seed + 10 * number, asked):
        tried.add(agree(algorithm, case, schedule, threads))
    there_are = 0
    for group in groups(algorithm, found, 2):
        some = islice(space.schedules(group.program, group.context), ENOUGH)
        there_are = max(there_are, len(list(some)))
    assert len(tried) >= min(ENOUGH, there_are * 3 // 4)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_the_whole_matrix(algorithm: vg.AlgorithmDef, kind: Kind, threads: int) -> None:
    found = cases(algorithm, kind, seed=threads)
    if not found:
        pytest.skip(f"{algorithm.name} takes no graphs that are {kind}")
    for group in groups(algorithm, found, threads):
        asked = group.program, group.context
        for schedule in [*space.schedules(*asked), *space.sample(*asked, MIXED, seed=threads)]:
            for case in group.cases:
                agree(algorithm, case, schedule, threads)
