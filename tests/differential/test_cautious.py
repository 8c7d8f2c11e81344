"""Vertex operators that gather vertices: one visit after the other, in an order that the schedule may choose."""

from __future__ import annotations

import cautious_programs as programs
import numpy as np
import pytest
from schedule_matrix import same

import vgraph as vg

CONFLICTS = [vg.SEQUENTIAL, vg.NODE_LOCKED, vg.MARKED]


def stirred(directed: bool, conflict: object, **options: object) -> vg.Result:
    schedule = vg.Schedule().at("stir", conflict=conflict)
    return vg.run(programs.stirred, programs.graph_of(directed), seeds=programs.SEEDS, schedule=schedule, **options)


def check_serial(found: vg.Result, directed: bool) -> None:
    """Visits that share a vertex have other turns, in the order in which they came."""
    order = programs.SEEDS[np.argsort(found.turn[programs.SEEDS], kind="stable")]
    np.testing.assert_array_equal(found.x, programs.replayed(programs.graph_of(directed), order))


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("directed", [True, False])
def test_one_after_the_other_is_a_loop_over_the_vertices(directed, device):
    found = stirred(directed, vg.SEQUENTIAL, device=device)
    np.testing.assert_array_equal(found.x, programs.replayed(programs.graph_of(directed), programs.SEEDS))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_what_comes_out_is_that_of_some_serial_order(conflict, directed, threads):
    found = stirred(directed, conflict, threads=threads)
    check_serial(found, directed)
    assert found.schedule.labels["stir"].conflict == conflict
