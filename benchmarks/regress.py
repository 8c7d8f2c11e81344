"""This tree's vgraph beside that of an earlier commit, cell by cell, so that a slowdown is seen before it lands.

    setsid --wait python benchmarks/regress.py --before main
    setsid --wait python benchmarks/regress.py --before v0.9 --cases bfs,sssp,pagerank,spmv --graphs kron18 --threads 1

Both sides run the same cases (`library_cases.py`), each in a process and with a cache of its own, on the same arrays,
in turn. A ratio is the median of the blocks' ratios, this tree's seconds over the earlier commit's: above 1 it has
become slower. A cell counts as slower where this ratio and that of the fastest blocks are both above `--limit`, also
when it is measured again with three times as many blocks; the exit status is then 1. Results are not checked here:
`cpu.py` and `library.py` do that. Times are of warm calls without compiling. What one side lacks, or fails, is named
and left out.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import graphs
import harness
import peers

HERE = Path(__file__).parents[1]
CASES = "bfs,sssp,pagerank 32-bit,pagerank 64-bit,cc,triangles,betweenness,kcore,label_components,local_clustering,spmv"
AGAIN = 3
"""Times as many blocks for a cell that seems to have become slower."""


@dataclass(frozen=True)
class Row:
    """One case on one graph: milliseconds of both sides, medians of blocks; the median, the least and the largest ratio
    of a block; and that of the fastest blocks."""

    case: str
    graph: str
    threads: int
    before_ms: float
    after_ms: float
    ratio: float
    low: float
    high: float
    fastest: float
    blocks: int

    def slower(self, limit: float) -> bool:
        return min(self.ratio, self.fastest) > limit


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", required=True, help="a commit: its vgraph is the baseline")
    parser.add_argument("--cases", default=CASES, help="names in library_cases.py")
    parser.add_argument("--graphs", default="kron16,road300x300", help="kronN, urandN, road, roadRxC")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--blocks", type=int, default=7, help="interleaved blocks; the median ratio counts")
    parser.add_argument("--trials", type=int, default=3, help="timed calls in a block, after one to warm up")
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu: on a machine that is busy"
    )
    parser.add_argument("--limit", type=float, default=1.05, help="a ratio above this is a slowdown")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "regress.json")
    return parser.parse_args(arguments)


def package_of(commit: str, folder: Path) -> Path:
    """A folder with the package `vgraph` of a commit. Raises CalledProcessError if there is no such commit."""
    command = ["git", "-C", str(HERE), "archive", "--format=tar", commit, "vgraph"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def row_of(case: str, graph: str, threads: int, before: Sequence[float], after: Sequence[float]) -> Row:
    """The figures of a cell from its blocks' seconds."""
    ratios = [b / a for a, b in zip(before, after, strict=True)]
    return Row(
        case=case,
        graph=graph,
        threads=threads,
        before_ms=statistics.median(before) * 1e3,
        after_ms=statistics.median(after) * 1e3,
        ratio=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
        fastest=min(after) / min(before),
        blocks=len(ratios),
    )


def measure(sides: Sequence[peers.Library], case: str, blocks: int, trials: int) -> list[list[float]]:
    """For each side the seconds of its blocks; who begins changes from block to block."""
    taken: list[list[float]] = [[] for _ in sides]
    for block in range(blocks):
        for k in range(len(sides)):
            side = (k + block) % len(sides)
            taken[side].append(statistics.median(sides[side].run(case, trials)))
    return taken


def run(options: argparse.Namespace, earlier: Path, scratch: Path) -> list[Row]:
    rows = []
    for graph in options.graphs.split(","):
        graphs.make(graph, options.cache)
        for threads in map(int, options.threads.split(",")):
            sides = [
                peers.Library(
                    Path(sys.executable),
                    "vgraph",
                    options.cache / f"{graph}.npz",
                    threads,
                    environment={
                        "PYTHONPATH": str(package),
                        "VGRAPH_CACHE_DIR": str(scratch / name),
                        "BENCHMARK_CLOCK": options.clock,
                    },
                )
                for name, package in (("before", earlier), ("after", HERE))
            ]
            try:
                for case in options.cases.split(","):
                    rows += cell(options, sides, case, graph, threads)
            finally:
                for side in sides:
                    side.close()
    return rows


def cell(
    options: argparse.Namespace, sides: Sequence[peers.Library], case: str, graph: str, threads: int
) -> list[Row]:
    """The row of a cell; none if a side has no such case."""
    try:
        found = row_of(case, graph, threads, *measure(sides, case, options.blocks, options.trials))
        if found.slower(options.limit):
            more = measure(sides, case, AGAIN * options.blocks, options.trials)
            found = row_of(case, graph, threads, *more)
    except peers.PeerError as error:
        print(f"left out: {graph}, {threads} threads, {case}: {error}", file=sys.stderr)
        return []
    print(show([found]).splitlines()[-1], file=sys.stderr, flush=True)
    return [found]


def show(rows: Sequence[Row]) -> str:
    header = [
        "graph",
        "threads",
        "case",
        "before ms",
        "after ms",
        "after / before",
        "of blocks",
        "of the fastest",
    ]
    cells = [
        [
            row.graph,
            str(row.threads),
            row.case,
            f"{row.before_ms:.3f}",
            f"{row.after_ms:.3f}",
            f"{row.ratio:.3f}",
            f"{row.low:.2f} to {row.high:.2f}",
            f"{row.fastest:.3f}",
        ]
        for row in rows
    ]
    return harness.table(header, cells)


def summary(rows: Sequence[Row], limit: float) -> tuple[str, int]:
    """The geometric mean and the cells above the limit, and how many these are."""
    if not rows:
        return "nothing was measured", 1
    mean = statistics.geometric_mean(row.ratio for row in rows)
    slower = [row for row in rows if row.slower(limit)]
    lines = [f"geometric mean {mean:.3f} over {len(rows)} cells; above {limit:g}: {len(slower)}"]
    lines += [f"  {row.case}, {row.graph}, {row.threads} threads: {row.ratio:.3f}" for row in slower]
    return "\n".join(lines), len(slower)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    preferred = harness.first_in_line()
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        options.cache = options.cache or Path(folder)
        earlier = package_of(options.before, Path(folder) / "package")
        rows = run(options, earlier, Path(folder))
    how = {
        "blocks": options.blocks,
        "trials": options.trials,
        "clock": options.clock,
        "preferred_session": preferred,
    }
    harness.write_results(options.out, rows, before=options.before, method=how)
    print(show(rows))
    text, slower = summary(rows, options.limit)
    print(text)
    sys.exit(bool(slower))


if __name__ == "__main__":
    main()
