"""Activations of a plan whose vectors lanes share: as those of one thread, but for the order of sums."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg
from vgraph.runtime.devices.cuda import use


def program(length: int, stored: vg.DType = vg.float32) -> vg.AlgorithmDef:
    """Vectors of so many elements: sums, products, single elements read and written, under conditions and in loops."""

    @vg.operator
    def start(v):
        for i in range(len(v.f)):
            v.f[i] = vg.float32((v.id * 7 + i * 3) % 11) / 16
            v.whole[i] = v.id + i

    @vg.operator
    def mix(src, edge, dst, graph):
        error = vg.float32(edge.weight) / 16 - vg.dot(src.f, dst.f) / length
        before = src.f
        src.f = (before + error * dst.f) / 2
        dst.f[1] = before[length - 1] + dst.f[0]
        if edge.weight % 3 != 0:
            total = vg.float32(0)
            for i in range(length):
                if before[i] > dst.f[i]:
                    total += before[i] - dst.f[i]
            dst.last = total
            src.last += dst.last / 8
            dst.f = dst.f * 0.5 + before * before / (1 + abs(error))
        src.whole = src.whole + dst.whole
        dst.whole[edge.weight] = vg.sum(src.whole)
        dst.turns += 1
        src.turns += dst.turns
        edge.error = error
        graph.steps += 1

    @vg.algorithm
    def mixed(graph):
        f = graph.vertex_property(vg.vector(stored, length))
        whole = graph.vertex_property(vg.vector(vg.int64, length))
        last = graph.vertex_property(vg.float32)
        turns = graph.vertex_property(vg.int64)
        error = graph.edge_property(vg.float32)
        graph.steps = 0
        graph.vertex_apply(start)
        graph.edge_apply(mix)
        return f, whole, last, turns, error, graph.steps

    return mixed


def graph_of(loops: bool) -> vg.Graph:
    """A hub, parallel edges, and loops or not."""
    rng = np.random.default_rng(4)
    s, t = rng.integers(0, 30, 130), rng.integers(0, 30, 130)
    s[:40] = 7
    kept = np.ones(s.size, bool) if loops else s != t
    weight = rng.integers(0, 20, s.size)[kept]
    return vg.Graph.from_edges(s[kept], t[kept], num_vertices=30, multi_edges=True, weight=weight)


def agrees(
    graph: vg.Graph,
    length: int,
    conflict: object,
    seed: int,
    *,
    every_access: bool = False,
    stored=vg.float32,
) -> None:
    schedule = vg.Schedule().at("mix", conflict=conflict)
    wanted = vg.run(program(length, stored), graph, device="python", schedule=schedule)
    with use(EmulatedDevice(multiprocessors=2, block=64, seed=seed, every_access=every_access)):
        found = vg.run(program(length, stored), graph, device="cuda", schedule=schedule)
    assert np.isfinite(wanted.f).all()
    for name in found.names:
        if getattr(wanted, name) is not None:
            a, b = getattr(found, name), getattr(wanted, name)
            near = (
                1e-4 if stored == vg.float32 else 2e-2
            )  # a sum in another order may round to another float16
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=near, atol=near / 10)
    np.testing.assert_array_equal(found.whole, wanted.whole)
    np.testing.assert_array_equal(found.turns, wanted.turns)


@pytest.mark.parametrize("length", [3, 16, 40])
def test_as_by_one_thread(emulated, length):
    agrees(graph_of(loops=True), length, vg.blocked_diagonals(6, 6), 1, every_access=length == 16)
    agrees(graph_of(loops=False), length, vg.AGM_E, 2)


@pytest.mark.parametrize("length", [5, 16])
def test_float16s(emulated, length):
    agrees(graph_of(loops=True), length, vg.blocked_diagonals(6, 6), 1, stored=vg.float16)
    agrees(graph_of(loops=False), length, vg.AGM_E, 2, stored=vg.float16)


def test_a_hub_alone(emulated):
    """Steps of one arc: what is known of it before the first is nothing."""
    star = vg.Graph.from_edges([0] * 20, range(1, 21), weight=range(20))
    agrees(star, 16, vg.blocked_diagonals(50, 50), 1)


@vg.operator
def swap_some(src, edge, dst):
    """Whole numbers, the same in every order: each activation adds to both ends, and counts."""
    src.sums = src.sums + edge.weight
    dst.sums = dst.sums + 2 * edge.weight
    dst.turns += 1


@vg.algorithm
def added(graph):
    sums = graph.vertex_property(vg.vector(vg.int64, 20))
    turns = graph.vertex_property(vg.int64)
    graph.edge_apply(swap_some)
    return sums, turns


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.AGM_E, vg.blocked_diagonals(9, 9)], ids=str)
def test_no_lane_reads_what_another_of_its_group_has_written(emulated, conflict):
    graph, schedule = graph_of(loops=True), vg.Schedule().at("swap_some", conflict=conflict)
    wanted = vg.run(added, graph, device="python")
    with use(EmulatedDevice(multiprocessors=2, block=64, seed=2, every_access=True)):
        found = vg.run(added, graph, device="cuda", schedule=schedule)
    np.testing.assert_array_equal(found.sums, wanted.sums)
    np.testing.assert_array_equal(found.turns, wanted.turns)
    (done,) = found.trace
    assert (done.edges > graph.num_arcs) == (conflict == vg.EDGE_LOCKED)  # some found a lock taken
