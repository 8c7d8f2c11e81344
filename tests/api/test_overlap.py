"""Runs that change to another order of vertices on their way, `relabel=vg.overlap(...)`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from library_arguments import arguments_for, graph_for, library

import vgraph as vg
from vgraph import algorithms
from vgraph.compiler.backends.abi import Steering
from vgraph.graph import relabel
from vgraph.runtime import ordering, policy
from vgraph.runtime.devices import overlap
from vgraph.runtime.devices import threads as native_threads

ORDERS = ("random", "rcm", "degree")


def forced(monkeypatch, skip=0, steering=Steering.ADAPTIVE):
    """Runs change at each fork point, or after some that they pass."""
    monkeypatch.setattr(overlap, "FORCED", ORDERS)
    monkeypatch.setattr(overlap, "SKIP", skip)
    monkeypatch.setattr(native_threads, "STEERING", steering)


def some_graph(directed=False, n=70, arcs=220, seed=3):
    rng = np.random.default_rng(seed)
    return vg.Graph.from_edges(
        *rng.integers(0, n, (2, arcs)), num_vertices=n, directed=directed,
        weight=rng.integers(0, 9, arcs).astype(np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", library())
@pytest.mark.parametrize("directed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_library_at_each_fork_point(algorithm, directed, monkeypatch):
    """What a run holds at any point where it may change is put into the new order: the result is one that it might have
    had. What cannot change says so."""
    graph = graph_for(algorithm, some_graph(directed))
    given = arguments_for(algorithm, graph)
    ways = (0, Steering.ADAPTIVE, 1), (1, Steering.TOGETHER, 2), (3, Steering.RANDOM, 2)
    changes, refused = 0, ""
    for skip, steering, threads in ways:
        forced(monkeypatch, skip, steering)
        try:
            found = vg.run(algorithm, graph, relabel=vg.overlap("hub"), threads=threads, **given)
        except vg.ScheduleError as error:
            refused = str(error)
            break
        changes += found.stats.overlap.changed
        vg.verify(found)
    assert changes > 0 or "is not legal" in refused


@vg.operator
def gather(src, edge, dst):
    dst.total += src.share * edge.weight


@vg.operator
def apply(v, graph):
    v.share = v.total / 100 + v.start
    graph.change += abs(v.total)
    v.total = 0


@vg.operator
def adopt(src, edge, dst):
    if dst.parent == vg.none:
        dst.parent = src


@vg.operator
def follow(src, edge, dst):
    dst.lowest = min(dst.lowest, src.start)


@vg.operator
def count(v):
    v.counted += 1


@vg.algorithm
def all_kinds(
    graph, source: vg.vertex, near: vg.array(vg.vertex), start: vg.vertex_property(vg.float64), seeds
):
    """Vertices as values of the driver, of properties and of tables, sets of vertices, a list of frontiers, sums."""
    total = graph.vertex_property(vg.float64)
    share = graph.vertex_property(vg.float64, fill=1)
    parent = graph.vertex_property(vg.vertex)
    lowest = graph.vertex_property(vg.float64, fill=vg.inf)
    counted = graph.vertex_property(vg.int32)
    last = source
    levels = []
    frontier = graph.frontier(seeds)
    seen = frontier
    rounds = 0
    while rounds < 6:
        graph.change = 0.0
        graph.edge_apply(gather)
        graph.vertex_apply(apply)
        if frontier:
            levels.append(frontier)
            frontier = graph.edge_apply(adopt, frontier) | graph.edge_apply(follow, frontier)
            frontier = frontier - seen
            seen = seen | frontier
        last = near[rounds]
        rounds += 1
    size = 0
    for k in range(len(levels)):
        reached = levels[k]
        graph.vertex_apply(count, reached)
        size += len(reached)
    change = graph.change
    return share, parent, last, change, size, counted


SCHEDULES = (
    vg.Schedule(),
    vg.Schedule()
    .at("adopt", frontier=vg.BITMAP, direction=vg.PULL)
    .at("follow", direction=vg.AUTO, drive=vg.AUTO),
    vg.Schedule().at("gather", segments=2).at("follow", frontier=vg.BITMAP),
)


@pytest.mark.parametrize(("directed", "threads"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("skip", [0, 1, 5])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_all_that_a_run_holds_equals_the_interpreters(directed, threads, skip, schedule, monkeypatch):
    forced(monkeypatch, skip, Steering.RANDOM)
    graph = some_graph(directed)
    assert graph.in_ is not None  # so that a push may be a pull
    rng = np.random.default_rng(1)
    given = {"source": 5, "near": rng.integers(0, 70, 6), "start": rng.random(70), "seeds": [2, 40]}
    want = vg.run(all_kinds, graph, device="python", **given)
    for begin in (graph, vg.reorder(graph, "bfs")):  # from its own order, and from another
        found = vg.run(
            all_kinds, begin, relabel=vg.overlap("hub"), threads=threads, schedule=schedule, **given
        )
        assert found.stats.overlap.changed > 1
        np.testing.assert_allclose(found.share, want.share)
        np.testing.assert_allclose(found.change, want.change)
        np.testing.assert_array_equal(found.parent == -1, want.parent == -1)
        np.testing.assert_array_equal(found.counted, want.counted)
        assert (found.last, found.size) == (want.last, want.size)


def test_a_search_may_pull_after_the_change_as_before(monkeypatch):
    """In-arcs that the graph has, and the other order's does not yet."""
    forced(monkeypatch)
    monkeypatch.setattr(policy, "LARGE", 1)
    graph = some_graph(directed=True, arcs=900)
    assert graph.in_ is not None
    found = vg.run(algorithms.bfs, graph, source=1, relabel=vg.overlap("hub"))
    assert {r.direction for r in found.trace} == {"push", "pull"}
    vg.verify(found)


@vg.operator
def forth(v):
    v.share = v.share * 1.0000001 + v.start


@vg.algorithm
def sweeps(graph, rounds: vg.int64, start: vg.vertex_property(vg.float64)):
    """Many rounds, each of a microsecond."""
    share = graph.vertex_property(vg.float64, fill=1)
    done = 0
    while done < rounds:
        graph.vertex_apply(forth)
        done += 1
    return share


def overlapped(by, end):
    """A run that is long enough to change on its way and to end in this order; it equals the same without."""
    rounds, start = 200_000, np.random.default_rng(5).random(70)
    for _ in range(4):
        graph = some_graph()
        found = vg.run(sweeps, graph, relabel=vg.overlap(by), threads=1, rounds=rounds, start=start)
        if found.stats.overlap.gain is not None and found.stats.order == end:
            break
        rounds *= 4
    want = vg.run(sweeps, graph, threads=1, rounds=rounds, start=start)
    np.testing.assert_array_equal(found.share, want.share)
    # 0: the order was there before the first round began
    assert 0 <= found.stats.overlap.changed < found.stats.rounds == rounds
    return graph, found.stats


@pytest.mark.parametrize("slower", [False, True])
def test_a_run_goes_on_in_the_order_when_it_is_there_and_back_if_it_is_slower(slower, monkeypatch):
    """By what is measured, which is planted here. The next run begins in the order."""
    monkeypatch.setattr(overlap, "_gain", lambda trace, rounds: 0.5 if slower else 1.5)
    monkeypatch.setattr(overlap, "TRIAL_SECONDS", 0.0)
    monkeypatch.setattr(native_threads, "_WAKE_NS", 200_000)
    graph, stats = overlapped("random", None if slower else "random")
    told = stats.overlap
    assert (told.order, told.kept, told.gain) == ("random", not slower, 0.5 if slower else 1.5)
    assert min(told.seconds, told.change_seconds) > 0
    assert stats.order == (None if slower else "random")
    again = vg.run(sweeps, graph, relabel=vg.overlap("random"), rounds=5, start=np.zeros(70))
    assert (again.stats.overlap, again.stats.order) == (None, "random")


def test_the_gain_is_of_rounds_that_are_alike():
    kinds = (
        [(0, 0, 10, 90, 1000)] * 4 + [(1, 0, 5, 5, 100)] * 4 + [(0, 0, 10, 90, 9)] + [(0, 0, 10, 90, 500)] * 3
    )
    names = [("label", "<i4"), ("direction", "<i4"), ("frontier", "<i8"), ("edges", "<i8"), ("ns", "<i8")]
    trace = np.array(kinds, names)
    assert overlap._gain(trace, 8) == 2.0
    assert overlap._gain(trace[:11], 8) is None  # two rounds are too few
    trace["label"][9:] = 2
    assert overlap._gain(trace, 8) is None  # of which there were none before


def test_what_cannot_change_is_refused():
    graph = some_graph()
    with pytest.raises(vg.ScheduleError, match="numbers of the vertices"):
        vg.run(algorithms.connected_components, graph, relabel=vg.overlap("rcm"))
    buckets = vg.Schedule().at("relax", order=vg.delta_stepping(4))
    with pytest.raises(vg.ScheduleError, match="it cannot go on in another order") as refused:
        vg.run(algorithms.sssp, graph, source=0, relabel=vg.overlap("rcm"), schedule=buckets)
    assert "buckets by priority" in str(refused.value)
    assert "sssp.py" in str(refused.value)
    for given, error, text in (
        ({"deterministic": True}, vg.ParameterError, "sums depend on when the order changes"),
        ({"checked": True}, vg.ParameterError, "leave `relabel` out"),
        ({"device": [vg.cpu(threads=1)]}, vg.ParameterError, "a set of devices does not do that"),
    ):
        with pytest.raises(error, match=text):
            vg.run(algorithms.pagerank, graph, relabel=vg.overlap("rcm"), **given)
    with pytest.raises(vg.ParameterError, match="the orders are 'degree'"):
        vg.run(algorithms.bfs, graph, source=0, relabel=vg.overlap("size"))
    with pytest.raises(vg.ParameterError, match="needs coordinates"):
        vg.run(algorithms.bfs, graph, source=0, relabel=vg.overlap("hilbert"))
    for nothing in (None, vg.overlap("rcm")):
        with pytest.raises(vg.ParameterError, match="name an order"):
            vg.overlap(nothing)


def test_auto_runs_what_cannot_change_as_it_is(monkeypatch):
    graph = some_graph()
    for order in (None, "rcm"):
        monkeypatch.setattr(ordering, "order_that_pays", lambda graph, on_gpu, order=order: order)
        found = vg.run(algorithms.connected_components, graph, relabel=vg.overlap())
        assert found.stats.overlap is None
        assert found.stats.order is None
    assert vg.run(algorithms.pagerank, graph, relabel=vg.overlap()).stats.overlap.order == "rcm"
    vg.prepare(algorithms.pagerank, graph, relabel=vg.overlap())
    assert vg.run(algorithms.pagerank, graph, relabel=vg.overlap()).stats.order == "rcm"
    assert vg.run(algorithms.pagerank, graph, relabel=vg.overlap(), device="python").stats.order is None


def test_what_the_thread_has_to_say_is_said(monkeypatch):
    def fails(graph, by):
        raise vg.GraphError("no such order here")

    monkeypatch.setattr(relabel, "_named", fails)
    with pytest.raises(vg.GraphError, match="no such order here"):
        vg.run(sweeps, some_graph(), relabel=vg.overlap("rcm"), rounds=2**62, start=np.zeros(70))


SHORT = """
import time
import numpy as np
import vgraph as vg
from vgraph.graph import relabel

def never(graph, by):
    print("begun", flush=True)
    while True:
        time.sleep(0.01)

relabel._named = never
ends = np.random.default_rng(0).integers(0, 50, (2, 200))
vg.run(vg.algorithms.pagerank, vg.Graph.from_edges(*ends), relabel=vg.overlap("rcm"), tolerance=0.0, max_rounds=300_000)
print("ended", flush=True)
"""


def test_a_process_does_not_wait_for_an_order():
    done = subprocess.run([sys.executable, "-c", SHORT], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\nended\n", "")


def test_threads_stand_back_as_far_as_who_asks(monkeypatch):
    """The order's own programs run on threads of that rank, and others never get these."""
    asked = []
    monkeypatch.setattr(native_threads.os, "getpriority", lambda *_: asked.append(1) or 7)
    vg.run(algorithms.bfs, some_graph(), source=0, threads=1)
    assert asked
    assert [pool.nice for pool in native_threads._pools if pool.threads == 1].count(7) == 1
    native_threads.close_idle_pools()
