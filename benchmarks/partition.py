"""Parts by vgraph and by METIS (and others): cut, balance and time, in turns.

    python benchmarks/partition.py --data ../shared/data --blocks 3

Graphs are files of the folder `--data`, `delaunayN` (N random points in a square) or those of `graphs.py`. A cut is the
geometric mean over seeds; large graphs have one. Seconds are of the method alone, the least of all blocks and seeds;
vgraph's with 1 and 2 threads. Processor seconds are those of one thread, which other load on the machine makes no
longer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from graphs import make
from harness import RESULTS, first_in_line, table, write_results

import vgraph as vg
from vgraph.partitioning import Partition, measured

FILES = {
    "4elt": "mesh/4elt.graph.xz",
    "delaunay_n15": "mesh/delaunay_n15.graph.xz",
    "copter2": "mesh/copter2.graph.xz",
    "wing": "mesh/wing.graph.xz",
    "mdual": "mesh/mdual.graph.xz",
    "USA-road-FLA": "road/USA-road-FLA.pace.gr.xz",
}
LARGE = 1 << 22
"""Arcs above which a graph is measured once."""


@dataclass(frozen=True)
class Row:
    """One graph and number of parts: cut, balance, seconds and processor seconds by method."""

    graph: str
    vertices: int
    edges: int
    k: int
    cut: dict[str, float]
    balance: dict[str, float]
    seconds: dict[str, float]
    processor: dict[str, float]


def load(name: str, data: Path, cache: Path) -> vg.Graph:
    """The undirected graph of that name."""
    if name in FILES:
        return undirected(vg.read(data / FILES[name]))
    if name.startswith("delaunay"):
        ends = _delaunay(int(name.removeprefix("delaunay")), cache / f"{name}.npy")
        return vg.Graph.from_edges(*ends, directed=False, multi_edges=False, keep_order=False)
    found = make(name, cache)
    return vg.Graph.from_csr(found.row_offsets, found.column_indices, directed=False)


def _delaunay(points: int, kept: Path) -> Any:
    """The ends of the edges of so many random points, twice most of them; made once."""
    if not kept.exists():
        from scipy.spatial import Delaunay

        corners = Delaunay(np.random.default_rng(1).random((points, 2))).simplices
        ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, np.ascontiguousarray(ends.T))
    return np.load(kept)


def kahip_fast(graph: vg.Graph, k: int, seed: int) -> Partition:
    """KaHIP's configuration "fast", which `vg.partition` has no word for."""
    import kahip

    rows, columns = (x.astype(np.int64).tolist() for x in (graph.out.row_offsets, graph.out.column_indices))
    ones = [1] * graph.num_vertices, rows, [1] * graph.num_arcs, columns
    started = time.perf_counter()
    _, parts = kahip.kaffpa(*ones, k, 0.03, True, seed, kahip.FAST)
    seconds = time.perf_counter() - started
    return replace(measured(graph, parts, k), seconds=seconds)


def undirected(graph: vg.Graph) -> vg.Graph:
    """Without directions and properties."""
    sources, targets, _ = graph.edges()
    n = graph.num_vertices
    return vg.Graph.from_edges(
        sources, targets, num_vertices=n, directed=False, multi_edges=False, self_loops=False
    )


def ways(
    methods: list[str], threads: list[int], devices: list[str]
) -> dict[str, Callable[[vg.Graph, int, int], Partition]]:
    """The sides of the comparison, by name."""
    found: dict[str, Callable[[vg.Graph, int, int], Partition]] = {}
    for t in threads:
        found[f"vgraph, {t} thr"] = lambda g, k, s, t=t: vg.partition(g, k, seed=s, threads=t)
    for device in devices:
        found[f"vgraph, {device}"] = lambda g, k, s, d=device: vg.partition(g, k, seed=s, device=d)
    for method in methods:
        if method == "kahip-fast":
            found[method] = kahip_fast
            continue
        found[method] = lambda g, k, s, m=method: vg.partition(g, k, m, seed=s)
    return found


def measure(name: str, graph: vg.Graph, k: int, sides: dict[str, Any], seeds: int, blocks: int) -> Row:
    """All sides in turns, each with the same seeds."""
    cuts: dict[str, dict[int, int]] = {side: {} for side in sides}
    balance = dict.fromkeys(sides, 0.0)
    seconds, processor = dict.fromkeys(sides, float("inf")), dict.fromkeys(sides, float("inf"))
    for _ in range(blocks):
        for seed in range(1, seeds + 1):
            for side, run in sides.items():
                started = time.process_time()
                found = run(graph, k, seed)
                processor[side] = min(processor[side], time.process_time() - started)
                seconds[side] = min(seconds[side], found.seconds)
                cuts[side][seed] = found.cut
                balance[side] = max(balance[side], float(found.balance))
    means = {side: float(np.exp(np.mean(np.log(list(c.values()))))) for side, c in cuts.items()}
    return Row(name, graph.num_vertices, graph.num_edges, k, means, balance, seconds, processor)


def main() -> None:
    """Measure, print, write `results/partition.json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--graphs", nargs="+", default=[*FILES, "kron20"])
    parser.add_argument("--methods", nargs="*", default=["metis"])
    parser.add_argument("--k", nargs="+", type=int, default=[2, 16, 64])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--devices", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "partition.json")
    parser.add_argument("--note", default="")
    args = parser.parse_args()
    preferred = first_in_line()
    sides = ways(args.methods, args.threads, args.devices)
    rows = []
    for name in args.graphs:
        graph = load(name, args.data, args.cache)
        once = graph.num_arcs > LARGE
        for side, run in sides.items():
            if not once or side.startswith("vgraph"):
                run(graph, args.k[0], 0)
        for k in args.k:
            often = (1, 1) if once else (args.seeds, args.blocks)
            rows.append(measure(name, graph, k, sides, *often))
            print(rows[-1], flush=True)
    ours = next(iter(sides))
    shown = [[r.graph, str(r.k), *(f"{r.cut[ours] / r.cut[m]:.3f}" for m in args.methods)] for r in rows]
    print(table(["graph", "k", *(f"cut to {m}" for m in args.methods)], shown))
    known = {
        name: metadata.version(name)
        for name in ("pymetis", "kahip")
        if name in metadata.packages_distributions()
    }
    method = {"preferred_session": preferred, "seeds": args.seeds, "blocks": args.blocks, "note": args.note}
    write_results(args.out, rows, method=method, libraries=known)


if __name__ == "__main__":
    main()
