"""What one round means, and how values behave, under the reference interpreter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference_harness import run_reference

from vgraph.compiler import arithmetic
from vgraph.errors import AlgorithmError, ParameterError
from vgraph.graph import Graph
from vgraph.language import names as vg
from vgraph.language.decorators import algorithm, operator
from vgraph.reference.casts import cast_type
from vgraph.reference.overlay import _BUILTINS
from vgraph.reference.values import Number

I32, I64, U64, F32, F64 = np.int32, np.int64, np.uint64, np.float32, np.float64
PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], num_vertices=4, weight=np.array([1, 2, 3], np.int32))
STAR = Graph.from_edges([0, 1, 2], [3, 3, 3], num_vertices=4)


@pytest.fixture(autouse=True)
def quiet():
    with arithmetic.quiet():
        yield


# --- values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: Number(I32(2**31 - 1)) + 1, I32(-(2**31))),
        (lambda: Number(I32(7)) // 0, I32(0)),
        (lambda: Number(I32(7)) % 0, I32(0)),
        (lambda: -7 // Number(I32(2)), I32(-4)),
        (lambda: Number(I32(7)) / 2, F64(3.5)),
        (lambda: Number(F32(1)) / Number(F32(3)), F32(1) / F32(3)),
        (lambda: Number(I32(2)) * 1.5, F64(3.0)),
        (lambda: Number(F32(2)) * 1.5, F32(3.0)),
        (lambda: Number(F32(2)) * Number(I32(2)), F64(4.0)),
        (lambda: Number(I32(2)) ** -1, I32(0)),
        (lambda: Number(I32(-1)) ** -3, I32(-1)),
        (lambda: Number(I32(1)) << 33, I32(2)),
        (lambda: Number(np.uint32(1)) - 2, np.uint32(2**32 - 1)),
        (lambda: Number(np.uint32(1)) + Number(I32(-2)), I64(-1)),
        (lambda: _BUILTINS["min"](Number(F64(1)), Number(F64(math.nan))), F64(math.nan)),
        (lambda: _BUILTINS["max"](math.nan, Number(F64(1)), 2.0), F64(math.nan)),
        (lambda: _BUILTINS["min"](3, Number(I32(5)), 4), I32(3)),
        (lambda: _BUILTINS["min"](Number(I32(5)), vg.inf), I32(5)),
        (lambda: _BUILTINS["int"](Number(F64(-2.7))), I64(-2)),
        (lambda: _BUILTINS["int"](math.nan), I64(0)),
        (lambda: cast_type(vg.int32)(Number(F64(1e30))), I32(2**31 - 1)),
        (lambda: cast_type(vg.uint32)(Number(I64(-1))), np.uint32(2**32 - 1)),
        (lambda: cast_type(vg.float32)(Number(I64(3))), F32(3)),
    ],
)
def test_arithmetic(value, expected):
    found = value()
    assert isinstance(found, Number)
    assert found._value.dtype == expected.dtype
    assert np.array_equal(found._value, expected, equal_nan=expected.dtype.kind == "f")


def test_infinity_is_the_largest_integer_in_a_comparison():
    assert Number(I32(2**31 - 1)) == vg.inf
    assert Number(I32(-(2**31))) == -vg.inf
    assert Number(F64(math.inf)) == vg.inf
    assert Number(I32(5)) < vg.inf


def test_signed_and_unsigned_64_bits_compare():
    assert Number(I64(-1)) < Number(U64(2**64 - 1))
    assert Number(U64(2**63)) > Number(I64(2**63 - 1))


# --- rounds ---------------------------------------------------------------------------------------------


@operator
def shift(src, edge, dst):
    dst.x += src.x


@algorithm
def shift_once(graph):
    x = graph.vertex_property(vg.int32, fill=1)
    touched = graph.edge_apply(shift)
    count = len(touched)
    return x, count


def test_src_is_read_as_it_was_when_the_round_began():
    results, trace = run_reference(shift_once, PATH, {})
    assert results["x"].tolist() == [1, 2, 2, 2]
    assert results["count"] == 3
    assert trace == [("shift", "push", 4, 3)]


@operator
def add_nothing(src, edge, dst):
    dst.x += 0


@operator
def lower_nothing(src, edge, dst):
    dst.x = min(dst.x, 5)


@operator
def raise_some(src, edge, dst):
    dst.x = max(dst.x, src.id * 2)


@algorithm
def touched(graph, which=0):
    x = graph.vertex_property(vg.int32, fill=1)
    if which == 0:
        f = graph.edge_apply(add_nothing)
    elif which == 1:
        f = graph.edge_apply(lower_nothing)
    else:
        f = graph.edge_apply(raise_some)
    size = len(f)
    return x, size


@pytest.mark.parametrize(
    ("which", "size", "x"), [(0, 3, [1, 1, 1, 1]), (1, 0, [1, 1, 1, 1]), (2, 2, [1, 1, 2, 4])]
)
def test_edge_apply_gives_the_vertices_where_it_took_effect(which, size, x):
    results, _ = run_reference(touched, PATH, {"which": which})
    assert results["size"] == size
    assert results["x"].tolist() == x


@operator
def swap(v):
    total = 0
    for u in v.in_neighbors:
        total += u.x
    v.x = v.x + total
    v.seen = v.x


@algorithm
def own_is_current(graph):
    x = graph.vertex_property(vg.int32, fill=1)
    seen = graph.vertex_property(vg.int32)
    graph.vertex_apply(swap)
    return x, seen


def test_own_vertex_is_read_as_current_and_neighbors_as_before():
    results, _ = run_reference(own_is_current, PATH, {})
    assert results["x"].tolist() == [1, 2, 2, 2]
    assert results["seen"].tolist() == [1, 2, 2, 2]


@operator
def give(v):
    for u in v.out_neighbors:
        u.sum += v.id + 1
        u.least = min(u.least, v.id)
        if v.id > u.most:
            u.most = v.id
        if u.owner == vg.none:
            u.owner = v
            u.mark = v.id * 10


@algorithm
def scatter(graph):
    sum = graph.vertex_property(vg.int64)
    least = graph.vertex_property(vg.int64, fill=vg.inf)
    most = graph.vertex_property(vg.int64, fill=-1)
    owner = graph.vertex_property(vg.vertex)
    mark = graph.vertex_property(vg.int64, fill=-1)
    graph.vertex_apply(give)
    return sum, least, most, owner, mark


def test_vertex_operators_reduce_into_and_claim_neighbors():
    results, _ = run_reference(scatter, STAR, {})
    assert results["sum"][3] == 6
    assert results["least"][3] == 0
    assert results["most"][3] == 2
    assert results["owner"].tolist() == [-1, -1, -1, 0]
    assert results["mark"][3] == 0


@operator
def measure(v, graph):
    graph.seen += graph.base
    graph.base += 1
    graph.low = min(graph.low, v.id - 5)
    if v.id > graph.high:
        graph.high = v.id
    graph.any = graph.any or v.out_degree == 0


@algorithm
def globals_of_a_round(graph):
    graph.seen = 0
    graph.base = 10
    graph.low = 0
    graph.high = 1
    graph.any = False
    graph.vertex_apply(measure)
    return graph.seen, graph.base, graph.low, graph.high, graph.any


def test_globals_are_read_as_before_and_combined_at_the_end():
    results, _ = run_reference(globals_of_a_round, PATH, {})
    assert results == {"seen": 40, "base": 14, "low": -5, "high": 3, "any": True}


@operator
def jump(v):
    if v.parent != vg.none:
        v.parent = v.parent.parent


@operator
def to_src(src, edge, dst):
    dst.parent = min(dst.parent, src)


@algorithm
def pointers(graph):
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(to_src)
    graph.vertex_apply(jump)
    return parent


def test_a_vertex_property_is_a_vertex_itself():
    results, _ = run_reference(pointers, PATH, {})
    assert results["parent"].tolist() == [-1, -1, 0, 1]


@operator
def edges_both_ways(v):
    for e in v.out_edges:
        v.x += e.weight * 100 + e.dst.id
    for e in v.in_edges:
        v.x += e.weight * 10000 + e.src.id * 1000000


@algorithm
def edges(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(edges_both_ways)
    return x


def test_edges_know_their_ends_and_properties():
    results, _ = run_reference(edges, PATH, {})
    assert results["x"].tolist() == [101, 10202, 1020303, 2030000]


@operator
def mix(v):
    v.f = v.f * 2.0 + v.g
    v.d = vg.dot(v.f, v.g) + v.f[1] + vg.sum(v.f) + vg.sqrt(4.0)


@algorithm
def vectors(graph):
    f = graph.vertex_property(vg.vector(vg.float32, 2), fill=1.0)
    g = graph.vertex_property(vg.vector(vg.float32, 2), fill=3.0)
    d = graph.vertex_property(vg.float64)
    graph.vertex_apply(mix)
    return f, d


def test_vectors():
    results, _ = run_reference(vectors, PATH, {})
    assert results["f"].dtype == np.float32
    assert results["f"].tolist() == [[5.0, 5.0]] * 4
    assert results["d"].tolist() == [30.0 + 5.0 + 10.0 + 2.0] * 4


# --- parameters -----------------------------------------------------------------------------------------


@operator
def teleport(v, graph):
    v.rank = v.personal * graph.scale


@algorithm
def parameters(
    graph, scale: vg.float32 = 2.0, personal: vg.vertex_property(vg.float64) = None, dtype=vg.int32
):
    graph.scale = scale
    kind = 0
    if dtype == vg.float32:
        kind = 1
    rank = graph.vertex_property(vg.float64)
    if personal is None:
        kind = 2
    else:
        graph.vertex_apply(teleport)
    return rank, kind, graph.scale


def test_parameters_are_converted_as_declared():
    results, _ = run_reference(parameters, PATH, {"personal": [1, 2, 3, 4], "dtype": vg.float32})
    assert results["rank"].tolist() == [2.0, 4.0, 6.0, 8.0]
    assert results["kind"] == 1
    assert results["scale"].dtype == np.float32
    assert run_reference(parameters, PATH, {})[0]["kind"] == 2


def test_wrong_parameters_are_refused():
    with pytest.raises(ParameterError, match="no parameter"):
        run_reference(parameters, PATH, {"sclae": 1.0})


@algorithm
def start_at(graph, source):
    x = graph.vertex_property(vg.int32)
    x[source] = 1
    return x


def test_a_vertex_that_the_graph_does_not_have_is_refused():
    with pytest.raises(AlgorithmError, match="is not a vertex of this graph of 4"):
        run_reference(start_at, PATH, {"source": 9})


# --- locals ---------------------------------------------------------------------------------------------


@operator
def wide(v):
    total = 0
    for u in v.in_neighbors:
        total += u.x
    mean = 0.0
    mean += v.f
    v.y = total
    v.g = mean / 3.0


@algorithm
def sums(graph):
    x = graph.vertex_property(vg.int32, fill=2**30)
    y = graph.vertex_property(vg.int64)
    f = graph.vertex_property(vg.float32, fill=1.0)
    g = graph.vertex_property(vg.float64)
    graph.vertex_apply(wide)
    return x, y, f, g


def test_a_local_has_the_type_of_its_first_value():
    results, _ = run_reference(sums, STAR, {})
    assert results["y"][3] == 3 * 2**30
    assert results["g"][0] == 1.0 / 3.0


def test_closures_are_seen_and_lines_stay():
    factor, limit = 3, vg.float64

    @operator
    def scale(v):
        k = factor
        v.x = limit(v.id) * k
        if v.id == 3:
            v.x = v.out_neighbors[3].x

    @algorithm
    def scaled(graph):
        x = graph.vertex_property(vg.float64)
        graph.vertex_apply(scale, graph.frontier(2))
        graph.vertex_apply(scale, graph.frontier(3))
        return x

    with pytest.raises(IndexError) as caught:
        run_reference(scaled, PATH, {})
    (line,) = [entry for entry in caught.traceback if entry.name == "scale"]
    assert str(line.path) == __file__
    assert str(line.statement).strip() == "v.x = v.out_neighbors[3].x"
