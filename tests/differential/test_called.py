"""Algorithms that call algorithms: as the called one by itself, on every device and under schedules."""

from __future__ import annotations

from typing import Any

import called_programs as programs
import numpy as np
import pytest

import vgraph as vg
from vgraph.algorithms import bfs
from vgraph.errors import AlgorithmError, ParameterError, ScheduleError
from vgraph.runtime.devices import compiled

CALLS: dict[str, dict[str, Any]] = {
    "within": {"source": 3, "limit": 1.5, "length": "length"},
    "repeated": {"source": 3, "more": True},
    "marked": {"seeds": [1, 4, 4]},
    "helped": {"source": 2},
}


def graph_of(directed: bool = True) -> vg.Graph:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 40, (2, 90))
    properties = {"length": rng.random(90), "weight": rng.integers(1, 9, 90)}
    return vg.Graph.from_edges(u, v, num_vertices=40, directed=directed, **properties)


def same(found: vg.Result, expected: vg.Result) -> None:
    assert found.names == expected.names
    for name in expected.names:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", CALLS)
def test_devices_agree(name: str) -> None:
    graph, algorithm = graph_of(), getattr(programs, name)
    expected = vg.run(algorithm, graph, device="python", seed=3, **CALLS[name])
    found = vg.run(algorithm, graph, threads=3, seed=3, **CALLS[name])
    same(found, expected)
    assert {r.label for r in found.trace} == {r.label for r in expected.trace}


def test_within_by_definition() -> None:
    graph = graph_of()
    found = vg.run(programs.within, graph, **CALLS["within"])
    alone = vg.run(programs.distances, graph, source=3, length="length")
    np.testing.assert_array_equal(found.dist, alone.dist)
    np.testing.assert_array_equal(found.reached, np.flatnonzero(alone.dist < 1.5))
    assert found.sum == pytest.approx(alone.dist[alone.dist < np.inf].sum())
    assert (found.rounds, found.first) == (alone.rounds, 0)
    hops = vg.run(programs.within, graph, source=3).dist
    level = vg.run(bfs, graph, source=3).level
    np.testing.assert_array_equal(hops, np.where(level < 0, np.inf, level))


def test_repeated_by_definition() -> None:
    graph = graph_of()
    found = vg.run(programs.repeated, graph, **CALLS["repeated"])
    levels = [vg.run(bfs, graph, source=s).level for s in (3, 1, 2)]
    near = vg.run(bfs, graph, source=3, max_depth=1).level
    np.testing.assert_array_equal(found.level, levels[2] + near)
    assert found.last == levels[0][0] + levels[2][0]
    weights = 2.0 * levels[2] + 1
    np.testing.assert_allclose(found.share, weights / weights.sum() / weights.sum())
    np.testing.assert_array_equal(found.weight, 2.0 * found.level + 1)
    np.testing.assert_array_equal(found.rank, found.level + 1)
    assert not found.converged


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_an_array_that_is_only_an_argument(device: str) -> None:
    """It has no element for each vertex."""
    graph = vg.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 3], num_vertices=6)
    assert vg.run(programs.handed_on, graph, seeds=[1, 4, 4], device=device).reached.tolist() == [2, 3]


def test_results_of_sets_and_helpers() -> None:
    graph = graph_of()
    found = vg.run(programs.marked, graph, **CALLS["marked"])
    starts, ends = graph.out.row_offsets, graph.out.column_indices
    out = [set(ends[starts[v] : starts[v + 1]]) for v in range(40)]
    first = out[1] | out[4]
    assert set(found.reached) == first | set().union(*(out[v] for v in first))
    assert (found.size, found.times) == (len(found.reached), len(out[1]) + 2 * len(out[4]))
    helped = vg.run(programs.helped, graph, source=2)
    assert helped.still == 1
    assert helped.calls % 100 == 2


# --- schedules and traces


def test_labels_have_the_name_of_the_call() -> None:
    graph = graph_of()
    schedule = vg.Schedule().at("bfs.visit", direction=vg.PULL).at("bfs_1.visit", direction=vg.PUSH)
    found = vg.run(programs.repeated, graph, schedule=schedule, source=3)
    assert found.schedule.labels["bfs.visit"].direction is vg.PULL
    assert found.schedule.labels["bfs_1.visit"].direction is vg.PUSH
    same(found, vg.run(programs.repeated, graph, source=3))
    with pytest.raises(ScheduleError, match=r"bfs\.visit"):
        vg.run(programs.repeated, graph, schedule=vg.Schedule().at("visit", direction=vg.PULL), source=3)
    text = str(vg.explain(programs.repeated, graph, source=3))
    assert "bfs_1.visit" in text


# --- what ends a run


@vg.algorithm
def computed(graph, most=3, end=0):
    """Bounds and vertices that are known in the run only."""
    vertex = most * 10
    return programs.distances(graph, vertex + end, most * 2).rounds


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_bounds_are_checked(device: str) -> None:
    graph = graph_of()
    assert vg.run(computed, graph, device=device).rounds > 0
    with pytest.raises(
        AlgorithmError, match="distances was called with a most that is not a number from 0 to 100"
    ):
        vg.run(computed, graph, device=device, most=-1, end=20)
    with pytest.raises(AlgorithmError, match="vertex"):
        vg.run(computed, graph, device=device, end=10)


def test_a_failure_tells_the_line_of_the_call() -> None:
    """Compiled code keeps the message; the line is that of the argument which is no vertex."""
    with pytest.raises(AlgorithmError, match=r"^a vertex index is out of range") as caught:
        vg.run(computed, graph_of(), end=10, threads=1)
    line = "return programs.distances(graph, vertex + end, most * 2).rounds"
    assert caught.value.__notes__[0].splitlines()[0].startswith(f"here: {__file__}:")
    assert line in caught.value.__notes__[0]


@vg.algorithm
def near(graph, source: vg.vertex, most=1):
    """A depth that is computed."""
    return bfs(graph, source, max_depth=most - 1).level


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_a_depth_that_is_computed(device: str) -> None:
    graph = graph_of()
    for most in (1, 2, 3):
        want = vg.run(bfs, graph, source=3, max_depth=most - 1).level
        np.testing.assert_array_equal(vg.run(near, graph, source=3, most=most, device=device).level, want)
    with pytest.raises(
        AlgorithmError, match="bfs was called with a max_depth that is not a number of at least 0"
    ):
        vg.run(near, graph, source=3, most=0, device=device)


# --- hooks


@vg.algorithm
def checked(graph, most: vg.int64 = 1, times=1):
    """Has a check and a preparation."""
    found = most
    found *= times
    return found


@checked.requires
def small(graph: vg.Graph, most: int) -> None:
    """Raise ParameterError for a large one."""
    if most > 5:
        raise ParameterError(f"checked: most={most} is above 5")


@checked.prepares
def reversed_if_zero(graph: vg.Graph, most: int) -> vg.Prepared:
    """Another graph for 0."""
    return vg.Prepared(graph.relabelled("degree").graph if most == 0 else graph)


@vg.algorithm
def calls_checked(graph, limit: vg.int64 = 3):
    """Through one more."""
    return hands_on(graph, limit).found


@vg.algorithm
def hands_on(graph, limit: vg.int64):
    """As it is."""
    return checked(graph, limit, times=2).found


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_hooks_of_what_is_called(device: str) -> None:
    graph = graph_of()
    for _ in range(2):
        compiled._loaded.clear()  # the second time from the cache on disk
        assert vg.run(calls_checked, graph, device=device).found == 6
        with pytest.raises(ParameterError, match="calls_checked calls checked: checked: most=6 is above 5"):
            vg.run(calls_checked, graph, device=device, limit=6)
        with pytest.raises(ParameterError, match="reversed_if_zero` prepares another graph"):
            vg.run(calls_checked, graph, device=device, limit=0)


def test_helpers_tell_what_is_a_vertex() -> None:
    graph = graph_of()
    given = {"source": 3, "place": 100, "several": [1, 4], "table": np.arange(101.0)}
    found = vg.run(programs.used, graph, **given)
    assert found.f.tolist() == [1, 3, 4]
    assert found.dist[[1, 3, 4]].tolist() == [100, 100, 100]
    same(found, vg.run(programs.used, graph, relabel="degree", **given))
    with pytest.raises(ParameterError, match="source=40 is not a vertex"):
        vg.run(programs.used, graph, **{**given, "source": 40})
