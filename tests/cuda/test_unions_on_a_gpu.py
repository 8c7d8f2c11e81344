"""Disjoint sets with paths that are halved on the way, as on large graphs, and without, on the CPU and a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrix import shaped

import vgraph as vg
from vgraph.runtime import policy


@pytest.mark.parametrize("least", [0, 1 << 40])
def test_sets_are_the_same_where_paths_are_halved(
    gpu: Any, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HALVING_VERTICES", least)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 150
        near = np.arange(n - 1)[rng.random(n - 1) < 0.8]  # long paths, their ids mixed
        ids = rng.permutation(n)
        graph = vg.Graph.from_edges(ids[near], ids[near + 1], num_vertices=n, directed=bool(seed % 2))
        group = np.r_[0, np.cumsum(~np.isin(np.arange(n - 1), near))]
        smallest = np.full(group.max() + 1, n)
        np.minimum.at(smallest, group, ids)
        first = np.empty(n, np.int64)
        first[ids] = smallest[group]
        shaped(gpu, seed)
        for options in ({"threads": 1}, {"threads": 3}, {"device": "cuda"}):
            found = vg.run(vg.algorithms.connected_components, graph, **options)
            np.testing.assert_array_equal(found.component, first)


def test_the_busiest_vertex_need_not_be_in_the_largest_component(gpu: Any) -> None:
    """A star beside a longer line and vertices without arcs, whose ids are mixed."""
    ids = np.random.default_rng(0).permutation(200)
    star, line = ids[:40], ids[40:180]
    ends = np.r_[star[:1].repeat(39), line[:-1]], np.r_[star[1:], line[1:]]
    wanted = np.arange(200)
    for part in (star, line):
        wanted[part] = part.min()
    for directed in (False, True):
        graph = vg.Graph.from_edges(*ends, num_vertices=200, directed=directed)
        for options in ({"threads": 3}, {"device": "cuda"}, {"device": "python"}):
            found = vg.run(vg.algorithms.connected_components, graph, **options)
            np.testing.assert_array_equal(found.component, wanted)


def test_few_threads_climb(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On large graphs, in a program that does little else: one that makes rounds has them all."""
    monkeypatch.setattr(policy, "CUDA_CLIMBING_BLOCKS", 0)
    emulated.multiprocessors = 3
    ends = np.random.default_rng(0).integers(0, 400, (2, 800))
    graph = vg.Graph.from_edges(*ends, directed=False, num_vertices=400, weight=np.ones(800, np.int32))
    for least in (0, 1 << 40):
        monkeypatch.setattr(policy, "HALVING_VERTICES", least)
        for algorithm in (vg.algorithms.connected_components, vg.algorithms.minimum_spanning_forest):
            vg.run(algorithm, graph, device="cuda")
    assert emulated.grids == [1, 3, 3, 3]
