"""A program that draws random numbers everywhere: in operators of both kinds, in helpers and in an algorithm."""

# ruff: noqa: F821 (operators read parameters of their algorithm)
from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.function
def die(v, round):
    """1 to 6."""
    return 1 + vg.random_below(6, v, round)


@vg.operator
def at_vertices(v, graph):
    """Keys of all types, none of a vertex among them."""
    v.alone = vg.random(v)
    v.sort = vg.random_choice(sums, v, graph.round)
    if v.sort < 2:
        v.sort += 10 * vg.random_choice(sums, 0 - v)
    v.thrown = die(v, graph.round)
    v.many = vg.random(v.id, -3, vg.uint64(graph.round), v.out_degree, v.parent)
    chosen = vg.none
    total = 0
    for u in v.out_neighbors:
        total += 1
        if vg.random_below(total, v, u, total) == 0:
            chosen = u
    v.parent = chosen


@vg.operator
def at_edges(src, edge, dst, graph):
    """Draws for an arc, which its visits in a round do not change."""
    dst.largest = max(dst.largest, vg.random(src, dst, graph.round))
    dst.sum += vg.random_below(edge.weight + 1, src, dst)
    if vg.random(src, dst) < 0.5 * src.alone:
        dst.infected = True


@vg.operator
def by_bell(v):
    """The middle of the distribution and its ends."""
    v.normal = vg.random_normal(v)
    if v.normal > 0:
        v.normal += vg.random_normal(v, 1) * vg.random_normal(v, 2)


@vg.algorithm
def draws(graph, sums: vg.array(vg.int32) = (0, 3, 3, 8, 11)):
    """Every kind of draw, for two rounds."""
    sort = graph.vertex_property(vg.int64)
    alone = graph.vertex_property(vg.float64)
    thrown = graph.vertex_property(vg.int64)
    many = graph.vertex_property(vg.float64)
    parent = graph.vertex_property(vg.vertex)
    largest = graph.vertex_property(vg.float64)
    sum = graph.vertex_property(vg.int64)
    infected = graph.vertex_property(vg.bool_)
    graph.round = 0
    while graph.round < 2:
        graph.vertex_apply(at_vertices)
        reached = graph.edge_apply(at_edges)
        graph.edge_apply(at_edges, reached, label="again")
        graph.round += 1
    one = vg.random(7, 8)
    other = vg.random_choice(sums, 5)
    return alone, thrown, many, parent, largest, sum, infected, one, sort, other


@vg.algorithm
def normals(graph):
    """Normal draws, whose last digits differ from device to device."""
    normal = graph.vertex_property(vg.float64)
    graph.vertex_apply(by_bell)
    bell = vg.random_normal(7, 8)
    return normal, bell


GRAPH = vg.Graph.from_edges(
    *np.random.default_rng(0).integers(0, 70, (2, 300)), weight=np.random.default_rng(1).integers(0, 9, 300)
)


def close_normals(**how: Any) -> None:
    """They agree with the reference to fourteen digits; what is added to them may cancel some."""
    found, expected = (vg.run(normals, GRAPH, seed=3, **device) for device in (how, {"device": "python"}))
    np.testing.assert_allclose(found.normal, expected.normal, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.bell, expected.bell, rtol=1e-14)


def same_draws(found: Any, expected: Any) -> None:
    """All results are equal, bit for bit."""
    for name in expected.names:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name
