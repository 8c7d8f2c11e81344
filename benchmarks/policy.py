"""What a choice per round costs: the schedule that vgraph chooses beside every fixed direction and drive.

    setsid --wait python benchmarks/policy.py --gap DIR --graphs kron18,kron20,road,urand20 --threads 1,2

Times are of the algorithm alone, medians of interleaved blocks. `ratio` is the chosen schedule's time over that of the
best fixed one; a fixed form that takes longer than `--patience` times the chosen one is timed once and left.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import graphs
import harness
import peers
from cases import Instance

import vgraph as vg

LABELS = {"bfs": "visit", "sssp": "relax", "label_components": "lower"}
FIXED: dict[str, dict[str, Any]] = {
    "push data": {"direction": vg.PUSH, "drive": vg.DATA},
    "push data bitmap": {"direction": vg.PUSH, "drive": vg.DATA, "frontier": vg.BITMAP},
    "push topology": {"direction": vg.PUSH, "drive": vg.TOPOLOGY},
    "pull data": {"direction": vg.PULL, "drive": vg.DATA},
    "pull topology": {"direction": vg.PULL, "drive": vg.TOPOLOGY},
}


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph; times in milliseconds. `gap_ms`: GAP's direction-optimising bfs, if given."""

    algorithm: str
    graph: str
    threads: int
    chosen_ms: float
    low_ms: float
    high_ms: float
    fixed_ms: dict[str, float]
    best: str
    ratio: float
    gap_ms: float | None
    directions: dict[str, int]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gap", type=Path, help="folder with GAP's bfs")
    parser.add_argument("--graphs", default="kron18,kron20,road,urand20")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--algorithms", default=",".join(LABELS))
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--patience", type=float, default=3.0)
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "policy.json")
    return parser.parse_args(arguments)


def seconds(algorithm: str, instance: Instance, options: dict[str, Any], threads: int) -> Any:
    schedule = vg.Schedule().at(LABELS[algorithm], **options) if options else None
    values = {} if algorithm == "label_components" else {"source": instance.data.source}
    function = getattr(vg.algorithms, algorithm)
    return vg.run(function, instance.graph, schedule=schedule, threads=threads, **values)


def block(algorithm: str, instance: Instance, options: dict[str, Any], threads: int) -> list[float]:
    seconds(algorithm, instance, options, threads)
    return [seconds(algorithm, instance, options, threads).stats.run_seconds for _ in range(2)]


def measure(options: argparse.Namespace, algorithm: str, instance: Instance, threads: int) -> Row:
    chosen = seconds(algorithm, instance, {}, threads)
    limit = options.patience * statistics.median(block(algorithm, instance, {}, threads))
    sides: dict[str, harness.Side] = {"chosen": partial(block, algorithm, instance, {}, threads)}
    slow: dict[str, float] = {}
    for name, fixed in FIXED.items():
        once = min(seconds(algorithm, instance, fixed, threads).stats.run_seconds for _ in range(2))
        if once > limit:
            slow[name] = once * 1e3
        else:
            sides[name] = partial(block, algorithm, instance, fixed, threads)
    if options.gap and algorithm == "bfs":
        program = peers.Program("GAP bfs", options.gap / "bfs", from_source=True)
        sides["gap"] = partial(program.run, instance.data, options.cache, threads, 5)
    samples = harness.interleave(sides, options.blocks)
    mine, gap = samples.pop("chosen"), samples.pop("gap", None)
    times = {name: s.median * 1e3 for name, s in samples.items()} | slow
    best = min(times, key=times.__getitem__)
    taken = [r.direction for r in chosen.trace if r.direction != "vertex"]
    return Row(
        algorithm,
        instance.data.name,
        threads,
        mine.median * 1e3,
        mine.low * 1e3,
        mine.high * 1e3,
        times,
        best,
        mine.median * 1e3 / times[best],
        gap.median * 1e3 if gap else None,
        {name: taken.count(name) for name in dict.fromkeys(taken)},
    )


def show(rows: Sequence[Row]) -> str:
    cells = []
    for r in rows:
        gap = f"{r.gap_ms:.2f} ({r.chosen_ms / r.gap_ms:.2f}x)" if r.gap_ms else ""
        times = [f"{r.fixed_ms[name]:.2f}" for name in FIXED]
        cells.append(
            [r.algorithm, r.graph, str(r.threads), f"{r.chosen_ms:.2f}", *times, f"{r.ratio:.2f}", gap]
        )
    return harness.table(
        ["algorithm", "graph", "threads", "chosen ms", *FIXED, "chosen / best", "GAP ms"], cells
    )


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    preferred = harness.first_in_line()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        options.cache = options.cache or Path(folder)
        for name in options.graphs.split(","):
            instance = Instance.of(graphs.make(name, options.cache))
            for threads in map(int, options.threads.split(",")):
                for algorithm in options.algorithms.split(","):
                    rows.append(measure(options, algorithm, instance, threads))
                    print(show(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(show(rows))
    harness.write_results(
        options.out, rows, method={"blocks": options.blocks, "preferred_session": preferred}
    )


if __name__ == "__main__":
    main()
