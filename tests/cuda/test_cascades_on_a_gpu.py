"""Cascades on a GPU: blocks go on alone with what they take, whatever has room, and take what rounds would take."""

from __future__ import annotations

import numpy as np
import pytest
from matrix import seed_of
from test_hops_on_a_gpu import ROOMS, go

import vgraph as vg
from vgraph.algorithms import k_core


def dense_and_sparse(seed: int, *, directed: bool = False) -> vg.Graph:
    """Some vertices of many arcs among each other, and long paths that hang on them; parallel arcs and loops, too."""
    rng = np.random.default_rng(seed)
    n = 120
    inner = rng.integers(0, 25, (2, 300))
    path = np.arange(24, n - 1)
    across = rng.integers(0, n, (2, 40))
    src = np.r_[inner[0], path, across[0]]
    dst = np.r_[inner[1], path + 1, across[1]]
    return vg.Graph.from_edges(src, dst, num_vertices=n, directed=directed)


@pytest.mark.parametrize("mode", ["all", "in", pytest.param("out", marks=pytest.mark.slow)])
def test_core_numbers(mode: str) -> None:
    for k, room in enumerate((*ROOMS, 600)):
        graph = dense_and_sparse(k, directed=mode != "all")
        found = go(
            k_core,
            graph,
            "leave",
            room,
            seed_of(mode, k),
            hops=(2, 16)[k % 2],
            **({"arguments": {"mode": mode}}),
        )
        wanted = vg.run(k_core, graph, device="cpu", mode=mode)
        np.testing.assert_array_equal(found.core, wanted.core)


@pytest.mark.parametrize("leaves", [150, 5000])
def test_hubs_in_parts(leaves: int) -> None:
    """Hubs that hang on a clique one behind the other: the leaves take the last with them, that the one before."""
    inner, hubs = 6, 3
    edges = [(a, b) for a in range(inner) for b in range(a)]
    for k in range(hubs):
        hub, first = inner + hubs * leaves + k, inner + k * leaves
        edges += [(hub, hub - 1 if k else 0), *((hub, first + leaf) for leaf in range(leaves))]
    graph = vg.Graph.from_edges(*np.array(edges).T, directed=False)
    wanted = vg.run(k_core, graph, device="cpu").core
    for k, room in enumerate((36864, 120)):
        for hops in (2, 16):
            found = go(k_core, graph, "leave", room, k, hops=hops)
            np.testing.assert_array_equal(found.core, wanted)


def test_fewer_rounds() -> None:
    n = 90
    path = vg.Graph.from_edges(range(n - 1), range(1, n), directed=False)
    rounds = {k: go(k_core, path, "leave", 4096, k, hops=k).stats.rounds for k in (1, 16)}
    assert rounds[16] * 4 < rounds[1]
