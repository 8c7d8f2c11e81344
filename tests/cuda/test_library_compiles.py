"""Every kernel of the library becomes machine code for every architecture, by NVRTC, without a GPU.

NVRTC 12.9 (nvidia-cuda-nvrtc-cu12) compiles for sm_70 to sm_121, NVRTC 13 from sm_75 on: what it does not know is
skipped, and so is everything where no NVRTC is installed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from library_arguments import arguments_for, graph_for, library, prepared
from machine_code import cubin
from matrix import ALGORITHMS, program_of
from schedule_matrix import Case, Kind, graph_of

import vgraph as vg
from vgraph.compiler import build
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.backend import CUDABackend
from vgraph.compiler.frontend import build_program
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.runtime.policy import facts_of

pytestmark = pytest.mark.skipif(
    nvrtc.find() is None, reason="NVRTC is not installed: pip install 'vgraph[dev]'"
)

ARCHS = ("sm_70", "sm_80", "sm_90", "sm_100")
BALANCES = (vg.WARP, vg.BLOCK, vg.TWC, vg.EDGE, vg.SPLIT(8))


KIND = Kind(False, "int32")
"""Graphs that every algorithm takes."""


@cache
def large() -> vg.Graph:
    """A graph that is large enough for what is chosen on large ones."""
    rng = np.random.default_rng(3)
    n, m = 1 << 15, 1 << 18
    ends = rng.integers(0, n, m) // 3, rng.integers(0, n, m)
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=False, weight=np.ones(m, np.int32))


def text_of(algorithm: vg.AlgorithmDef, graph: vg.Graph, schedule: vg.Schedule, **more: Any) -> str:
    """The CUDA C++ of an algorithm."""
    graph = graph_for(algorithm, graph)
    given = {**arguments_for(algorithm, graph), **more}
    graph, signature = prepared(algorithm, graph, given)
    facts = facts_of(graph, "cuda")
    return build(
        build_program(algorithm, signature), CUDABackend(), schedule=schedule, facts=facts
    ).source.text


def assert_compiles(text: str, arch: str) -> None:
    if arch not in nvrtc.supported_archs():
        pytest.skip(f"NVRTC {nvrtc.version()} does not know {arch}")
    code = cubin(text, arch)
    assert code[:4] == b"\x7fELF"
    assert b"vg_main" in code


@pytest.mark.covering
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("algorithm", library())
def test_what_is_chosen(algorithm: vg.AlgorithmDef, arch: str) -> None:
    """The default schedule for a large graph."""
    assert_compiles(text_of(algorithm, large(), vg.Schedule()), arch)


@pytest.mark.parametrize("algorithm", library(("bfs", "pagerank", "coloring")))
def test_ids_of_64_bits(algorithm: vg.AlgorithmDef) -> None:
    text = text_of(algorithm, graph_of("random", Kind(False, "int64", 64), 1), vg.Schedule())
    assert_compiles(text, "sm_90")
    assert "using vid = u64;" in text or algorithm.preparations  # they make graphs with ids of their own


@pytest.mark.covering
@pytest.mark.parametrize("balance", BALANCES, ids=lambda b: b.kind)
@pytest.mark.parametrize("algorithm", library(("bfs", "sssp", "pagerank", "triangle_count", "betweenness")))
def test_every_balance(algorithm: vg.AlgorithmDef, balance: object) -> None:
    """At all labels that can have it at once."""
    graph = graph_of("random", KIND, 1)
    plain, schedule = text_of(algorithm, graph, vg.Schedule()), vg.Schedule()
    graph = graph_for(algorithm, graph)
    case = Case("", graph, arguments_for(algorithm, graph), None)
    for label in labels(program_of(algorithm, case)[0]):
        wanted = schedule.at(label, balance=balance)
        try:
            text_of(algorithm, graph, wanted)
        except vg.ScheduleError:
            continue
        schedule = wanted
    text = text_of(algorithm, graph, schedule)
    if text != plain:
        assert_compiles(text, ARCHS[1 + ALGORITHMS.index(algorithm) % 3])


EACH = np.ones(30)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("pagerank", {"weight": "weight"}),
        ("katz", {"weight": "weight", "start": EACH, "betas": EACH}),
        ("eigenvector", {"weight": "weight", "start": EACH}),
        ("hits", {"weight": "weight", "start": EACH}),
        ("betweenness", {"targets": [1, 2], "samples": 3}),
        ("weighted_betweenness", {"targets": [1, 2], "samples": 3}),
    ],
)
def test_other_arguments(name: str, more: dict[str, Any]) -> None:
    """Arguments with which other operators run."""
    text = text_of(getattr(vg.algorithms, name), graph_of("random", KIND, 0), vg.Schedule(), **more)
    assert_compiles(text, "sm_90")
