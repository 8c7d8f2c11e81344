"""`vg.random` on a GPU: the numbers of the reference interpreter."""

from __future__ import annotations

from typing import Any

import pytest
from draws import GRAPH, close_normals, draws, same_draws
from matrix import program_of, shaped
from schedule_matrix import Case

import vgraph as vg
from vgraph.compiler import space


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_draws(gpu: Any, seed: int) -> None:
    expected = vg.run(draws, GRAPH, seed=seed, device="python")
    asked = program_of(draws, Case("", GRAPH, {}, expected))
    for number, schedule in enumerate(space.sample(*asked, 3, seed=seed % 7)):
        shaped(gpu, number)
        same_draws(vg.run(draws, GRAPH, seed=seed, schedule=schedule, device="cuda"), expected)


@pytest.mark.usefixtures("gpu")
def test_normals() -> None:
    close_normals(device="cuda")
