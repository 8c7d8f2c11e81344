"""Lexicographic minima and maxima of several places, on every device and under every schedule."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from schedule_matrix import KINDS, Kind, agree, arguments_of, cases, graph_of, groups, sampled
from tuple_programs import PROGRAMS, labelled, tree

import vgraph as vg
from vgraph.compiler import space


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("algorithm", PROGRAMS, ids=lambda a: a.name)
def test_a_sample_of_schedules(algorithm: vg.AlgorithmDef, kind: Kind) -> None:
    seed = zlib.crc32(algorithm.name.encode()) % 1000
    for case, schedule, threads in sampled(algorithm, cases(algorithm, kind, seed), 3, seed, set()):
        agree(algorithm, case, schedule, threads)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("algorithm", PROGRAMS, ids=lambda a: a.name)
def test_all_schedules(algorithm: vg.AlgorithmDef, kind: Kind, threads: int) -> None:
    for group in groups(algorithm, cases(algorithm, kind, threads), threads):
        for schedule in space.schedules(group.program, group.context):
            for case in group.cases:
                agree(algorithm, case, schedule, threads)


@pytest.mark.parametrize("algorithm", PROGRAMS, ids=lambda a: a.name)
def test_checked_and_deterministic(algorithm: vg.AlgorithmDef) -> None:
    graph = graph_of("random", KINDS[1], 1)
    given = arguments_of(algorithm, graph, 1)
    expected = vg.run(algorithm, graph, device="python", **given)
    for way in ({"checked": True}, {"deterministic": True}):
        found = vg.run(algorithm, graph, **way, **given)
        for name in expected.names:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_what_is_passed_on_keeps_its_rounds() -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(vg.ScheduleError, match="the value written may fall when the value read rises"):
        vg.run(labelled, graph, source=0, schedule=vg.Schedule().at("hand_on", sync=vg.ASYNC))
    assert "sync=async" in str(vg.run(tree, weighted(3), source=0).schedule)


def test_vertices_in_a_tuple_are_compared_by_their_numbers() -> None:
    with pytest.raises(vg.VGraphError, match="vertices are compared by their numbers"):
        vg.run(tree, weighted(3), source=0, relabel="degree")


def weighted(n: int) -> vg.Graph:
    path = np.arange(n)
    return vg.Graph.from_edges(path, path + 1, weight=np.ones(n))


def test_the_parents_are_the_smallest() -> None:
    rng = np.random.default_rng(3)
    s, t, w = rng.integers(0, 300, 2000), rng.integers(0, 300, 2000), rng.integers(1, 9, 2000)
    graph = vg.Graph.from_edges(s, t, num_vertices=300, weight=w.astype(np.float64))
    found = vg.run(tree, graph, source=0)
    for v in np.flatnonzero(np.isfinite(found.dist))[1:]:
        tight = s[(t == v) & (found.dist[s] + w == found.dist[v])]
        assert found.parent[v] == tight.min()


def test_buckets_are_found() -> None:
    assert "order=delta" in str(vg.run(tree, weighted(4000), source=0).schedule)


# --- the order of values --------------------------------------------------------------------------------------


@vg.operator
def start(v):
    v.a = v.first
    v.d = v.first


@vg.operator
def smallest(src, edge, dst):
    dst.a, dst.b = min((dst.a, dst.b), (src.x, src.y))


@vg.operator
def largest(src, edge, dst):
    dst.c, dst.d = max((dst.c, dst.d), (src.y // 2, src.x))


@vg.algorithm
def extremes(graph, kind=vg.float32):
    a = graph.vertex_property(kind)
    b = graph.vertex_property(vg.uint32, fill=vg.inf)
    c = graph.vertex_property(vg.int64)
    d = graph.vertex_property(kind)
    graph.vertex_apply(start)
    graph.edge_apply(smallest)
    graph.edge_apply(largest)
    return a, b, c, d


NUMBERS = {
    "f": [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan, 1e-40, -1e-40, 3e38],
    "i": [0, 1, -1, 7, -7, -(2**31), 2**31 - 1],
    "u": [0, 1, 2**31, 2**32 - 1],
    "b": [False, True],
}


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int64", "uint32", "uint64", "bool"])
def test_the_order_of_values(kind: str) -> None:
    values = np.array(NUMBERS[np.dtype(kind).kind]).astype(kind)
    n, rng = values.size, np.random.default_rng(1)
    s, t = rng.integers(0, n, 150), n + rng.integers(0, 60, 150)
    properties = {
        "x": np.r_[values, np.zeros(60, kind)],
        "y": np.r_[rng.integers(0, 4, n), np.zeros(60, np.int64)],
        "first": rng.choice(values, n + 60),
    }
    graph = vg.Graph.from_edges(s, t, num_vertices=n + 60, vertex_properties=properties)
    dtype = vg.bool_ if kind == "bool" else getattr(vg, kind)
    expected = vg.run(extremes, graph, kind=dtype, device="python")
    for threads, direction in ((1, vg.PUSH), (2, vg.PULL), (2, vg.PUSH)):
        schedule = vg.Schedule().at("smallest", direction=direction).at("largest", direction=direction)
        found = vg.run(extremes, graph, kind=dtype, threads=threads, schedule=schedule)
        for name in expected.names:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
            if kind.startswith("float"):  # which zero it is, too
                numbers = ~np.isnan(expected.a)
                np.testing.assert_array_equal(np.signbit(found.a)[numbers], np.signbit(expected.a)[numbers])


def test_what_the_order_is() -> None:
    graph = vg.Graph.from_edges(
        [0, 1, 2, 3], [4, 4, 5, 5],
        num_vertices=6,
        vertex_properties={
            "x": np.array([0.0, -0.0, np.nan, 9.0, 0, 0]), "y": np.arange(6), "first": np.array([np.nan] * 6),
        },
    )  # fmt: skip
    for device in ("python", "cpu"):
        found = vg.run(extremes, graph, kind=vg.float64, device=device)
        assert (found.a[4], np.signbit(found.a[4]), found.b[4]) == (0.0, True, 1)  # -0.0 is below 0.0
        assert (found.a[5], found.b[5]) == (9.0, 3)  # NaN is above all numbers
        assert np.isnan(found.a[0])
