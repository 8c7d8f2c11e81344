"""Partitions of edges: C, replication, balance and seconds of every method.

    python benchmarks/edge_partition.py --data FOLDER --graphs mdual facebook-combined --parts 16 64

Graphs are files of the folder `--data`, found by the begin of their names, and those of `graphs.py`. `spac`,
`weighted_random` and `weighted_greedy` run over vgraph's partitioner and over METIS, if that is installed. `gridN` is a
grid of N x N, as the matrix mc2depi of Li et al.; their cant is a mesh in space, as mdual, and in-2004 a web graph, as
cnr-2000. `--keep` leaves rows of other graphs in the file.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from graphs import make
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.partitioning import EDGE_METHODS

DIRECTED = ("cnr-2000", "osm-", "soc-", "wiki-")
TWICE = 10
"""Seconds below which a method is run twice: programs are compiled anew for some kinds of graphs."""
BY_VERTICES = ("spac", "weighted_random", "weighted_greedy")


@dataclass(frozen=True)
class Row:
    """One graph, number of parts and method."""

    graph: str
    edges: int
    k: int
    method: str
    partitioner: str
    cost: int
    replication: float
    balance: float
    seconds: float


def load(name: str, data: Path | None, cache: Path) -> vg.Graph:
    """A graph by its name."""
    found = sorted(data.rglob(f"{name}*")) if data is not None else []
    found = [file for file in found if not {".scc", ".gi"} & set(file.suffixes)]
    if found:
        return vg.read(found[0], directed=name.startswith(DIRECTED))
    if name.startswith("grid"):
        side = int(name.removeprefix("grid"))
        at = np.arange(side * side).reshape(side, side)
        ends = (at[:, :-1].ravel(), at[:-1].ravel()), (at[:, 1:].ravel(), at[1:].ravel())
        return vg.Graph.from_edges(*map(np.concatenate, ends), directed=False)
    stored = make(name, cache)
    return vg.Graph.from_csr(stored.row_offsets, stored.column_indices, directed=False)


def main() -> None:
    """Measure, print, write `results/edge_partition.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["kron14"])
    parser.add_argument("--parts", nargs="+", type=int, default=[16, 64])
    parser.add_argument("--methods", nargs="+", default=list(EDGE_METHODS), choices=list(EDGE_METHODS))
    parser.add_argument("--partitioners", nargs="+", default=["vgraph", "metis"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "edge_partition.json")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    there = [p for p in args.partitioners if p != "metis" or find_spec("pymetis")]
    methods = [m for m in args.methods if m != "hypergraph" or find_spec("mtkahypar")]
    for method in methods:  # compiled now, not while it is timed
        for partitioner in there:
            vg.edge_partition(load("kron8", None, args.cache), 4, method, partitioner=partitioner)
    rows: list[Row] = []
    if args.keep and args.out.exists():
        kept = [Row(**row) for row in json.loads(args.out.read_text())["rows"]]
        rows = [row for row in kept if row.graph not in args.graphs]
    for name in args.graphs:
        graph = load(name, args.data, args.cache)
        for k in args.parts:
            for method in methods:
                for partitioner in there if method in BY_VERTICES else [""]:
                    given = {"partitioner": partitioner} if partitioner else {}
                    e = vg.edge_partition(graph, k, method, **given)
                    seconds = e.seconds
                    if seconds < TWICE:
                        seconds = min(seconds, vg.edge_partition(graph, k, method, **given).seconds)
                    figures = e.cost, round(e.replication, 4), round(e.balance, 4), round(seconds, 3)
                    rows.append(Row(name, graph.num_edges, k, method, partitioner, *figures))
                    print(*rows[-1].__dict__.values(), flush=True)
        write_results(args.out, rows)


if __name__ == "__main__":
    main()
