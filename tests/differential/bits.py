"""A program that counts bits of numbers of every type."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg

VALUES = (0, 1, -1, 8, 2**31 - 1, -(2**31), 12345, 2**32, 2**63, 3 * 2**61, 2**64 - 2)
"""In the type of a property they wrap."""


@vg.operator
def count(v):
    """All three counts: of a number, of a vector, of a vertex, of literals."""
    v.ones = vg.popcount(v.x)
    v.low = vg.ctz(v.x)
    v.high = vg.clz(v.x)
    v.pair = vg.ctz(v.both) - vg.popcount(v.both) * vg.clz(v.both)
    v.own = vg.clz(v) + vg.ctz(0) + vg.popcount(v.x > 7) + vg.popcount(7)


@vg.algorithm
def counts(graph):
    """Bits of the properties `x` and `both`."""
    ones = graph.vertex_property(vg.int64)
    low = graph.vertex_property(vg.int32)
    high = graph.vertex_property(vg.int64)
    pair = graph.vertex_property(vg.vector(vg.int64, 2))
    own = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    return ones, low, high, pair, own


def check_bits(dtype: Any, **device: Any) -> None:
    """Run it, and compare with Python's integers."""
    x = np.array([value % 2**64 for value in VALUES], np.uint64).astype(dtype)
    both = np.stack([x, x[::-1]], axis=1)
    graph = vg.Graph.from_edges([], [], num_vertices=x.size, vertex_properties={"x": x, "both": both})
    found = vg.run(counts, graph, **device)
    want = [_counts(value) for value in x]
    assert found.ones.tolist() == [ones for ones, _, _ in want]
    assert found.low.tolist() == [low for _, low, _ in want]
    assert found.high.tolist() == [high for _, _, high in want]
    mixed = [low - ones * high for ones, low, high in want]
    assert found.pair.tolist() == [list(p) for p in zip(mixed, mixed[::-1], strict=True)]
    assert found.own.tolist() == [128 - v.bit_length() + int(x[v] > 7) + 3 for v in range(x.size)]


def _counts(x: Any) -> tuple[int, int, int]:
    width = 8 * x.itemsize
    bits = int(x) % 2**width
    return bits.bit_count(), (bits & -bits).bit_length() - 1 if bits else width, width - bits.bit_length()
