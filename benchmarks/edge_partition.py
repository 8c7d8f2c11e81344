"""Partitions of edges: C, replication, balance and seconds of every method.

    python benchmarks/edge_partition.py --data FOLDER --graphs mdual facebook-combined --parts 16 64

Graphs are files of the folder `--data`, found by the begin of their names, and those of `graphs.py`. `spac`,
`weighted_random` and `weighted_greedy` run over vgraph's partitioner and over METIS, if that is installed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from graphs import make
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.partitioning import EDGE_METHODS

DIRECTED = ("cnr-2000", "osm-", "soc-", "wiki-")
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
    args = parser.parse_args()
    there = [p for p in args.partitioners if p != "metis" or find_spec("pymetis")]
    methods = [m for m in args.methods if m != "hypergraph" or find_spec("mtkahypar")]
    for method in methods:  # compiled now, not while it is timed
        for partitioner in there:
            vg.edge_partition(load("kron8", None, args.cache), 4, method, partitioner=partitioner)
    rows: list[Row] = []
    for name in args.graphs:
        graph = load(name, args.data, args.cache)
        for k in args.parts:
            for method in methods:
                for partitioner in there if method in BY_VERTICES else [""]:
                    given = {"partitioner": partitioner} if partitioner else {}
                    e = vg.edge_partition(graph, k, method, **given)
                    figures = e.cost, round(e.replication, 4), round(e.balance, 4), round(e.seconds, 3)
                    rows.append(Row(name, graph.num_edges, k, method, partitioner, *figures))
                    print(*rows[-1].__dict__.values(), flush=True)
        write_results(args.out, rows)


if __name__ == "__main__":
    main()
