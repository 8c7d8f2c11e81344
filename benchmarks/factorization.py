"""Matrix factorization under each schedule of conflicts, beside LIBMF, in turns.

    python benchmarks/factorization.py --ratings FILE [--libmf mf-train] [--threads 1,2] [--rate 0.02] \\
        [--turns 3] [--only locked]

16 factors, 10 epochs, a tenth of the ratings for tests. For each schedule: seconds of its plan, the least time of an
epoch over the turns (`result.stats.run_seconds`; errors of training and test included), the tests' error. LIBMF
(github.com/cjlin1/libmf) runs as a program, for 1 and for 11 epochs; the least times of both differ by ten.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import vgraph as vg

SCHEDULES = (
    *(vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID, vg.AGM_E, vg.SGM, vg.COLORED, vg.DIAGONAL),
    *(vg.blocked_diagonals(64, 64), vg.blocked_diagonals(1024, 1024)),
)


def written(graph: vg.Graph, folder: Path) -> None:
    """Ratings to learn from and to test with, as LIBMF reads them, in an order by lot."""
    s, t, properties = graph.edges()
    order = np.random.default_rng(1).permutation(s.size)
    rows = np.c_[s, t.astype(np.int64) - int(t.min()), properties["rating"]][order]
    for name, part in (("learn", ~properties["test"][order]), ("test", properties["test"][order])):
        np.savetxt(folder / name, rows[part], fmt=("%d", "%d", "%.6g"))


def libmf(program: str, folder: Path, threads: int, epochs: int) -> tuple[float, float]:
    """Seconds of the whole call, and the tests' error at its end."""
    options = [
        "-k",
        "16",
        "-t",
        str(epochs),
        "-r",
        "0.05",
        "-l2",
        "0.05",
        "-s",
        str(threads),
        "-p",
        str(folder / "test"),
    ]
    start = time.perf_counter()
    call = [program, *options, str(folder / "learn"), str(folder / "model")]
    lines = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()
    return time.perf_counter() - start, float(lines[-1].split()[2])


def main() -> None:
    """Print a table for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", required=True)
    parser.add_argument("--libmf", help="the program mf-train")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="schedules whose names contain this")
    options = parser.parse_args()
    graph = vg.read_ratings(options.ratings)
    graph = graph.with_edge_property("test", np.random.default_rng(0).random(graph.num_arcs) < 0.1)
    print("| threads | schedule | plan, s | ms per epoch | test RMSE |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        written(graph, Path(folder))
        for threads in map(int, options.threads.split(",")):
            best: dict[str, list[float]] = {}
            for _ in range(options.turns):
                for conflict in (c for c in SCHEDULES if options.only in str(c)):
                    result = vg.run(
                        vg.algorithms.matrix_factorization,
                        graph,
                        rate=options.rate,
                        test="test",
                        threads=threads,
                        schedule=vg.Schedule().at("learn", conflict=conflict),
                    )
                    plan = sum(layout.seconds for layout in result.stats.layouts)
                    row = [plan, 100 * result.stats.run_seconds, result.test_rmse[-1]]
                    best[str(conflict)] = min(best.get(str(conflict), row), row, key=lambda row: row[1])
                for epochs in (1, 11) if options.libmf else ():
                    took, rmse = libmf(options.libmf, Path(folder), threads, epochs)
                    best[f"LIBMF {epochs}"] = min(
                        best.get(f"LIBMF {epochs}", [0.0, 1e9, rmse]), [0.0, 100 * took, rmse]
                    )
            if options.libmf:
                one, more = best.pop("LIBMF 1"), best.pop("LIBMF 11")
                best["LIBMF"] = [0.0, more[1] - one[1], more[2]]
            for name, (plan, took, rmse) in best.items():
                print(f"| {threads} | {name} | {plan:.2f} | {took:.1f} | {rmse:.4f} |", flush=True)


if __name__ == "__main__":
    main()
