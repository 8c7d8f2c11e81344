"""Edge properties under schedules, on every shape of graph, against the reference interpreter and by definition."""

from __future__ import annotations

import edge_programs as programs
import pytest
from schedule_matrix import SHAPES, Case, Kind, agree, graph_of, groups

import vgraph as vg
from vgraph.compiler import space

DIRECTED, UNDIRECTED = Kind(True, "int32"), Kind(False, "int32")
BOTH = ("shared", "passing", "by_own_lengths")
PROGRAMS = [(name, kind) for name in BOTH for kind in (DIRECTED, UNDIRECTED)] + [("alone", DIRECTED)]


def cases_of(algorithm: vg.AlgorithmDef, kind: Kind, seed: int) -> list[Case]:
    found = []
    for shape in SHAPES:
        graph = graph_of(shape, kind, seed)
        given = {"source": 1} if "source" in algorithm.signature.parameters else {}
        if given and graph.num_vertices < 2:
            continue
        expected = vg.run(algorithm, graph, device="python", **given)
        found.append(Case(f"{shape} graph, {kind}", graph, given, expected))
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("name", "kind"), PROGRAMS, ids=lambda x: x if isinstance(x, str) else str(x.directed)
)
def test_schedules_agree(name: str, kind: Kind, threads: int) -> None:
    algorithm = getattr(programs, name)
    found = cases_of(algorithm, kind, 7)
    tried = 0
    for group in groups(algorithm, found, threads):
        for i, schedule in enumerate(space.sample(group.program, group.context, 6, threads)):
            for case in group.cases[i % 3 :: 3]:
                agree(algorithm, case, schedule, threads)
                tried += 1
    assert tried > 6


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("name", "kind"), PROGRAMS, ids=lambda x: x if isinstance(x, str) else str(x.directed)
)
def test_all_schedules_agree(name: str, kind: Kind, threads: int) -> None:
    algorithm = getattr(programs, name)
    for group in groups(algorithm, cases_of(algorithm, kind, 7), threads):
        for schedule in space.schedules(group.program, group.context):
            for case in group.cases:
                agree(algorithm, case, schedule, threads)
