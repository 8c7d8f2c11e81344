"""vgraph on the CPU beside the GAP Benchmark Suite and others, at equal threads, on the same arrays.

    setsid --wait python benchmarks/cpu.py --gap DIR --peers graphblas,networkit,numba --peer-python PYTHON \\
        --graphs kron18,kron20,urand20,road --threads 1,2 --cache DIR
    python benchmarks/report.py

`cpu_table.py` runs this for many graphs and numbers of threads at once, on a machine of many cores.

Times are of the algorithm alone: no reading, no compiling, no graph building; the orientation by degree that
triangle counting makes is in its time, as it is in GAP's. Every result is checked against SciPy, or by what is
known of it, before it is timed. `--gap` takes the folder with GAP's programs; `--topdown` and `--bellman` take
programs of the same command line: a hand-written top-down BFS and frontier Bellman-Ford. `--peers` names
libraries that the interpreter `--peer-python` has: each runs in a process of its own. A peer that is missing or
fails is named and left out. The file `--out` is written after every row; with `--keep` it keeps rows of an
earlier run that this one does not measure again. In a row of which a side takes more than SLOW a block is one run,
without one that warms up; with `--seconds` no row begins after so many. At the end stands the ratio to the best peer
of each cell (`anchors.py`), with their geometric mean and maximum.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anchors
import graphs
import harness
import peers
import roofline
from cases import CASES, Case, Instance
from tasks import ROUNDS

VGRAPH = "vgraph"
SLOW = 0.1
"""Seconds of a run above which a block is one run."""
Libraries = Mapping[str, peers.Library]
Trials = Callable[[int, int], Sequence[float]]
"""Seconds of so many runs, after so many that warm up."""


@dataclass(frozen=True)
class PeerRow:
    """One peer in a row; `ratio` is vgraph's time over the peer's, so below 1 vgraph is faster."""

    label: str
    ms: float
    low_ms: float
    high_ms: float
    ratio: float


@dataclass(frozen=True)
class Row:
    """One case on one graph with one thread count; times in milliseconds, medians of blocks."""

    case: str
    graph: str
    vertices: int
    arcs: int
    threads: int
    ms: float
    low_ms: float
    high_ms: float
    peers: tuple[PeerRow, ...]
    rounds: int
    arcs_walked: int
    missing: tuple[str, ...]
    blocks: int
    layouts: tuple[str, ...]
    floor_bytes: int | None
    total_bytes: int | None
    bandwidth_gb_s: float
    floor_ms: float | None
    share_of_bandwidth: float | None


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--gap", type=Path, help="folder with GAP's bfs, sssp, pr, pr_spmv, cc, cc_sv, tc, bc"
    )
    parser.add_argument(
        "--topdown", type=Path, action="append", default=[], help="a hand-written top-down BFS"
    )
    parser.add_argument(
        "--bellman", type=Path, action="append", default=[], help="a hand-written Bellman-Ford"
    )
    parser.add_argument("--peers", default="", help=f"of {','.join(peers.LIBRARIES)}")
    parser.add_argument(
        "--peer-python", type=Path, default=Path(sys.executable), help="that has the libraries"
    )
    parser.add_argument("--graphs", default="kron18,kron20,urand20,road", help="kronN, urandN, road, roadRxC")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--algorithms", default=",".join(dict.fromkeys(case.algorithm for case in CASES)))
    parser.add_argument(
        "--blocks", "--repeat", type=int, default=7, help="interleaved blocks; the median of them counts"
    )
    parser.add_argument(
        "--trials", type=int, default=3, help="timed trials in a block, after one that warms up"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no row begins after so many")
    parser.add_argument("--keep", action="store_true", help="keep rows of --out that are not measured again")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "cpu.json")
    return parser.parse_args(arguments)


def programs(options: argparse.Namespace, case: Case, graph: str) -> list[peers.Program]:
    """The native peers of one case."""
    delta, algorithm = 512 if graph.startswith("road") else 16, case.algorithm
    listed = peers.gap(options.gap, case.name, delta=delta, rounds=ROUNDS) if options.gap else []
    if algorithm == "bfs":
        listed += [peers.Program(path.stem, path.resolve(), from_source=True) for path in options.topdown]
    if algorithm == "sssp":
        listed += [
            peers.Program(path.stem, path.resolve(), weighted=True, from_source=True)
            for path in options.bellman
        ]
    return listed


def vgraph_side(case: Case, instance: Instance, threads: int, layouts: list[str]) -> Trials:
    """Its runs; `layouts` gets the names of those of arcs that the last one walked."""

    def block(trials: int, warm: int) -> list[float]:
        runs = [case.timed(instance, threads) for _ in range(warm + trials)]
        layouts[:] = (layout.name for layout in runs[-1][0].stats.layouts)
        return [seconds for _, seconds in runs[warm:]]

    return block


@contextmanager
def libraries(options: argparse.Namespace, data: graphs.GraphData, threads: int) -> Iterator[Libraries]:
    """The Python libraries for one graph, which end with the block."""
    file = options.cache / f"{data.name}.npz"
    named = list(filter(None, options.peers.split(",")))
    made = {name: peers.Library(options.peer_python, name, file, threads) for name in named}
    try:
        yield made
    finally:
        for peer in made.values():
            peer.close()


def sides(
    options: argparse.Namespace,
    case: Case,
    instance: Instance,
    beside: Libraries,
    threads: int,
    layouts: list[str],
) -> tuple[dict[str, Trials], dict[str, float], list[str]]:
    """Every side of one row, vgraph first; what a run of it took; and what is not there, by name and reason."""
    found: dict[str, Trials] = {VGRAPH: vgraph_side(case, instance, threads, layouts)}
    missing: list[str] = []
    for program in programs(options, case, instance.data.name):
        found[program.label] = partial(program.run, instance.data, options.cache, threads)
    for name, library in beside.items():
        if (
            name not in peers.SERIAL or threads == 1 or case.algorithm == "kcore"
        ):  # the others with one thread
            found[name] = partial(library.run, case.algorithm)
    took = {}
    for name, side in list(found.items()):
        try:
            (took[name],) = side(1, 1)
        except (peers.PeerError, OSError) as error:
            del found[name]
            missing.append(f"{name}: {str(error).splitlines()[0]}")
    return found, took, missing


def sampled(
    options: argparse.Namespace, found: Mapping[str, Trials], took: Mapping[str, float]
) -> dict[str, harness.Sample]:
    """Medians of blocks; where runs are long, what they `took` first is a block already."""
    slow = max(took.values()) > SLOW
    blocks, trials, warm = (options.blocks - 1, 1, 0) if slow else (options.blocks, options.trials, 1)
    first = {name: [seconds] for name, seconds in took.items()} if slow else {}
    return harness.interleave(
        {name: partial(side, trials, warm) for name, side in found.items()}, blocks, first
    )


def measure(
    options: argparse.Namespace,
    case: Case,
    instance: Instance,
    beside: Libraries,
    threads: int,
    bandwidth: float,
) -> Row:
    result, _ = case.timed(instance, threads)
    case.check(instance, result)
    layouts: list[str] = []
    found, took, missing = sides(options, case, instance, beside, threads, layouts)
    samples = sampled(options, found, took)
    for name in missing:
        print(f"left out: {name}", file=sys.stderr)
    mine = samples.pop(VGRAPH)
    traffic = case.traffic(instance, result) if case.traffic is not None else None
    floor = traffic.floor / bandwidth if traffic is not None else None
    return Row(
        case=case.name,
        graph=instance.data.name,
        vertices=instance.data.num_vertices,
        arcs=instance.data.num_edges,
        threads=threads,
        ms=mine.median * 1e3,
        low_ms=mine.low * 1e3,
        high_ms=mine.high * 1e3,
        peers=tuple(
            PeerRow(label, s.median * 1e3, s.low * 1e3, s.high * 1e3, mine.median / s.median)
            for label, s in samples.items()
        ),
        rounds=result.stats.rounds,
        arcs_walked=result.stats.edges,
        missing=tuple(missing),
        blocks=mine.blocks,
        layouts=() if case.fresh else tuple(layouts),
        floor_bytes=traffic.floor if traffic is not None else None,
        total_bytes=traffic.total if traffic is not None else None,
        bandwidth_gb_s=bandwidth / 1e9,
        floor_ms=floor * 1e3 if floor is not None else None,
        share_of_bandwidth=floor / mine.median if floor is not None else None,
    )


def show(rows: Sequence[Row]) -> str:
    cells = []
    for row in rows:
        others = ", ".join(f"{peer.label} {peer.ms:.2f} ({peer.ratio:.2f}x)" for peer in row.peers)
        floor = "" if row.floor_ms is None else f"{row.floor_ms:.2f}"
        share = "" if row.share_of_bandwidth is None else f"{row.share_of_bandwidth:.0%}"
        cells.append([row.graph, str(row.threads), row.case, f"{row.ms:.2f}", others, floor, share])
    header = ["graph", "threads", "case", "vgraph ms", "peers ms (vgraph / peer)", "floor ms", "of bandwidth"]
    return harness.table(header, cells)


def earlier(options: argparse.Namespace) -> list[Mapping[str, Any]]:
    """The rows that `--out` has already, if they are to be kept."""
    if not (options.keep and options.out.exists()):
        return []
    rows: list[Mapping[str, Any]] = json.loads(options.out.read_text())["rows"]
    return rows


def run(options: argparse.Namespace, save: Callable[[Sequence[Row]], None]) -> list[Row]:
    wanted = options.algorithms.split(",")
    rows: list[Row] = []
    start = time.monotonic()
    for name in options.graphs.split(","):
        instance = Instance.of(graphs.make(name, options.cache))
        instance.recall(options.cache)
        for threads in map(int, options.threads.split(",")):
            bandwidth = roofline.copy_bandwidth(instance.size.csr_bytes, threads)
            with libraries(options, instance.data, threads) as beside:
                for case in (c for c in CASES if c.algorithm in wanted):
                    if time.monotonic() - start > options.seconds:
                        print(f"no time for {case.name} on {name}", file=sys.stderr)
                        continue
                    rows.append(measure(options, case, instance, beside, threads, bandwidth))
                    print(show(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
                    save(rows)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    preferred = harness.first_in_line()
    how: dict[str, Any] = {"blocks": options.blocks, "trials": options.trials, "preferred_session": preferred}
    before = earlier(options)

    def save(rows: Sequence[Row]) -> None:
        made = [asdict(row) for row in rows]
        again = {(row["case"], row["graph"], row["threads"]) for row in made}
        kept = [row for row in before if (row["case"], row["graph"], row["threads"]) not in again]
        harness.write_results(options.out, [*kept, *made], method=how)

    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        options.cache = options.cache or Path(folder)
        rows = run(options, save)
    print(show(rows))
    print(anchors.summary([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
