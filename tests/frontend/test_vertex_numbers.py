"""Vertex ids count as int64 in every operation on integers."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg


@vg.operator
def compute(v):
    v.inverted = ~v.id
    v.kept = ~vg.int64(v) & v.id
    v.mixed = (v | 1) + (v.id << 2) - (+v.id)


@vg.algorithm
def numbers(graph):
    inverted = graph.vertex_property(vg.int64)
    kept = graph.vertex_property(vg.int64)
    mixed = graph.vertex_property(vg.int64)
    graph.vertex_apply(compute)
    return inverted, kept, mixed


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_ids_are_integers(device: str) -> None:
    v = np.arange(6)
    found = vg.run(numbers, vg.Graph.from_edges([0], [5]), device=device)
    assert (found.inverted == ~v).all()
    assert (found.kept == 0).all()
    assert (found.mixed == (v | 1) + (v << 2) - v).all()
