"""Operators that write both ends: one activation after the other, in the order that the schedule says."""

from __future__ import annotations

import exclusive_programs as programs
import numpy as np
import pytest
from schedule_matrix import same

import vgraph as vg
from vgraph.schedule import AXES

CONFLICTS = [c for c in AXES["conflict"].candidates if c not in (vg.FREE, vg.MARKED, vg.RACED)]
PLANNED = [c for c in CONFLICTS if c.key]
DIRECTED = [True, False]
LABELS = {"mixed": "mix", "spread": "some", "factors": "descend", "flows": "push_flow"}
GIVEN = {"spread": {"seeds": np.array([7, 3, 11]), "rounds": 3}, "factors": {"rounds": 2}}


def ran(name: str, directed: bool, conflict: object = None, **options: object) -> vg.Result:
    schedule = vg.Schedule().at(LABELS[name], conflict=vg.AUTO if conflict is None else conflict)
    given = {"schedule": schedule, **GIVEN.get(name, {}), **options}
    return vg.run(getattr(programs, name), programs.graph_of(directed), **given)


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("directed", DIRECTED)
def test_one_after_the_other_is_a_loop_over_the_edges_as_they_were_given(directed, device):
    found = ran("mixed", directed, vg.SEQUENTIAL, device=device)
    order = np.arange(programs.arcs_of(directed)[0].size)
    np.testing.assert_array_equal(found.x, programs.replayed(directed, order))


def check_serial(conflict: object, directed: bool, threads: int) -> None:
    found = ran("mixed", directed, conflict, threads=threads)
    order = programs.order_of(directed, found.up, found.down)
    np.testing.assert_array_equal(found.x, programs.replayed(directed, order))
    assert found.schedule.labels["mix"].conflict == conflict


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_what_comes_out_is_that_of_some_serial_order(conflict):
    check_serial(conflict, directed=True, threads=2)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", DIRECTED)
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_what_comes_out_is_that_of_some_serial_order_always(conflict, directed, threads):
    for _ in range(5):
        check_serial(conflict, directed, threads)


def check_plan(conflict: object, name: str, directed: bool, threads: int) -> None:
    """A plan is one order, to the last bit."""
    expected = ran(name, directed, conflict, device="python")
    found = ran(name, directed, conflict, threads=threads)
    for part in expected.names:
        found_part, expected_part = (np.asarray(getattr(r, part)) for r in (found, expected))
        assert found_part.tobytes() == expected_part.tobytes(), part


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("conflict", PLANNED, ids=str)
def test_a_plan_is_one_order_everywhere(conflict, number):
    """Each program and number of threads with some of the plans."""
    at = 2 * PLANNED.index(conflict) + number
    name = list(LABELS)[at % 4]
    check_plan(conflict, name, name == "flows" or at % 3 == 0, threads=1 + at // 4 % 2)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("directed", DIRECTED)
@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("conflict", PLANNED, ids=str)
def test_every_plan_is_one_order_everywhere(conflict, name, directed, threads):
    if directed or name != "flows":  # undirected edges have no opposite
        check_plan(conflict, name, directed, threads)


def test_an_apply_against_the_arcs():
    @vg.algorithm
    def against(graph, seeds):
        x = graph.vertex_property(vg.int64, fill=2)
        up = graph.edge_property(vg.int64)
        active = graph.edge_apply(programs.some, graph.frontier(seeds), reverse=True)
        return x, up, active

    graph, seeds = programs.graph_of(True), np.array([7, 3])
    given = {"seeds": seeds, "schedule": vg.Schedule().at("some", conflict=vg.DIAGONAL)}
    expected = vg.run(against, graph, device="python", **given)
    found = vg.run(against, graph, threads=2, **given)
    for part in expected.names:
        same(getattr(found, part), getattr(expected, part), part)
    assert np.any(expected.up)


def test_the_order_of_edges_that_became_one():
    graph = vg.Graph.from_edges([2, 0, 2, 1], [0, 1, 0, 2], multi_edges=False, weight=[1, 1, 1, 1])
    sources = vg.graph.build.sources_of(graph.out.row_offsets, np.dtype(np.int64))
    place = np.argsort(graph.topology.arc_places)
    assert sources[place].tolist() == [2, 0, 1]


@pytest.mark.parametrize("directed", DIRECTED)
@pytest.mark.parametrize("conflict", [vg.SEQUENTIAL, vg.blocked_diagonals(3, 5), vg.AGM_E], ids=str)
def test_a_plan_is_one_order_whatever_the_numbers_of_vertices(conflict, directed):
    """Of undirected edges the arc that goes up in the user's numbers comes first, too."""
    graph = programs.graph_of(directed)
    given = {**GIVEN["spread"], "schedule": vg.Schedule().at("some", conflict=conflict)}
    expected = vg.run(programs.spread, graph, device="python", **given).x
    for moved, options in ((graph, {"relabel": "degree"}), (vg.reorder(graph, by="random"), {})):
        found = vg.run(programs.spread, moved, **given, **options)
        assert found.stats.order
        np.testing.assert_array_equal(found.x, expected)


@vg.operator
def double(src, edge, dst):
    """Weights that are integers are never NaN, so that sources are never written; but they might be."""
    dst.x = 2 * dst.x + src.x
    if vg.isnan(edge.weight):
        src.x = 0


@vg.algorithm
def doubled(graph):
    x = graph.vertex_property(vg.int64, fill=1)
    reached = graph.edge_apply(double)
    return x, reached


def test_an_end_that_is_never_written():
    arcs = np.random.default_rng(0).integers(0, 9, (2, 30))
    graph = vg.Graph.from_edges(*arcs, weight=np.ones(30, np.int32))
    schedule = vg.Schedule().at("double", conflict=vg.SEQUENTIAL)
    expected = vg.run(doubled, graph, schedule=schedule, device="python")
    found = vg.run(doubled, graph, schedule=schedule, threads=2)
    for name in expected.names:
        same(getattr(found, name), getattr(expected, name), name)
