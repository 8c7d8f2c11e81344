"""Node splitting, equal shares of arcs and an order by degree against plain chunks of vertices, on graphs with hubs.

    python benchmarks/balance.py --graphs star web kron18 --blocks 5 --edges cnr-2000.el

`star` has one vertex with an arc to each of the others; `web` is read from the edge list `--edges` (cnr-2000, for
one); the others are those of `graphs.py`. Times are those inside the native code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from graphs import make
from harness import RESULTS, Sample, first_in_line, interleave, table, write_results

import vgraph as vg
from vgraph import algorithms

WAYS: dict[str, tuple[Any, str | None]] = {
    "vertex": (vg.VERTEX, None),
    "edge": (vg.EDGE, None),
    "split": (vg.SPLIT(), None),
    "by degree": (vg.VERTEX, "degree"),
}
CASES: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "bfs": (algorithms.bfs, ("visit",), {"direction": vg.PUSH, "drive": vg.DATA}),
    "sssp": (algorithms.sssp, ("relax",), {"order": vg.UNORDERED}),
    "pagerank": (algorithms.pagerank, ("gather",), {"direction": vg.PULL}),
    "components": (algorithms.label_components, ("lower",), {}),
}
LEAVES = 1 << 20


@dataclass(frozen=True)
class Row:
    """One graph, algorithm, number of threads and way to balance: seconds, and how many times as fast as vertices."""

    graph: str
    case: str
    threads: int
    way: str
    seconds: Sample
    speedup: float


def load(name: str, cache: Path, edges: Path | None) -> tuple[vg.Graph, int]:
    """A graph, and the vertex from which searches start."""
    rng = np.random.default_rng(7)
    if name == "star":
        weight = rng.integers(1, 256, LEAVES).astype(np.int32)
        ends = np.zeros(LEAVES, np.int64), np.arange(1, LEAVES + 1)
        return vg.Graph.from_edges(*ends, directed=False, weight=weight), 0
    if name == "web":
        if edges is None:
            raise SystemExit("--graphs web needs --edges FILE")
        graph = vg.read(edges, directed=False, multi_edges=False)
        sources, targets, _ = graph.edges()
        weight = rng.integers(1, 256, sources.size).astype(np.int32)
        graph = vg.Graph.from_edges(sources, targets, directed=False, weight=weight)
        return graph, int(np.argmax(graph.out_degree))
    data = make(name, cache)
    graph = vg.Graph.from_csr(data.row_offsets, data.column_indices, directed=False, weight=data.weight)
    return graph, data.source


def side(
    graph: vg.Graph, source: int, case: str, way: str, threads: int, trials: int
) -> Callable[[], list[float]]:
    """A side of a comparison: seconds of some runs after one to warm up."""
    algorithm, labels, options = CASES[case]
    balance, relabel = WAYS[way]
    schedule = vg.Schedule()
    for label in labels:
        schedule = schedule.at(label, balance=balance, **options)
    given = {"source": source} if "source" in algorithm.signature.parameters else {}
    if way == "by degree" and case == "components":
        raise ValueError("components are named by their smallest vertex")

    def run() -> list[float]:
        took = [
            vg.run(
                algorithm, graph, schedule=schedule, threads=threads, relabel=relabel, **given
            ).stats.run_seconds
            for _ in range(trials + 1)
        ]
        return took[1:]

    return run


def measure(name: str, graph: vg.Graph, source: int, args: argparse.Namespace) -> list[Row]:
    """All cases of one graph."""
    rows: list[Row] = []
    for case in args.cases:
        for threads in args.threads:
            ways = [w for w in WAYS if not (w == "by degree" and case == "components")]
            sides = {w: side(graph, source, case, w, threads, args.trials) for w in ways}
            taken = interleave(sides, args.blocks)
            plain = taken["vertex"].median
            rows += [Row(name, case, threads, w, s, plain / s.median) for w, s in taken.items()]
            shown = [f"{w} {1e3 * s.median:.2f} ms" for w, s in taken.items()]
            print(f"{name} {case}, {threads} threads: {', '.join(shown)}", flush=True)
    return rows


def main() -> None:
    """Measure, print, write `results/balance.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["star", "kron18"])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--edges", type=Path)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "balance.json")
    args = parser.parse_args()
    preferred = first_in_line()
    rows: list[Row] = []
    for name in args.graphs:
        graph, source = load(name, args.cache, args.edges)
        rows += measure(name, graph, source, args)
    cells = [
        [r.graph, r.case, str(r.threads), r.way, f"{1e3 * r.seconds.median:.2f}", f"{r.speedup:.2f}"]
        for r in rows
    ]
    print(table(["graph", "case", "threads", "way", "ms", "times as fast"], cells))
    write_results(args.out, rows, method={"preferred_session": preferred, "blocks": args.blocks})


if __name__ == "__main__":
    main()
