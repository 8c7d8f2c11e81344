"""Missing barriers are found: right kernels stand every interleaving, kernels without one of their barriers do not.

Each fault takes one barrier out of the headers, where text is replaced by text; some seed must then give a wrong
result, a deadlock or a misuse. `every_access` lets plain accesses interleave, too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import emulator
import numpy as np
import pytest
from emulated_device import INCLUDE, EmulatedDevice
from peeling import cores
from schedule_matrix import Kind
from schedule_matrix import graph_of as matrix_graph

import vgraph as vg
from vgraph.errors import InternalError
from vgraph.runtime.devices.cuda import use

pytestmark = pytest.mark.skipif(emulator.unavailable() is not None, reason=str(emulator.unavailable()))

A = vg.algorithms
S = vg.Schedule()


def graph_of(n: int, m: int) -> vg.Graph:
    """A graph with a hub, weights from 1 on."""
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, m), np.where(rng.random(m) < 0.2, 3, rng.integers(0, n, m))
    return vg.Graph.from_edges(
        *ends, num_vertices=n, directed=False, weight=rng.integers(1, 20, m).astype(np.int32)
    )


def power_law() -> vg.Graph:
    """A graph on which some buckets turn out to be empty."""
    return matrix_graph("power law", Kind(False, "float64"), 21931)


@dataclass(frozen=True)
class Program:
    """An algorithm under a schedule, and the result that has one right answer."""

    algorithm: vg.AlgorithmDef
    schedule: vg.Schedule
    result: str
    arguments: tuple[tuple[str, int], ...] = ()

    def wrong(
        self,
        graph: vg.Graph,
        seed: int,
        shape: tuple[int, int],
        want: np.ndarray,
        include: Path = INCLUDE,
    ) -> bool:
        """Whether a run with that interleaving fails, or gives something else than `want`."""
        device = EmulatedDevice(
            multiprocessors=shape[0],
            block=shape[1],
            shared=512,
            seed=seed,
            every_access=True,
            include=include,
        )
        try:
            with use(device):
                found = vg.run(
                    self.algorithm, graph, schedule=self.schedule, device="cuda", **dict(self.arguments)
                )
        except InternalError:
            return True
        return not np.array_equal(getattr(found, self.result), want)

    def right(self, graph: vg.Graph) -> np.ndarray:
        """What the CPU gives."""
        found = vg.run(self.algorithm, graph, device="cpu", threads=1, **dict(self.arguments))
        return np.asarray(getattr(found, self.result))


FROM_0 = (("source", 0),)
BFS = Program(A.bfs, S.at("visit", direction=vg.PUSH), "level", FROM_0)
BY_ARCS = Program(A.bellman_ford, S.at("relax", balance=vg.EDGE), "dist", FROM_0)
BY_BINS = Program(A.bellman_ford, S.at("relax", balance=vg.TWC), "dist", FROM_0)
BY_SPLIT = Program(A.bellman_ford, S.at("relax", balance=vg.SPLIT(8)), "dist", FROM_0)
BUCKETS = Program(A.sssp, S.at("relax", order=vg.delta_stepping(4)), "dist", FROM_0)
HOPS = Program(A.bfs, S.at("visit", direction=vg.PUSH, hops=3), "level", FROM_0)
HOPS_IN_BUCKETS = Program(A.sssp, S.at("relax", order=vg.delta_stepping(8), hops=4), "dist", FROM_0)
TILES = Program(A.sssp, S.at("relax", order=vg.delta_stepping(0.5), tiles=32), "dist", FROM_0)
CORES = Program(cores, S, "core")
INDEPENDENT = Program(A.maximal_independent_set, S, "member")

PROGRAMS = {
    "bfs": BFS, "by arcs": BY_ARCS, "by bins": BY_BINS, "by split": BY_SPLIT, "buckets": BUCKETS,
    "hops": HOPS, "hops in buckets": HOPS_IN_BUCKETS, "tiles": TILES, "cores": CORES, "independent": INDEPENDENT,
}  # fmt: skip


@pytest.mark.covering
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(2, 32), (1, 64)], ids=str)
def test_right_kernels_stand_every_interleaving(name: str, shape: tuple[int, int]) -> None:
    graph, program = graph_of(60, 240), PROGRAMS[name]
    want = program.right(graph)
    wrong = [seed for seed in range(1, 7) if program.wrong(graph, seed, shape, want)]
    assert wrong == []


@dataclass(frozen=True)
class Fault:
    """In header `file`, the first `old` behind `anchor` becomes `new`; `program` shows it on `shape` of blocks."""

    file: str
    anchor: str
    old: str
    new: str
    program: Program
    shape: tuple[int, int]

    def plant(self, folder: Path) -> None:
        """Copy the headers with the fault in them."""
        for path in INCLUDE.glob("*.cuh"):
            text = path.read_text()
            if path.name == self.file:
                at = text.index(self.old, text.index(self.anchor))
                text = text[:at] + self.new + text[at + len(self.old) :]
            (folder / path.name).write_text(text)

    def found(self, include: Path) -> bool:
        """Whether it is shown on one of the graphs."""
        return any(self.shown(graph, include) for graph in (graph_of(150, 600), power_law()))

    def shown(self, graph: vg.Graph, include: Path) -> bool:
        """Whether one of the interleavings goes wrong on `graph`."""
        want = self.program.right(graph)
        seeds = range(1, SEEDS)
        return any(self.program.wrong(graph, seed, self.shape, want, include) for seed in seeds)


SYNC = "__syncthreads();"
FAULTS = {
    "grid barrier: nobody waits for other blocks": Fault(
        "grid.cuh", "bool meet(Counted counted, After after)", "seen < target", "false", BFS, (3, 32)
    ),
    "grid barrier: a block arrives before all its threads": Fault(
        "grid.cuh", "bool meet(Counted counted, After after)", SYNC, "", BY_ARCS, (2, 64)
    ),
    "grid barrier: threads go on before their first one": Fault(
        "grid.cuh", "if (used > 0) ++turn;", SYNC, "", BFS, (2, 64)
    ),
    "alone: the others read while one thread writes": Fault(
        "grid.cuh", "void alone(F f) const", "f();\n    " + SYNC, "f();", BUCKETS, (1, 64)
    ),
    "alone: one thread writes while the others read": Fault(
        "grid.cuh", "void alone(F f) const", SYNC, "", CORES, (1, 64)
    ),
    "equal shares: the line is read before it is laid out": Fault(
        "balance.cuh", "ends[threadIdx.x] = until;", SYNC, "", BY_ARCS, (1, 64)
    ),
    "equal shares: sums of warps are read too early": Fault(
        "balance.cuh", "shared.of_warps[warp()] = until;", SYNC, "", BY_ARCS, (1, 64)
    ),
    "bins: the number of large vertices is zeroed while it is read": Fault(
        "balance.cuh", "shared.count = 0;", SYNC, "", BY_BINS, (1, 64)
    ),
    "splitting: pieces are walked before all hubs are set aside": Fault(
        "balance.cuh", "True if the run is to stop.", "if (team.meet()) return true;", "", BY_SPLIT, (2, 64)
    ),
    "buckets: one block fills a bucket that another still counts": Fault(
        "buckets.cuh", "All blocks have counted", "team.meet()", "false", CORES, (3, 32)
    ),
    "hops: a hop begins before the one before ends": Fault(
        "local.cuh", "u32 next_hop()", SYNC, "", HOPS, (1, 64)
    ),
    "hops: places in the queue of the grid are used before they are known": Fault(
        "frontier.cuh", "base = atomicAdd", SYNC, "", HOPS_IN_BUCKETS, (1, 64)
    ),
    "tiles: it is taken out of the ring behind its marks": Fault(
        "tiles.cuh", "u32 found = 0;", "atomicExch(&ringed[found - 1], 0u);", "", TILES, (2, 64)
    ),
}
SEEDS = 40
FOUND = 3


@pytest.mark.parametrize("name", FAULTS)
def test_a_missing_barrier_is_found(name: str, tmp_path: Path) -> None:
    """In a process of its own, forked from one that has vgraph: a fault may write where nothing is."""
    FAULTS[name].plant(tmp_path)
    processes = get_context("forkserver")
    processes.set_forkserver_preload([module for module in sys.modules if module.startswith("vgraph")])
    child = processes.Process(target=find, args=(name, tmp_path))
    child.start()
    child.join(600)
    assert child.exitcode is not None
    assert child.exitcode == FOUND or child.exitcode < 0  # or killed by a signal


def find(name: str, include: Path) -> None:
    """Leave with FOUND if the fault is found."""
    sys.exit(FOUND if FAULTS[name].found(include) else 0)
