"""float16 as a type of properties on a GPU, and every one of them."""

from __future__ import annotations

import numpy as np
import pytest
from halves import check_halves

import vgraph as vg


@pytest.mark.parametrize("length", [3, 16])
def test_halves(gpu, length):
    check_halves(length, vg.COLORED, near=0 if length == 3 else 4e-3, device="cuda")


@vg.operator
def through(v):
    v.half = v.number
    v.back = v.half


@vg.algorithm
def rounded(graph, number: vg.vertex_property(vg.float32)):
    half = graph.vertex_property(vg.float16)
    back = graph.vertex_property(vg.float32)
    graph.vertex_apply(through)
    return half, back


def test_rounded_as_in_numpy(gpu):
    """Float16s, half way to the next, and beside that."""
    halves = np.arange(3, 0x7C00, 5, dtype=np.uint16).view(np.float16).astype(np.float32)
    assert halves[-1] == 65504
    with np.errstate(over="ignore"):
        middle = halves + np.spacing(halves.astype(np.float16)).astype(np.float32) / 2
    beside = [np.nextafter(middle, np.float32(end)) for end in (0, np.inf)]
    some = np.concatenate(
        [halves, middle, *beside, np.array([np.inf, np.nan, 65519.99, 65520, 1e-40], np.float32)]
    )
    some = np.concatenate([some, -some])
    found = vg.run(rounded, vg.Graph.from_edges([0], [1], num_vertices=some.size), number=some, device="cuda")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found.half, some.astype(np.float16))
    np.testing.assert_array_equal(found.back, found.half.astype(np.float32))
