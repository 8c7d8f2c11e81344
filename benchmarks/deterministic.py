"""What `deterministic=True` costs: the same runs with and without it, in turns.

    python benchmarks/deterministic.py --graphs kron16 road300 --blocks 5

Times are those inside the native code.
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

CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "pagerank": (algorithms.pagerank, {"max_rounds": 20, "tolerance": 0.0}),
    "hits": (algorithms.hits, {"max_rounds": 20, "tolerance": 0.0}),
    "katz": (algorithms.katz, {"alpha": 1e-5}),
    "betweenness": (algorithms.betweenness, {"sources": 4}),
    "spmv": (algorithms.spmv, {"x": True}),
    "modularity": (algorithms.modularity, {"community": True}),
    "louvain": (algorithms.louvain, {}),
    "bfs": (algorithms.bfs, {"source": 0}),
    "sssp": (algorithms.sssp, {"source": 0}),
    "components": (algorithms.connected_components, {}),
}


@dataclass(frozen=True)
class Row:
    """One graph, algorithm and number of threads: seconds without and with it, and how many times as long it takes."""

    graph: str
    case: str
    threads: int
    free: Sample
    deterministic: Sample
    ratio: float


def arguments(given: dict[str, Any], graph: vg.Graph, source: int) -> dict[str, Any]:
    """The arguments of a case on this graph."""
    rng = np.random.default_rng(7)
    known = {
        "source": source,
        "sources": rng.integers(0, graph.num_vertices, 4),
        "x": rng.random(graph.num_vertices),
        "community": rng.integers(0, 50, graph.num_vertices),
    }
    return {name: known.get(name, value) for name, value in given.items()}


def side(graph: vg.Graph, case: str, source: int, threads: int, fixed: bool) -> Callable[[], list[float]]:
    """A side of the comparison: seconds of two runs after one to warm up."""
    algorithm, given = CASES[case]
    chosen = arguments(given, graph, source)

    def run() -> list[float]:
        took = [
            vg.run(algorithm, graph, threads=threads, deterministic=fixed, **chosen).stats.run_seconds
            for _ in range(3)
        ]
        return took[1:]

    return run


def main() -> None:
    """Measure, print, write `results/deterministic.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["kron16", "road300"])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "deterministic.json")
    parser.add_argument("--note", default="")
    args = parser.parse_args()
    preferred = first_in_line()
    rows: list[Row] = []
    for name in args.graphs:
        data = make(name, args.cache)
        graph = vg.Graph.from_csr(data.row_offsets, data.column_indices, directed=False, weight=data.weight)
        for case in args.cases:
            for threads in args.threads:
                ways = {"free": False, "deterministic": True}
                sides = {way: side(graph, case, data.source, threads, on) for way, on in ways.items()}
                taken = interleave(sides, args.blocks)
                ratio = taken["deterministic"].median / taken["free"].median
                rows.append(Row(name, case, threads, taken["free"], taken["deterministic"], ratio))
                print(f"{name} {case}, {threads} threads: {ratio:.2f}", flush=True)
    shown = [[r.graph, r.case, str(r.threads), f"{1e3 * r.free.median:.2f}", f"{r.ratio:.2f}"] for r in rows]
    print(table(["graph", "case", "threads", "ms without", "times as long"], shown))
    method = {"preferred_session": preferred, "blocks": args.blocks, "note": args.note}
    write_results(args.out, rows, method=method)


if __name__ == "__main__":
    main()
