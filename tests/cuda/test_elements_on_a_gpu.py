"""Writes of elements of vectors on a GPU."""

from __future__ import annotations

from typing import Any

from elements import elements, graph_of_elements, same_elements
from matrix import program_of, shaped
from schedule_matrix import Case

import vgraph as vg
from vgraph.compiler import space


def test_elements(gpu: Any) -> None:
    graph = graph_of_elements()
    expected = vg.run(elements, graph, device="python")
    asked = program_of(elements, Case("", graph, {}, expected))
    for number, schedule in enumerate(space.sample(*asked, 4, seed=1)):
        shaped(gpu, number)
        same_elements(vg.run(elements, graph, schedule=schedule, device="cuda"), expected)
