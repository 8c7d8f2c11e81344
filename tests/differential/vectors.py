"""A program that compares vectors, takes parts of them, and looks for their extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg

NAN = np.nan
LEFT = np.array([[1, 2, 3], [3, 3, 1], [NAN, 1, NAN], [1, NAN, 0], [-0.0, 0.0, 5], [np.inf, -np.inf, 0]])
RIGHT = np.array([[1, 2, 3], [3, 3, 2], [NAN, 1, NAN], [1, 2, 0], [0.0, -0.0, 5], [np.inf, -np.inf, 0]])


@vg.operator
def look(v):
    """Of floats, of integers, of bools, and beside a number."""
    v.same = v.left == v.right
    v.other = v.left != v.right
    v.ones = vg.argmin(v.left) == 1 and v.left == v.left
    v.low = vg.argmin(v.left)
    v.high = vg.argmax(v.left)
    v.whole = vg.argmax(v.counts) * 10 + vg.argmin(v.counts)
    v.flag = vg.argmax(v.flags)
    v.constant = v.counts == v.counts[0]
    v.tail = v.left[1:] + v.counts[-2:3]
    v.first = v.left[:1] == v.right[-3:-2] and vg.argmax(v.flags[1:2]) == 0


@vg.algorithm
def looks(graph):
    """Comparisons of the properties `left`, `right`, `counts` and `flags`."""
    same = graph.vertex_property(vg.bool_)
    other = graph.vertex_property(vg.bool_)
    ones = graph.vertex_property(vg.bool_)
    low = graph.vertex_property(vg.int64)
    high = graph.vertex_property(vg.int32)
    whole = graph.vertex_property(vg.int64)
    flag = graph.vertex_property(vg.int64)
    constant = graph.vertex_property(vg.bool_)
    tail = graph.vertex_property(vg.vector(vg.float64, 2))
    first = graph.vertex_property(vg.bool_)
    graph.vertex_apply(look)
    return same, other, ones, low, high, whole, flag, constant, tail, first


def check_vectors(**device: Any) -> None:
    """Run it, and compare with NumPy."""
    counts = np.array([[1, 1], [2, 1], [1, 2], [-1, -1], [0, -5], [7, 7]]).astype(np.uint32)
    flags = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [0, 0]], np.bool_)
    properties = {"left": LEFT, "right": RIGHT, "counts": counts, "flags": flags}
    graph = vg.Graph.from_edges([], [], num_vertices=len(LEFT), vertex_properties=properties)
    found = vg.run(looks, graph, **device)
    assert found.same.tolist() == (LEFT == RIGHT).all(axis=1).tolist()
    assert found.other.tolist() == (LEFT != RIGHT).any(axis=1).tolist()
    assert found.low.tolist() == LEFT.argmin(axis=1).tolist()
    assert found.high.tolist() == LEFT.argmax(axis=1).tolist()
    assert found.ones.tolist() == ((LEFT.argmin(axis=1) == 1) & (LEFT == LEFT).all(axis=1)).tolist()
    assert found.whole.tolist() == (counts.argmax(axis=1) * 10 + counts.argmin(axis=1)).tolist()
    assert found.flag.tolist() == flags.argmax(axis=1).tolist()
    assert np.array_equal(found.tail, LEFT[:, 1:] + counts[:, -2:3], equal_nan=True)
    assert found.first.tolist() == (LEFT[:, 0] == RIGHT[:, 0]).tolist()
    assert found.constant.tolist() == (counts == counts[:, :1]).all(axis=1).tolist()
