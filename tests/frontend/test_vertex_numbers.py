"""Vertex ids count as int64 in every operation on integers."""

from __future__ import annotations

from typing import Any

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


@vg.operator
def keep(v):
    v.kept = 99
    v.smallest, v.beside = min((v.smallest, v.beside), (v.smallest - 1, 99))
    found = vg.local(vg.vertex, 2, fill=99)
    v.read = found[0].y + v.set.y


@vg.operator
def gather(v):
    near = vg.local_list(vg.vertex, 4)
    near.append(99)
    near.append(1)
    v.gathered = len(near)
    for u in near:
        u.z += 1


@vg.algorithm
def far_numbers(graph, k: vg.int64):
    y = graph.vertex_property(vg.int64, fill=5)
    z = graph.vertex_property(vg.int64)
    read = graph.vertex_property(vg.int64, fill=7)
    gathered = graph.vertex_property(vg.int64)
    smallest = graph.vertex_property(vg.int32)
    kept = graph.vertex_property(vg.vertex)
    beside = graph.vertex_property(vg.vertex)
    filled = graph.vertex_property(vg.vertex, fill=99)
    set = graph.vertex_property(vg.vertex, fill=0)
    set[0] = k
    set[1] = 99
    set[2] = vg.vertex(k)
    graph.vertex_apply(keep)
    graph.vertex_apply(gather)
    return z, read, gathered, kept, beside, filled, set


@pytest.mark.parametrize(
    "how", [{"device": "cpu"}, {"device": "python"}, {"checked": True, "threads": 2}], ids=str
)
def test_numbers_of_no_vertex_are_none(how: dict[str, Any]) -> None:
    found = vg.run(far_numbers, vg.Graph.from_edges([0, 1], [1, 2]), k=50, **how)
    assert found.z.tolist() == [0, 3, 0]
    assert (found.read == 0).all()
    assert (found.gathered == 1).all()
    for name in ("kept", "beside", "filled", "set"):
        assert (getattr(found, name) == -1).all(), name
