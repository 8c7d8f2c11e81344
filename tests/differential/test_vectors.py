"""Comparisons and extremes of vectors on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from vectors import check_vectors

import vgraph as vg


@pytest.mark.parametrize("device", [{"device": "python"}, {"threads": 1}, {"threads": 2}, {"checked": True}])
def test_vectors(device: dict[str, Any]) -> None:
    check_vectors(**device)


@vg.operator
def mix(v):
    v.x = v.a * 2.0 + v.b


@vg.operator
def choose(v):
    v.y = v.a if v.k > 1 else v.b


@vg.operator
def along(src, edge, dst):
    dst.z += src.a * edge.weight


@vg.algorithm
def long_ones(graph):
    x = graph.vertex_property(vg.vector(vg.float64, 40))
    y = graph.vertex_property(vg.vector(vg.float64, 40))
    z = graph.vertex_property(vg.vector(vg.float64, 40))
    graph.vertex_apply(mix)
    graph.vertex_apply(choose)
    graph.edge_apply(along)
    return x, y, z


@pytest.mark.parametrize("threads", [1, 2])
def test_long_vectors_that_are_computed(threads: int) -> None:
    """They do not fit into registers, so some are filled or copied in memory, and those that are computed stored."""
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[1, 2, 3]).with_vertex_property(
        "k", np.arange(4)
    )
    for name, start in (("a", 0), ("b", 500)):
        graph = graph.with_vertex_property(name, np.arange(start, start + 160.0).reshape(4, 40))
    found, expected = vg.run(long_ones, graph, threads=threads), vg.run(long_ones, graph, device="python")
    for name in "xyz":
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@vg.operator
def draw(v):
    for i in range(len(v.a)):
        v.a[i] = vg.float32(vg.random_normal(v, i, 1))
        v.b[i] = vg.float32(vg.random_normal(v, i, 2))


@vg.operator
def add_up(v):
    v.x = vg.dot(v.a, v.b)
    v.y = vg.sum(v.a)


@vg.algorithm
def sums(graph, length: vg.int64):
    a, b = graph.vertex_property(vg.vector(vg.float32, length))
    x, y = graph.vertex_property(vg.float32)
    graph.vertex_apply(draw)
    graph.vertex_apply(add_up)
    return a, b, x, y


@pytest.mark.parametrize("length", [7, 8, 13, 16, 129, 203])
def test_sums_of_vectors_have_the_bits_of_numpy(length: int) -> None:
    found = vg.run(sums, vg.Graph.from_edges([], [], num_vertices=40), length=length)
    assert found.x.tolist() == [np.add.reduce(a * b) for a, b in zip(found.a, found.b, strict=True)]
    assert found.y.tolist() == [np.add.reduce(a) for a in found.a]
