"""Programs that never end, and `max_rounds`."""

import numpy as np
import pytest

import vgraph as vg
from vgraph.runtime.rounds import each_round

CYCLE = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], weight=np.array([1.0, -3.0, 1.0]))
PATH = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=np.ones(3))
DEVICES = [{"device": "cpu", "threads": 1}, {"device": "cpu", "threads": 2}, {"device": "python"}]


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def distances(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@vg.operator
def count(v):
    v.x += 1


@vg.algorithm
def counted(graph, max_rounds=3):
    x = graph.vertex_property(vg.int32)
    for _ in range(max_rounds):
        graph.vertex_apply(count)
    return x


@vg.algorithm
def two_applies(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    graph.vertex_apply(count, label="again")
    return x


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_a_negative_cycle_is_told(device):
    """On the CPU its distances would be found in buckets, and one of them would never get empty."""
    with pytest.raises(
        vg.AlgorithmError,
        match="distances has not ended after max_rounds=50 rounds; active vertices in the last one: 1 ",
    ):
        vg.run(distances, CYCLE, source=0, max_rounds=50, **device)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_bound_is_exact(device):
    """Three arcs, and a round that finds no more."""
    assert vg.run(distances, PATH, source=0, max_rounds=4, **device).dist.tolist() == [0, 1, 2, 3]
    with pytest.raises(vg.AlgorithmError, match=r"max_rounds=3 rounds; .*: 1 "):
        vg.run(distances, PATH, source=0, max_rounds=3, **device)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("device", [*DEVICES, {"checked": True}], ids=str)
def test_the_round_that_is_told_is_the_first_too_many(device, most):
    """Also of a program that had ended when it was looked at."""
    fan = vg.Graph.from_edges([0, 1, 1, 1, 2, 3], [1, 2, 3, 4, 5, 5], weight=np.ones(6))
    active = [1, 1, 3, 1]
    with pytest.raises(vg.AlgorithmError, match=f"max_rounds={most} rounds; .*: {active[most]} "):
        vg.run(distances, fan, source=0, max_rounds=most, **device)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_applies_of_vertices_are_rounds(device):
    assert vg.run(two_applies, PATH, max_rounds=2, **device).x.tolist() == [2] * 4
    with pytest.raises(vg.AlgorithmError, match=r"max_rounds=1 rounds; .*: 4 "):
        vg.run(two_applies, PATH, max_rounds=1, **device)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_an_algorithm_s_own_comes_first(device):
    assert vg.run(counted, PATH, max_rounds=2, **device).x.tolist() == [2] * 4
    assert vg.run(counted, PATH, **device).x.tolist() == [3] * 4


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"order": vg.delta_stepping(2)}, "order=delta.2."),
        ({"order": vg.STRICT}, "order=strict"),
        ({"sync": vg.ASYNC}, "sync=async"),
        ({"hops": 3}, "hops=3"),
    ],
    ids=str,
)
def test_rounds_that_are_many_cannot_be_counted(device, options, shown):
    schedule = vg.Schedule().at("relax", **options)
    with pytest.raises(vg.ParameterError, match=f"{shown} at 'relax' makes one of many"):
        vg.run(distances, PATH, source=0, max_rounds=4, schedule=schedule, **device)


def test_other_options_stay():
    schedule = vg.Schedule().at("relax", direction=vg.PULL, order=vg.UNORDERED)
    result = vg.run(distances, PATH, source=0, max_rounds=4, schedule=schedule, device="cpu")
    assert {r.direction for r in result.trace} == {"pull"}


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3"])
def test_what_is_no_number_of_rounds(value):
    with pytest.raises(vg.ParameterError, match=r"max_rounds=.*: an int of at least 1"):
        vg.run(distances, PATH, source=0, max_rounds=value)


def test_any_number_will_do():
    assert vg.run(distances, PATH, source=0, max_rounds=10**5000).dist[3] == 3


def test_progress_goes_on_beside_it():
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        vg.run(distances, CYCLE, source=0, max_rounds=10**12, progress=stop, device="cpu")
    assert seen[1].rounds > seen[0].rounds > 0


def test_the_reference_tells_progress():
    seen = []

    def stop(progress):
        seen.append(progress)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        vg.run(distances, CYCLE, source=0, device="python", progress=stop)
    (progress,) = seen
    assert progress.rounds == progress.edges > 0
    assert progress.frontier_size == 1


def test_a_round_too_many_is_told_at_once():
    """Reports come ten times a second, but nobody waits for the next one."""
    seen = []
    ended = each_round(lambda progress: seen.append(progress.rounds), 2)
    for _ in range(3):
        ended(1, 1)
    assert seen == [3]


def test_python_tells_applies_apart():
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    native, python = (
        vg.run(vg.algorithms.pagerank, graph, max_rounds=3, device=d) for d in ("cpu", "python")
    )
    assert {r.direction for r in python.trace} == {"push", "vertex"}
    assert python.stats.rounds == native.stats.rounds == sum(r.direction == "push" for r in python.trace)
