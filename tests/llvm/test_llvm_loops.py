"""Loops over arcs and common neighbors, ranges, branches, scopes; array parameters and fills."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from llvm_harness import CSR, Array, program, run

from vgraph.compiler import ir
from vgraph.compiler.types import BOOL, EID, F64, I32, I64, VID, Scalar, Target, Type

V, U, E = ir.Var("v", VID), ir.Var("u", VID), ir.Var("e", EID)
OUT, IN = ir.Orientation.OUT, ir.Orientation.IN
SPARSE = ir.Layout.SPARSE
THREADS = [1, 2, 4]
BIG = 2**63 - 1
TARGETS = [Target(32, 32), Target(32, 64), Target(64, 64)]


def const(x: float, t: Scalar = I64) -> ir.Const:
    return ir.Const(x, t)


def serial(threads: int) -> int:
    return 1 if threads == 1 else 0


def random_graph(n: int, m: int, seed: int = 0) -> CSR:
    rng = np.random.default_rng(seed)
    return CSR.of(n, rng.integers(0, n, m), rng.integers(0, n, m))


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("side", ir.Orientation, ids=lambda s: s.value)
def test_neighbor_loops_degrees_and_neighbors(side: ir.Orientation, target: Target) -> None:
    g = random_graph(50, 400)
    offsets, indices = (g.offsets, g.indices) if side is OUT else (g.in_offsets, g.in_indices)
    degree = ir.Degree(V, side)
    body = (
        ir.Let("s", I64, const(0)),
        ir.ForNeighbors(
            "u",
            "e",
            V,
            side,
            (
                ir.If(ir.Compare("==", ir.Cast(I64, U), const(7)), (ir.Continue(),)),
                ir.If(ir.Compare(">", ir.Cast(I64, U), const(40)), (ir.Break(),)),
                ir.Accumulate("+", "s", ir.Binary("*", ir.Cast(I64, U), ir.Load("w", E, I64))),
            ),
        ),
        ir.Store("s", V, ir.Var("s", I64)),
        ir.Store("d", V, degree),
        ir.If(
            ir.Compare(">", degree, const(0)),
            (ir.Store("last", V, ir.Neighbor(V, side, ir.Binary("-", degree, const(1)))),),
        ),
    )
    w = np.arange(g.m) + 3
    arrays: dict[str, Array] = {"s": np.zeros(50, np.int64), "d": np.zeros(50, np.int64), "w": w}
    arrays["last"] = np.zeros(50, f"uint{target.id_bits}")
    sites = {"w": ir.Site.EDGE if side is OUT else ir.Site.EDGE_IN}
    properties: dict[str, Type] = {"s": I64, "d": I64, "w": I64, "last": VID}
    run(
        program([ir.ParFor("v", ir.Vertices(), body)], properties=properties, sites=sites, target=target),
        g,
        arrays,
    )
    for v in range(50):
        arcs = range(offsets[v], offsets[v + 1])
        assert arrays["s"][v] == sum(indices[a] * w[a] for a in arcs if indices[a] != 7 and indices[a] <= 40)
        assert arrays["d"][v] == len(arcs)
        if len(arcs):
            assert arrays["last"][v] == indices[arcs[-1]]


W = ir.Var("w", VID)
BEYOND = {  # spellings of "w is too large", the last of which is none
    "constant": (ir.Compare(">", W, const(15, VID)), lambda w, u: w > 15),
    "local": (ir.Compare(">", W, U), lambda w, u: w > u),
    "mirrored": (ir.Compare("<=", U, W), lambda w, u: w >= u),
    "descending": (ir.Compare("<", W, U), lambda w, u: w < u),
}


@pytest.mark.parametrize("left", ir.Orientation, ids=lambda s: s.value)
@pytest.mark.parametrize("right", ir.Orientation, ids=lambda s: s.value)
@pytest.mark.parametrize("spelling", BEYOND)
def test_common_neighbors_each_once(left: ir.Orientation, right: ir.Orientation, spelling: str) -> None:
    g = random_graph(20, 250, seed=3)  # with multi-edges
    w = W
    condition, beyond = BEYOND[spelling]
    inner = ir.ForCommon(
        "w",
        V,
        left,
        U,
        right,
        (
            ir.If(condition, (ir.Break(),)),
            ir.If(ir.Compare("==", w, const(4, VID)), (ir.Continue(),)),
            ir.Accumulate("+", "s", ir.Cast(I64, w)),
        ),
    )
    each = ir.For(
        "k",
        const(0),
        ir.GraphSize("num_vertices"),
        const(1),
        (
            ir.Let("u", VID, ir.Cast(VID, ir.Var("k", I64))),
            inner,
        ),
    )
    body = (ir.Let("s", I64, const(0)), each, ir.Store("s", V, ir.Var("s", I64)))
    arrays = {"s": np.zeros(20, np.int64)}
    run(program([ir.ParFor("v", ir.Vertices(), body)], properties={"s": I64}), g, arrays)
    lists = {OUT: (g.offsets, g.indices), IN: (g.in_offsets, g.in_indices)}

    def neighbors(side: ir.Orientation, v: int) -> set[int]:
        offsets, indices = lists[side]
        return {int(x) for x in indices[offsets[v] : offsets[v + 1]]}

    for v in range(20):
        total = 0
        for u in range(20):
            common = sorted(neighbors(left, v) & neighbors(right, u))
            total += sum(x for x in itertools.takewhile(lambda x, u=u: not beyond(x, u), common) if x != 4)
        assert arrays["s"][v] == total


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 10, 1),
        (0, 10, 3),
        (10, 0, -1),
        (10, -3, -4),
        (5, 5, 1),
        (7, 3, 1),
        (3, 7, -1),
        (0, 10, 0),
        (BIG - 5, BIG, 2),
        (-BIG, -BIG - 1, -3),
        (0, 1, BIG),
        (-BIG, BIG, BIG),
    ],
)
@pytest.mark.parametrize("constant", [True, False])
def test_range_loops(start: int, stop: int, step: int, constant: bool) -> None:
    i, by = ir.Var("i", I64), const(step) if constant else ir.Var("step", I64)
    loop = ir.For(
        "i",
        const(start),
        ir.Var("stop", I64),
        by,
        (
            ir.Accumulate("+", "n", const(1)),
            ir.Assign("h", ir.Binary("+", ir.Binary("*", ir.Var("h", I64), const(31)), i)),
        ),
    )
    results = [ir.Result(x, "scalar", ir.Var(x, I64)) for x in "nh"]
    p = program(
        [ir.Let("n", I64, const(0)), ir.Let("h", I64, const(0)), loop],
        results=results,
        params={"stop": I64, "step": I64},
    )
    got = run(p, params={"stop": stop, "step": step}, threads=2).results
    numbers = range(start, stop, step) if step else range(0)
    h = 0
    for k in numbers:
        h = (h * 31 + k) & (2**64 - 1)
    assert (int(got["n"]), int(got["h"]) & (2**64 - 1)) == (len(numbers), h)


def test_while_break_continue_and_scopes() -> None:
    """Collatz lengths, with a name declared in two bodies with two types."""
    x, n = ir.Var("x", I64), ir.Var("n", I64)
    odd = ir.Compare("==", ir.Binary("%", x, const(2)), const(1))
    loop = ir.While(
        const(True, BOOL),
        (
            ir.If(ir.Compare("<=", x, const(1)), (ir.Break(),)),
            ir.Accumulate("+", "n", const(1)),
            ir.If(
                odd,
                (
                    ir.Let("t", I64, ir.Binary("+", ir.Binary("*", x, const(3)), const(1))),
                    ir.Assign("x", ir.Var("t", I64)),
                    ir.Continue(),
                    ir.Assign("x", const(0)),
                ),
            ),
            ir.Let("t", F64, ir.Cast(F64, x)),
            ir.Assign("x", ir.Cast(I64, ir.Binary("/", ir.Var("t", F64), const(2.0, F64)))),
        ),
    )
    body = (ir.Let("x", I64, ir.Cast(I64, V)), ir.Let("n", I64, const(0)), loop, ir.Store("o", V, n))
    arrays = {"o": np.zeros(30, np.int64)}
    run(
        program([ir.ParFor("v", ir.Vertices(), body)], properties={"o": I64}),
        CSR.of(30, [], []),
        arrays,
        threads=2,
    )

    def collatz(k: int) -> int:
        steps = 0
        while k > 1:
            k, steps = (3 * k + 1 if k % 2 else k // 2), steps + 1
        return steps

    assert list(arrays["o"]) == [collatz(k) for k in range(30)]


@pytest.mark.parametrize("threads", THREADS)
def test_continue_in_a_parallel_loop_and_array_parameters(threads: int) -> None:
    body = (
        ir.If(ir.Compare("<", ir.Cast(I64, V), const(5)), (ir.Continue(),)),
        ir.Store("o", V, ir.Load("table", ir.Binary("%", ir.Cast(I64, V), ir.ArrayLength("table")), I32)),
    )
    arrays = {"o": np.zeros(1000, np.int32), "table": np.array([7, 8, 9], np.int32)}
    p = program(
        [ir.ParFor("v", ir.Vertices(), body)],
        properties={"o": I32, "table": I32},
        sites={"table": ir.Site.ARRAY},
        threads=serial(threads),
    )
    run(p, CSR.of(1000, [], []), arrays, threads=threads)
    want = arrays["table"][np.arange(1000) % 3]
    want[:5] = 0
    np.testing.assert_array_equal(arrays["o"], want)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("t", [BOOL, I32, F64, VID], ids=str)
def test_fill(t: Scalar, threads: int) -> None:
    dtype = np.dtype(Target().numpy_name(t))
    value = const(True, BOOL) if t is BOOL else const(3, t)
    ids = [ir.Fill("id", None)]
    p = program([ir.Fill("x", value), *ids], properties={"x": t, "id": VID}, threads=serial(threads))
    arrays: dict[str, Array] = {"x": np.zeros(1001, dtype), "id": np.zeros(1001, np.uint32)}
    run(p, CSR.of(1001, [], []), arrays, threads=threads)
    assert (arrays["x"] == dtype.type(3)).all()
    np.testing.assert_array_equal(arrays["id"], np.arange(1001))
