"""Two threads beside one on a machine that is busy, and on one that is not.

    setsid --wait python benchmarks/busy.py --graphs kron16,road300x300,amsterdam.gr --busy 0,4 --seconds 4

For each number of `--busy` processes that only burn time, each case runs with two threads and twice with one, in an
order that is drawn anew each time, for so many `--seconds` and at least `--rounds` times. A run that is shorter than
a turn of the scheduler either fits into its turn or waits for one or two more, so its times have two or three peaks:
medians jump from one to the next, and a fixed order beats with the turns. So what is printed is the mean times, and two
threads' over one's with the interval of 90 % that resampling the rounds gives. `itself` is the second run with one
thread over the first: what the method finds where there is nothing to be found.

Times are of the whole call but for compiling. Results are checked once, before they are timed. A name that ends in
`.gr` or `.gr.xz` is a file in DIMACS format, which is read as undirected.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import graphs
import harness
import numpy as np
from cases import CASES, Case, Instance
from numpy.typing import NDArray

import vgraph as vg

BURN = "while True: pass"
SIDES: Final = (1, 2, 1)
"""Threads of the runs of a round."""


@dataclass(frozen=True)
class Row:
    """One case on one graph beside so many busy processes: mean milliseconds, and two threads' time over one's."""

    case: str
    graph: str
    busy: int
    one_ms: float
    two_ms: float
    ratio: float
    ratio_low: float
    ratio_high: float
    itself: float
    """One thread's time over one thread's."""
    waited_ms: float
    """What a thread of two waited at barriers, the mean of the runs."""
    rounds: int


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that do nothing but burn time."""
    running = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def instance(name: str, cache: Path) -> Instance:
    """A generated graph, or one from a file."""
    if ".gr" not in name:
        return Instance.of(graphs.make(name, cache))
    graph = vg.read(name)
    src, dst = graph.edges()[:2]
    data = graphs.from_pairs(Path(name).name.partition(".")[0], graph.num_vertices, src, dst)
    return Instance.of(data)


def measure(case: Case, given: Instance, busy: int, seconds: float, rounds: int) -> Row:
    rng = np.random.default_rng(1)
    times: list[list[float]] = []
    waited: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < rounds or time.perf_counter() < end:
        times.append([0.0] * len(SIDES))
        for side in rng.permutation(len(SIDES)):
            result, times[-1][side] = case.whole(given, SIDES[side])
            if SIDES[side] == 2:
                waited.append(result.stats.waited)
    found = np.array(times)
    again = rng.integers(len(found), size=(1000, len(found)))
    low, high = np.quantile(_ratio(found[again].sum(axis=1)), [0.05, 0.95])
    first, two, second = found.mean(axis=0) * 1e3
    row = Row(
        case.name,
        given.data.name,
        busy,
        (first + second) / 2,
        two,
        float(_ratio(found.sum(axis=0))),
        float(low),
        float(high),
        second / first,
        float(np.mean(waited)) * 1e3,
        len(found),
    )
    print(*cells(row), sep="\t", file=sys.stderr, flush=True)
    return row


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two threads over one, of sums over rounds of each of SIDES, the last axis."""
    first, two, second = np.moveaxis(sums, -1, 0)
    ratio: NDArray[np.float64] = 2 * two / (first + second)
    return ratio


def cells(row: Row) -> list[str]:
    return [
        row.graph, str(row.busy), row.case, f"{row.one_ms:.2f}", f"{row.two_ms:.2f}", f"{row.ratio:.2f}",
        f"{row.ratio_low:.2f} to {row.ratio_high:.2f}", f"{row.itself:.2f}", f"{row.waited_ms:.2f}", str(row.rounds),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", default="kron18,road")
    parser.add_argument("--busy", default="0,4", help="how many busy processes beside vgraph")
    parser.add_argument("--algorithms", default=",".join(dict.fromkeys(case.algorithm for case in CASES)))
    parser.add_argument("--seconds", type=float, default=4.0, help="how long a case is measured")
    parser.add_argument("--rounds", type=int, default=9, help="how often at least")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "busy.json")
    options = parser.parse_args(arguments)
    preferred = harness.first_in_line()
    wanted = [case for case in CASES if case.algorithm in options.algorithms.split(",")]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        for name in options.graphs.split(","):
            given = instance(name, options.cache or Path(folder))
            for case in wanted:
                for threads in (1, 2):
                    result, _ = case.whole(given, threads)
                    case.check(given, result)
            for busy in map(int, options.busy.split(",")):
                with load(busy):
                    rows += [measure(case, given, busy, options.seconds, options.rounds) for case in wanted]
    method = {"seconds": options.seconds, "rounds": options.rounds, "preferred_session": preferred}
    harness.write_results(options.out, rows, method=method)
    header = [
        "graph",
        "busy",
        "case",
        "1 thread ms",
        "2 threads ms",
        "ratio",
        "90 %",
        "itself",
        "waited ms",
        "rounds",
    ]
    print(harness.table(header, [cells(row) for row in rows]))


if __name__ == "__main__":
    main()
