"""Pulls of a claim on a GPU: each thread looks at some arcs of its own vertex, warps and the grid at what is left."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg
from vgraph.algorithms.sssp import relax
from vgraph.compiler.facts import Facts
from vgraph.runtime import policy


def lopsided(seed: int, *, directed: bool) -> vg.Graph:
    """Rows of 0 to 120 arcs, most of them to vertices that a search reaches late or never."""
    n = 230
    rng = np.random.default_rng(seed)
    degree = np.r_[np.arange(1, 12), 4, 5, 35, 36, 37, 120, np.full(90, 2), np.zeros(n - 107, int)]
    src = np.repeat(rng.permutation(n), rng.permutation(degree))
    return vg.Graph.from_edges(src, rng.integers(0, n, src.size), num_vertices=n, directed=directed)


@pytest.mark.parametrize(("limit", "directed"), [(1, True), (8, False), (8, True), (40, False)])
def test_the_answer_is_that_of_the_cpu(
    limit: int, directed: bool, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PULL_SHARE", "SWEEP_SHARE", "PUSH_SHARE"):  # pull always
        monkeypatch.setattr(policy, name, 1 << 40)
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(large=True, directed=directed))
    seed = zlib.crc32(f"{limit} {directed}".encode())
    graph = lopsided(seed, directed=directed)
    assert graph.in_degree.any()  # builds the transpose, without which nothing is pulled
    if isinstance(gpu, EmulatedDevice):
        gpu.multiprocessors, gpu.block, gpu.seed = [(1, 32), (2, 64), (3, 64)][seed % 3] + (seed % 1000,)
    source = int(np.argmax(graph.out_degree))
    schedule = vg.Schedule().at("visit", balance=vg.SPLIT(limit))
    expected = vg.run(vg.algorithms.bfs, graph, device="cpu", source=source)
    result = vg.run(vg.algorithms.bfs, graph, device="cuda", schedule=schedule, source=source)
    assert {r.direction for r in result.trace} >= {"pull"}
    np.testing.assert_array_equal(result.level, expected.level)
    level, parent = np.asarray(result.level), np.asarray(result.parent)
    reached = np.flatnonzero(level > 0)
    assert (level[parent[reached]] + 1 == level[reached]).all()


def test_every_pull_of_a_claim_is_such_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(large=True))

    def loops(algorithm: Any, **options: Any) -> str:
        graph = lopsided(1, directed=False)
        return vg.explain(algorithm, graph, device="cuda", **options).cuda

    assert "by_search(" in loops(vg.algorithms.bfs)
    assert "by_search(" not in loops(vg.algorithms.bfs, schedule=vg.Schedule().at("visit", balance=vg.TWC))
    assert "by_search(" not in loops(vg.algorithms.pagerank)


@vg.algorithm
def lengths(graph, source: vg.vertex, weight: vg.edge_property(vg.int32) = 1):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


def test_steps_of_one_number_are_such_a_search(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PULL_SHARE", "SWEEP_SHARE", "PUSH_SHARE"):
        monkeypatch.setattr(policy, name, 1 << 40)
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(large=True, directed=True))
    graph = lopsided(5, directed=True)
    assert graph.in_degree.any()
    source = int(np.argmax(graph.out_degree))
    result = vg.run(lengths, graph, device="cuda", source=source)
    assert {r.direction for r in result.trace} >= {"pull"}
    np.testing.assert_array_equal(result.dist, vg.run(lengths, graph, device="python", source=source).dist)
