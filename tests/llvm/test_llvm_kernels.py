"""Whole kernels: algorithms against SciPy, failure, cancellation, and the interface of a kernel."""

from __future__ import annotations

import dataclasses
import inspect
import threading
import time
from typing import Any

import numpy as np
import pytest
from llvm_harness import BACKEND, CSR, Array, context_for, load, program, run

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import Status
from vgraph.compiler.backends.base import KernelInterface
from vgraph.compiler.backends.cuda.backend import CUDABackend
from vgraph.compiler.types import BOOL, EID, F32, F64, I32, I64, VID, Scalar, Target
from vgraph.runtime.devices.threads import run_native

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


# --- algorithms ---------------------------------------------------------------------------------------------


def sssp(t: Scalar, threads: int, target: Target) -> ir.Program:
    """Frontier Bellman-Ford, pushing."""
    atomic, d = threads > 1, ir.Var("d", t)
    relax = ir.ForNeighbors(
        "u",
        "e",
        V,
        OUT,
        (
            ir.Let("ok", BOOL, const(False, BOOL)),
            ir.Reduce("min", "dist", U, ir.Binary("+", d, ir.Load("weight", E, t)), atomic, "ok"),
            ir.If(ir.Var("ok", BOOL), (ir.FrontierPush("next", U, SPARSE, dedupe=True, atomic=atomic),)),
        ),
    )
    round_ = (
        ir.Let("active", I64, ir.FrontierSize("f")),
        ir.SetGlobal("edges", const(0)),
        ir.ParFor(
            "v",
            ir.SparseMembers("f"),
            (
                ir.ReduceGlobal("+", "edges", ir.Degree(V, OUT)),
                ir.Let("d", t, ir.Load("dist", V, t, ir.Order.RELAXED)),
                relax,
            ),
            "relax",
        ),
        ir.Trace("relax", "push", ir.Var("active", I64), ir.GlobalVar("edges", I64)),
        ir.Single((ir.FrontierClear("f", SPARSE), ir.FrontierSwap("next", "f"))),
    )
    start = ir.Single(
        (
            ir.Store("dist", ir.Var("source", VID), const(0, t)),
            ir.FrontierSet("f", ir.FrontierKind.SINGLE, ir.Var("source", VID)),
            ir.FrontierClear("next", SPARSE),
        )
    )
    fill = ir.ParFor("v", ir.Vertices(), (ir.Store("dist", V, const(float("inf"), t)),))
    loop = ir.While(ir.Compare(">", ir.FrontierSize("f"), const(0)), round_)
    return program(
        [fill, start, loop],
        properties={"dist": t, "weight": t},
        sites={"weight": ir.Site.EDGE},
        params={"source": VID},
        globals_={"edges": I64},
        frontiers=["f", "next"],
        results=[ir.Result("dist", "property", "dist")],
        threads=serial(threads),
        target=target,
    )


def shortest(g: CSR, w: Array, source: int) -> Array:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    src = np.repeat(np.arange(g.n), np.diff(g.offsets))
    order = np.lexsort((w, g.indices, src))
    s, d, c = src[order], g.indices[order], w[order]
    first = np.concatenate(([True], (s[1:] != s[:-1]) | (d[1:] != d[:-1])))  # the lightest of parallel arcs
    matrix = coo_array((c[first].astype(float), (s[first], d[first])), (g.n, g.n)).tocsr()
    distances: Array = dijkstra(matrix, indices=source)
    return distances


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("t", [I32, I64, F32, F64], ids=str)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_sssp_equals_dijkstra(t: Scalar, threads: int, target: Target) -> None:
    n = 3000
    dtype = np.dtype(target.numpy_name(t))
    kernel = load(sssp(t, threads, target))
    for seed in range(3):
        g = random_graph(n, 4 * n if seed else n, seed)
        w = np.random.default_rng(seed).integers(1, 1000, g.m).astype(dtype)
        arrays = {"dist": np.zeros(n, dtype), "weight": w}
        got = run(sssp(t, threads, target), g, arrays, threads=threads, params={"source": 5}, kernel=kernel)
        dist = arrays["dist"].astype(float)
        if not t.is_float:
            dist[arrays["dist"] == np.iinfo(dtype).max] = np.inf
        np.testing.assert_array_equal(dist, shortest(g, w, 5))
        assert got.trace["frontier"][0] == 1
        assert got.trace["edges"][0] == g.offsets[6] - g.offsets[5]
        assert got.trace["ns"].sum() > 0


@pytest.mark.parametrize("threads", THREADS)
def test_pagerank_pull(threads: int) -> None:
    n, rounds, t = 5000, 15, F32
    g = random_graph(n, 10 * n)
    degree = ir.Degree(V, OUT)
    share = ir.Select(
        ir.Compare("==", degree, const(0)),
        const(0, t),
        ir.Binary("/", ir.Load("rank", V, t), ir.Cast(t, degree)),
    )
    new = ir.Binary("+", const(0.15 / n, t), ir.Binary("*", const(0.85, t), ir.Var("s", t)))
    change = ir.Call("abs", (ir.Binary("-", ir.Var("new", t), ir.Load("rank", V, t)),), t)
    pull = (
        ir.Let("s", t, const(0, t)),
        ir.ForNeighbors("u", "e", V, IN, (ir.Accumulate("+", "s", ir.Load("share", U, t)),)),
        ir.Let("new", t, new),
        ir.ReduceGlobal("+", "error", ir.Cast(F64, change)),
        ir.Store("rank", V, ir.Var("new", t)),
    )
    loop = ir.For(
        "r",
        const(0),
        const(rounds),
        const(1),
        (
            ir.SetGlobal("error", const(0, F64)),
            ir.ParFor("v", ir.Vertices(), (ir.Store("share", V, share),)),
            ir.ParFor("v", ir.Vertices(), pull),
        ),
    )
    p = program(
        [ir.ParFor("v", ir.Vertices(), (ir.Store("rank", V, const(1 / n, t)),)), loop],
        properties={"rank": t, "share": t},
        globals_={"error": F64},
        threads=serial(threads),
        results=[ir.Result("error", "scalar", ir.GlobalVar("error", F64))],
    )
    arrays = {"rank": np.zeros(n, np.float32), "share": np.zeros(n, np.float32)}
    got = run(p, g, arrays, threads=threads)
    src, out = np.repeat(np.arange(n), np.diff(g.offsets)), np.diff(g.offsets)
    rank, old = np.full(n, 1 / n), np.zeros(n)
    for _ in range(rounds):
        old, shares = rank, np.divide(rank, out, out=np.zeros(n), where=out > 0)
        rank = 0.15 / n + 0.85 * np.bincount(g.indices, shares[src], n)
    np.testing.assert_allclose(arrays["rank"], rank, rtol=1e-4)
    np.testing.assert_allclose(got.results["error"], np.abs(rank - old).sum(), rtol=0.05, atol=1e-6)


# --- leaving early ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", THREADS)
def test_fail_ends_the_run_in_all_threads(threads: int) -> None:
    big = ir.Compare(">", ir.GlobalVar("g", I64), const(100))
    loop = ir.While(
        const(True, BOOL),
        (
            ir.ParFor("v", ir.Vertices(), (ir.ReduceGlobal("+", "g", const(1)),)),
            ir.If(big, (ir.Fail("too big"),)),
            ir.If(ir.Compare("<", ir.GlobalVar("g", I64), const(0)), (ir.Fail("too small"),)),
        ),
    )
    p = program([loop], globals_={"g": I64}, threads=serial(threads))
    got = run(p, CSR.of(60, [], []), threads=threads)
    assert got.status == Status.ABORTED
    assert BACKEND.emit(p).interface.messages[got.payload] == "too big"


FOREVER: dict[str, list[ir.Stmt]] = {
    "rounds": [ir.While(const(True, BOOL), (ir.ParFor("v", ir.Vertices(), (ir.Store("o", V, const(1)),)),))],
    "operator": [
        ir.ParFor(
            "v",
            ir.Vertices(),
            (
                ir.While(
                    ir.Compare("<", ir.Load("o", V, I64, ir.Order.RELAXED), const(5)),
                    (ir.Store("o", V, const(1)),),
                ),
            ),
        )
    ],
    "driver": [ir.Let("x", I64, const(0)), ir.While(const(True, BOOL), (ir.Accumulate("+", "x", const(1)),))],
    "range": [
        ir.Let("x", I64, const(0)),
        ir.For(
            "i",
            const(0),
            const(BIG),
            const(1),
            (
                ir.Assign(
                    "x",
                    ir.Binary(
                        "//",
                        ir.Binary("*", ir.Var("x", I64), ir.Var("i", I64)),
                        ir.Load("o", const(0, VID), I64),
                    ),
                ),
            ),
        ),
        ir.ParFor("v", ir.Vertices(), (ir.Store("o", V, ir.Var("x", I64)),)),
    ],
    "single": [
        ir.Single(
            (
                ir.Let("x", I64, const(0)),
                ir.While(
                    const(True, BOOL),
                    (
                        ir.Accumulate("+", "x", const(1)),
                        ir.Store("o", const(0, VID), ir.Var("x", I64), ir.Order.RELAXED),
                    ),
                ),
            )
        )
    ],
    "range in an operator": [
        ir.ParFor(
            "v",
            ir.Vertices(),
            (
                ir.For(
                    "i",
                    const(0),
                    const(BIG),
                    const(1),
                    (ir.Store("o", V, ir.Var("i", I64), ir.Order.RELAXED),),
                ),
            ),
        )
    ],
    "loops over arcs": [
        ir.ParFor(
            "v",
            ir.Vertices(),
            (
                ir.ForNeighbors(
                    "u",
                    "e",
                    V,
                    OUT,
                    (
                        ir.For(
                            "i",
                            const(0),
                            const(1 << 20),
                            const(1),
                            (ir.Store("o", V, ir.Var("i", I64), ir.Order.RELAXED),),
                        ),
                    ),
                ),
            ),
        )
    ],
    "swaps": [ir.While(const(True, BOOL), (ir.FrontierSwap("f", "g"),))],
}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("where", FOREVER)
def test_cancellation_leaves_soon(where: str, threads: int) -> None:
    kernel = load(
        program(FOREVER[where], properties={"o": I64}, frontiers=["f", "g"], threads=serial(threads))
    )
    ids = np.repeat(np.arange(5000), 20)
    g = CSR.of(5000, ids, ids)
    with context_for(kernel, threads, g, {"o": np.zeros(5000, np.int64)}, {}) as context:
        stopped: list[float] = []

        def cancel() -> None:
            stopped.append(time.monotonic())
            context.cancel()

        timer = threading.Timer(0.05, cancel)
        timer.start()
        run_native(kernel, context, threads)
        assert stopped, "it left by itself"
        assert time.monotonic() - stopped[0] < 30  # far below 0.1 s; on a busy machine more


# --- the backend as a whole ---------------------------------------------------------------------------------

HIGH_LEVEL = {ir.Claim, ir.Union, ir.EdgeApply, ir.VertexApply, ir.Emit, ir.FillEach}
HIGH_LEVEL |= {ir.QueueFill, ir.QueuePop, ir.QueueUpdate, ir.QueueSize, ir.QueueLevel}
HIGH_LEVEL |= {ir.FrontierWhere, ir.FrontierMark, ir.FrontierCombine, ir.ReduceTuple, ir.ReduceGlobalTuple}
HIGH_LEVEL |= {ir.Acquire, ir.Leave}
ON_GPUS = {ir.Exchange}
ON_CPUS = {ir.Fold, ir.Pipeline, ir.MarkHubs, ir.ForMarkedHubs, ir.MarkedHubs}
BASES = {ir.Expr, ir.Stmt, ir.Apply}


def test_every_kernel_node_has_an_emitter() -> None:
    classes = {c for _, c in inspect.getmembers(ir, inspect.isclass) if issubclass(c, ir.Expr | ir.Stmt)}
    kernel = classes - BASES - HIGH_LEVEL
    assert kernel - ON_GPUS == set(BACKEND.emitters)
    assert kernel - ON_CPUS == set(CUDABackend.emitters)


def test_interface_survives_json() -> None:
    face = BACKEND.emit(sssp(I32, 2, Target(32, 64))).interface
    assert KernelInterface.from_json(face.to_json()) == face
    assert face.args[face.slot("param", "source")].dtype == "uint32"
    assert face.labels == ("relax",)
    with pytest.raises(KeyError):
        face.slot("adjacency", "in.row_offsets")


def test_the_same_program_gives_the_same_text() -> None:
    p = sssp(F64, 2, Target())
    assert BACKEND.emit(p).text == BACKEND.emit(dataclasses.replace(p)).text


def test_emission_is_fast() -> None:
    p, times = sssp(I32, 2, Target()), []
    for _ in range(5):
        begin = time.thread_time()
        BACKEND.emit(p)
        times.append(time.thread_time() - begin)
    assert min(times) < 0.03  # a fifth of it, on a machine that does nothing else


def test_vector_types_of_all_locals() -> None:
    """A name that holds a parameter, one that is assigned to, and a bool, through a driver loop."""
    p: Any = program(
        [
            ir.Let("flag", BOOL, const(False, BOOL)),
            ir.Let("x", F32, ir.Var("start", F32)),
            ir.While(
                ir.Unary("not", ir.Var("flag", BOOL)),
                (
                    ir.Accumulate("*", "x", const(2, F32)),
                    ir.Assign("flag", ir.Compare(">", ir.Var("x", F32), const(100, F32))),
                ),
            ),
        ],
        params={"start": F32},
        results=[ir.Result("x", "scalar", ir.Var("x", F32)), ir.Result("f", "scalar", ir.Var("flag", BOOL))],
    )
    assert run(p, params={"start": 1.5}, threads=2).results == {"x": 192.0, "f": True}
