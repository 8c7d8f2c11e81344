"""Tiles on CPUs: every way of visiting them gives the fixpoint, on several threads and wherever borders fall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_order import from_each, graph_of, labels, paths

import vgraph as vg
from vgraph.compiler.backends.abi import Steering
from vgraph.runtime.devices import threads as native_threads

WAYS = ((4, None), (50, vg.UNORDERED), (4096, vg.delta_stepping(3)))


@vg.operator
def spread(src, edge, dst):
    """Two things at once, which give no order."""
    dst.first = min(dst.first, src.first)
    dst.least = min(dst.least, src.least + edge.weight)


@vg.operator
def begin(v):
    v.first = v.id
    v.least = v.id % 50


@vg.algorithm
def two(graph):
    first = graph.vertex_property(vg.int64)
    least = graph.vertex_property(vg.int64)
    graph.vertex_apply(begin)
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(spread, frontier)
    return first, least


def at(label: str, tiles: int, order: Any) -> vg.Schedule:
    return vg.Schedule().at(label, tiles=tiles, **({} if order is None else {"order": order}))


def agree(algorithm: Any, label: str, graph: vg.Graph, threads: int, ways: Any = WAYS, **given: Any) -> None:
    expected = vg.run(algorithm, graph, threads=1, **given)
    for tiles, order in ways:
        found = vg.run(algorithm, graph, schedule=at(label, tiles, order), threads=threads, **given)
        for name in expected.names:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("steering", [Steering.TOGETHER, Steering.RANDOM])
def test_fixpoints(steering, monkeypatch):
    monkeypatch.setattr(native_threads, "STEERING", steering)
    graph = graph_of(700, 3, "int32", 40)
    agree(paths, "relax", graph, 3, source=7)
    agree(labels, "lower", graph, 3, WAYS[::2])
    agree(two, "spread", graph, 3, WAYS[:1])
    agree(from_each, "relax", graph, 3, WAYS[:1], sources=[0, 5, 9, 600])


def test_one_thread():
    agree(paths, "relax", graph_of(700, 3, "int32", 40), 1, source=7)


def test_a_search_claims_behind_what_tiles_find():
    graph = graph_of(900, 3, "int32", 40)
    expected = vg.run(vg.algorithms.bfs, graph, source=7)
    found = vg.run(vg.algorithms.bfs, graph, schedule=at("visit", 16, None), threads=3, source=7)
    np.testing.assert_array_equal(found.level, expected.level)
    below = np.flatnonzero(expected.level > 0)
    np.testing.assert_array_equal(expected.level[found.parent[below]], expected.level[below] - 1)
    assert [r.direction for r in found.trace] == ["tiles", found.trace[-1].direction]


def test_keys_may_fall_below_those_that_a_visit_began_with():
    """Negative weights without negative cycles."""
    n, rng = 400, np.random.default_rng(1)
    s = rng.integers(0, n - 1, 5 * n)
    graph = vg.Graph.from_edges(
        s, rng.integers(s + 1, n), num_vertices=n, weight=rng.integers(-40, 40, s.size)
    )
    agree(paths, "relax", graph, 2, WAYS[2:], source=0)
