"""`device="auto"`: what is tried, and what is taken then."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np
import pytest
from test_mixed_sets import emulated
from test_sets import same_results, small_graph

import vgraph as vg
from vgraph.compiler.analysis import iterations
from vgraph.runtime import auto, policy
from vgraph.runtime.devices.groups import members_of
from vgraph.runtime.devices.sets import reserved

SOURCES = np.arange(20)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with emulated():
        monkeypatch.setattr(auto, "SHORT", 0.0)
        yield monkeypatch


def taken(monkeypatch: pytest.MonkeyPatch, graph: vg.Graph, runs: int, **seconds: float) -> list[str]:
    """Where betweenness runs, if runs take so long on each."""
    note, found = policy.note_seconds, []

    def told(where: vg.Graph, like: Any, chosen: str, _: float) -> None:
        found.append(chosen)
        note(where, like, chosen, seconds[chosen])

    monkeypatch.setattr(policy, "note_seconds", told)
    expected = vg.run(vg.algorithms.betweenness, graph, sources=SOURCES, device="cpu")
    for _ in range(runs):
        same_results(vg.run(vg.algorithms.betweenness, graph, sources=SOURCES, device="auto"), expected)
    monkeypatch.setattr(policy, "note_seconds", note)
    return found


def test_each_is_tried_twice_and_the_fastest_is_taken(gpu: pytest.MonkeyPatch) -> None:
    assert taken(gpu, small_graph(), 9, cpu=0.5, cuda=9.0) == ["cpu"] * 2 + ["cuda"] * 2 + ["cpu"] * 5
    assert taken(gpu, small_graph(), 6, cpu=9.0, cuda=0.5) == ["cpu"] * 2 + ["cuda"] * 4


def test_what_is_near_is_tried_once_more(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(auto, "LONG", 10.0)  # no set
    found = taken(gpu, small_graph(), 17, cpu=0.5, cuda=0.8)
    assert found == ["cpu"] * 2 + ["cuda"] * 2 + ["cpu"] * 3 + ["cuda"] + ["cpu"] * 7 + ["cuda", "cpu"]


@pytest.mark.parametrize(("both", "then"), [(0.3, "set"), (0.6, "cuda")])
def test_a_set_is_tried_where_it_may_gain(gpu: pytest.MonkeyPatch, both: float, then: str) -> None:
    graph, wanted = small_graph(), ["cpu"] * 2 + ["cuda"] * 2 + ["set"] * 2 + [then]
    assert taken(gpu, graph, 7, cpu=0.7, cuda=0.5, set=both) == wanted
    told = vg.explain(vg.algorithms.betweenness, graph, device="auto", sources=SOURCES, passes=False)
    assert f"device: runs like it took: cpu 700 ms, cuda 500 ms, set {both * 1e3:.0f} ms\n" in told.reasons


def test_a_set_is_not_tried_where_no_loop_can_be_divided(gpu: pytest.MonkeyPatch) -> None:
    """Which is found out once."""
    graph, asked = small_graph(), []
    gpu.setattr(iterations, "divisible", lambda program: asked.append(program) or ([], []))
    for arm in ("cpu", "cuda"):
        for _ in range(auto.TRIALS):
            policy.note_seconds(graph, (vg.algorithms.bfs.function, ("source", 2)), arm, 1.0)
    for _ in range(3):
        assert vg.run(vg.algorithms.bfs, graph, source=3, device="auto").stats.device in ("cpu", "cuda")
    assert len(asked) == 1
    told = vg.explain(vg.algorithms.bfs, graph, source=3, device="auto", passes=False)
    assert "set" not in told.reasons.partition("\n")[0]


def test_short_runs_stay_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = small_graph()
    monkeypatch.setattr(auto, "SHORT", 100.0)
    with emulated():
        runs = [vg.run(vg.algorithms.bfs, graph, source=3, device="auto") for _ in range(4)]
        assert [r.stats.device for r in runs] == ["cpu"] * 4
        told = vg.explain(vg.algorithms.bfs, graph, source=3, device="auto", passes=False)
    assert told.reasons.startswith("device: runs like it took: cpu ")


def test_a_large_graph_goes_to_the_gpu_and_one_that_lies_there_sooner(gpu: pytest.MonkeyPatch) -> None:
    def device(graph: vg.Graph) -> str:
        return vg.run(vg.algorithms.bfs, graph, source=3, device="auto").stats.device

    gpu.setattr(policy, "CUDA_ARCS", 50)
    assert device(small_graph()) == "cuda"
    gpu.setattr(policy, "CUDA_ARCS", 1 << 20)
    gpu.setattr(policy, "CUDA_ARCS_THERE", 50)
    graph = small_graph()
    assert device(graph) == "cpu"
    vg.run(vg.algorithms.pagerank, graph, device="cuda")
    assert vg.run(vg.algorithms.eccentricity, graph, device="auto").stats.device == "cuda"
    gpu.setattr(policy, "CUDA_SHARE", 0.0)
    assert vg.run(vg.algorithms.closeness, graph, device="auto").stats.device == "cpu"


def test_what_else_is_said_decides(gpu: pytest.MonkeyPatch) -> None:
    gpu.setattr(policy, "CUDA_ARCS", 50)
    run = lambda **given: vg.run(vg.algorithms.bfs, small_graph(), source=3, device="auto", **given)  # noqa: E731
    assert run(threads=1).stats.device == "cpu"
    assert run(output="cupy").stats.device == "cuda"
    assert run(deterministic=True).stats.device == "cpu"


def test_without_a_gpu() -> None:
    assert vg.run(vg.algorithms.bfs, small_graph(), source=3, device="auto").stats.device == "cpu"
    told = vg.explain(vg.algorithms.bfs, small_graph(), device="auto", passes=False)
    assert told.reasons.startswith("device: there is no GPU that can be used\n")


def test_a_set_that_nobody_asked_for_waits_for_its_members() -> None:
    graph = small_graph()
    like = (vg.algorithms.betweenness.function, ("sources", auto._kind(SOURCES)))
    for arm, seconds in (("cpu", 0.7), ("cuda", 0.5), ("set", 0.3)):
        for _ in range(3):
            policy.note_seconds(graph, like, arm, seconds)
    run = partial(vg.run, vg.algorithms.betweenness, graph, sources=SOURCES, device="auto")
    with ThreadPoolExecutor(1) as pool, emulated():
        run()  # nothing has to be compiled any more
        with reserved(members_of(["cuda:0"])):
            later = pool.submit(run)
            assert wait([later], timeout=0.2).not_done
        assert later.result(60).stats.device == "set"
