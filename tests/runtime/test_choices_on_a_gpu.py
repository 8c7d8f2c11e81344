"""What is chosen for GPUs: which facts of a graph stand for what was measured."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.facts import Facts
from vgraph.runtime import policy


def regular(n: int, degree: int) -> vg.Graph:
    """Every vertex leads to as many behind it."""
    src = np.repeat(np.arange(n), degree)
    return vg.Graph.from_edges(src, (src + 1 + np.tile(np.arange(degree), n)) % n, num_vertices=n)


def with_row(graph: vg.Graph, arcs: int) -> vg.Graph:
    """Vertex 0 leads to so many more."""
    src, dst, _ = graph.edges()
    more = np.arange(100, 100 + arcs)
    return vg.Graph.from_edges(np.r_[src, 0 * more], np.r_[dst, more], num_vertices=graph.num_vertices)


def test_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LARGE", 10_000)
    small, large = regular(1000, 5), regular(5000, 5)
    assert policy.facts_of(small, "cuda").long_lists
    assert not policy.facts_of(small, "cuda").large
    assert not policy.facts_of(small, "cpu").long_lists
    assert not policy.facts_of(regular(1000, 3), "cuda").long_lists
    for graph in (small, large):
        assert policy.facts_of(graph, "cuda").even
        assert not policy.facts_of(with_row(graph, 50), "cuda").even
        assert not policy.facts_of(graph, "cpu").even
    monkeypatch.setattr(policy, "BLOCK_ROW", 800)
    for row, on_gpu, on_cpu in ((700, False, True), (1000, True, True)):  # of 25,000 arcs
        graph = with_row(large, row)
        assert policy.facts_of(graph, "cuda").hubs is on_gpu
        assert policy.facts_of(graph, "cpu").hubs is on_cpu


def test_rounds_are_long_where_many_arcs_are_evenly_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LARGE", 100)
    monkeypatch.setattr(policy, "LONG_ROUNDS", 25_000)
    random = vg.Graph.from_edges(*np.random.default_rng(0).integers(0, 5000, (2, 25_000)), num_vertices=5000)
    assert policy.facts_of(random, "cuda").long_rounds
    assert not policy.facts_of(random, "cpu").long_rounds
    assert not policy.facts_of(with_row(random, 50), "cuda").long_rounds  # uneven
    assert not policy.facts_of(regular(5000, 5), "cuda").long_rounds  # deep: a ring
    monkeypatch.setattr(policy, "LONG_ROUNDS", 25_001)
    assert not policy.facts_of(random, "cuda").long_rounds


def test_lists_of_slim_graphs_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread merges two short lists sooner than a warp marks one of them, where there are vertices for all."""
    monkeypatch.setattr(policy, "SLIM_VERTICES", 1000)
    slim = policy.facts_of(regular(1000, policy.SLIM), "cuda")
    assert slim.slim
    assert not policy.facts_of(regular(1000, policy.SLIM), "cpu").slim
    assert not policy.facts_of(regular(999, policy.SLIM), "cuda").slim
    assert not policy.facts_of(regular(1000, policy.SLIM + 1), "cuda").slim
    src, dst, _ = regular(20, 6).edges()
    graph = vg.Graph.from_edges(src, dst, directed=False)
    for facts in (Facts(large=True, even=True), slim):
        monkeypatch.setattr(policy, "facts_of", lambda *_, facts=facts: facts)
        told = vg.explain(vg.algorithms.local_clustering, graph, device="cuda").schedule
        assert ("balance=" not in told) is facts.slim, told


def test_how_many_arcs_are_pushed_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = regular(1000, 5)
    monkeypatch.setattr(policy, "CUDA_PUSHED_ARCS", 4000)
    assert policy.number("policy.pushed_arcs", graph) == 1000 // policy.SWEEP_SHARE
    assert policy.number("policy.pushed_arcs", graph, "cuda") == 4000
    monkeypatch.setattr(policy, "CUDA_PULLED_ARCS", 6000)
    assert [policy.number("policy.pulled_arcs", graph, device) for device in ("cpu", "cuda")] == [0, 6000]
    monkeypatch.setattr(policy, "CUDA_PUSHED_ARCS", 4)
    assert policy.number("policy.pushed_arcs", graph, "cuda") == 1000 // policy.SWEEP_SHARE


@pytest.mark.parametrize(("hubs", "balance"), [(False, "twc"), (True, "split")])
def test_pulls_along_all_arcs(hubs: bool, balance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To set hubs aside takes a barrier, which pays where a block would walk one for long."""
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(large=True, hubs=hubs))
    graph = regular(20, 3)
    assert f"balance={balance}" in vg.explain(vg.algorithms.pagerank, graph, device="cuda").schedule
    assert "balance=split" in vg.explain(vg.algorithms.bfs, graph, device="cuda", source=0).schedule
