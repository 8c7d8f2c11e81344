"""vgraph on the CPU beside the GAP Benchmark Suite and others, at equal threads, on the same arrays.

    setsid --wait python benchmarks/cpu.py --gap DIR --graphs kron18,kron20,road --threads 1,2

Times are of the algorithm alone: no reading, no compiling, no graph building. Every result is checked
against SciPy before it is timed. `--gap` takes the folder with GAP's programs; `--topdown` and `--bellman`
take programs of the same command line: a hand-written top-down BFS and frontier Bellman-Ford.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import graphs
import harness
import peers
import roofline
from cases import CASES, ROUNDS, Case, Instance

VGRAPH = "vgraph"


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
    floor_bytes: int
    total_bytes: int
    bandwidth_gb_s: float
    floor_ms: float
    share_of_bandwidth: float


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gap", type=Path, help="folder with GAP's bfs, sssp, pr, pr_spmv, cc, cc_sv")
    parser.add_argument(
        "--topdown", type=Path, action="append", default=[], help="a hand-written top-down BFS"
    )
    parser.add_argument(
        "--bellman", type=Path, action="append", default=[], help="a hand-written Bellman-Ford"
    )
    parser.add_argument("--peers", default="", help=f"of {','.join(peers.PYTHON_PEERS)}")
    parser.add_argument("--graphs", default="kron18,kron20,road", help="kronN, urandN, road, roadRxC")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--algorithms", default="bfs,sssp,pagerank,cc")
    parser.add_argument("--blocks", type=int, default=7, help="interleaved blocks; the median of them counts")
    parser.add_argument(
        "--trials", type=int, default=3, help="timed trials in a block, after one that warms up"
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "cpu.json")
    return parser.parse_args(arguments)


def programs(options: argparse.Namespace, algorithm: str, graph: str) -> list[peers.Program]:
    """The native peers of one algorithm that are there."""
    delta = 512 if graph.startswith("road") else 16
    listed = peers.gap(options.gap, algorithm, delta=delta, rounds=ROUNDS) if options.gap else []
    if algorithm == "bfs":
        listed += [peers.Program(path.stem, path.resolve(), from_source=True) for path in options.topdown]
    if algorithm == "sssp":
        listed += [
            peers.Program(path.stem, path.resolve(), weighted=True, from_source=True)
            for path in options.bellman
        ]
    for program in listed:
        if not program.available:
            print(f"left out: {program.label} ({program.path} is not a program)", file=sys.stderr)
    return [program for program in listed if program.available]


def vgraph_side(case: Case, instance: Instance, threads: int, trials: int) -> harness.Side:
    def block() -> list[float]:
        case.run(instance, threads)
        return [case.run(instance, threads).stats.run_seconds for _ in range(trials)]

    return block


def repeat(run: Callable[[], float], trials: int) -> list[float]:
    """Seconds of `trials` runs after one that warms up."""
    run()
    return [run() for _ in range(trials)]


def sides(
    options: argparse.Namespace, case: Case, instance: Instance, threads: int
) -> dict[str, harness.Side]:
    """Every side of one row, vgraph first."""
    found: dict[str, harness.Side] = {VGRAPH: vgraph_side(case, instance, threads, options.trials)}
    for program in programs(options, case.algorithm, instance.data.name):
        found[program.label] = partial(program.run, instance.data, options.cache, threads, options.trials)
    for library in filter(None, options.peers.split(",")):
        run = peers.python_peer(library, case.algorithm, instance.data, threads, ROUNDS)
        if run is not None:
            found[library] = partial(repeat, run, options.trials)
    return found


def measure(
    options: argparse.Namespace, case: Case, instance: Instance, threads: int, bandwidth: float
) -> Row:
    result = case.run(instance, threads)
    case.check(instance, result)
    samples = harness.interleave(sides(options, case, instance, threads), options.blocks)
    mine = samples.pop(VGRAPH)
    traffic = case.traffic(instance, result)
    floor = traffic.floor / bandwidth
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
        floor_bytes=traffic.floor,
        total_bytes=traffic.total,
        bandwidth_gb_s=bandwidth / 1e9,
        floor_ms=floor * 1e3,
        share_of_bandwidth=floor / mine.median,
    )


def show(rows: Sequence[Row]) -> str:
    cells = []
    for row in rows:
        others = ", ".join(f"{peer.label} {peer.ms:.2f} ({peer.ratio:.2f}x)" for peer in row.peers)
        own = f"{row.ms:.2f}"
        share = f"{row.share_of_bandwidth:.0%}"
        cells.append([row.graph, str(row.threads), row.case, own, others, f"{row.floor_ms:.2f}", share])
    header = ["graph", "threads", "case", "vgraph ms", "peers ms (vgraph / peer)", "floor ms", "of bandwidth"]
    return harness.table(header, cells)


def run(options: argparse.Namespace) -> list[Row]:
    wanted = options.algorithms.split(",")
    rows: list[Row] = []
    for name in options.graphs.split(","):
        instance = Instance.of(graphs.make(name, options.cache))
        for threads in map(int, options.threads.split(",")):
            bandwidth = roofline.copy_bandwidth(instance.size.csr_bytes, threads)
            for case in CASES:
                if case.algorithm in wanted:
                    rows.append(measure(options, case, instance, threads, bandwidth))
                    print(show(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    preferred = harness.first_in_line()
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        options.cache = options.cache or Path(folder)
        rows = run(options)
    print(show(rows))
    how: dict[str, Any] = {"blocks": options.blocks, "trials": options.trials, "preferred_session": preferred}
    harness.write_results(options.out, rows, method=how)


if __name__ == "__main__":
    main()
