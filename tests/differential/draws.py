"""A program that draws random numbers everywhere: in operators of both kinds, in helpers and in an algorithm."""

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


@vg.algorithm
def draws(graph):
    """Every kind of draw, for two rounds."""
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
    return alone, thrown, many, parent, largest, sum, infected, one


GRAPH = vg.Graph.from_edges(
    *np.random.default_rng(0).integers(0, 70, (2, 300)), weight=np.random.default_rng(1).integers(0, 9, 300)
)


def same_draws(found: Any, expected: Any) -> None:
    """All results are equal, bit for bit."""
    for name in expected.names:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name
