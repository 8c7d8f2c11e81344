"""What `schedule=None` gives, against the best schedule that `vg.autotune` finds.

    setsid --wait python benchmarks/tuning.py --graphs kron18,road --threads 1,2 --budget 20s

Every library algorithm on every graph. The default and the fastest schedule run in turns at the end of each search,
so a ratio is of medians from one run; 1.0 where nothing faster was found. The aim is a geometric mean of at most 1.1.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import graphs
import harness
from cases import Instance

import vgraph as vg

TAKES_SOURCE = ("bfs", "sssp", "bellman_ford")
LEFT_OUT = {
    "betweenness": "its time is that of the sources given",
    "alternating_least_squares": "ratings, which these graphs are not",
    "bayesian_personalized_ranking": "ratings, too",
    "matrix_factorization": "ratings, too",
    "pairwise_ranking": "the order of its steps is part of its schedule",
}
"""Algorithms that are not tuned here, and why."""


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph; times in milliseconds."""

    algorithm: str
    graph: str
    threads: int
    default_ms: float
    best_ms: float
    ratio: float
    best: str
    tried: int
    seconds: float


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [name for name in vg.algorithms.__all__ if name not in LEFT_OUT]
    parser.add_argument("--graphs", default="kron18,road", help="kronN, urandN, road, roadRxC")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--algorithms", default=",".join(names))
    parser.add_argument("--budget", default="20s", help="for each search, as vg.autotune takes it")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "tuning.json")
    return parser.parse_args(arguments)


def measure(algorithm: str, instance: Instance, threads: int, budget: str) -> Row:
    values: dict[str, Any] = {"source": instance.data.source} if algorithm in TAKES_SOURCE else {}
    found = vg.autotune(getattr(vg.algorithms, algorithm), instance.graph, budget, threads=threads, **values)
    return Row(
        algorithm,
        instance.data.name,
        threads,
        found.default_seconds * 1e3,
        found.best_seconds * 1e3,
        found.speedup,
        "; ".join(str(found.schedule).splitlines()) if found.schedule.labels else "the default",
        len(found.tried),
        found.elapsed,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        for name in options.graphs.split(","):
            instance = Instance.of(graphs.make(name, options.cache or Path(folder)))
            for threads in map(int, options.threads.split(",")):
                for algorithm in options.algorithms.split(","):
                    rows.append(measure(algorithm, instance, threads, options.budget))
                    print(rows[-1], flush=True)
                    harness.write_results(
                        options.out, [asdict(r) for r in rows], method={"budget": options.budget}
                    )
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    print(f"geometric mean {mean:.3f}, largest {max(row.ratio for row in rows):.2f}")


if __name__ == "__main__":
    main()
