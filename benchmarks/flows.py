"""Maximum flows beside SciPy (Dinic) and igraph (push and relabel), each in turn on the same networks.

    python benchmarks/flows.py [--road FILE]... [--side 500] [--turns 5] [--out FILE]

Times are the least of the turns: of vgraph those of the run (`result.stats.run_seconds`), with 1 and 2 threads; of
SciPy the whole call on a CSR matrix, of igraph that of `maxflow_value` on its own graph.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import igraph
import numpy as np
from harness import RESULTS, write_results
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import vgraph as vg


@dataclass(frozen=True)
class Row:
    """A network, and the least milliseconds of each program."""

    network: str
    vertices: int
    arcs: int
    value: int
    ms: dict[str, float]


Network = tuple[int, np.ndarray, np.ndarray, np.ndarray, int, int]


def grid(side: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Arcs both ways between neighbors, with capacities by lot."""
    ids, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(0)
    a = np.r_[ids[:-1].ravel(), ids[:, :-1].ravel()]
    b = np.r_[ids[1:].ravel(), ids[:, 1:].ravel()]
    return np.r_[a, b], np.r_[b, a], rng.integers(1, most, 2 * a.size), rng


def networks(side: int, roads: list[str]) -> Iterator[tuple[str, Network]]:
    """Grids from corner to corner, from side to side, and cut in two as images are; roads between two, and many."""
    n = side * side
    a, b, c, rng = grid(side, 100)
    yield f"grid {side}, corners", (n, a, b, c, 0, n - 1)
    ids = np.arange(n).reshape(side, side)
    left, right = np.full(side, n), np.full(side, n + 1)
    ends = np.r_[a, left, ids[:, -1]], np.r_[b, ids[:, 0], right]
    yield f"grid {side}, sides", (n + 2, *ends, np.r_[c, np.full(2 * side, 1000)], n, n + 1)
    a, b, c, rng = grid(side, 30)
    wave = np.add.outer(np.sin(np.arange(side) / 30), np.cos(np.arange(side) / 40)).ravel()
    light = rng.integers(-60, 60, n) + (20 * wave).astype(int)
    p, q = np.flatnonzero(light > 0), np.flatnonzero(light < 0)
    ends = np.r_[a, np.full(p.size, n), q], np.r_[b, p, np.full(q.size, n + 1)]
    yield f"grid {side}, image", (n + 2, *ends, np.r_[c, light[p], -light[q]], n, n + 1)
    for road in roads:
        graph = vg.read(vg.data.path(road) if road == "amsterdam" else road)
        a, b, _ = graph.edges()
        if not graph.directed:
            a, b = np.r_[a, b], np.r_[b, a]
        n, rng, name = graph.num_vertices, np.random.default_rng(3), road.rpartition("/")[2]
        c = rng.integers(1, 100, a.size)
        s, t = rng.choice(np.flatnonzero(np.bincount(a, minlength=n) >= 4), 2, replace=False).tolist()
        yield f"{name}, two", (n, a, b, c, s, t)
        v, k = rng.choice(n, 400, replace=False), 200
        ends = np.r_[a, np.full(k, n), v[k:]], np.r_[b, v[:k], np.full(k, n + 1)]
        yield f"{name}, many", (n + 2, *ends, np.r_[c, np.full(2 * k, 1000)], n, n + 1)


def calls(network: Network) -> dict[str, Callable[[], tuple[Any, float | None]]]:
    """By name what computes the value, and the seconds of it where it says so itself."""
    n, a, b, c, s, t = network
    graph = vg.Graph.from_edges(a, b, num_vertices=n, capacity=c)
    matrix = csr_array((c.astype(np.int32), (a, b)), shape=(n, n))
    matrix.sum_duplicates()
    other, capacity = igraph.Graph(n, np.c_[a, b], directed=True), c.tolist()

    def ours(threads: int) -> tuple[Any, float]:
        found = vg.run(vg.algorithms.max_flow, graph, source=s, sink=t, threads=threads)
        return found.value, found.stats.run_seconds

    return {
        "vgraph 1": lambda: ours(1),
        "vgraph 2": lambda: ours(2),
        "scipy": lambda: (maximum_flow(matrix, s, t).flow_value, None),
        "igraph": lambda: (other.maxflow_value(s, t, capacity), None),
    }


def main() -> None:
    """Measure, print, write `results/flows.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--road", action="append", default=None, help="a file that vg.read takes")
    parser.add_argument("--side", type=int, default=500)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "flows.json")
    options = parser.parse_args()
    rows = []
    for name, network in networks(options.side, options.road or ["amsterdam"]):
        some, best, values = calls(network), {}, set()
        for _ in range(options.turns):
            for which, call in some.items():
                start = time.perf_counter()
                value, seconds = call()
                took = time.perf_counter() - start if seconds is None else seconds
                best[which] = min(best.get(which, took), took)
                values.add(int(value))
        assert len(values) == 1, (name, values)
        ms = {which: round(1000 * took, 2) for which, took in best.items()}
        rows.append(Row(name, network[0], network[1].size, values.pop(), ms))
        print(*rows[-1].__dict__.values(), flush=True)
    write_results(options.out, rows)


if __name__ == "__main__":
    main()
