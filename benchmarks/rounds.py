"""What a round costs beside its work, by threads; and a call.

    python benchmarks/rounds.py --threads 1,2,4,8,16

A round is a loop that adds 1 to a number of each vertex, with all threads in it: of 64 vertices the barrier is nearly
all of it. A call is `vg.run` of a compiled program on a graph of three vertices, one thread. Medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import harness

import vgraph as vg
from vgraph.compiler.backends.abi import Steering
from vgraph.runtime.devices import threads as native_threads

VERTICES = (64, 4096, 65_536, 1 << 20)
RUNS = 7
CALLS = 400


@vg.operator
def bump(v):
    """One more."""
    v.x += 1


@vg.algorithm
def rounds(graph, count: vg.int64):
    """So many rounds."""
    x = graph.vertex_property(vg.int32)
    for _ in range(count):
        graph.vertex_apply(bump)
    return x


@dataclass(frozen=True)
class Row:
    """Microseconds of a round, or of a call (`vertices` is 3 there)."""

    what: str
    vertices: int
    threads: int
    us: float


def of_rounds(threads: Sequence[int]) -> list[Row]:
    """A round with all threads, whatever is measured."""
    found = []
    native_threads.STEERING = Steering.TOGETHER
    for n in VERTICES:
        graph = vg.Graph.from_edges([0], [1], num_vertices=n)
        for t in threads:
            count = min(3000, max(50, (1 << 24) // n))
            seconds = [vg.run(rounds, graph, count=count, threads=t).stats.run_seconds for _ in range(RUNS)]
            found.append(Row("round", n, t, statistics.median(seconds) / count * 1e6))
    native_threads.STEERING = Steering.ADAPTIVE
    return found


def of_calls() -> Row:
    """A whole call."""
    graph = vg.Graph.from_edges([0, 1], [1, 2])

    def once() -> float:
        start = time.perf_counter()
        vg.run(rounds, graph, count=1, threads=1)
        return time.perf_counter() - start

    once()
    return Row("call", 3, 1, statistics.median(once() for _ in range(CALLS)) * 1e6)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "rounds.json")
    options = parser.parse_args(arguments)
    rows: list[Any] = [
        asdict(r) for r in (*of_rounds([int(t) for t in options.threads.split(",")]), of_calls())
    ]
    harness.write_results(options.out, rows, method={"runs": RUNS, "calls": CALLS})
    print(rows)


if __name__ == "__main__":
    main()
