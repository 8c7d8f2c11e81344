"""Halves beside the best known ones of Walshaw's graph partitioning archive (https://chriswalshaw.co.uk/partition).

    python benchmarks/walshaw.py FOLDER

FOLDER has graphs of the archive as `graphs/NAME.graph` and its best halves at 5 % imbalance as
`partitions/5/NAME.2.ptn`; the repository LudwikJaniuk/expander-decomp on GitHub keeps them so (of 2019). All cuts are
counted here, the archive's too.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.partitioning import measured

IMBALANCE = 1.05


@dataclass(frozen=True)
class Row:
    """One graph: the archive's cut and balance, and by method all cuts, the worst balance, median seconds."""

    graph: str
    vertices: int
    edges: int
    best: int
    best_balance: float
    cuts: dict[str, list[int]]
    balance: dict[str, float]
    seconds: dict[str, float]


def measure(name: str, folder: Path, methods: list[str], seeds: int) -> Row:
    """All methods with so many seeds, on one thread."""
    graph = vg.read(folder / "graphs" / f"{name}.graph", directed=False)
    lines = (folder / "partitions" / "5" / f"{name}.2.ptn").read_text().splitlines()
    best = measured(graph, np.array([int(line) for line in lines if line.strip().isdigit()]), 2)
    found = {
        m: [vg.partition(graph, 2, m, imbalance=IMBALANCE, seed=s, threads=1) for s in range(1, seeds + 1)]
        for m in methods
    }
    return Row(
        *(name, graph.num_vertices, graph.num_edges, int(best.cut), float(best.balance)),
        {m: [int(p.cut) for p in ps] for m, ps in found.items()},
        {m: max(float(p.balance) for p in ps) for m, ps in found.items()},
        {m: statistics.median(p.seconds for p in ps) for m, ps in found.items()},
    )


def main() -> None:
    """Measure what the folder has, write `results/walshaw.json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="*", default=["vgraph", "metis"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS / "walshaw.json")
    args = parser.parse_args()
    names = sorted(file.stem for file in (args.folder / "graphs").glob("*.graph"))
    rows = [measure(name, args.folder, args.methods, args.seeds) for name in names]
    for row in rows:
        print(row.graph, row.best, {m: (min(c), statistics.median(c)) for m, c in row.cuts.items()})
    write_results(args.out, rows, method={"imbalance": IMBALANCE, "seeds": args.seeds, "k": 2})


if __name__ == "__main__":
    main()
