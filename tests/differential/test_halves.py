"""float16 as a type of properties: the same on the CPU as in CPython, and rounded as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from halves import START, check_halves, results

import vgraph as vg


@pytest.mark.parametrize("length", [3, 16, 40])
@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 2}, {"checked": True}], ids=str)
def test_halves(length: int, how: dict[str, Any]) -> None:
    check_halves(length, vg.COLORED, **how)


def test_arrays_of_callers_are_rounded() -> None:
    for how in ({"device": "python"}, {"threads": 1}):
        found = results(4, vg.SEQUENTIAL, **how)["start"]
        np.testing.assert_array_equal(found, START.astype(np.float16))


@vg.operator
def put(v):
    v.row[v.id] = v.id / 3
    v.other[1] = v.row[v.id]
    v.one = v.other[1] + v.row[v.id + 1]


@vg.algorithm
def rows(graph):
    row = graph.vertex_property(vg.vector(vg.float16, 5000), fill=0.1)
    other = graph.vertex_property(vg.vector(vg.float16, 5000))
    one = graph.vertex_property(vg.float32)
    graph.vertex_apply(put)
    return row, other, one


def test_rows_that_are_never_read_as_a_whole() -> None:
    """Elements are read by themselves, and rows are filled as they lie in memory."""
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    wanted, found = (vg.run(rows, graph, device=device) for device in ("python", "cpu"))
    for name in wanted.names:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert "cast<vec<f32, 5000>>" not in str(vg.explain(rows, graph))
    assert found.other[2, 1] == np.float16(2 / 3)
    assert found.row[2, 3] == np.float16(0.1)


@vg.algorithm
def scaled(graph, by: vg.float16):
    x = graph.vertex_property(vg.float32)
    x[0] = by
    return x


def test_no_parameter_is_a_float16() -> None:
    graph = vg.Graph.from_edges([0], [1])
    with pytest.raises(vg.ParameterError, match=r"vg\.float16 is how properties are stored"):
        vg.run(scaled, graph, by=1.0)
    for refused in (
        lambda: vg.array(vg.float16),
        lambda: vg.edge_property(vg.float16),
        lambda: vg.between(0, 1, vg.float16),
    ):
        with pytest.raises(vg.DeclarationError, match=r"not vg\.float16, which is how properties are stored"):
            refused()
