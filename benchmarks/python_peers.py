"""Python libraries as peers: a process that loads a graph, and times one algorithm as often as it is told to.

python benchmarks/python_peers.py LIBRARY ALGORITHM GRAPH.npz THREADS ROUNDS SOURCES

It prints `[]` when it is ready. For each line with a number of trials it runs once more than that, and prints the
seconds of all runs but the first as JSON. It needs NumPy and the library, not vgraph (but for `networkx-vgraph`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graphs
import numpy as np

DAMPING = 0.85
Work = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Task:
    """What is to be run: PageRank takes `rounds`, betweenness runs from the graph's source `sources` times."""

    data: graphs.GraphData
    threads: int
    rounds: int
    sources: int


def scipy(task: Task) -> Work:
    """Serial, compiled."""
    from scipy.sparse import csgraph, csr_array

    data, n = task.data, task.data.num_vertices
    matrix = csr_array((data.weight, data.column_indices, data.row_offsets), shape=(n, n))
    return {
        "bfs": lambda: csgraph.breadth_first_order(matrix, data.source),
        "sssp": lambda: csgraph.dijkstra(matrix, indices=data.source),
        "cc": lambda: csgraph.connected_components(matrix, directed=False),
    }


def networkx(task: Task) -> Work:
    """Serial, plain Python; its PageRank is SciPy's, and stops when it has converged."""
    return _networkx(task, {})[1]


def networkx_vgraph(task: Task) -> Work:
    """The same calls with `backend="vgraph"`: each converts the graph first."""
    graph, work = _networkx(task, {"backend": "vgraph"})

    def fresh(call: Callable[[], Any]) -> Callable[[], Any]:
        def converted() -> Any:
            graph.__networkx_cache__.clear()
            return call()

        return converted

    return {name: fresh(call) for name, call in work.items()}


def networkx_vgraph_cached(task: Task) -> Work:
    """The same where NetworkX has kept the converted graph."""
    return _networkx(task, {"backend": "vgraph"})[1]


def _networkx(task: Task, how: dict[str, Any]) -> tuple[Any, Work]:
    import networkx as nx

    nx.config.warnings_to_ignore.add("cache")
    data, graph = task.data, nx.Graph()
    graph.add_nodes_from(range(data.num_vertices))
    graph.add_weighted_edges_from(zip(*(array.tolist() for array in data.edges()), strict=True))
    return graph, {
        "bfs": lambda: nx.single_source_shortest_path_length(graph, data.source, **how),
        "sssp": lambda: nx.single_source_dijkstra_path_length(graph, data.source, **how),
        "pagerank": lambda: nx.pagerank(graph, weight=None, **how),
        "cc": lambda: list(nx.connected_components(graph, **how)),
        "triangles": lambda: nx.triangles(graph, **how),
        "betweenness": lambda: nx.betweenness_centrality(graph, k=task.sources, seed=1, **how),
        "kcore": lambda: nx.core_number(graph, **how),
    }


def igraph(task: Task) -> Work:
    """C behind Python, serial; its PageRank stops when it has converged."""
    import igraph as ig

    data = task.data
    sources, targets, weight = data.edges()
    once = sources < targets
    edges = np.stack((sources[once], targets[once]), axis=1).tolist()
    graph = ig.Graph(n=data.num_vertices, edges=edges, directed=False)
    graph.es["weight"] = weight[once].tolist()
    chosen = [(data.source + k) % data.num_vertices for k in range(task.sources)]
    return {
        "bfs": lambda: graph.distances(source=data.source),
        "sssp": lambda: graph.distances(source=data.source, weights="weight"),
        "pagerank": lambda: graph.pagerank(damping=DAMPING),
        "cc": lambda: graph.connected_components(),
        "triangles": lambda: graph.list_triangles(),
        "betweenness": lambda: graph.betweenness(sources=chosen),
        "kcore": lambda: graph.coreness(),
    }


def networkit(task: Task) -> Work:
    """C++ behind Python. Its Dijkstra, triangle scores and betweenness are partly serial."""
    import networkit as nk

    nk.setNumberOfThreads(task.threads)
    data = task.data
    sources, targets, weight = data.edges()
    once = sources < targets
    ends = sources[once].astype("uint64"), targets[once].astype("uint64")  # narrower ids are read as 64-bit
    graph = nk.GraphFromCoo((weight[once].astype("float64"), ends), n=data.num_vertices, weighted=True)
    bare = nk.graphtools.toUnweighted(graph)
    bare.indexEdges()
    ranking = nk.centrality.PageRank(graph, damp=DAMPING, tol=0.0)
    ranking.maxIterations = task.rounds
    return {
        "bfs": lambda: nk.distance.BFS(graph, data.source, storePaths=False).run(),
        "sssp": lambda: nk.distance.Dijkstra(graph, data.source, storePaths=False).run(),
        "pagerank": ranking.run,
        "cc": lambda: nk.components.ParallelConnectedComponents(graph).run(),
        "triangles": lambda: nk.sparsification.TriangleEdgeScore(bare).run(),
        "betweenness": lambda: nk.centrality.EstimateBetweenness(
            bare, task.sources, normalized=False, parallel=task.threads > 1
        ).run(),
        "kcore": lambda: nk.centrality.CoreDecomposition(bare).run(),
    }


def graphblas(task: Task) -> Work:
    """SuiteSparse:GraphBLAS by python-graphblas, in the way of LAGraph."""
    import graphblas as gb

    gb.ss.config["nthreads"] = task.threads
    data, n = task.data, task.data.num_vertices
    sources, targets, weight = data.edges()
    matrix = gb.Matrix.from_coo(sources, targets, weight, nrows=n, ncols=n)
    pattern = gb.Matrix.from_coo(sources, targets, True, dtype=bool, nrows=n, ncols=n)

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
        for _ in range(task.rounds):
            share = gb.binary.truediv(rank & degree).new(gb.dtypes.FP32)
            share << share * DAMPING
            rank << (1.0 - DAMPING) / n
            rank(gb.binary.plus) << gb.semiring.plus_second(matrix @ share)

    def triangles() -> int:
        degree = np.diff(data.row_offsets)
        order = np.argsort(degree, kind="stable")
        sorted_ = pattern[order, order].new() if degree.mean() > 10 else pattern
        lower = sorted_.select("tril").new()
        counted = gb.semiring.plus_pair(lower @ lower.T).new(gb.dtypes.INT64, mask=lower.S)
        return int(counted.reduce_scalar().new().value or 0)

    def betweenness() -> None:
        """Brandes with all sources in one matrix, a row for each (LAGraph's algorithm)."""
        k = task.sources
        rows, columns = np.arange(k), np.full(k, data.source)
        paths = gb.Matrix.from_coo(rows, columns, 1.0, nrows=k, ncols=n)
        frontier = gb.semiring.plus_first(paths @ pattern).new(gb.dtypes.FP64, mask=~paths.S)
        levels = []
        while frontier.nvals:
            levels.append(frontier.dup(bool))
            paths(gb.binary.plus) << frontier
            frontier(~paths.S, replace=True) << gb.semiring.plus_first(frontier @ pattern)
        worth = gb.Matrix.from_scalar(1.0, k, n, gb.dtypes.FP64)
        for above, below in zip(reversed(levels), reversed([None, *levels[:-1]]), strict=True):
            if below is None:
                break
            share = gb.binary.truediv(worth & paths).new(mask=above.S)
            gained = gb.semiring.plus_first(share @ pattern).new(mask=below.S)
            worth(gb.binary.plus) << gb.binary.times(gained & paths)

    return {
        "bfs": bfs,
        "sssp": sssp,
        "pagerank": pagerank,
        "triangles": triangles,
        "betweenness": betweenness,
    }


def numba(task: Task) -> Work:
    """Hand-written: k-core by buckets, serial (Batagelj and Zaversnik 2003)."""
    import numba as nb

    @nb.njit(cache=False)  # type: ignore[misc]
    def cores(offsets: Any, columns: Any) -> Any:
        n = offsets.size - 1
        degree = (offsets[1:] - offsets[:-1]).astype(np.int32)
        start = np.zeros(degree.max() + 2, np.int64)
        for v in range(n):
            start[degree[v] + 1] += 1
        for d in range(1, start.size):
            start[d] += start[d - 1]
        place, order, free = np.empty(n, np.int64), np.empty(n, np.int32), start.copy()
        for v in range(n):
            place[v] = free[degree[v]]
            order[place[v]] = v
            free[degree[v]] += 1
        for i in range(n):
            v = order[i]
            for k in range(offsets[v], offsets[v + 1]):
                u = columns[k]
                if degree[u] > degree[v]:
                    first = start[degree[u]]
                    if first <= i:
                        first = i + 1
                    other = order[first]
                    if other != u:
                        order[place[u]], place[other] = other, place[u]
                        order[first], place[u] = u, first
                    start[degree[u]] = first + 1
                    degree[u] -= 1
        return degree

    return {"kcore": lambda: cores(task.data.row_offsets, task.data.column_indices)}


LIBRARIES: dict[str, Callable[[Task], Work]] = {
    "graphblas": graphblas,
    "networkit": networkit,
    "numba": numba,
    "scipy": scipy,
    "igraph": igraph,
    "networkx": networkx,
    "networkx-vgraph": networkx_vgraph,
    "networkx-vgraph-cached": networkx_vgraph_cached,
}


def main() -> None:
    library, algorithm, path, *numbers = sys.argv[1:]
    threads, rounds, sources = map(int, numbers)
    data = graphs.GraphData.load(Path(path))
    if data is None:
        raise SystemExit(f"{path} is of another format")
    work = LIBRARIES[library](Task(data, threads, rounds, sources)).get(algorithm)
    if work is None:
        raise SystemExit(f"it has no {algorithm}")
    print("[]", flush=True)
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line) + 1):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds[1:]), flush=True)


if __name__ == "__main__":
    main()
