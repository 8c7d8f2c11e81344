"""The reference has the types of the language: what the frontend infers, not what NumPy and CPython would make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

ARC = vg.Graph.from_edges([0], [1], w=np.array([3], np.int32), u=np.array([3], np.uint32))
DEVICES = pytest.mark.parametrize("device", ["python", "cpu"])


def both(algorithm: vg.AlgorithmDef, graph: vg.Graph = ARC, **arguments: Any) -> vg.Result:
    """The reference's result, which is that of the CPU."""
    expected = vg.run(algorithm, graph, device="python", **arguments)
    found = vg.run(algorithm, graph, threads=1, **arguments)
    for name in expected.names:
        a, b = np.asarray(getattr(expected, name)), np.asarray(getattr(found, name))
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, err_msg=name)
    return expected


# --- joined types ---------------------------------------------------------------------------------------------


@vg.function
def either(c, a, b):
    if c:
        return a
    return b


@vg.operator
def join(v):
    v.a = (v.n if v.id < 5 else v.m) * 3
    t = v.n
    if v.id > 5:
        t = v.m
    v.b = t * 3
    v.c = either(v.id < 5, v.n, v.m) * 3
    v.d = either(v.id < 5, v.n, v.n) * 3
    v.e = min(v.n, v.m) * 3


@vg.algorithm
def joined(graph):
    n = graph.vertex_property(vg.int32, fill=2_000_000_000)
    m = graph.vertex_property(vg.int64, fill=2_000_000_000)
    a = graph.vertex_property(vg.int64)
    b = graph.vertex_property(vg.int64)
    c = graph.vertex_property(vg.int64)
    d = graph.vertex_property(vg.int64)
    e = graph.vertex_property(vg.int64)
    graph.vertex_apply(join)
    x = 2_000_000_000
    if graph.num_vertices > 100:
        x = 0.5
    return a, b, c, d, e, x


def test_what_may_be_of_two_types_is_of_the_wider_one() -> None:
    found = both(joined)
    six = 6_000_000_000
    assert [int(getattr(found, name)[0]) for name in "abce"] == [six] * 4
    assert found.d[0] == np.int64(six).astype(np.int32)
    assert found.x.dtype == np.float64


@vg.operator
def mix(v, graph):
    v.a = (v.id < 5) + v.u
    v.b = (v.id < 5) + (v.id < 6)
    v.c = -(v.id < 5)
    v.d = (not v.id < 5) + v.u
    graph.low = min(graph.low, v.n)


@vg.algorithm
def mixed(graph):
    u = graph.vertex_property(vg.uint32, fill=2**32 - 1)
    n = graph.vertex_property(vg.int32, fill=7)
    a = graph.vertex_property(vg.int64)
    b = graph.vertex_property(vg.int64)
    c = graph.vertex_property(vg.int64)
    d = graph.vertex_property(vg.int64)
    graph.low = vg.inf
    start = graph.low
    graph.vertex_apply(mix)
    return a, b, c, d, graph.low, start


def test_bools_count_as_int64_and_globals_have_one_type() -> None:
    found = both(mixed)
    assert found.a[0] == 2**32
    assert found.b[0] == 2
    assert found.low == 7
    assert found.low.dtype == np.int32
    assert found.start == 2**31 - 1


# --- reductions -----------------------------------------------------------------------------------------------


@vg.operator
def subtract(src, edge, dst):
    dst.x -= edge.u
    dst.y = dst.y - edge.u
    dst.f = dst.f + edge.w - edge.u
    dst.g = src.one + dst.g
    dst.big += edge.w
    dst.large = max(dst.large, edge.w)
    dst.small = min(dst.small, -edge.w)


@vg.algorithm
def subtracted(graph):
    x = graph.vertex_property(vg.int64, fill=1)
    y = graph.vertex_property(vg.float64, fill=1)
    f = graph.vertex_property(vg.float64, fill=vg.inf)
    g = graph.vertex_property(vg.int64)
    one = graph.vertex_property(vg.int64)
    big = graph.vertex_property(vg.uint64, fill=2**63)
    large = graph.vertex_property(vg.uint64)
    small = graph.vertex_property(vg.uint64, fill=9)
    graph.edge_apply(subtract)
    return x, y, f, g, big, large, small


def test_operands_take_the_type_of_their_place() -> None:
    found = both(subtracted)
    assert found.x[1] == -2
    assert found.y[1] == -2.0
    assert found.big[1] == 2**63 + 3
    assert (found.large[1], found.small[1]) == (3, 0)


@vg.operator
def add_and_take(src, edge, dst):
    dst.f = dst.f + edge.w - edge.u


@vg.operator
def add_mirrored(src, edge, dst):
    dst.f = src.zero + dst.f


@vg.algorithm
def sums(graph, mirrored=False):
    f = graph.vertex_property(vg.float64, fill=vg.inf)
    zero = graph.vertex_property(vg.float64)
    if mirrored:
        frontier = graph.edge_apply(add_mirrored)
    else:
        frontier = graph.edge_apply(add_and_take)
    size = len(frontier)
    return f, zero, size


@pytest.mark.parametrize("mirrored", [False, True])
def test_sums_take_effect_even_where_nothing_changes(mirrored: bool) -> None:
    found = both(sums, mirrored=mirrored)
    assert (found.f[1], found.size) == (np.inf, 1)


@vg.operator
def power(v):
    v.x = (-v.start) ** 0.5


@vg.algorithm
def powers(graph):
    start = graph.vertex_property(vg.float64, fill=vg.inf)
    x = graph.vertex_property(vg.float64)
    graph.vertex_apply(power)
    return start, x


def test_a_root_of_minus_infinity() -> None:
    assert both(powers).x[0] == np.inf


# --- helpers --------------------------------------------------------------------------------------------------


@vg.function
def doubled(x):
    total = x
    total += x
    return total


@vg.operator
def call(v):
    v.a = doubled(v.n)
    v.b = doubled(vg.int64(v.n))
    v.c = doubled(doubled(v.n) + 0.5)
    if not v.seen:
        v.seen = True
    v.seen |= v.parent == vg.none


@vg.algorithm
def calls(graph):
    n = graph.vertex_property(vg.int32, fill=2_000_000_000)
    a = graph.vertex_property(vg.int64)
    b = graph.vertex_property(vg.int64)
    c = graph.vertex_property(vg.float64)
    seen = graph.vertex_property(vg.bool_)
    parent = graph.vertex_property(vg.vertex)
    graph.vertex_apply(call)
    return a, b, c, seen


def test_a_helper_has_the_types_of_each_call() -> None:
    found = both(calls)
    assert found.a[0] == np.int64(4_000_000_000).astype(np.int32)
    assert found.b[0] == 4_000_000_000


UNUSED = np.arange(3, dtype=np.int16)
"""Of a type that the language does not have."""


def test_what_a_module_has_beside_a_program_is_no_matter() -> None:
    assert UNUSED.dtype == np.int16
    assert both(calls).b[0] == 4_000_000_000


@vg.algorithm
def like_others(graph, given: vg.vertex_property(vg.float32)):
    number = graph.vertex_property(vg.int32, fill=3)
    of_edges = graph.edge_property(vg.uint64)
    one = graph.vertex_property(number.dtype)
    two = graph.vertex_property(given.dtype)
    three = graph.vertex_property(of_edges.dtype)
    return one, two, three


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_properties_of_the_types_of_others(device):
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    found = vg.run(like_others, graph, given=np.ones(3, np.float32), device=device)
    assert [x.dtype for x in (found.one, found.two, found.three)] == [np.int32, np.float32, np.uint64]
