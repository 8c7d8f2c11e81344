"""Two threads beside one on a machine that is busy, and on one that is not.

    setsid --wait python benchmarks/busy.py --graphs kron18,road,amsterdam.gr --busy 0,4 --pairs 7

For each number of `--busy` processes that only burn time, each case runs in turn with one and with two threads, in
pairs, so that whatever else the machine does hits both alike. What is printed is the median time of each and the
median of the pairs' ratios, with their quartiles. Times are of the whole call but for compiling. Results are checked
once, before they are timed. A name that ends in `.gr` or `.gr.xz` is a file in DIMACS format, which is read as
undirected.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import graphs
import harness
import numpy as np
from cases import CASES, Case, Instance

import vgraph as vg

BURN = "while True: pass"


@dataclass(frozen=True)
class Row:
    """One case on one graph beside so many busy processes; milliseconds, and two threads' time over one's."""

    case: str
    graph: str
    busy: int
    one_ms: float
    two_ms: float
    ratio: float
    ratio_low: float
    ratio_high: float
    waited_ms: float
    """Seconds that a thread of two waited at barriers, the median of the runs."""
    pairs: int


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


def measure(case: Case, given: Instance, busy: int, pairs: int) -> Row:
    times: tuple[list[float], list[float]] = ([], [])
    waited = []
    for _ in range(pairs):
        for threads, found in zip((1, 2), times, strict=True):
            result, seconds = case.whole(given, threads)
            found.append(seconds)
        waited.append(getattr(result.stats, "waited", 0.0))
    ratios = [two / one for one, two in zip(*times, strict=True)]
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
    one, two = map(statistics.median, times)
    row = Row(
        case.name,
        given.data.name,
        busy,
        one * 1e3,
        two * 1e3,
        middle,
        low,
        high,
        statistics.median(waited) * 1e3,
        pairs,
    )
    print(*cells(row), sep="\t", file=sys.stderr, flush=True)
    return row


def cells(row: Row) -> list[str]:
    return [
        row.graph, str(row.busy), row.case, f"{row.one_ms:.2f}", f"{row.two_ms:.2f}", f"{row.ratio:.2f}",
        f"{row.ratio_low:.2f} to {row.ratio_high:.2f}", f"{row.waited_ms:.2f}",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", default="kron18,road")
    parser.add_argument("--busy", default="0,4", help="how many busy processes beside vgraph")
    parser.add_argument("--algorithms", default=",".join(dict.fromkeys(case.algorithm for case in CASES)))
    parser.add_argument("--pairs", type=int, default=7)
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
                    rows += [measure(case, given, busy, options.pairs) for case in wanted]
    harness.write_results(options.out, rows, method={"pairs": options.pairs, "preferred_session": preferred})
    header = ["graph", "busy", "case", "1 thread ms", "2 threads ms", "ratio", "quartiles", "waited ms"]
    print(harness.table(header, [cells(row) for row in rows]))


if __name__ == "__main__":
    main()
