"""The other side: programs with GAP's command line, and Python libraries where they are installed.

Nothing here fetches or builds a peer. A program that is not there is left out, and the report says so.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graphs

TRIAL = re.compile(r"^Trial Time:\s*([0-9.]+)\s*$", re.MULTILINE)
DAMPING = 0.85


class PeerError(RuntimeError):
    """A peer failed or printed no times."""


@dataclass(frozen=True)
class Program:
    """A native program with GAP's options (-f graph -n trials -r source) and output ("Trial Time: s")."""

    label: str
    path: Path
    weighted: bool = False
    from_source: bool = False
    arguments: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        return self.path.is_file() and os.access(self.path, os.X_OK)

    def run(self, data: graphs.GraphData, cache: Path, threads: int, trials: int) -> list[float]:
        """Seconds of `trials` trials after one that warms up; reading the file is not in them."""
        file = graphs.gap_file(data, cache, weighted=self.weighted)
        command = [str(self.path), "-f", str(file), "-n", str(trials + 1), *self.arguments]
        if self.from_source:
            command += ["-r", str(data.source)]
        settings = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run(command, capture_output=True, text=True, env=settings)
        seconds = [float(found) for found in TRIAL.findall(done.stdout)]
        if done.returncode or len(seconds) != trials + 1:
            raise PeerError(
                f"{' '.join(command)}: exit {done.returncode}, {len(seconds)} times\n{done.stderr}"
            )
        return seconds[1:]


def gap(folder: Path, algorithm: str, *, delta: int, rounds: int) -> list[Program]:
    """The GAP programs for one of our algorithms; the first is the one that does the same work.

    GAP's bfs is direction-optimising and its pr updates in place; pr_spmv keeps rounds apart as vgraph does.
    Its cc is Afforest, cc_sv is Shiloach-Vishkin. Its sssp is delta-stepping.
    """
    fixed = ("-i", str(rounds), "-t", "0")
    programs = {
        "bfs": [Program("GAP bfs", folder / "bfs", from_source=True)],
        "sssp": [
            Program(
                "GAP sssp", folder / "sssp", weighted=True, from_source=True, arguments=("-d", str(delta))
            )
        ],
        "pagerank": [
            Program("GAP pr_spmv", folder / "pr_spmv", arguments=fixed),
            Program("GAP pr", folder / "pr", arguments=fixed),
        ],
        "cc": [Program("GAP cc", folder / "cc"), Program("GAP cc_sv", folder / "cc_sv")],
    }
    return programs[algorithm]


def python_peer(
    library: str, algorithm: str, data: graphs.GraphData, threads: int, rounds: int
) -> Callable[[], float] | None:
    """A function that runs once and returns seconds; None where the library lacks it or is not there."""
    try:
        return _LIBRARIES[library](algorithm, data, threads, rounds)
    except ImportError:
        return None


def _timed(work: Callable[[], Any]) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return run


def _pick(algorithm: str, work: dict[str, Callable[[], Any]]) -> Callable[[], float] | None:
    return _timed(work[algorithm]) if algorithm in work else None


def _scipy(algorithm: str, data: graphs.GraphData, threads: int, rounds: int) -> Callable[[], float] | None:
    from scipy.sparse import csgraph, csr_array

    if threads != 1:
        return None
    n = data.num_vertices
    matrix = csr_array((data.weight, data.column_indices, data.row_offsets), shape=(n, n))
    return _pick(
        algorithm,
        {
            "bfs": lambda: csgraph.breadth_first_order(matrix, data.source),
            "sssp": lambda: csgraph.dijkstra(matrix, indices=data.source),
            "cc": lambda: csgraph.connected_components(matrix, directed=False),
        },
    )


def _networkx(
    algorithm: str, data: graphs.GraphData, threads: int, rounds: int
) -> Callable[[], float] | None:
    import networkx as nx

    if threads != 1:
        return None
    graph = nx.Graph()
    graph.add_nodes_from(range(data.num_vertices))
    graph.add_weighted_edges_from(zip(*(array.tolist() for array in data.edges()), strict=True))
    return _pick(
        algorithm,
        {
            "bfs": lambda: nx.single_source_shortest_path_length(graph, data.source),
            "sssp": lambda: nx.single_source_dijkstra_path_length(graph, data.source),
            "cc": lambda: list(nx.connected_components(graph)),
        },
    )


def _networkit(
    algorithm: str, data: graphs.GraphData, threads: int, rounds: int
) -> Callable[[], float] | None:
    import networkit as nk

    nk.setNumberOfThreads(threads)
    sources, targets, weight = data.edges()
    once = sources < targets
    ends = sources[once].astype("uint64"), targets[once].astype("uint64")  # narrower ids are read as 64-bit
    graph = nk.GraphFromCoo((weight[once].astype("float64"), ends), n=data.num_vertices, weighted=True)
    ranking = nk.centrality.PageRank(graph, damp=DAMPING, tol=0.0)
    ranking.maxIterations = rounds
    return _pick(
        algorithm,
        {
            "bfs": lambda: nk.distance.BFS(graph, data.source, storePaths=False).run(),
            "sssp": lambda: nk.distance.Dijkstra(graph, data.source, storePaths=False).run(),
            "pagerank": ranking.run,
            "cc": lambda: nk.components.ParallelConnectedComponents(graph).run(),
        },
    )


def _graphblas(
    algorithm: str, data: graphs.GraphData, threads: int, rounds: int
) -> Callable[[], float] | None:
    import graphblas as gb

    gb.ss.config["nthreads"] = threads
    sources, targets, weight = data.edges()
    n = data.num_vertices
    matrix = gb.Matrix.from_coo(sources, targets, weight, nrows=n, ncols=n)

    def bfs() -> None:
        parent = gb.Vector(gb.dtypes.INT32, n)
        frontier = gb.Vector(gb.dtypes.INT32, n)
        parent[data.source] = frontier[data.source] = data.source
        while frontier.nvals:
            frontier(~parent.S, replace=True) << gb.semiring.any_secondi(frontier @ matrix)
            parent(frontier.S) << frontier

    def sssp() -> None:
        dist = gb.Vector(gb.dtypes.INT32, n)
        dist[data.source] = 0
        frontier = dist.dup()
        while frontier.nvals:
            reached = gb.semiring.min_plus(frontier @ matrix).new()
            known = gb.binary.lt(reached | dist, left_default=2**31 - 1, right_default=2**31 - 1).new()
            frontier = reached.dup(mask=known.V)
            dist(gb.binary.min) << frontier

    def pagerank() -> None:
        degree = matrix.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP32)
        rank = gb.Vector.from_scalar(1.0 / n, n, gb.dtypes.FP32)
        for _ in range(rounds):
            share = gb.binary.truediv(rank & degree).new(gb.dtypes.FP32)
            share << share * DAMPING
            rank << (1.0 - DAMPING) / n
            rank(gb.binary.plus) << gb.semiring.plus_second(matrix @ share)

    return _pick(algorithm, {"bfs": bfs, "sssp": sssp, "pagerank": pagerank})


_LIBRARIES = {"scipy": _scipy, "networkx": _networkx, "networkit": _networkit, "graphblas": _graphblas}
PYTHON_PEERS = tuple(_LIBRARIES)
