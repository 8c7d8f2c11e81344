"""Edge properties on a GPU, against the reference interpreter."""

from __future__ import annotations

from typing import Any

import edge_programs as programs
import numpy as np
import pytest
from matrix import agree, program_of
from schedule_matrix import Case, Kind, graph_of

import vgraph as vg
from vgraph.compiler import space

PROGRAMS = [("shared", False), ("passing", False), ("alone", True), ("by_own_lengths", True)]


@pytest.mark.parametrize(("name", "directed"), PROGRAMS)
def test_edges(name: str, directed: bool, gpu: Any) -> None:
    algorithm = getattr(programs, name)
    graph = graph_of("loops", Kind(directed, "int32"), 5)
    given = {"source": 1} if "source" in algorithm.signature.parameters else {}
    case = Case(name, graph, given, vg.run(algorithm, graph, device="python", **given))
    program, context = program_of(algorithm, case)
    for seed, schedule in enumerate([vg.Schedule(), *space.sample(program, context, 2, 9)]):
        agree(algorithm, case, schedule, gpu, seed)


def test_results_have_the_order_of_the_edges(gpu: Any) -> None:
    s, t = np.array([2, 0, 1, 0]), np.array([0, 1, 2, 2])
    graph = vg.Graph.from_edges(s, t, weight=np.array([7, 5, 3, 1], np.int32))
    found = vg.run(programs.by_own_lengths, graph, source=0, device="cuda")
    assert found.length.tolist() == [4, 3, 2, 1]
