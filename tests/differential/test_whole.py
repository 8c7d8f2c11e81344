"""Expressions of whole properties and sums, on every way of running, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schedule_matrix import Case, program_of
from whole_programs import TABLE, expected_kinds, expected_orders, graph_of, kinds, orders, same

import vgraph as vg
from vgraph.compiler import ir, space

WAYS: tuple[dict[str, Any], ...] = (
    {"device": "python"},
    {"threads": 1},
    {"threads": 3},
)


def test_types_and_operations() -> None:
    for n in (1, 70):
        graph, given = graph_of(n), np.random.default_rng(n).random(n)
        for way in (*WAYS, {"checked": True}):
            found = vg.run(kinds, graph, given=given, table=TABLE, source=n // 2, **way)
            same(found, expected_kinds(graph, given, n // 2, 0.5))


@pytest.mark.parametrize("directed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_depends_on_what(directed: bool) -> None:
    traces = []
    for n in (2, 70):
        graph = graph_of(n, directed)
        for way in WAYS:
            found = vg.run(orders, graph, **way)
            same(found, expected_orders(graph))
            traces.append([(r.label, r.frontier, r.edges) for r in found.trace])
    assert traces[3] == traces[4] == traces[5]
    labels = [label for label, _, _ in traces[3]]
    assert labels[:9] == ["rename", "a", "b", "b_1", "d", "e", "h", "g", "i"]


@vg.operator
def rank(v):
    """Is called like the property."""
    v.rank = v.rank * 2


@vg.algorithm
def two_of_a_name(graph):
    """An operator that is applied has the name of a property."""
    rank = graph.vertex_property(vg.float64)
    rank = 1 / graph.num_vertices
    graph.vertex_apply(double, label="double")
    graph.vertex_apply(double)
    return rank


double = rank


def test_a_label_is_no_operators() -> None:
    for way in WAYS:
        found = vg.run(two_of_a_name, graph_of(5), **way)
        assert [r.label for r in found.trace] == ["rank_", "double", "rank"]
        assert found.rank.tolist() == [0.8] * 5


@vg.algorithm
def neighbors(graph):
    """What stands together, as in a step of conjugate gradients."""
    x = graph.vertex_property(vg.float64, fill=1)
    residual = graph.vertex_property(vg.float64, fill=2)
    squares = graph.sum(residual * residual)
    steps = 0
    while steps < 3:
        alpha = squares / (steps + 1)
        x += alpha * residual
        residual = residual - alpha / 1000
        before = squares
        squares = graph.sum(residual * residual)
        steps += 1
        residual = residual + squares / before * 0.5
    return x, residual, squares


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_under_legal_schedules(threads: int) -> None:
    graph = graph_of(70)
    asked = program_of(orders, Case("", graph, {}, None), threads)
    for schedule in space.sample(*asked, 20, seed=threads):
        same(vg.run(orders, graph, schedule=schedule, threads=threads), expected_orders(graph))


def test_neighbors_are_one_round() -> None:
    graph = graph_of(20)
    found = vg.run(neighbors, graph)
    assert [r.label for r in found.trace] == ["sum", *["x", "residual"] * 3]
    residual, x, squares = 2.0, 1.0, 80.0
    for step in range(3):
        alpha = squares / (step + 1)
        x += alpha * residual
        residual -= alpha / 1000
        before, squares = squares, 20 * residual**2
        residual += squares / before * 0.5
    for way in WAYS:
        same(vg.run(neighbors, graph, **way), {"x": np.full(20, x), "residual": np.full(20, residual)})


def test_the_operators_have_labels() -> None:
    graph = graph_of(20)
    shown = str(vg.explain(neighbors, graph))
    assert "x: reads v.residual, v.x" in shown
    assert "x: direction=" in shown
    with pytest.raises(vg.ScheduleError, match=r"not legal for `x`[^|]*\d+ \|         x \+= alpha"):
        vg.run(neighbors, graph, schedule=vg.Schedule().at("x", vectorize=True))


@vg.algorithm
def scaled(graph, scale=2.0):
    """Is called."""
    x = graph.vertex_property(vg.float64, fill=1.5)
    y = x * scale
    total = graph.sum(y)
    z = y - total
    return z, total


@vg.algorithm
def calling(graph):
    """Goes on with the results of calls, whose properties have the names of those of the other algorithm."""
    row = graph.vertex_property(vg.vector(vg.float32, 3), fill=2)
    z = scaled(graph, 4.0).z
    total = scaled(graph).total
    low = graph.min(row * 2)
    least = low[0]
    z += graph.sum(z) / graph.num_vertices
    z = z + graph.count(z < 0)
    return z, total, least


def test_algorithms_that_call() -> None:
    graph = graph_of(5)
    labels = ["scaled.y", "scaled.z", "scaled_1.y", "scaled_1.z", "min", "z", "z_1"]
    for way in WAYS:
        found = vg.run(calling, graph, **way)
        assert [r.label for r in found.trace] == labels
        assert (found.z.tolist(), found.total, found.least) == ([-43.0] * 5, 15.0, 4.0)


@vg.algorithm
def nothing(graph):
    """Values of graphs without vertices."""
    x = graph.vertex_property(vg.float64)
    i = graph.vertex_property(vg.int32)
    total = graph.sum(x)
    low = graph.min(i)
    high = graph.max(x)
    every = graph.all(x > 0)
    some = graph.any(x > 0)
    return total, low, high, every, some


def test_no_vertices() -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=0)
    for way in WAYS:
        found = vg.run(nothing, graph, **way)
        assert (found.total, found.low, found.high, found.every, found.some) == (
            0, 2**31 - 1, -np.inf, True, False
        )  # fmt: skip


@vg.algorithm
def hidden(graph):
    """Globals and properties that are called like methods."""
    x = graph.vertex_property(vg.int64, fill=2)
    graph.count = 5
    graph.where = 7
    total = graph.sum(x + graph.sum) + graph.count + graph.where + graph.sum[1]
    some = graph.count(x == graph.where(x > 1, 2, x))
    return total, graph.count, some


def test_names_of_methods() -> None:
    graph = graph_of(4).with_vertex_property("sum", np.arange(4))
    for way in WAYS:
        found = vg.run(hidden, graph, **way)
        assert (found.total, found.count, found.some) == (8 + 6 + 5 + 7 + 1, 5, 4)


def test_nan_as_numpy_has_it() -> None:
    given = np.array([1.0, np.nan, 3.0])
    graph = vg.Graph.from_edges([0], [1], num_vertices=3).with_vertex_property("x", given)

    @vg.algorithm
    def extremes(graph):
        low = graph.min(graph.x)
        high = graph.max(graph.x)
        y = graph.where(graph.x == graph.x, graph.x, 0)
        return low, high, y

    for way in WAYS:
        found = vg.run(extremes, graph, **way)
        assert np.isnan([found.low, found.high]).all()
        assert found.y.tolist() == [1.0, 0.0, 3.0]


def test_what_is_made_is_a_vertex_apply() -> None:
    graph = graph_of(9)
    program, _ = program_of(neighbors, Case("", graph, {}, None), 1)
    assert [o.name for o in program.operators] == ["sum", "x", "residual"]
    stored = [n.prop for n in program.operators[1].body if isinstance(n, ir.Store)]
    assert stored == ["x", "residual"]
