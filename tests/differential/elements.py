"""A program that writes elements of vectors in every way there is."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.operator
def start(v):
    """Elements of the own vertex, by numbers of all kinds."""
    v.label = v.id * 7 % 5
    v.own[0] = v.label
    v.own[-1] = v.own[0] + 1
    v.own[v.id] += 2.5
    v.flags[v.label] = v.label > 2
    if v.own[0] > 1:
        v.parent = v


@vg.operator
def count(src, edge, dst, graph):
    """Reductions of each kind."""
    dst.sum[src.label] += edge.weight
    dst.product[src.label + graph.round] = dst.product[src.label + graph.round] * vg.float64(2)
    dst.least[src.label] = min(dst.least[src.label], edge.weight, src.id)
    dst.most[edge.weight] = max(src.own[edge.weight], dst.most[edge.weight])
    dst.bits[src.label] |= 1 << edge.weight
    dst.left[src.id] &= ~edge.weight
    dst.seen[src.label] = True
    dst.all[edge.weight] = dst.all[edge.weight] and src.label > 0


@vg.operator
def give(v):
    """Into neighbors, and through a property; the own vertex is met by others, too."""
    for u in v.out_neighbors:
        u.given[v.label] += 1
        u.parent.given[v.label + 1] -= 2
    v.given[7] += 1


@vg.algorithm
def elements(graph):
    """Vectors, of which elements were written."""
    label = graph.vertex_property(vg.int64)
    parent = graph.vertex_property(vg.vertex)
    own = graph.vertex_property(vg.vector(vg.float64, 4), fill=0.5)
    flags = graph.vertex_property(vg.vector(vg.bool_, 3))
    sum = graph.vertex_property(vg.vector(vg.int32, 5))
    product = graph.vertex_property(vg.vector(vg.float64, 3), fill=1)
    least = graph.vertex_property(vg.vector(vg.int32, 4), fill=vg.inf)
    most = graph.vertex_property(vg.vector(vg.float32, 3), fill=-vg.inf)
    bits = graph.vertex_property(vg.vector(vg.uint64, 5))
    left = graph.vertex_property(vg.vector(vg.int64, 2), fill=-1)
    seen = graph.vertex_property(vg.vector(vg.bool_, 5))
    all = graph.vertex_property(vg.vector(vg.bool_, 9), fill=True)
    given = graph.vertex_property(vg.vector(vg.int64, 6))
    graph.vertex_apply(start)
    graph.round = 0
    reached = 0
    while graph.round < 2:
        frontier = graph.edge_apply(count)
        reached += len(frontier)
        graph.round += 1
    graph.vertex_apply(give)
    return label, own, flags, sum, product, least, most, bits, left, seen, all, given, reached


def graph_of_elements(n: int = 60, directed: bool = True) -> vg.Graph:
    """A graph whose weights are small numbers."""
    rng = np.random.default_rng(3)
    ends = rng.integers(0, n, (2, 4 * n))
    return vg.Graph.from_edges(
        *ends, num_vertices=n, directed=directed, weight=rng.integers(0, 9, 4 * n).astype(np.int32)
    )


def same_elements(found: Any, expected: Any) -> None:
    """All results are equal."""
    for name in expected.names:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist(), name
