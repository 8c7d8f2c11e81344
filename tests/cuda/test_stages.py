"""Arcs that each try one atomic update, a few at a time: which loops are found fit for it, and that they are right."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg

CASES = ((vg.TWC, True), (vg.TWC, False), (vg.SPLIT(8), True), (vg.WARP, False), (vg.BLOCK, True))


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.operator
def widen(src, edge, dst):
    dst.width = max(dst.width, min(src.width, edge.weight))


@vg.operator
def visit(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth
        dst.parent = src


@vg.operator
def count(src, edge, dst):
    dst.paths += src.paths
    dst.dist = min(dst.dist, src.dist + 1)


@vg.algorithm
def relaxed(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    width = graph.vertex_property(vg.int32, fill=-1)
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex)
    paths = graph.vertex_property(vg.int64, fill=1)
    dist[source] = 0
    width[source] = 1000
    level[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(widen, frontier)
    frontier = graph.frontier(source)
    graph.depth = 0
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier)
    graph.edge_apply(count)
    return dist, width, level, parent, paths


def skewed(seed: int, *, directed: bool) -> vg.Graph:
    """Rows of 0 to 150 arcs: below, at and above what lanes take at a time; weights with zeros and ties."""
    n = 160
    rng = np.random.default_rng(seed)
    degree = np.r_[np.arange(1, 40), 64, 127, 128, 129, 150, np.zeros(n - 44, int)]
    src = np.repeat(rng.permutation(n), rng.permutation(degree))
    dst = rng.integers(0, n, src.size)
    return vg.Graph.from_edges(
        src, dst, num_vertices=n, directed=directed, weight=rng.integers(0, 4, src.size).astype(np.int32)
    )


@pytest.mark.parametrize(("balance", "directed"), CASES, ids=str)
def test_the_answer_is_that_of_the_cpu(balance: vg.Balance, directed: bool, gpu: Any) -> None:
    seed = zlib.crc32(f"{balance} {directed}".encode())
    graph = skewed(seed, directed=directed)
    if isinstance(gpu, EmulatedDevice):
        gpu.multiprocessors, gpu.block, gpu.seed = [(1, 32), (2, 64), (3, 64)][seed % 3] + (seed % 1000,)
    source = int(np.argmax(graph.out_degree))
    schedule = vg.Schedule()
    for label in ("relax", "widen", "visit", "count"):
        schedule = schedule.at(label, direction=vg.PUSH, balance=balance)
    expected = vg.run(relaxed, graph, device="cpu", source=source)
    result = vg.run(relaxed, graph, device="cuda", schedule=schedule, source=source)
    for name in ("dist", "width", "level", "paths"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name), err_msg=name)
    level, parent = np.asarray(result.level), np.asarray(result.parent)
    reached = np.flatnonzero(level > 0)
    assert (level[parent[reached]] + 1 == level[reached]).all()


def test_more_pushes_in_a_visit_than_a_warp_keeps(emulated: EmulatedDevice) -> None:
    """The middle of a star, whose rays have two arcs: all that it pushes has to be visited."""
    rays = np.arange(1, 201)
    graph = vg.Graph.from_edges(np.r_[np.zeros(200, int), rays], np.r_[rays, rays + 200], num_vertices=401)
    emulated.multiprocessors, emulated.block, emulated.seed = 1, 32, 5
    schedule = vg.Schedule().at("visit", direction=vg.PUSH, balance=vg.SPLIT(1000))
    result = vg.run(vg.algorithms.bfs, graph, device="cuda", schedule=schedule, source=0)
    np.testing.assert_array_equal(result.level, np.repeat([0, 1, 2], [1, 200, 200]))


def test_only_what_hangs_on_one_update_is_staged() -> None:
    schedule = vg.Schedule()
    for label in ("relax", "widen", "visit", "count"):
        schedule = schedule.at(label, direction=vg.PUSH, balance=vg.TWC)
    text = vg.explain(relaxed, skewed(1, directed=True), schedule=schedule, device="cuda").cuda
    parts = re.split(r"}  // (\w+)", text)
    staged = {label: "in_stages" in body for body, label in zip(parts[::2], parts[1::2], strict=False)}
    assert staged == {"relax": True, "widen": True, "visit": True, "count": False}
