"""Functions of Numba's in operators on a GPU: what the CPU gives; emulated, and with `-m cuda` on a real GPU."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from machine_code import cubin

import vgraph as vg
from vgraph.compiler import build
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.backend import CUDABackend
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.errors import Diagnostic
from vgraph.runtime.executor import signature_of

numba = pytest.importorskip("numba", reason="Numba is not installed: pip install 'vgraph[numba]'")

from numba_programs import FIELDS, everything, outer, small, squared_paths  # noqa: E402


def text_of(algorithm: vg.AlgorithmDef, graph: vg.Graph, **arguments: Any) -> str:
    """The CUDA C++ of an algorithm."""
    signature = signature_of(graph, argument_types(algorithm, arguments))
    return build(build_program(algorithm, signature), CUDABackend()).source.text


def test_all_functions(gpu: Any) -> None:
    want = vg.run(everything, small(), device="cpu", threads=1)
    found = vg.run(everything, small(), device="cuda")
    for name in FIELDS:
        ours, theirs = getattr(found, name), getattr(want, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"direction": vg.PUSH},
        {"direction": vg.PULL},
        {"balance": vg.EDGE},
        {"balance": vg.WARP},
        {"balance": vg.TWC},
        {"phases": vg.GATHER_APPLY},
        {"phases": vg.APPLY_SCATTER},
        {"frontier": vg.BITMAP},
    ],
    ids=str,
)
def test_in_an_edge_operator(options: dict[str, Any], gpu: Any) -> None:
    rng = np.random.default_rng(1)
    ends, weight = rng.integers(0, 200, (2, 900)), rng.integers(1, 9, 900)
    graph = vg.Graph.from_edges(*ends, num_vertices=200, weight=weight)
    want = vg.run(squared_paths, graph, source=0, device="cpu", threads=1).dist
    schedule = vg.Schedule().at("relax", **options)
    found = vg.run(squared_paths, graph, source=0, device="cuda", schedule=schedule).dist
    np.testing.assert_array_equal(found, want)


@numba.njit
def bits_and_loops(n, x):
    count, k = 0, n ^ (n >> 3)
    while k:
        count += k & 1
        k >>= 1
    total = 0.0
    for i in range(n % 17):
        total += x ** (i % 3) / (1 + i)
    squares = 0
    for i in range(n % 40):
        squares += i * i ^ (i >> 2)
    return count + squares % 7 + total


@numba.njit
def chosen(n):
    if n == 0:
        return 1.5
    if n == 1:
        return 2.5
    if n == 2:
        return -7.5
    if n == 3:
        return 0.1
    return math.gcd(n, 12) * 1.0


@numba.njit
def many(x, y):
    return (
        math.sin(x) + math.atan2(x, y) + math.exp(-abs(x)) ** 2.5 + math.floor(y) + x // 0.3 + y % 0.7
        + math.hypot(x, y) + max(x, y) + min(x, 1.0) + np.sqrt(abs(y)) + math.tanh(x) + round(y) + np.sign(x)
    )  # fmt: skip


@numba.njit
def narrow(a, b):
    return (a // (b | np.uint32(1))) ^ (a % (b + np.uint32(3))) ^ (a << np.uint32(3))


@vg.operator
def use_more(v):
    v.a = bits_and_loops(v, v.start)
    v.b = chosen(v % 7)
    v.c = many(v.start, v.other)
    v.d = vg.uint32(narrow(vg.uint32(v), vg.uint32(77)))
    v.e = many(vg.float32(v.start), 2.0)


@vg.algorithm
def more(graph):
    a = graph.vertex_property(vg.float64)
    b = graph.vertex_property(vg.float64)
    c = graph.vertex_property(vg.float64)
    d = graph.vertex_property(vg.uint32)
    e = graph.vertex_property(vg.float64)
    graph.vertex_apply(use_more)
    return a, b, c, d, e


def test_more_of_python(gpu: Any) -> None:
    rng = np.random.default_rng(3)
    graph = vg.Graph.from_edges([0], [1], num_vertices=120)
    for name in ("start", "other"):
        graph = graph.with_vertex_property(name, rng.normal(size=120) * 3)
    want = vg.run(more, graph, device="cpu", threads=1)
    found = vg.run(more, graph, device="cuda")
    for name in "abcd":
        np.testing.assert_allclose(getattr(found, name), getattr(want, name), 1e-12, err_msg=name)
    np.testing.assert_allclose(found.e, want.e, 1e-5)


@numba.njit
def squares(n):
    s = 0
    for i in range(n):
        s += i * i ^ (i >> 3)
    return s


@numba.njit
def one_more(n):
    return squares(n) + 1


@vg.operator
def use_squares(v):
    v.x = one_more(13 * v)


@vg.algorithm
def with_squares(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(use_squares)
    return x


def test_a_function_that_numba_has_vectorised(gpu: Any) -> None:
    want = [squares(13 * v) + 1 for v in range(6)]  # now its code is Numba's to the last
    assert vg.run(with_squares, small(), device="cuda").x.tolist() == want
    assert vg.run(with_squares, small(), device="cpu").x.tolist() == want


def test_the_text_holds_each_function_once() -> None:
    text = text_of(everything, small())
    assert text == text_of(everything, small())
    defined = re.findall(r"^VG_DEVICE \w+ (\w+)\(", text, re.MULTILINE)
    assert len(defined) == len(set(defined)) == 9
    assert {name.rpartition("_")[0] for name in defined} >= {
        "squash",
        "halve",
        "twice",
        "power",
        outer.__name__,
    }


@pytest.mark.skipif(nvrtc.find() is None, reason="NVRTC is not installed: pip install 'vgraph[dev]'")
def test_the_texts_compile() -> None:
    graph = small().with_vertex_property("other", np.ones(6))
    for algorithm in (everything, more):
        assert b"vg_main" in cubin(text_of(algorithm, graph))


@numba.njit("int64(int64)")
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) ^ fibonacci(n - 2)


@vg.operator
def use_fibonacci(v):
    v.x = fibonacci(v % 10)


@vg.algorithm
def recursive(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(use_fibonacci)
    return x


def test_a_function_that_only_the_cpu_can_call(emulated: Any) -> None:
    with pytest.raises(
        Diagnostic, match=r"(?s)device cuda.*\^\^\^.*functions that call themselves"
    ) as caught:
        vg.run(recursive, small(), device="cuda")
    assert "fibonacci(v % 10)" in str(caught.value)
    assert "device='cpu'" in str(caught.value)
    assert vg.run(recursive, small(), device="cpu").x.tolist() == [0, 1, 1, 0, 1, 1]
