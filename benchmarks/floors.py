"""The least time each algorithm needs on each benchmark graph: modelled bytes over copy bandwidth.

    setsid --wait python benchmarks/floors.py --graphs kron18,kron20,road --threads 1,2

Needs no vgraph and no peer.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import graphs
import harness
import roofline

ROUNDS = 20
MODELS: dict[str, Callable[[roofline.Size], roofline.Traffic]] = {
    "bfs": roofline.bfs,
    "sssp": roofline.sssp,
    "pagerank 32-bit": lambda size: roofline.pagerank(size, ROUNDS, 4),
    "pagerank 64-bit": lambda size: roofline.pagerank(size, ROUNDS, 8),
    "cc": roofline.components,
}


@dataclass(frozen=True)
class Row:
    """Bytes of one run, and for each thread count (same order as `threads`) bandwidth and milliseconds."""

    graph: str
    case: str
    csr_bytes: int
    floor_bytes: int
    total_bytes: int
    threads: tuple[int, ...]
    bandwidth_gb_s: tuple[float, ...]
    floor_ms: tuple[float, ...]


def rows_of(data: graphs.GraphData, threads: Sequence[int]) -> list[Row]:
    size = roofline.Size.of(data)
    bandwidth = [roofline.copy_bandwidth(size.csr_bytes, count) for count in threads]
    rows = []
    for case, model in MODELS.items():
        traffic = model(size)
        rows.append(
            Row(
                data.name,
                case,
                size.csr_bytes,
                traffic.floor,
                traffic.total,
                tuple(threads),
                tuple(rate / 1e9 for rate in bandwidth),
                tuple(traffic.floor / rate * 1e3 for rate in bandwidth),
            )
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", default="kron18,kron20,road")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "floors.json")
    options = parser.parse_args(arguments)
    preferred = harness.first_in_line()
    threads = [int(count) for count in options.threads.split(",")]
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        cache = options.cache or Path(folder)
        rows = [
            row for name in options.graphs.split(",") for row in rows_of(graphs.make(name, cache), threads)
        ]
    harness.write_results(options.out, rows, method={"preferred_session": preferred})


if __name__ == "__main__":
    main()
