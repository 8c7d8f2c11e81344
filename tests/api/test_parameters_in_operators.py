"""Operators and helpers read parameters of the algorithm: which of several meanings of a name they see."""

# ruff: noqa: F821

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg

factor = 100
TRIANGLE = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], weight=[1, 2, 3])
DEVICES = pytest.mark.parametrize("device", ["python", "cpu"])


@vg.function
def scaled(x):
    """By the algorithm's parameter, not by the module's number."""
    return factor * x


@vg.operator
def scale(v):
    v.x = scaled(v.x) + factor


@vg.algorithm
def by_parameter(graph, factor=2):
    x = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(scale)
    return x


@vg.algorithm
def by_float(graph, factor: vg.float32):
    x = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(scale)
    return x


@vg.algorithm
def by_module(graph):
    x = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(scale)
    return x


@DEVICES
def test_an_operator_of_several_algorithms(device: str) -> None:
    for algorithm, given, expected in (
        (by_parameter, {}, 4),
        (by_parameter, {"factor": 5}, 10),
        (by_float, {"factor": 0.25}, 0.5),
        (by_module, {}, 200),
    ):
        assert vg.run(algorithm, TRIANGLE, device=device, **given).x.tolist() == [expected] * 3


@vg.algorithm
def by_algorithm(graph, factor=2):
    y = scaled(10)
    return y  # noqa: RET504


@DEVICES
def test_a_helper_that_the_algorithm_calls(device: str) -> None:
    assert vg.run(by_algorithm, TRIANGLE, device=device).y == 20
    assert vg.run(by_algorithm, TRIANGLE, device=device, factor=3).y == 30


@vg.operator
def own_name(v):
    factor = v.id
    v.x = factor


@vg.algorithm
def local(graph, factor=2):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(own_name)
    return x


@DEVICES
def test_an_operators_own_variable_comes_first(device: str) -> None:
    assert vg.run(local, TRIANGLE, device=device).x.tolist() == [0, 1, 2]


@DEVICES
def test_names_of_one_function_around_both(device: str) -> None:
    @vg.operator
    def add(v):
        v.x += amount

    @vg.algorithm
    def main(graph, amount):
        x = graph.vertex_property(vg.int64)
        graph.vertex_apply(add)
        return x

    for amount in (3, 4):
        assert vg.run(main, TRIANGLE, device=device, amount=amount).x.tolist() == [amount] * 3


@vg.operator
def weigh(src, edge, dst):
    if weighted:
        dst.sum += edge.weight
    else:
        dst.sum += 1


@vg.operator
def count(v):
    if start is None:
        v.sum = 0
    else:
        v.sum = v.start


@vg.algorithm
def sums(graph, weighted=True, start: vg.vertex_property(vg.int64) = None):
    sum = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    graph.edge_apply(weigh)
    return sum


@DEVICES
def test_what_is_known_at_compile_time_chooses_branches(device: str) -> None:
    assert vg.run(sums, TRIANGLE, device=device).sum.tolist() == [3, 1, 2]
    found = vg.run(sums, TRIANGLE, device=device, weighted=False, start=np.array([10, 20, 30]))
    assert found.sum.tolist() == [11, 21, 31]


@vg.operator
def mark(v):
    v.found = v == source


@vg.algorithm
def where(graph, source: vg.vertex):
    found = graph.vertex_property(vg.bool_)
    graph.vertex_apply(mark)
    return found


def test_a_vertex_keeps_its_meaning_in_another_order_of_vertices() -> None:
    star = vg.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 2])
    for source in range(4):
        found = vg.run(where, star, source=source, relabel="degree").found
        assert np.flatnonzero(found).tolist() == [source]
