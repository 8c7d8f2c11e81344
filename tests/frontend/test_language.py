"""The language's names as Python values."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import vgraph as vg
from vgraph.language import names as language


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_inf_is_the_largest_integer_beside_arrays(dtype: type) -> None:
    limits = np.iinfo(dtype)
    values = np.array([0, 5, limits.max], dtype)
    assert (values == vg.inf).tolist() == [False, False, True]
    assert (vg.inf == values).tolist() == [False, False, True]
    assert (values < vg.inf).tolist() == [True, True, False]
    assert (values != vg.inf).sum() == 2
    assert (values == -vg.inf).any() == (limits.min == 0)
    assert np.minimum(values, vg.inf).dtype == dtype
    assert values[2] == vg.inf
    assert not values[1] == vg.inf


def test_inf_is_a_float() -> None:
    assert vg.inf == math.inf
    assert vg.inf > 10**30
    assert -vg.inf == -math.inf
    assert (np.array([1.0, np.inf]) == vg.inf).tolist() == [False, True]
    assert (np.array([1.0]) + vg.inf).tolist() == [np.inf]
    assert repr(vg.inf) == "vg.inf"
    assert repr(-vg.inf) == "-vg.inf"
    assert isinstance(pickle.loads(pickle.dumps(vg.inf)), language.Infinity)
    assert copy.deepcopy(vg.inf) == vg.inf


@vg.operator
def chooses(v):
    v.chosen = v.id if v.id > 2 else -1
    v.larger = max(v.id, -1)
    v.smaller = min(-1, v.id)
    v.other = 7 if v.p == -1 else v.id
    p = v.p if v.id > 2 else vg.none
    v.alone = p == vg.none


@vg.algorithm
def vertices_and_numbers(graph):
    p = graph.vertex_property(vg.vertex)
    p[0] = 3
    p[4] = 1
    chosen = graph.vertex_property(vg.int64)
    larger = graph.vertex_property(vg.int64)
    smaller = graph.vertex_property(vg.int64)
    other = graph.vertex_property(vg.int64)
    alone = graph.vertex_property(vg.bool_)
    graph.vertex_apply(chooses)
    return chosen, larger, smaller, other, alone


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_vertex_or_a_number_is_a_number(device: str) -> None:
    found = vg.run(vertices_and_numbers, vg.Graph.from_edges([0], [1], num_vertices=5), device=device)
    assert found.chosen.tolist() == [-1, -1, -1, 3, 4]
    assert found.larger.tolist() == [0, 1, 2, 3, 4]
    assert found.smaller.tolist() == [-1] * 5
    assert found.other.tolist() == [0, 7, 7, 7, 4]
    assert found.alone.tolist() == [True] * 4 + [False]


def test_none_equals_the_results_of_no_vertex() -> None:
    assert (np.array([-1, 3]) == vg.none).tolist() == [True, False]
    assert vg.none == -1
    assert repr(vg.none) == "vg.none"


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (vg.int32, 2.9, 2),
        (vg.int32, -2.9, -2),
        (vg.int32, 1e30, 2**31 - 1),
        (vg.int32, -math.inf, -(2**31)),
        (vg.int32, math.nan, 0),
        (vg.int32, 2**31, -(2**31)),
        (vg.uint32, -1, 2**32 - 1),
        (vg.uint64, -1, 2**64 - 1),
        (vg.int64, 2.0**63, 2**63 - 1),
        (vg.uint64, 1e30, 2**64 - 1),
        (vg.uint32, -5.5, 0),
        (vg.float32, 0.1, np.float32(0.1)),
        (vg.float64, 3, 3.0),
        (vg.bool_, 2, True),
        (vg.bool_, 0.0, False),
    ],
)
def test_casts(dtype: language.DType, value: object, expected: object) -> None:
    result = dtype(value)
    assert result == expected
    assert result.dtype == np.dtype(dtype.name.rstrip("_"))


def test_functions() -> None:
    assert vg.sqrt(-1.0) != vg.sqrt(-1.0)
    assert vg.log(0) == -math.inf
    assert vg.sqrt(np.float32(2)).dtype == np.float32
    assert vg.floor(-2.5) == -3
    assert vg.ceil(7) == 7
    assert vg.isnan(vg.nan)
    assert not vg.isnan(3)
    assert vg.isinf(vg.inf)
    assert not vg.isinf(2**31 - 1)
    a = np.array([1, 2, 3], np.float32)
    assert vg.dot(a, a) == 14
    assert vg.sum(a).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_counts_of_bits(dtype: type) -> None:
    for value in (0, 1, -1, 8, 2**31 - 1, -(2**31), 12345, 2**32, -(2**63)):
        x = np.array(value & (2**64 - 1), np.uint64).astype(dtype)[()]
        width = 8 * x.itemsize
        bits = int(x) & (2**width - 1)
        assert vg.popcount(x) == bits.bit_count()
        assert vg.clz(x) == width - bits.bit_length()
        assert vg.ctz(x) == ((bits & -bits).bit_length() - 1 if bits else width)
        assert vg.ctz(np.array([x, x])).dtype == np.int64
    assert vg.popcount(7) == 3
    assert vg.clz(True) == 63
    with pytest.raises(vg.VGraphError, match="bits are counted of integers"):
        vg.popcount(0.5)


def test_vector_types() -> None:
    assert repr(vg.vector(vg.float32, 4)) == "vg.vector(vg.float32, 4)"
    assert vg.vector(vg.float32, 4) == vg.vector(vg.float32, 4)
    assert vg.vector(vg.int32, 2)(7).tolist() == [7, 7]
    with pytest.raises(TypeError, match="length of at least 1"):
        vg.vector(vg.float32, 0)
    with pytest.raises(TypeError, match="scalar number type"):
        vg.vector(vg.vertex, 3)


def test_decorated_functions() -> None:
    @vg.function
    def half(x):
        """A half."""
        return x // 2

    @vg.operator
    def visit(v):
        v.x = 1

    @vg.algorithm
    def main(graph, source=0):
        return source

    assert half(7) == 3
    assert half.__doc__ == "A half."
    assert half.__name__ == "half"
    with pytest.raises(vg.VGraphError, match="visit is an operator"):
        visit(1)
    with pytest.raises(vg.VGraphError, match="the graph is a NoneType"):
        main(None)
    with pytest.raises(TypeError, match="goes on a function"):
        vg.operator(3)  # type: ignore[arg-type]
    with pytest.raises(vg.AlgorithmError, match="too bad"):
        vg.fail("too bad")
