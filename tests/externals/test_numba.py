"""Numba's functions in operators: the same on every device, inlined, refused with the user's line."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.abilities import CUDA
from vgraph.errors import Diagnostic

numba = pytest.importorskip("numba", reason="Numba is not installed: pip install 'vgraph[numba]'")

from numba_programs import FIELDS, everything, halve, small, squared_paths, squash  # noqa: E402


def test_all_devices_agree() -> None:
    want = vg.run(everything, small(), device="python")
    assert want.a[:3].tolist() == [0.0, 3.0, 7.5]
    assert want.c.tolist() == [2 * v + 2 for v in range(6)]
    assert want.d.tolist() == [x**3 for x in (0.0, 1.0, 2.5, 3.0, 10.0, -1.0)]
    assert want.e.tolist() == [False, True] * 3
    for threads in (1, 2):
        found = vg.run(everything, small(), threads=threads)
        for name in FIELDS:
            ours, theirs = getattr(found, name), getattr(want, name)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-15)


@pytest.mark.parametrize("threads", [1, 2])
def test_in_an_edge_operator(threads: int) -> None:
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 300, (2, 1200))
    weight = rng.integers(1, 9, 1200)
    graph = vg.Graph.from_edges(*ends, num_vertices=300, weight=weight)
    squared = vg.Graph.from_edges(*ends, num_vertices=300, weight=(weight * weight).astype(float))
    want = vg.run(vg.algorithms.sssp, squared, source=0).dist
    for direction in (vg.PUSH, vg.PULL):
        schedule = vg.Schedule().at("relax", direction=direction)
        found = vg.run(squared_paths, graph, source=0, threads=threads, schedule=schedule).dist
        np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(vg.run(squared_paths, graph, source=0, device="python").dist, want)


@numba.njit
def half_of_square(x, y):
    return x * x // y


@vg.operator
def store_half_of_square(v):
    v.x = half_of_square(v.a, v.b)


@vg.algorithm
def halves_of_squares(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(store_half_of_square)
    return x


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_numbers_have_numbas_types_everywhere(device: str) -> None:
    """The product of int32 is an int64 for Numba, not for NumPy; an integer divided by 0 is 0, no error."""
    graph = vg.Graph.from_edges([0, 1], [1, 0])
    graph = graph.with_vertex_property("a", np.array([2**20, 7], np.int32))
    graph = graph.with_vertex_property("b", np.array([2, 0], np.int32))
    assert vg.run(halves_of_squares, graph, device=device).x.tolist() == [2**39, 0]


def test_schedules_with_a_call_of_which_nothing_is_proved() -> None:
    """Whatever is legal agrees; that updates may be seen early cannot be shown through the call."""
    rng = np.random.default_rng(2)
    graph = vg.Graph.from_edges(
        *rng.integers(0, 60, (2, 300)), num_vertices=60, weight=rng.integers(1, 9, 300)
    )
    want = vg.run(squared_paths, graph, source=0, device="python").dist
    for options in (
        {"frontier": vg.BITMAP},
        {"balance": vg.EDGE},
        {"phases": vg.GATHER_APPLY},
        {"prefetch": 8},
        {"direction": vg.PULL, "drive": vg.TOPOLOGY, "segments": 2},
    ):
        schedule = vg.Schedule().at("relax", **options)
        found = vg.run(squared_paths, graph, source=0, threads=2, schedule=schedule).dist
        np.testing.assert_array_equal(found, want)
    with pytest.raises(Diagnostic, match="may fall"):
        vg.run(squared_paths, graph, source=0, schedule=vg.Schedule().at("relax", sync=vg.ASYNC))


def test_it_is_inlined() -> None:
    """No call of an external function is left in the machine code, nor its name."""
    from vgraph.compiler.backends.jit import _optimised, assembly

    text = kernel_text(everything, small())
    assert len(set(re.findall(r'@"external\.(\w+)\.', text))) == 8
    assert '@"external.' in text
    assert not re.search(r'@"?external\.', str(_optimised(text, 3)[0]))
    code = re.sub("#.*", "", assembly(text))
    assert "callq" in code or "bl" in code
    assert "external." not in code


def kernel_text(algorithm: Any, graph: vg.Graph, **arguments: Any) -> str:
    """The LLVM IR of an algorithm, before it is optimised."""
    return compiled(algorithm, graph, **arguments).source.text


def compiled(algorithm: Any, graph: vg.Graph, backend: Any = None, **arguments: Any) -> Any:
    from vgraph.compiler import build
    from vgraph.compiler.backends.llvm import LLVMBackend
    from vgraph.compiler.frontend import argument_types, build_program
    from vgraph.runtime.executor import signature_of

    signature = signature_of(graph, argument_types(algorithm, arguments))
    return build(build_program(algorithm, signature), backend or LLVMBackend(), threads=1)


def test_the_ir_is_text() -> None:
    from vgraph.compiler.ir.text import parse_program, print_program

    kernel = compiled(everything, small()).kernel
    assert parse_program(print_program(kernel)) == kernel


def test_a_device_without_numba_refuses() -> None:
    from vgraph.compiler.backends.llvm import LLVMBackend

    class Other(LLVMBackend):
        abilities = replace(CUDA, externals=False)

    with pytest.raises(Diagnostic, match=r"(?s)device cuda.*\^\^\^\^") as caught:
        compiled(everything, small(), Other())
    assert "squash(v.start, 2.5)" in str(caught.value)


# --- refusals -------------------------------------------------------------------------------------------------


@numba.njit
def raises(x):
    if x < 0:
        raise ValueError("negative")
    return x


@numba.njit
def text(x):
    return "text"


@numba.njit
def array(x):
    return np.zeros(3)[int(x)]


@numba.njit("float64(complex128)")
def of_complex(x):
    return x.real


@numba.njit
def unknown(x):
    return x.nothing


@numba.njit
def pair(x):
    return x, x


@numba.njit
def raises_inside(x):
    return raises(x) + 1


@numba.njit
def chance(x):
    return x * np.random.random()


@numba.njit
def prints(x):
    print(x)
    return x


def refused(function: Any, *, vector: bool = False) -> str:
    @vg.operator
    def visit(v):
        v.a = function(v.start)

    @vg.operator
    def visit_vector(v):
        v.a = function(v.many)

    @vg.algorithm
    def main(graph):
        a = graph.vertex_property(vg.float64)
        many = graph.vertex_property(vg.vector(vg.float32, 2))
        if vector:
            graph.vertex_apply(visit_vector)
        else:
            graph.vertex_apply(visit)
        return a, many

    with pytest.raises(Diagnostic) as caught:
        vg.run(main, small())
    message = str(caught.value)
    assert re.search(r"\n *\| +\^{3,}", message)
    assert "function(v." in message
    return message


TABLE = np.arange(3.0)


@numba.njit
def lookup(x):
    return TABLE[1] * x


def test_refusals() -> None:
    assert "may raise an exception" in refused(raises)
    assert "may raise an exception" in refused(raises_inside)
    assert "run-time system" in refused(chance)
    assert "cannot be compiled into the operator" in refused(prints)
    assert "takes or gives" in refused(text)
    assert "takes or gives" in refused(pair)
    assert "complex128" in refused(of_complex)
    assert "called with float64" in refused(unknown)
    assert "called with float64" in refused(array)
    assert "declared for (float32)" in refused(halve)
    assert "scalars only" in refused(squash_one, vector=True)
    assert "ndarray" in refused(lookup)
    assert "takes two arguments" in refused(squash)


@numba.njit
def squash_one(x):
    return x


# --- the cache ------------------------------------------------------------------------------------------------

PROGRAM = """
import sys, numba, numpy as np, vgraph as vg

FACTOR = {factor}

@numba.njit
def scale(x):
    return x * FACTOR

@vg.operator
def visit(v):
    v.a = scale(v + 1)

@vg.algorithm
def main(graph):
    a = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return a

print(vg.run(main, vg.Graph.from_edges([0], [1])).a.tolist(), "llvmlite.binding" in sys.modules)
"""


def test_the_content_is_in_the_key_of_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A captured number that changes makes other code; the same text finds what is in the cache."""
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    counts = []
    for factor in ("2.0", "2.0", "3.0"):
        file = tmp_path / "program.py"
        file.write_text(PROGRAM.format(factor=factor))
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"[{factor}, {2 * float(factor)}]")
        counts.append(len(list((tmp_path / "cache").rglob("*.vgo"))))
    assert counts == [counts[0], counts[0], counts[0] + 2]  # a plan and its code


def test_vgraph_does_not_import_numba() -> None:
    code = "import sys, vgraph, vgraph.compiler.foreign.externals; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
