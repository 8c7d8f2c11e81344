"""What `cpu.py` measures: for each case vgraph's run, the check against SciPy, the bytes it has to move."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import graphs
import numpy as np
import roofline
from numpy.typing import NDArray
from tasks import DAMPING, ROUNDS, SOURCES, Task

import vgraph as vg

LARGE = 10_000_000
"""Arcs from which on triangles are only checked against each other."""
BLOCK = 100_000_000  # products of a step in which triangles are checked


class WrongResultError(AssertionError):
    """vgraph and SciPy disagree; a time for a wrong result is worth nothing."""


@dataclass(frozen=True)
class Instance:
    """One benchmark graph on both sides, with SciPy's answers computed when first asked for."""

    task: Task
    graph: vg.Graph

    @staticmethod
    def of(data: graphs.GraphData, directed: graphs.GraphData | None = None) -> Instance:
        """`directed`: the arcs that `data` has come from, if they have directions."""
        graph = vg.Graph.from_csr(data.row_offsets, data.column_indices, directed=False, weight=data.weight)
        return Instance(Task(data, directed or data), graph)

    @staticmethod
    def load(path: Path) -> Instance:
        """From the files that the peers read."""
        task = Task.load(path)
        return Instance.of(task.data, task.directed)

    @property
    def data(self) -> graphs.GraphData:
        return self.task.data

    def recall(self, folder: Path) -> None:
        """Take the answers that `answer` has put into a folder for this graph, if it has."""
        file = folder / f"{self.data.name}.answers.npz"
        if file.exists():
            with np.load(file) as answers:
                self.__dict__.update({name: answers[name] for name in answers.files})

    def answer(self, folder: Path) -> None:
        """Put what results are checked against into a folder; not triangles of large graphs, which take minutes."""
        names = ["levels", "distances", "ranks", "components", "cores"]
        names += ["triangles"] * (self.data.num_edges < LARGE)
        np.savez(folder / f"{self.data.name}.answers.npz", **{name: getattr(self, name) for name in names})

    def again(self) -> Instance:
        """The same with a new graph, of which is known what every peer is told: that it has no parallel edges."""
        from vgraph.graph.orient import has_parallel_arcs

        graph = vg.Graph.from_csr(self.data.row_offsets, self.data.column_indices, directed=False)
        has_parallel_arcs(graph)
        return Instance(self.task, graph)

    @cached_property
    def arcs(self) -> vg.Graph:
        """With the directions of the file, where it has them; no weights."""
        data = self.task.directed
        return vg.Graph.from_csr(data.row_offsets, data.column_indices, directed=data is not self.data)

    @cached_property
    def acyclic(self) -> vg.Graph:
        """With the arcs that lead to larger ids."""
        sources, targets, weight = self.task.acyclic
        return vg.Graph.from_edges(sources, targets, num_vertices=self.data.num_vertices, weight=weight)

    @cached_property
    def two_sides(self) -> vg.Graph:
        """The same arcs, to copies of the vertices."""
        (sources, targets, _), n = self.task.acyclic, self.data.num_vertices
        return vg.Graph.from_edges(sources, n + targets, num_vertices=2 * n, directed=False)

    @cached_property
    def definite(self) -> vg.Graph:
        """The positive definite matrix as a graph."""
        rows, columns, values = self.task.definite
        once = rows <= columns
        ends = rows[once], columns[once]
        return vg.Graph.from_edges(
            *ends, num_vertices=self.data.num_vertices, directed=False, weight=values[once]
        )

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import csr_array

        n = self.data.num_vertices
        return csr_array((self.data.weight, self.data.column_indices, self.data.row_offsets), shape=(n, n))

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        from scipy.sparse.csgraph import dijkstra

        hops: NDArray[np.float64] = dijkstra(self.matrix, indices=self.data.source, unweighted=True)
        return hops

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        from scipy.sparse.csgraph import dijkstra

        distances: NDArray[np.float64] = dijkstra(self.matrix, indices=self.data.source)
        return distances

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """Jacobi rounds in float64; the mass of vertices without edges is shared by all."""
        n, degree = self.data.num_vertices, np.diff(self.data.row_offsets)
        adjacency = self.matrix.astype(np.float64)
        adjacency.data[:] = 1.0
        rank = np.full(n, 1.0 / n)
        for _ in range(ROUNDS):
            share = np.divide(rank, degree, out=np.zeros(n), where=degree > 0)
            rank = (1 - DAMPING) / n + DAMPING * (adjacency.T @ share + rank[degree == 0].sum() / n)
        return rank

    @cached_property
    def components(self) -> NDArray[np.int64]:
        """The smallest member of each vertex's component."""
        from scipy.sparse.csgraph import connected_components

        count, label = connected_components(self.matrix, directed=False)
        smallest = np.full(count, self.data.num_vertices)
        np.minimum.at(smallest, label, np.arange(label.size))
        named: NDArray[np.int64] = smallest[label]
        return named

    @cached_property
    def triangles(self) -> int:
        """All triangles, by products of rows of the upper half, ordered by degree."""
        from scipy.sparse import csr_array

        degree = np.diff(self.data.row_offsets)
        rank = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
        sources, targets = np.repeat(rank, degree), rank[self.data.column_indices]
        keep = targets < sources
        ends = sources[keep], targets[keep]
        half = csr_array((np.ones(keep.sum(), np.int64), ends), shape=self.matrix.shape)
        work = np.cumsum(half @ np.diff(half.indptr))
        cuts = np.unique(np.searchsorted(work, np.arange(0, work[-1] + BLOCK, BLOCK)))
        parts = zip(cuts, [*cuts[1:], half.shape[0]], strict=True)
        return sum(int(((half[a:b] @ half) * half[a:b]).sum()) for a, b in parts if b > a)

    @cached_property
    def cores(self) -> NDArray[np.int64]:
        """Core numbers: vertices of at most k neighbors are taken away, all at once, until none is left."""
        left = np.diff(self.data.row_offsets)
        core = np.full(left.size, -1, np.int64)
        k = 0
        while (core < 0).any():
            now = np.flatnonzero((core < 0) & (left <= k))
            if not now.size:
                k = int(left[core < 0].min())
                continue
            core[now] = k
            beside = self.matrix.indices[_arcs_of(self.data.row_offsets, now)]
            left -= np.bincount(beside, minlength=left.size)
        return core

    @cached_property
    def size(self) -> roofline.Size:
        return roofline.Size.of(self.data, self.graph.offset_dtype.itemsize)


def check_bfs(instance: Instance, result: Any) -> None:
    expected = np.where(np.isfinite(instance.levels), instance.levels, -1).astype(np.int64)
    _same("bfs levels", result.level, expected)
    parent, source = np.asarray(result.parent), instance.data.source
    children = np.flatnonzero((expected >= 0) & (np.arange(expected.size) != source))
    _same("bfs parents' levels", expected[parent[children]], expected[children] - 1)
    _same("bfs tree edges", np.asarray(instance.matrix[parent[children], children]) > 0, True)


def check_sssp(instance: Instance, result: Any) -> None:
    dist = np.asarray(result.dist)
    reached = np.isfinite(instance.distances)
    _same("sssp reach", dist != np.iinfo(dist.dtype).max, reached)
    _same("sssp distances", dist[reached].astype(np.float64), instance.distances[reached])


def check_pagerank(instance: Instance, result: Any) -> None:
    rank = np.asarray(result.rank)
    relative = 1e-3 if rank.dtype == np.float32 else 1e-9
    worst = float(np.max(np.abs(rank - instance.ranks) / instance.ranks))
    if not worst <= relative:
        raise WrongResultError(f"pagerank {rank.dtype} is off by {worst:.2e}, more than {relative}")


def check_components(instance: Instance, result: Any) -> None:
    _same("components", result.component, instance.components)


def check_triangles(instance: Instance, result: Any) -> None:
    if instance.data.num_edges < LARGE:
        _same("triangles", result.total, instance.triangles)
    _same("triangles of all vertices", result.triangles.sum(), 3 * result.total)


def check_cores(instance: Instance, result: Any) -> None:
    _same("cores", result.core, instance.cores)


def check_betweenness(instance: Instance, result: Any) -> None:
    """Every vertex beyond a level has one path's worth there: so the sum over each level is known."""
    level = instance.levels[np.isfinite(instance.levels)].astype(np.int64)
    beyond = level.size - np.cumsum(np.bincount(level))
    inside = np.isfinite(instance.levels) & (instance.levels > 0)
    share = np.bincount(
        instance.levels[inside].astype(np.int64), result.centrality[inside], minlength=beyond.size
    )
    wrong = np.abs(share[1:] / (SOURCES / 2) - beyond[1:]).max(initial=0)  # an undirected pair counts once
    if not wrong <= 1e-6 * level.size:
        raise WrongResultError(f"betweenness: the sum over a level is off by {wrong}")


def _arcs_of(row_offsets: NDArray[np.int64], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of all arcs of `vertices`."""
    counts = row_offsets[vertices + 1] - row_offsets[vertices]
    shift = np.repeat(row_offsets[vertices] - np.cumsum(counts) + counts, counts)
    return shift + np.arange(shift.size)


def _same(what: str, found: Any, expected: Any) -> None:
    wrong = np.count_nonzero(np.asarray(found) != expected)
    if wrong:
        raise WrongResultError(f"{what}: {wrong} of {np.size(found)} differ from SciPy's")


BUSY = os.environ.get("BENCHMARK_CLOCK") == "cpu"
CLOCK = time.process_time if BUSY else time.perf_counter
"""Processor time, of all threads together, depends less on what else a machine does."""


@dataclass(frozen=True)
class Case:
    """One row per graph and thread count: `algorithm` is what the peers call it, `note` how their work differs."""

    name: str
    algorithm: str
    run: Callable[[Instance, int], Any]
    check: Callable[[Instance, Any], None]
    traffic: Callable[[Instance, Any], roofline.Traffic] | None = None
    fresh: bool = False
    note: str = ""

    def timed(self, instance: Instance, threads: int) -> tuple[Any, float]:
        """The result, and the seconds of the algorithm; if `fresh`, with what it makes on a graph that has nothing."""
        result, _ = self.whole(instance, threads)
        stats = result.stats
        return result, stats.run_seconds + (stats.prepare_seconds if self.fresh else 0.0)

    def whole(self, instance: Instance, threads: int) -> tuple[Any, float]:
        """The same with the seconds of the whole call but for compiling."""
        given = instance.again() if self.fresh else instance
        start = CLOCK()
        result = self.run(given, threads)
        taken = CLOCK() - start
        return result, taken if BUSY else taken - result.stats.compile_seconds


def _pagerank(dtype: Any, rank_bytes: int) -> Case:
    return Case(
        f"pagerank {rank_bytes * 8}-bit",
        "pagerank",
        lambda instance, threads: vg.run(
            vg.algorithms.pagerank,
            instance.graph,
            damping=DAMPING,
            tolerance=0.0,
            max_rounds=ROUNDS,
            dtype=dtype,
            threads=threads,
        ),
        check_pagerank,
        lambda instance, result: roofline.pagerank(instance.size, ROUNDS, rank_bytes),
    )


CASES = (
    Case(
        "bfs",
        "bfs",
        lambda i, threads: vg.run(vg.algorithms.bfs, i.graph, source=i.data.source, threads=threads),
        check_bfs,
        lambda i, result: roofline.bfs(i.size),
    ),
    Case(
        "sssp",
        "sssp",
        lambda i, threads: vg.run(vg.algorithms.sssp, i.graph, source=i.data.source, threads=threads),
        check_sssp,
        lambda i, result: roofline.sssp(i.size, result.stats.edges),
    ),
    _pagerank(vg.float32, 4),
    _pagerank(vg.float64, 8),
    Case(
        "cc",
        "cc",
        lambda i, threads: vg.run(vg.algorithms.connected_components, i.graph, threads=threads),
        check_components,
        lambda i, result: roofline.components(i.size),
    ),
    Case(
        "triangles",
        "triangles",
        lambda i, threads: vg.run(vg.algorithms.triangle_count, i.graph, threads=threads),
        check_triangles,
        fresh=True,
    ),
    Case(
        "betweenness",
        "betweenness",
        lambda i, threads: vg.run(
            vg.algorithms.betweenness,
            i.graph,
            sources=[i.data.source] * SOURCES,
            normalized=False,
            threads=threads,
        ),
        check_betweenness,
    ),
    *(
        [
            Case(
                "kcore",
                "kcore",
                lambda i, threads: vg.run(vg.algorithms.k_core, i.graph, threads=threads),
                check_cores,
            )
        ]
        if hasattr(vg.algorithms, "k_core")
        else []
    ),
)
