"""Schedules of operators that write both ends: what plans take, epochs on CPUs and on a GPU, errors, what was deferred.

    python benchmarks/conflicts.py --ratings FILE power5M road1180x1180 rmat5M --rates 0.02 0.05 0.05 0.05 \\
        [--threads 1 2 16] [--devices cpu cuda] [--seconds 90] [--merge] [--out FILE]

Ratings and rates as in `factorization.py`; 16 factors, 10 epochs, a tenth of the ratings for tests. For each schedule
on each device: seconds of its plan, its phases, the median time of an epoch's steps, the tests' error after the last
epoch, and how many arcs the first pass of an epoch put off, the second, ... Of more than a million ratings CPUs run
plans with the last of `--threads` alone. After `--seconds` nothing more is begun; `--merge` keeps the rows of the file
that are not measured anew.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from factorization import EPOCHS, load, most_at_a_vertex
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.compiler.backends.first_fit import first_fit
from vgraph.graph.conflicts import plan as plan_of

SCHEDULES = (
    *(vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID, vg.AGM_E, vg.AGM_N, vg.SGM, vg.COLORED),
    *(vg.DIAGONAL, vg.blocked_diagonals(64, 64), vg.blocked_diagonals(1024, 1024), vg.blocked_diagonals()),
)
LOCKS = (vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID)


@dataclass(frozen=True)
class Row:
    """A schedule on some ratings and a device."""

    ratings: str
    count: int
    d_max: int
    schedule: str
    device: str
    threads: int
    plan_seconds: float
    phases: int
    milliseconds: float
    """Of the steps of an epoch."""
    rmse: float
    """Of the tests, after the last epoch."""
    deferred: tuple[float, ...]
    """Arcs that were put off in an epoch by its first pass, by its second, ..."""


Cell = tuple[Any, float, int, str, int]
"""Schedule, seconds of its plan, phases, device, threads."""


def measured(graph: vg.Graph, head: tuple[Any, ...], cell: Cell, rate: float) -> Row:
    """One run."""
    conflict, plan, phases, device, threads = cell
    schedule = vg.Schedule().at("learn", conflict=conflict)
    given = {"rate": rate, "test": "test", "factors": 16, "device": device, "schedule": schedule}
    on_cpus = {"threads": threads} if device == "cpu" else {}
    found = vg.run(vg.algorithms.matrix_factorization, graph, **given, **on_cpus)
    steps = [done.seconds for done in found.trace if done.label == "learn"]
    deferred = tuple(round(many / EPOCHS, 1) for many in found.stats.deferred.get("learn", ()))
    took, rmse = 1000 * float(np.median(steps[1:])), float(found.test_rmse[-1])
    return Row(*head, str(conflict), device, threads, round(plan, 3), phases, round(took, 3), rmse, deferred)


def cells(graph: vg.Graph, options: argparse.Namespace) -> Iterator[Cell]:
    """What is measured of these ratings."""
    large, most = graph.num_edges > 10**6, options.threads[-1]
    for conflict in SCHEDULES:
        if options.only not in str(conflict):
            continue
        begin = time.perf_counter()
        phases = plan_of(graph, conflict.key, first_fit).num_phases if conflict.key else 0
        made = (time.perf_counter() - begin) * bool(conflict.key), phases
        if phases > options.phases:
            continue  # a barrier each
        if "cuda" in options.devices and conflict not in (vg.SEQUENTIAL, vg.NODE_LOCKED, vg.HYBRID):
            yield conflict, *made, "cuda", 0
        for threads in options.threads if "cpu" in options.devices else ():
            alone = conflict == vg.SEQUENTIAL
            if threads == (options.threads[0] if alone else most) or (
                not alone and (not large or conflict == vg.EDGE_LOCKED)
            ):
                yield conflict, *made, "cpu", threads


def main() -> None:
    """Measure, print, write `results/conflicts.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", nargs="+", required=True)
    parser.add_argument("--rates", nargs="+", type=float, required=True, help="for each of the ratings")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--devices", nargs="+", default=["cpu"])
    parser.add_argument("--phases", type=int, default=100_000, help="no plans of more")
    parser.add_argument("--only", default="", help="schedules whose names contain this")
    parser.add_argument("--turns", type=int, default=3, help="of those of up to a million ratings")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "conflicts.json")
    options = parser.parse_args()
    start, rows = time.perf_counter(), dict[tuple[Any, ...], dict[str, Any]]()
    if options.merge and options.out.exists():
        old = json.loads(options.out.read_text())["rows"]
        rows = {(r["ratings"], r["schedule"], r["device"], r["threads"]): r for r in old}
    for given, rate in zip(options.ratings, options.rates, strict=True):
        if time.perf_counter() - start > options.seconds:
            break
        name, graph = load(given, options.cache)
        head = name, graph.num_edges, most_at_a_vertex(graph)
        print(*head, f"made at {time.perf_counter() - start:.0f} s", flush=True)
        for cell in cells(graph, options):
            turns = options.turns if graph.num_edges <= 10**6 else 1
            if time.perf_counter() - start > options.seconds:
                break
            many = [measured(graph, head, cell, rate) for _ in range(turns)]
            row = min(many, key=lambda row: row.milliseconds)
            rows[name, row.schedule, row.device, row.threads] = asdict(row)
            print(*row.__dict__.values(), flush=True)
        write_results(options.out, list(rows.values()))


if __name__ == "__main__":
    main()
