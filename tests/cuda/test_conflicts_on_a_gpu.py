"""Operators that write both ends on a GPU, whose threads take turns at random: locks, and plans."""

from __future__ import annotations

import cautious_programs as gathering
import exclusive_programs as programs
import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg
from vgraph.refusals.schedules import NoExclusiveEdges
from vgraph.runtime.devices.cuda import use

PLANS = [vg.AGM_E, vg.blocked_diagonals(4, 4)]


def ran(
    algorithm: vg.AlgorithmDef, label: str, directed: bool, conflict: object, **given: object
) -> vg.Result:
    schedule = vg.Schedule().at(label, conflict=conflict)
    return vg.run(algorithm, programs.graph_of(directed), schedule=schedule, **given)


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.COLORED], ids=str)
def test_what_comes_out_is_that_of_some_serial_order(emulated, conflict):
    """Locks are never waited for, so that no seed comes to a standstill. With these some are found taken."""
    tried = []
    for seed, directed in ((1, True), (3, True), (4, False)):
        with use(EmulatedDevice(multiprocessors=2, block=64, seed=seed)):
            found = ran(programs.mixed, "mix", directed, conflict, device="cuda")
        order = programs.order_of(directed, found.up, found.down)
        np.testing.assert_array_equal(found.x, programs.replayed(directed, order))
        (done,) = found.trace
        tried.append(done.edges - order.size)
        assert sum(found.stats.deferred.get("mix", ())) == tried[-1]
    assert any(tried) == (conflict == vg.EDGE_LOCKED)


@pytest.mark.parametrize("conflict", PLANS, ids=str)
def test_a_plan_is_one_order_on_a_gpu_too(gpu, conflict):
    given = {"seeds": np.array([7, 3, 11]), "rounds": 3}
    expected = ran(programs.spread, "some", True, conflict, device="python", **given)
    found = ran(programs.spread, "some", True, conflict, device="cuda", **given)
    for part in expected.names:
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


@pytest.mark.parametrize("frontier", [vg.SPARSE, vg.BITMAP])
def test_from_frontiers_under_locks(gpu, frontier):
    """Sums: the same in every order."""

    @vg.operator
    def add(src, edge, dst):
        src.x += edge.weight
        dst.x += 1

    @vg.algorithm
    def sums(graph, seeds):
        x = graph.vertex_property(vg.int64)
        active = graph.frontier(seeds)
        for _ in range(3):
            active = graph.edge_apply(add, active)
        return x, active

    graph, seeds = programs.graph_of(True), np.array([7, 3])
    schedule = vg.Schedule().at("add", conflict=vg.EDGE_LOCKED, frontier=frontier)
    expected = vg.run(sums, graph, seeds=seeds, device="python")
    found = vg.run(sums, graph, seeds=seeds, device="cuda", schedule=schedule)
    np.testing.assert_array_equal(found.x, expected.x)
    np.testing.assert_array_equal(found.active, expected.active)


def test_unasked_it_takes_blocks(emulated):
    found = vg.run(programs.mixed, programs.graph_of(True), device="cuda")
    assert found.schedule.labels["mix"].conflict == vg.blocked_diagonals()
    with pytest.raises(NoExclusiveEdges):
        vg.run(gathering.stirred, gathering.graph_of(False), seeds=gathering.SEEDS, device="cuda")


@pytest.mark.parametrize("conflict", [vg.MARKED, vg.RACED], ids=str)
def test_marks_give_a_serial_order(emulated, conflict):
    """With atomics the same bits as on a CPU, whatever the order of threads."""
    graph, schedule = gathering.graph_of(False), vg.Schedule().at("stir", conflict=conflict)
    given = {"seeds": gathering.SEEDS[::4], "schedule": schedule}
    expected = vg.run(gathering.stirred, graph, threads=2, **given)
    with use(EmulatedDevice(multiprocessors=2, block=64, seed=1)):
        found = vg.run(gathering.stirred, graph, device="cuda", **given)
    order = given["seeds"][np.argsort(found.turn[given["seeds"]], kind="stable")]
    np.testing.assert_array_equal(found.x, gathering.replayed(graph, order))
    if conflict == vg.MARKED:
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.visits == expected.visits


def test_a_full_list_ends_the_run_on_a_gpu_too(emulated):
    schedule = vg.Schedule().at("pair_up", conflict=vg.MARKED)
    hub = vg.Graph.from_edges([0] * 50, range(1, 51), weight=np.arange(50))
    with pytest.raises(vg.AlgorithmError, match="room for 40 vertices is full"):
        vg.run(gathering.paired, hub, device="cuda", schedule=schedule)
