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
