"""The interpreter of the IR: every level gives what is right, and order shows where it matters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from programs import MIXED, SSSP, SSSP_PULL, SSSP_PUSH
from scipy.sparse.csgraph import connected_components, dijkstra

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.functions import FUNCTIONS
from vgraph.compiler.interpret import interpret
from vgraph.compiler.interpret.bodies import JUMPS
from vgraph.compiler.interpret.expressions import EXPRESSIONS
from vgraph.compiler.interpret.statements import COMPOUND, SIMPLE
from vgraph.compiler.ir.legality import BINARY, UNARY
from vgraph.compiler.ir.text import parse_program
from vgraph.errors import AlgorithmError, InternalError
from vgraph.graph import Graph


def random_graph(seed, n=60, m=200, **options):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 50, m).astype(np.int32)
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    return Graph.from_edges(*ends, num_vertices=n, weight=weight, multi_edges="min", **options)


def test_the_tables_know_every_node_and_operation():
    assert {*SIMPLE, *COMPOUND, *JUMPS, ir.Emit} == {
        *ir.Stmt.__subclasses__(),
        *ir.Apply.__subclasses__(),
    } - {ir.Apply}
    assert set(EXPRESSIONS) == set(ir.Expr.__subclasses__())
    assert set(arithmetic.BINARY) == set(BINARY)
    assert set(arithmetic.UNARY) == set(UNARY)
    assert set(arithmetic.FUNCTIONS) == set(FUNCTIONS)


@pytest.mark.parametrize("order", [{}, {"seed": 1}, {"seed": 2, "threads": 4}])
@pytest.mark.parametrize("text", [SSSP, SSSP_PUSH, SSSP_PULL], ids=["algorithm", "push", "pull"])
def test_shortest_paths(text, order):
    for seed in range(3):
        graph = random_graph(seed)
        found = interpret(parse_program(text), graph, {"source": 5}, **order)["dist"]
        assert found.dtype == np.int32
        expected = dijkstra(graph.to_scipy("weight").astype(float), indices=5)
        assert np.array_equal(np.where(found == 2**31 - 1, math.inf, found), expected)


@pytest.mark.parametrize("directed", [True, False])
def test_edge_properties_in_the_order_of_the_transpose(directed):
    graph = random_graph(9, directed=directed)
    found = [interpret(parse_program(t), graph, {"source": 0})["dist"] for t in (SSSP, SSSP_PULL)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("old", ["atomic dist", "dedupe atomic"])
def test_interleaving_shows_a_missing_atomic(old):
    broken = parse_program(SSSP_PUSH.replace(old, old.replace("atomic", "").strip()))
    graph = random_graph(1, 200, 2000)
    expected, trace = _run(parse_program(SSSP_PUSH), graph)
    outcomes = [_run(broken, graph, seed=seed, threads=8) for seed in range(6)]
    differs = any(d != expected for d, _ in outcomes)
    repeated = any(sum(r.active for r in t) > sum(r.active for r in trace) * 1.02 for _, t in outcomes)
    assert differs or repeated
    assert _run(broken, graph)[0] == expected  # one thread alone never shows it


def _run(program, graph, **order):
    trace = []
    found = interpret(program, graph, {"source": 0}, trace=trace, **order)
    return found["dist"].tolist(), trace


def test_the_trace_tells_labels_sizes_and_arcs():
    graph = Graph.from_edges(
        [0, 0, 1, 2], [1, 2, 3, 3], num_vertices=5, weight=np.array([1, 1, 1, 1], np.int32)
    )
    _, trace = _run(parse_program(SSSP), graph)
    assert trace == [("relax", "", 1, 2), ("relax", "", 2, 2), ("relax", "", 1, 0)]
    _, trace = _run(parse_program(SSSP_PUSH), graph)
    assert trace == [("relax", "push", 1, 0), ("relax", "push", 2, 0), ("relax", "push", 1, 0)]


def test_claims_unions_filters_lists_and_globals():
    graph = random_graph(3, 50, 60)
    trace = []
    found = interpret(parse_program(MIXED), graph, {"limit": 9, "sources": [4, 7]}, trace=trace)
    matrix = graph.to_scipy()
    _, weak = connected_components(matrix, directed=True, connection="weak")
    smallest = [int(np.flatnonzero(weak == c)[0]) for c in weak]
    assert found["component"].tolist() == smallest
    assert found["component"].dtype == np.int32
    reached = found["level"] >= 0
    assert found["reached"] == reached.sum()
    assert np.array_equal(reached, (found["parent"] != -1))
    assert found["x"].tolist() == [3] * 50
    out, into = graph.out, graph.in_
    common = sum(
        len(
            np.intersect1d(
                out.column_indices[out.row_offsets[v] : out.row_offsets[v + 1]],
                into.column_indices[into.row_offsets[v] : into.row_offsets[v + 1]],
            )
        )
        for v in range(50)
    )
    assert found["total"] == common
    assert found["least"] == min(9, graph.out_degree.min())
    levels = [r for r in trace if r.label == "one level"]
    assert found["rounds"] == 2 + len(levels)


def test_fail_ends_the_run_with_its_message():
    graph = Graph.from_edges([0], [1], num_vertices=2)
    with pytest.raises(AlgorithmError, match="everything was reached"):
        interpret(parse_program(MIXED), graph, {"limit": 9, "sources": [0]})


def test_a_frontier_in_the_wrong_layout_is_an_internal_error():
    wrong = parse_program(SSSP_PULL.replace("  convert frontier to bitmap\n", ""))
    with pytest.raises(InternalError, match="while the frontier is sparse"):
        interpret(wrong, random_graph(0), {"source": 0})


ROUND = """\
program round: algorithm, ids 32, offsets 32
vertex x: i32 local
vertex y: i32 local
global @sum: i32
frontier f
operator push(src, edge, dst) {
  x[dst] += x[src]
  @sum += (@sum + 1:i32)
}
operator own(v) {
  let a: i32 = 0:i32
  for (u, e) in in(v) {
    a = (a + x[u])
  }
  x[v] = (x[v] + a)
  y[v] = x[v]
}
run {
  fill x = 1:i32
  @sum = 1:i32
  f = edge_apply(push)
  vertex_apply(own)
}
return x
return y
return sum = scalar @sum
return touched = scalar size(f)
"""


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_round_reads_neighbors_and_globals_as_they_were(seed):
    path = Graph.from_edges([0, 1, 2], [1, 2, 3], num_vertices=4)
    found = interpret(parse_program(ROUND), path, {}, seed=seed)
    assert found["x"].tolist() == found["y"].tolist() == [1, 3, 4, 4]
    assert found["sum"] == 1 + 3 * 2
    assert found["touched"] == 3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(2147483647:i32 + 1:i32)", -(2**31)),
        ("(7:i32 // 0:i32)", 0),
        ("(-7:i32 % 0:i32)", 0),
        ("(-7:i32 // 2:i32)", -4),
        ("(-7:i32 % 2:i32)", 1),
        ("(-2147483648:i32 // -1:i32)", -(2**31)),
        ("(3:i32 ** 21:i32)", 1870418611),
        ("(2:i32 ** -1:i32)", 0),
        ("(-1:i32 ** -3:i32)", -1),
        ("(1:i32 << 33:i32)", 2),
        ("(-8:i32 >> 33:i32)", -4),
        ("neg(1:u32)", 2**32 - 1),
        ("cast<i32>(nan:f64)", 0),
        ("cast<i32>(1e30:f64)", 2**31 - 1),
        ("cast<u32>(-1.5:f64)", 0),
        ("cast<i64>(9223372036854775807.0:f64)", 2**63 - 1),
        ("cast<u32>(-1:i64)", 2**32 - 1),
        ("cast<i64>(cast<vid>(-1:i64))", 2**32 - 1),
        ("inf:i32", 2**31 - 1),
        ("min(nan:f64, 1.0:f64)", math.nan),
        ("max(1.0:f32, nan:f32)", math.nan),
        ("(1.0:f64 / 0.0:f64)", math.inf),
        ("(nan:f64 == nan:f64)", False),
        ("(nan:f64 != nan:f64)", True),
        ("select(false, (1:i32 // 0:i32), 5:i32)", 5),
        ("sum(cast<vec<i32, 3>>(5:i32))", 15),
        ("dot(cast<vec<f32, 2>>(3.0:f32), cast<vec<f32, 2>>(2.0:f32))", 12.0),
        ("cast<vec<i32, 3>>(5:i32)[[-7:i64]]", 5),
        ("abs(-2147483648:i32)", -(2**31)),
        ("isinf(cast<f64>(1:i32))", False),
        ("floor(-1.5:f64)", -2.0),
        ("sqrt(-1.0:f64)", math.nan),
    ],
)
def test_arithmetic(expression, expected):
    text = f"program p: algorithm, ids 32, offsets 32\nrun {{\n}}\nreturn x = scalar {expression}\n"
    found = interpret(parse_program(text), Graph.from_edges([0], [1]), {})["x"]
    assert found == expected or (math.isnan(expected) and math.isnan(found))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_keep_their_signs(dtype):
    for zero in (0.0, -0.0, 0.0):
        assert np.signbit(arithmetic.constant(zero, np.dtype(dtype))) == np.signbit(zero)
