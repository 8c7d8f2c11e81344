"""Reductions into properties and globals: every operator and type, plain and atomic, under contention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llvm_harness import CSR, program, run
from test_llvm_arithmetic import FLOATS, INTEGERS, dtype

from vgraph.compiler import ir
from vgraph.compiler.types import BOOL, F32, F64, I32, I64, VID, Scalar, Target, Type, Vector

V = ir.Var("v", VID)
OPS = ("min", "max", "+", "*", "|", "&")
TYPES = (BOOL, *INTEGERS, *FLOATS, VID)
BINS = 3
N = 20_000


def allowed(op: str, t: Scalar) -> bool:
    if t is BOOL:
        return op in ("|", "&", "min", "max")
    return op not in ("|", "&") or t.is_integer


CASES = [(op, t) for op in OPS for t in TYPES if allowed(op, t)]


def numpy_type(t: Scalar) -> np.dtype[Any]:
    return np.dtype(Target().numpy_name(t))


def data_for(op: str, t: Scalar, size: int | tuple[int, ...]) -> Any:
    rng = np.random.default_rng(7)
    if t is BOOL:
        return rng.random(size) < (0.999 if op in ("&", "min") else 0.001)
    if op == "*":
        if not t.is_float:
            return rng.choice(np.array([1, 3]), size).astype(numpy_type(t))
        # few factors other than 1: no order of multiplication overflows
        return rng.choice(np.array([0.5, 1, 2]), size, p=[0.01, 0.98, 0.01]).astype(numpy_type(t))
    if t.is_float:
        return rng.normal(size=size).astype(numpy_type(t))
    low = -1000 if t in (I32, I64) else 0
    x = rng.integers(low, 1 << 20, size).astype(numpy_type(t))
    return x if op != "&" else ~(np.array(1, x.dtype) << (x % 29))


def fold(op: str, start: Any, values: Any) -> Any:
    ufunc = {
        "min": np.minimum,
        "max": np.maximum,
        "+": np.add,
        "*": np.multiply,
        "|": np.bitwise_or,
        "&": np.bitwise_and,
    }[op]
    wide = values.astype(np.float64) if values.dtype.kind == "f" and op == "+" else values
    with np.errstate(all="ignore"):
        return ufunc(start, ufunc.reduce(wide, dtype=wide.dtype)).astype(values.dtype)


@pytest.mark.covering(2)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("op", "t"), CASES, ids=lambda x: str(x))
def test_reduction_into_few_places(op: str, t: Scalar, threads: int) -> None:
    """All threads meet in three places; `changed` tells whether the reduction by this vertex took effect."""
    values = data_for(op, t, N)
    start = np.array([fold("+", np.array(k, numpy_type(t)), values[:1]) for k in range(BINS)])
    if t is BOOL:
        start = np.zeros(BINS, bool) if op in ("|", "max") else np.ones(BINS, bool)
    place = ir.Cast(VID, ir.Binary("%", ir.Cast(I64, V), ir.Const(BINS, I64)))
    loop = ir.ParFor(
        "v",
        ir.Vertices(),
        (
            ir.Let("c", BOOL, ir.Const(False, BOOL)),
            ir.Reduce(op, "x", place, ir.Load("value", V, t), atomic=threads > 1, changed="c"),
            ir.Reduce(op, "y", place, ir.Load("value", V, t), atomic=threads > 1),
            ir.Store("touched", V, ir.Var("c", BOOL)),
        ),
    )
    properties: dict[str, Type] = {"x": t, "y": t, "value": t, "touched": BOOL}
    arrays = {"x": start.copy(), "y": start.copy(), "value": values, "touched": np.zeros(N, bool)}
    p = program([loop], properties=properties, threads=1 if threads == 1 else 0)
    run(p, CSR.of(N, [], []), arrays, threads=threads)
    for k in range(BINS):
        mine = np.arange(N) % BINS == k
        want = fold(op, start[k], values[mine])
        for name in "xy":
            np.testing.assert_allclose(arrays[name][k], want, rtol=1e-3 if t is F32 else 1e-9)
        touched = arrays["touched"][mine]
        if op in ("+", "*"):
            assert touched.all()
        else:
            assert touched.any() == (want != start[k])
            assert touched.sum() <= 64 if op in ("|", "&") else True


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_nan_is_propagated_and_stays(op: str, t: Scalar, threads: int) -> None:
    values = np.array([3, np.nan, 1, 2, np.nan, 5], numpy_type(t))
    start = np.array([2, 2, np.nan, 7, np.nan, -np.inf], numpy_type(t))
    loop = ir.ParFor(
        "v",
        ir.Vertices(),
        (
            ir.Let("c", BOOL, ir.Const(False, BOOL)),
            ir.Reduce(op, "x", V, ir.Load("value", V, t), atomic=threads > 1, changed="c"),
            ir.Store("touched", V, ir.Var("c", BOOL)),
        ),
    )
    arrays = {"x": start.copy(), "value": values, "touched": np.zeros(6, bool)}
    p = program([loop], properties={"x": t, "value": t, "touched": BOOL}, threads=1 if threads == 1 else 0)
    run(p, CSR.of(6, [], []), arrays, threads=threads)
    want = (np.minimum if op == "min" else np.maximum)(start, values)
    np.testing.assert_array_equal(arrays["x"], want)
    changed = ~((want == start) | (np.isnan(want) & np.isnan(start)))
    np.testing.assert_array_equal(arrays["touched"], changed)


@pytest.mark.covering(2)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("op", "t"), [(o, t) for o, t in CASES if t is not VID], ids=lambda x: str(x))
def test_global_reduction_is_the_same_in_every_thread(op: str, t: Scalar, threads: int) -> None:
    """Three loops in a row use the two sets of slots in turn; every thread writes what it sees."""
    values = data_for(op, t, N)
    start: Any = {"min": 5, "max": 5, "+": 5, "*": 1, "|": 0, "&": -1 if t in (I32, I64) else 15}[op]
    if t is BOOL:
        start = op in ("&", "min")
    reduce = ir.ParFor("v", ir.Vertices(), (ir.ReduceGlobal(op, "g", ir.Load("value", V, t)),))
    show = ir.ParFor("v", ir.Vertices(), (ir.Store("seen", V, ir.GlobalVar("g", t)),))
    p = program(
        [ir.SetGlobal("g", ir.Const(start, t)), reduce, reduce, reduce, show],
        properties={"value": t, "seen": t},
        globals_={"g": t},
        threads=1 if threads == 1 else 0,
        results=[ir.Result("g", "scalar", ir.GlobalVar("g", t))],
    )
    arrays = {"value": values, "seen": np.zeros(N, numpy_type(t))}
    got = run(p, CSR.of(N, [], []), arrays, threads=threads).results["g"]
    want = fold(op, np.array(start).astype(numpy_type(t)), np.concatenate([values] * 3))
    np.testing.assert_allclose(got, want, rtol=1e-3 if t is F32 else 1e-8)
    assert (arrays["seen"] == got).all()


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("t", [BOOL, I32, I64, F32, F64, VID], ids=str)
def test_compare_and_swap_has_one_winner(t: Scalar, threads: int) -> None:
    ok = ir.Var("ok", BOOL)
    free = ir.Const(False, BOOL) if t is BOOL else ir.Const(0, t)
    value = (
        ir.Const(True, BOOL) if t is BOOL else ir.Cast(t, ir.Binary("+", ir.Cast(I64, V), ir.Const(1, I64)))
    )
    place = ir.Cast(VID, ir.Binary("%", ir.Cast(I64, V), ir.Const(BINS, I64)))
    loop = ir.ParFor(
        "v",
        ir.Vertices(),
        (
            ir.Let("ok", BOOL, ir.Const(True, BOOL)),
            ir.CompareAndSwap("ok", "x", place, free, value, atomic=threads > 1),
            ir.Store("won", V, ok),
            ir.If(ok, (ir.ReduceGlobal("+", "wins", ir.Const(1, I64)),)),
        ),
    )
    p = program(
        [loop],
        properties={"x": t, "won": BOOL},
        globals_={"wins": I64},
        threads=1 if threads == 1 else 0,
        results=[ir.Result("wins", "scalar", ir.GlobalVar("wins", I64))],
    )
    arrays = {"x": np.zeros(N, numpy_type(t)), "won": np.zeros(N, bool)}
    assert run(p, CSR.of(N, [], []), arrays, threads=threads).results["wins"] == BINS
    winners = np.flatnonzero(arrays["won"])
    assert sorted(winners % BINS) == list(range(BINS))
    for w in winners:
        assert arrays["x"][w % BINS] == (True if t is BOOL else w + 1)
    assert not arrays["x"][BINS:].any()


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("op", ["min", "+", "*", "max"])
@pytest.mark.parametrize("t", [I32, F64], ids=str)
def test_vector_reduction(op: str, t: Scalar, threads: int) -> None:
    length, n = 5, 3000
    vt = Vector(t, length)
    values = data_for(op, t, (n, length))
    start = np.array([[fold("+", np.array(1, dtype(t)), values[0, :1])] * length] * BINS, dtype(t))
    place = ir.Cast(VID, ir.Binary("%", ir.Cast(I64, V), ir.Const(BINS, I64)))
    loop = ir.ParFor(
        "v",
        ir.Vertices(),
        (
            ir.Let("c", BOOL, ir.Const(False, BOOL)),
            ir.Reduce(op, "x", place, ir.Load("value", V, vt), atomic=threads > 1, changed="c"),
            ir.ReduceGlobal(op, "g", ir.Load("value", V, vt)),
            ir.Store("touched", V, ir.Var("c", BOOL)),
        ),
    )
    one = ir.Const(1 if op == "*" else 0, vt)
    show = ir.ParFor("v", ir.Vertices(), (ir.Store("seen", V, ir.GlobalVar("g", vt)),))
    p = program(
        [ir.SetGlobal("g", one), loop, show],
        properties={"x": vt, "value": vt, "seen": vt, "touched": BOOL},
        globals_={"g": vt},
        threads=1 if threads == 1 else 0,
    )
    arrays = {
        "x": start.copy(),
        "value": values,
        "seen": np.zeros((n, length), dtype(t)),
        "touched": np.zeros(n, bool),
    }
    run(p, CSR.of(n, [], []), arrays, threads=threads)
    for k in range(BINS):
        want = [fold(op, start[k, i], values[np.arange(n) % BINS == k, i]) for i in range(length)]
        np.testing.assert_allclose(arrays["x"][k], want, rtol=1e-9)
    zero = np.array(1 if op == "*" else 0, dtype(t))
    np.testing.assert_allclose(
        arrays["seen"][17], [fold(op, zero, values[:, i]) for i in range(length)], rtol=1e-9
    )
    assert arrays["touched"].any()


@pytest.mark.parametrize("threads", [1, 3])
def test_single_reduces_once_and_everybody_sees_it(threads: int) -> None:
    p = program(
        [
            ir.Single((ir.ReduceGlobal("+", "g", ir.Const(4, I64)),)),
            ir.Single((ir.ReduceGlobal("max", "g", ir.Const(7, I64)),)),
            ir.ParFor("v", ir.Vertices(), (ir.Store("seen", V, ir.GlobalVar("g", I64)),)),
        ],
        properties={"seen": I64},
        globals_={"g": I64},
        threads=1 if threads == 1 else 0,
    )
    arrays = {"seen": np.zeros(N, np.int64)}
    run(p, CSR.of(N, [], []), arrays, threads=threads)
    assert (arrays["seen"] == 7).all()
