"""`checked=True`: every fault is found, with its line; programs without fault give what they give.

Each program beside this file has a fault; where the language does not let a user make one, `broken` is a pass that
does. The message lies beside it; `pytest --update-golden` accepts new ones: read them aloud.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from library_arguments import arguments_for, graph_for, library, prepared

import vgraph as vg
from vgraph.compiler import user_passes
from vgraph.compiler import space
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import build_program
from vgraph.compiler import ir
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.ir.trees import with_fields
from vgraph.refusals import checks
from vgraph.refusals.base import Refusal
from vgraph.runtime.devices.checked import CheckedWarning

HERE = Path(__file__).parent
CASES = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_"))
FEW: dict[str, dict[str, Any]] = {
    "betweenness": {"sources": np.arange(1)},
    "edge_betweenness": {"sources": np.arange(1)},
    "weighted_betweenness": {"sources": np.arange(1)},
    "weighted_closeness": {"vertices": np.arange(1)},
    "eigenvector": {"max_rounds": 50, "tolerance": 1e-2},
    "pagerank": {"max_rounds": 2},
    "random_walks": {"walks": 20},
}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"faulty_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line(n: int = 5) -> vg.Graph:
    """A path with arcs both ways and one more from each vertex to the first."""
    ends = [*range(n - 1), *range(1, n), *range(n)], [*range(1, n), *range(n - 1), *[0] * n]
    return vg.Graph.from_edges(*ends, num_vertices=n + 1, directed=True)


def with_pass(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Compile with one more pass at the end."""
    last = Pass("broken", lambda program, _: change(program), takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)
    monkeypatch.setattr(user_passes, "pipeline", lambda *_: (*PIPELINE, last))


@pytest.mark.parametrize("name", CASES)
def test_fault(name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    case = load(name)
    if hasattr(case, "broken"):
        with_pass(monkeypatch, case.broken)
    schedule = case.schedule() if hasattr(case, "schedule") else None
    with pytest.raises(vg.CheckError) as caught:
        vg.run(case.main, line(), checked=True, schedule=schedule)
    kind = type(caught.value).__name__
    golden(HERE / f"{name}.err", f"{kind}: {caught.value}\n".replace(str(HERE / f"{name}.py"), f"{name}.py"))


def test_every_kind_of_fault_has_a_program() -> None:
    shown = {(HERE / f"{name}.err").read_text(encoding="utf-8").partition(":")[0] for name in CASES}
    kinds = {n for n, c in vars(checks).items() if isinstance(c, type) and issubclass(c, Refusal)}
    assert kinds - {"Refusal"} == shown


# --- programs without fault -------------------------------------------------------------------------------------


def small(algorithm: vg.AlgorithmDef) -> tuple[vg.Graph, dict[str, Any]]:
    """A graph with a hub, loops and parallel edges, and the algorithm's arguments."""
    rng = np.random.default_rng(1)
    n, m = 14, 30
    ends = rng.integers(0, n, m) // rng.integers(1, 10, m), rng.integers(0, n, m)
    graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=True, weight=rng.integers(1, 20, m) / 4)
    graph = graph_for(algorithm, graph)
    return graph, arguments_for(algorithm, graph, 0) | FEW.get(algorithm.name, {})


def schedules(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, given: dict[str, Any], count: int
) -> Iterator[vg.Schedule]:
    """The default, and legal schedules for a small and for a large graph with hubs, every axis varied."""
    program = build_program(algorithm, prepared(algorithm, graph, given)[1])
    yield vg.Schedule()
    for facts in (Facts(), Facts(large=True, hubs=True)):
        context = Context(facts=facts)
        ready = space.ready(program, context)
        yield from space.sample(ready, context, count, zlib.crc32(algorithm.name.encode()))


def agrees(algorithm: vg.AlgorithmDef, count: int) -> None:
    """No fault is found, and the results are those of the reference interpreter."""
    graph, given = small(algorithm)
    want = vg.run(algorithm, graph, device="python", **given)
    for schedule in schedules(algorithm, graph, given, count):
        found = vg.run(algorithm, graph, checked=True, schedule=schedule, **given)
        for name in want.names:
            if name == "parent":  # any of several
                continue
            rtol = 1e-4 if algorithm.name == "conjugate_gradient" else 1e-9
            a, b = np.asarray(getattr(found, name)), np.asarray(getattr(want, name))
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9, err_msg=f"{name}: {schedule}")


@pytest.mark.parametrize("algorithm", library())
def test_library(algorithm: vg.AlgorithmDef) -> None:
    agrees(algorithm, 1)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", library())
def test_library_on_many_schedules(algorithm: vg.AlgorithmDef) -> None:
    agrees(algorithm, 12)


def test_equal_calls_do_the_same() -> None:
    graph, given = small(vg.algorithms.bfs)
    schedule = vg.Schedule().at("visit", direction=vg.PUSH)
    first, again = (
        vg.run(vg.algorithms.bfs, graph, checked=True, schedule=schedule, **given) for _ in range(2)
    )
    assert first.parent.tolist() == again.parent.tolist()
    assert [r.edges for r in first.trace] == [r.edges for r in again.trace]
    assert (first.stats.device, first.stats.threads) == ("checked", 3)
    assert re.search(r"rounds in [\d.]+ m?s, checked>$", repr(first))
    assert first.schedule.labels["visit"].direction is vg.PUSH


def test_one_thread_has_no_races(monkeypatch: pytest.MonkeyPatch) -> None:
    case = load("race")
    with_pass(monkeypatch, case.broken)
    result = vg.run(case.main, line(), checked=True, threads=1, schedule=case.schedule())
    assert result.stats.threads == 1


def test_with_deterministic() -> None:
    graph, given = small(vg.algorithms.pagerank)
    found = vg.run(vg.algorithms.pagerank, graph, checked=True, deterministic=True, **given)
    exact = vg.run(vg.algorithms.pagerank, graph, deterministic=True, **given)
    assert found.rank.tobytes() == exact.rank.tobytes()


# --- what passes might do ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sssp", "widest_path", "modularity", "connected_components"])
def test_missing_atomics_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`insert-atomics` believes that no thread meets another."""
    module = sys.modules["vgraph.compiler.passes.insert_atomics"]
    monkeypatch.setattr(module, "_mark", lambda loop, *_: loop)
    algorithm = getattr(vg.algorithms, name)
    graph, given = small(algorithm)
    with pytest.raises(checks.DataRace):
        vg.run(algorithm, graph, checked=True, **given)


@vg.operator
def highest(v):
    for u in v.out_neighbors:
        v.value = max(v.value, u.value)


@vg.algorithm
def rising(graph, source: vg.vertex):
    value = graph.vertex_property(vg.int64, fill=3)
    graph.vertex_apply(highest, graph.frontier(source))
    return value


def test_copies_of_too_little_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """`double-buffer` copies what the frontier holds, where an operator reads at neighbors."""
    module = sys.modules["vgraph.compiler.passes.double_buffer"]

    def narrow(program: ir.Program, context: Context) -> ir.Program:
        found = module.double_buffer.run(program, context)
        body = [
            with_fields(n, {"frontier": after.frontier, "schedule": replace(n.schedule, drive=vg.DATA)})
            if isinstance(n, ir.VertexApply)
            and n.label.endswith(".copy")
            and isinstance(after, ir.VertexApply)
            else n
            for n, after in zip(found.body, (*found.body[1:], None), strict=True)
        ]
        return with_fields(found, {"body": tuple(body)})

    broken = replace(module.double_buffer, run=narrow)
    changed = tuple(broken if p is module.double_buffer else p for p in PIPELINE)
    vg.run(rising, line(), checked=True, source=2)
    monkeypatch.setattr(user_passes, "pipeline", lambda *_: changed)
    with pytest.raises(checks.UninitialisedRead, match=r"v.value = max\(v.value, u.value\)"):
        vg.run(rising, line(), checked=True, source=2)


def test_rounds_are_counted_and_told() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 0], num_vertices=2, weight=np.array([1, -3]))
    seen: list[int] = []
    with pytest.raises(vg.AlgorithmError, match="max_rounds=30"):
        vg.run(
            falling, graph, checked=True, source=0, max_rounds=30, progress=lambda p: seen.append(p.rounds)
        )
    assert seen == sorted(seen)


@vg.operator
def fall(src, edge, dst):
    dst.value = min(dst.value, src.value + edge.weight)


@vg.algorithm
def falling(graph, source: vg.vertex):
    value = graph.vertex_property(vg.int64, fill=vg.inf)
    value[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(fall, frontier)
    return value


# --- calls ------------------------------------------------------------------------------------------------------


def test_what_it_does_not_go_with() -> None:
    graph, given = small(vg.algorithms.bfs)
    for device in ("cuda", "python"):
        with pytest.raises(vg.DeviceError, match="the code for the CPU"):
            vg.run(vg.algorithms.bfs, graph, device=device, checked=True, **given)
    with pytest.raises(vg.ParameterError, match="leave `relabel` out"):
        vg.run(vg.algorithms.bfs, graph, relabel="degree", checked=True, **given)
    with pytest.raises(vg.ParameterError, match="checked=1: True or False"):
        vg.run(vg.algorithms.bfs, graph, checked=1, **given)
    with pytest.raises(vg.ParameterError, match="source"):
        vg.run(vg.algorithms.bfs, graph, checked=True, source=99)


def test_large_graphs_are_told_to_take_long() -> None:
    graph = vg.Graph.from_edges(np.zeros(30_000, np.int64), np.arange(30_000) % 7, num_vertices=7)
    case = load("overflow_sum")
    with (
        pytest.warns(CheckedWarning, match=r"about \d+ seconds for each round") as told,
        pytest.raises(vg.CheckError),
    ):
        vg.run(case.main, graph, checked=True)
    assert [warning.filename for warning in told] == [__file__]


def test_failures_of_the_program_s_own() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 0], num_vertices=2, directed=False, weight=[1.0, 1.0])
    with pytest.raises(vg.AlgorithmError):
        vg.run(vg.algorithms.katz, graph, checked=True, alpha=2.0, max_rounds=3)
