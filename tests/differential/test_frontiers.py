"""Frontiers as values: made of arrays, properties and conditions, combined, returned; against Python's sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schedule_matrix import Case, groups

import vgraph as vg
from vgraph.compiler import space

WAYS: tuple[dict[str, Any], ...] = (
    {"device": "python"},
    {"threads": 1},
    {"threads": 2},
    {"threads": 5},
    {"checked": True},
)


@vg.operator
def flag(v):
    """Every third vertex."""
    v.third = v.id % 3 == 0


@vg.operator
def step(src, edge, dst):
    """One hop."""
    dst.hops = min(dst.hops, src.hops + 1)


@vg.operator
def begin(v):
    """No hops."""
    v.hops = 0


@vg.algorithm
def sets(graph, seeds, others: list[vg.vertex], limit=2):
    """Frontiers of every kind, and everything that is made of two."""
    third = graph.vertex_property(vg.bool_)
    hops = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(flag)
    a = graph.frontier(seeds)
    b = graph.frontier(others)
    thirds = graph.frontier(third)
    near = graph.frontier(seeds)
    graph.vertex_apply(begin, near)
    step_number = 0
    while near and step_number < limit:
        near = graph.edge_apply(step, near)
        step_number += 1
    low = graph.frontier(v for v in graph.vertices if v.hops <= limit if v.out_degree > 0)
    some = graph.frontier(v for v in thirds if v.hops < step_number or (v.third and v.id != limit))
    every = graph.frontier(v for v in graph.vertices)
    union = a | b
    both = a & b
    rest = a - b
    mixed = (a | thirds) - b | b & low
    grown = a
    grown |= low
    grown -= b
    grown &= every
    none = a - a
    same = a | a
    graph.count = len(a & b) * 1000 + len(a | b)
    return a, b, thirds, low, some, every, union, both, rest, mixed, grown, none, same, near, graph.count


def expected(graph: vg.Graph, seeds: Any, others: Any, limit: int) -> dict[str, set[int]]:
    n = graph.num_vertices
    hops = dict.fromkeys(map(int, seeds), 0)
    near = set(hops)
    out = graph.out
    for number in range(limit):
        if not near:
            break
        reached = {
            int(u) for v in near for u in out.column_indices[out.row_offsets[v] : out.row_offsets[v + 1]]
        }
        near = reached - hops.keys()
        hops |= dict.fromkeys(near, number + 1)
    a, b, every = set(map(int, seeds)), set(map(int, others)), set(range(n))
    thirds = {v for v in every if v % 3 == 0}
    low = {v for v in hops if hops[v] <= limit and out.row_offsets[v + 1] > out.row_offsets[v]}
    return {
        "a": a, "b": b, "thirds": thirds, "low": low, "some": {v for v in thirds if v in hops or v != limit},
        "every": every, "union": a | b, "both": a & b, "rest": a - b, "mixed": ((a | thirds) - b) | (b & low),
        "grown": (a | low) - b, "none": set(), "same": a, "near": near,
    }  # fmt: skip


def graph_of(n: int, directed: bool) -> vg.Graph:
    rng = np.random.default_rng(n)
    return vg.Graph.from_edges(*rng.integers(0, n, (2, 2 * n)), num_vertices=n, directed=directed)


def check(found: Any, wanted: dict[str, set[int]]) -> None:
    for name, vertices in wanted.items():
        value = getattr(found, name)
        assert value.dtype == np.int64, name
        assert value.tolist() == sorted(vertices), name
    assert found.count == len(wanted["both"]) * 1000 + len(wanted["union"])


@pytest.mark.parametrize("directed", [False, True])
def test_every_way_of_running(directed: bool) -> None:
    for n, dtype in ((1, np.int64), (40, np.uint8), (400, np.int32)):
        graph, rng = graph_of(n, directed), np.random.default_rng(n)
        seeds = rng.integers(0, n, 3 + n // 20).astype(dtype)  # some of them twice
        others = np.r_[seeds[:2], rng.integers(0, n, n // 10)]
        wanted = expected(graph, seeds, others, 2)
        for way in WAYS:
            check(vg.run(sets, graph, seeds=seeds, others=others, **way), wanted)


@vg.algorithm
def reached(graph, seeds, marks: vg.vertex_property(vg.bool_), given):
    """What the seeds reach, and which of the marked are not among it; nothing here depends on numbers."""
    hops = graph.vertex_property(vg.int32, fill=vg.inf)
    frontier = graph.frontier(seeds)
    graph.vertex_apply(begin, frontier)
    while frontier:
        frontier = graph.edge_apply(step, frontier)
    found = graph.frontier(v for v in graph.vertices if v.hops < vg.inf)
    missed = graph.frontier(marks) - found | graph.frontier(given) & found
    return found, missed


def test_another_order_of_vertices() -> None:
    graph = graph_of(90, True)
    seeds, marks = np.array([3, 8]), np.arange(90) % 4 == 0
    wanted = vg.run(reached, graph, seeds=seeds, marks=marks, given=marks[::-1], device="python")
    assert 0 < wanted.missed.size < wanted.found.size < 90
    for way in ({"relabel": "degree"}, {"threads": 2}):
        found = vg.run(reached, graph, seeds=seeds, marks=marks, given=marks[::-1], **way)
        assert found.found.tolist() == wanted.found.tolist()
        assert found.missed.tolist() == wanted.missed.tolist()


def test_a_frontier_of_a_graph_that_was_prepared_is_the_users() -> None:
    @vg.algorithm
    def sinks(graph):
        """The vertices without arcs that leave them."""
        ends = graph.frontier(v for v in graph.vertices if v.out_degree == 0)
        others = graph.vertices - ends
        return ends, others

    @sinks.prepares
    def turned(graph: vg.Graph) -> vg.Prepared:
        """Vertex v is n - 1 - v."""
        n = graph.num_vertices
        s, t, _ = graph.edges()
        return vg.Prepared(vg.Graph.from_edges(n - 1 - s, n - 1 - t, num_vertices=n), rank=np.arange(n)[::-1])

    graph = vg.Graph.from_edges([0, 1, 1], [1, 2, 4], num_vertices=5)
    for way in ({"device": "python"}, {"threads": 2}):
        found = vg.run(sinks, graph, **way)
        assert (found.ends.tolist(), found.others.tolist()) == ([2, 3, 4], [0, 1])


def test_under_legal_schedules() -> None:
    graph = graph_of(120, True)
    given = {"seeds": np.array([5, 5, 17]), "others": np.arange(30, 90), "limit": 3}
    wanted = expected(graph, given["seeds"], given["others"], 3)
    case = Case("", graph, given, None)
    for threads in (1, 2):
        (group,) = groups(sets, [case], threads)
        for schedule in space.sample(group.program, group.context, 6, 3):
            check(vg.run(sets, graph, schedule=schedule, threads=threads, **given), wanted)


def test_a_condition_is_a_round_under_a_label() -> None:
    graph = graph_of(40, True)
    given = {"seeds": [1], "others": [2]}
    traces = [
        [(r.label, r.frontier) for r in vg.run(sets, graph, **given, **way).trace]
        for way in ({"device": "python"}, {"threads": 2})
    ]
    assert traces[0] == traces[1]
    assert [r for r in traces[0] if r[0].startswith("frontier")] == [
        ("frontier", 40), ("frontier_1", 14), ("frontier_2", 40)
    ]  # fmt: skip
    schedule = vg.Schedule().at("frontier", frontier=vg.SPARSE)
    assert vg.run(sets, graph, **given, schedule=schedule).schedule.labels["frontier"].frontier is vg.SPARSE


@vg.algorithm
def only(graph, seeds):
    """The seeds."""
    a = graph.frontier(seeds)
    graph.size = len(a)
    return a, graph.size


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_no_set_of_vertices(device: str) -> None:
    graph = graph_of(40, True)
    cases: tuple[tuple[Any, type[Exception], str], ...] = (
        ([3, 40], vg.ParameterError, "seeds=40 is not a vertex"),
        (np.array([-1]), vg.ParameterError, "seeds=-1 is not a vertex"),
        (np.array([2**63], np.uint64), vg.ParameterError, "is not a vertex"),
        (np.array([1.0]), vg.VGraphError, "this is an array of float64"),
        (np.array([[1, 2]]), vg.ParameterError, "one-dimensional"),
        (np.ones(39, np.bool_), vg.ParameterError, "one per vertex, 40"),
        ("3", vg.VGraphError, "no frontier is made of this"),
    )
    for seeds, kind, message in cases:
        with pytest.raises(kind, match=message):
            vg.run(only, graph, seeds=seeds, device=device)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_one(device: str) -> None:
    graph = graph_of(40, True)
    mask = np.arange(40) > 37
    for seeds, wanted in (
        ([], []),
        (np.array([], np.float32), []),
        ([7, 2, 7], [2, 7]),
        (5, [5]),
        (mask, [38, 39]),
    ):
        assert vg.run(only, graph, seeds=seeds, device=device).a.tolist() == wanted


def test_an_array_may_be_used_in_other_ways_too() -> None:
    @vg.operator
    def take(v):
        """The number that the array has for v."""
        v.own = v.seeds

    @vg.algorithm
    def three(graph, seeds):
        """The array as a set, as a property, and counted."""
        own = graph.vertex_property(vg.int64)
        graph.vertex_apply(take)
        a = graph.frontier(seeds)
        return own, a

    @vg.algorithm
    def looped(graph, seeds):
        """The array as a set, and one by one."""
        a = graph.frontier(seeds)
        many = len(seeds)
        last = -1
        for s in seeds:
            last = s
        return a, many, last

    graph = graph_of(5, True)
    seeds = np.array([4, 4, 1, 0, 1])
    for device in ("cpu", "python"):
        found = vg.run(three, graph, seeds=seeds, device=device)
        assert found.own.tolist() == seeds.tolist()
        assert found.a.tolist() == [0, 1, 4]
        again = vg.run(looped, graph, seeds=seeds, device=device)
        assert (again.a.tolist(), again.many, again.last) == ([0, 1, 4], 5, 1)


@vg.function
def above(graph, limit):
    """How many vertices are above a limit, which may be of any type."""
    k = limit * 2
    return len(graph.frontier(v for v in graph.vertices if v.height > k))


@vg.algorithm
def counted(graph, k=3, tall=vg.float64):
    """Conditions in helpers, in conditions of loops, and where nothing comes by."""
    height = graph.vertex_property(vg.float64)
    graph.vertex_apply(grow)
    many = above(graph, k) * 100 + above(graph, 1.25)
    rounds = 0
    top = k
    while graph.frontier(v for v in graph.vertices if height[v] < top + rounds and v.height > rounds):
        rounds += 1
        if rounds > 5:
            top -= 2
    if tall == vg.int32:
        many = len(graph.frontier(v for v in graph.vertices if v.no_such_property))
    return many, rounds


@vg.operator
def grow(v):
    """Heights that lie between integers."""
    v.height = v.id + 0.5


def test_conditions_wherever_they_stand() -> None:
    graph = vg.Graph.from_edges([0], [1], num_vertices=9)
    for way in ({"device": "python"}, {"threads": 1}, {"threads": 2}):
        found = vg.run(counted, graph, **way)
        assert (found.many, found.rounds) == (3 * 100 + 6, 7), way


@vg.operator
def enter(src, edge, dst):
    """Reached."""
    if not dst.seen:
        dst.seen = True


@vg.function
def ball(graph, center, radius):
    """What is within some hops of a vertex; returns in a loop, and of a frontier that goes on changing."""
    front = graph.frontier(center)
    found = front
    step = 0
    while True:
        if step == radius:
            return found
        front = graph.edge_apply(enter, front)
        if not front:
            return found
        found |= front
        step += 1


@vg.function
def chosen(graph, a, b, how):
    """A frontier on every way: given, made, applied, and of a parameter that is assigned."""
    if how == 0:
        return a
    if how == 1:
        return a | b
    for k in range(2, 4):
        if k == how and k == 2:
            return graph.edge_apply(enter, a)
    a = a & b
    return graph.frontier(v for v in a if v.id % 2 == 0)


@vg.function
def chosen_again(graph, a, how):
    """Of another helper's."""
    if how > 1:
        return chosen(graph, a, a, how)
    return chosen(graph, a, graph.vertices, how)


@vg.algorithm
def returned(graph, center: vg.vertex, radius, how: vg.int64):
    """Helpers that return frontiers early, called in a loop, in sets, conditions and `len`."""
    seen = graph.vertex_property(vg.bool_)
    seen[center] = True
    around = ball(graph, center, radius)
    kept = around - graph.frontier(center)
    size = 0
    for i in range(4):
        found = chosen_again(graph, around, i)
        size = size * 100 + len(found)
    if chosen(graph, around, kept, how):
        size += len(chosen(graph, around, around, 1) - graph.frontier(center))
    last = chosen(graph, kept, around, how)
    return around, kept, found, last, size


def test_helpers_return_frontiers_early() -> None:
    graph = graph_of(40, True)
    level = vg.run(vg.algorithms.bfs, graph, source=3).level
    for radius in (0, 2, 50):
        for how in range(4):
            arguments = {"center": 3, "radius": radius, "how": how}
            first = vg.run(returned, graph, device="python", **arguments)
            assert first.around.tolist() == np.flatnonzero((level >= 0) & (level <= radius)).tolist()
            assert first.kept.tolist() == [v for v in first.around if v != 3]
            assert first.found.tolist() == [v for v in first.around if v % 2 == 0]
            for way in WAYS[1:]:
                found = vg.run(returned, graph, **way, **arguments)
                for name in first.names:
                    assert np.array_equal(getattr(found, name), getattr(first, name)), (name, way, arguments)
