"""Kernels that one cluster of blocks runs: they give the answers of others, and are chosen where rounds are small."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cuda_harness import CUDA
from emulated_device import EmulatedDevice
from llvm_harness import on
from machine_code import cubin
from test_llvm_frontiers import (  # noqa: F401
    test_all_in_either_layout,
    test_convert,
    test_copy_and_swap,
    test_deduplication,
    test_lists,
    test_push_and_walk,
    test_single_prepares_a_frontier,
)
from test_llvm_reductions import (  # noqa: F401
    test_global_reduction_is_the_same_in_every_thread,
    test_nan_is_propagated_and_stays,
    test_single_reduces_once_and_everybody_sees_it,
    test_vector_reduction,
)

import vgraph as vg
from vgraph.algorithms import bellman_ford, betweenness, bfs, edge_betweenness, pagerank, path_counts, sssp
from vgraph.compiler.backends.cuda import backend, nvrtc
from vgraph.compiler.backends.cuda.texts import CREWED
from vgraph.runtime import depth, policy

pytestmark = pytest.mark.covering


@pytest.fixture(autouse=True)
def machine(gpu: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests of kernel IR run by a crew; small grids count as large graphs."""
    if isinstance(gpu, EmulatedDevice):
        gpu.multiprocessors, gpu.seed = 3, zlib.crc32(request.node.name.encode())
    monkeypatch.setattr(policy, "LARGE", 1)
    monkeypatch.setattr(depth, "PROBE_ROUNDS", 1)
    if "test_llvm" in request.function.__module__:
        monkeypatch.setattr(backend, "suits", lambda _: True)
    with on(CUDA(gpu, crew=True)):
        yield


def grid(side: int, seed: int, *, directed: bool = False) -> vg.Graph:
    """A grid of the plane less some of its edges, with a vertex of many."""
    rng = np.random.default_rng(seed)
    ids = np.arange(side * side).reshape(side, side)
    ends = [ids[:, :-1], ids[:, 1:]], [ids[:-1], ids[1:]], [ids[:1, :1].repeat(80), ids.ravel()[-80:]]
    src, dst = (np.concatenate([e[k].ravel() for e in ends]) for k in (0, 1))
    kept = rng.random(src.size) < 0.9
    return vg.Graph.from_edges(src[kept], dst[kept], num_vertices=side * side, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("algorithm", [betweenness, edge_betweenness, path_counts], ids=lambda a: str(a.name))
def test_levels_are_those_of_the_cpu(gpu: Any, algorithm: vg.AlgorithmDef, directed: bool) -> None:
    for seed in range(3):
        graph = grid(9 + seed, seed, directed=directed)
        given = {"source": 3} if algorithm is path_counts else {"sources": np.array([3, 77])}
        if isinstance(gpu, EmulatedDevice):
            gpu.multiprocessors, gpu.seed = 1 + seed, seed
        assert CREWED in vg.explain(algorithm, graph, device="cuda", passes=False, **given).cuda
        got, wanted = (vg.run(algorithm, graph, device=d, **given) for d in ("cuda", "cpu"))
        rounds = [[(r.label, r.frontier, r.edges) for r in x.trace] for x in (got, wanted)]
        assert rounds[0] == rounds[1]
        for name in wanted.names:
            np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), rtol=1e-12, atol=1e-15)


def test_where_blocks_go_on_alone_or_all_vertices_are_visited_the_grid_runs_all() -> None:
    graph = grid(12, 0)
    for algorithm in (bfs, sssp, bellman_ford, pagerank):
        weighted = graph.with_edge_property("weight", np.ones(graph.num_arcs, np.int32))
        assert CREWED not in vg.explain(algorithm, weighted, device="cuda").cuda


def test_balls_of_narrow_graphs_grow_as_in_a_plane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "PROBE_ROUNDS", 10)
    ids = np.arange(31**3).reshape(31, 31, 31)
    pairs = [(ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[..., :-1], ids[..., 1:])]
    src, dst = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
    space = vg.Graph.from_edges(src, dst, directed=False)
    assert depth.is_deep(space)
    assert not depth.is_narrow(space)
    flat = ids[0]
    src, dst = (
        np.concatenate([x.ravel(), y.ravel()])
        for x, y in ((flat[:-1], flat[:, :-1]), (flat[1:], flat[:, 1:]))
    )
    assert depth.is_narrow(vg.Graph.from_edges(src, dst, directed=False))


@pytest.mark.skipif(nvrtc.find() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize(("arch", "clusters"), [("sm_80", False), ("sm_90", True)])
def test_it_compiles_with_and_without_clusters(arch: str, clusters: bool) -> None:
    if arch in nvrtc.supported_archs():
        text = vg.explain(betweenness, grid(12, 0), device="cuda").cuda
        cubin(text, arch, clusters=clusters)
