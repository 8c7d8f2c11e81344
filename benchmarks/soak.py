"""Mixed runs for a long time: memory, mappings, threads and open files of the process stay as they are.

    python benchmarks/soak.py --seconds 3600

In turn: library algorithms on graphs that come and go, with 1, 2 and 3 threads and other schedules; runs that end
with an error or are interrupted; and `--programs` further programs, more than there may be loaded kernels, so that
code comes and goes as well. What the process keeps is bounded: `--loaded` kernels (256 by default, `_LOADED` in
`runtime/devices/compiled.py`; each has two or three mappings), 8 idle pools of threads, the caches of the frontend.
Those are filled first, and all programs compiled, for LLVM itself keeps some 0.2 MB of each program that it optimises
(llvmlite 0.50 does not free all of a pass manager); from then on nothing may grow. Every `--every` seconds a line
tells what there is. The exit status is 1 if the last third of the lines shows more than the one before it: 3 % and
8 MB of memory, 12 mappings, or any thread or file.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import count
from pathlib import Path

import numpy as np

import vgraph as vg
from vgraph.runtime.devices import compiled

PROGRAM = """
import vgraph as vg

@vg.operator
def spread(src, edge, dst):
    dst.x = min(dst.x, src.x + {constant})

@vg.algorithm
def program(graph, source):
    x = graph.vertex_property(vg.int64, fill=vg.inf)
    x[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(spread, frontier)
    return x
"""


@dataclass(frozen=True)
class Use:
    """What the process holds: resident memory in MB, mappings, threads, open files, loaded kernels; turns so far."""

    memory: float
    maps: int
    threads: int
    files: int
    kernels: int
    turns: int

    @staticmethod
    def now(turns: int) -> Use:
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        maps = len(Path("/proc/self/maps").read_text().splitlines())
        tasks, files = (len(os.listdir(f"/proc/self/{name}")) for name in ("task", "fd"))
        return Use(resident / 1e6, maps, tasks, files, len(compiled._loaded), turns)

    def __str__(self) -> str:
        return "  ".join(
            f"{f.name} {value:,.0f}" for f, value in zip(fields(self), astuple(self), strict=True)
        )


ROOM = {"memory": 8.0, "maps": 12, "threads": 0, "files": 0}


def grown(lines: Sequence[Use]) -> list[str]:
    """What the last third of the lines has more of than the third before it."""
    third = len(lines) // 3
    found = []
    for name, room in ROOM.items():
        before, after = (
            statistics.median(getattr(line, name) for line in part)
            for part in (lines[third : 2 * third], lines[2 * third :])
        )
        share = 0.03 if name == "memory" else 0.0
        if after > before * (1 + share) + room:
            found.append(f"{name}: {before:,.0f}, then {after:,.0f}")
    return found


class Soak:
    """Turns of mixed runs."""

    def __init__(self, seed: int, programs: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.programs = programs
        self.numbers = count()
        self.turns: tuple[Callable[[], object], ...] = (
            self.library, self.library, self.program, self.program, self.refused, self.interrupted,
        )  # fmt: skip

    def graph(self) -> vg.Graph:
        n = int(self.rng.integers(50, 3000))
        ends = self.rng.integers(0, n, (2, 6 * n))
        weight = self.rng.integers(1, 100, 6 * n).astype(np.int32)
        return vg.Graph.from_edges(*ends, num_vertices=n, directed=False, weight=weight)

    def library(self) -> object:
        graph, threads = self.graph(), int(self.rng.integers(1, 4))
        library = vg.algorithms
        runs: tuple[Callable[[], object], ...] = (
            lambda: vg.run(library.bfs, graph, source=0, threads=threads),
            lambda: vg.run(library.sssp, graph, source=0, threads=threads),
            lambda: vg.run(library.pagerank, graph, threads=threads),
            lambda: vg.run(library.betweenness, graph, sources=[0, 1], threads=threads),
            lambda: vg.run(library.k_core, graph, threads=threads),
            lambda: vg.run(library.connected_components, graph, threads=threads),
            lambda: vg.run(
                library.sssp, graph, source=0, threads=threads,
                schedule=vg.Schedule().at("relax", order=vg.delta_stepping(8)),
            ),
        )  # fmt: skip
        return runs[int(self.rng.integers(len(runs)))]()

    def program(self) -> object:
        """One of the programs, made anew: its code comes from memory or from the disk, if it is not new."""
        number = next(self.numbers) % self.programs
        text = PROGRAM.format(constant=number)
        name = f"<soak {number}>"
        scope: dict[str, object] = {"__name__": "soak"}
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), scope)
        found = vg.run(scope["program"], self.graph(), source=0, threads=2)  # type: ignore[arg-type]
        del linecache.cache[name]
        return found

    def refused(self) -> None:
        try:
            vg.run(vg.algorithms.bfs, self.graph(), source=10**6, threads=2)
        except vg.VGraphError:
            return
        raise AssertionError("no such vertex")

    def interrupted(self) -> None:
        def stop(_: object) -> None:
            raise KeyboardInterrupt

        try:
            vg.run(
                vg.algorithms.pagerank,
                self.graph(),
                threads=2,
                max_rounds=10**6,
                tolerance=0.0,
                progress=stop,
            )
        except KeyboardInterrupt:
            return

    def turn(self) -> None:
        self.turns[int(self.rng.integers(len(self.turns)))]()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between lines")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--loaded", type=int, default=compiled._LOADED)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    compiled._LOADED = options.loaded  # type: ignore[misc]
    soak, lines, turns = Soak(options.seed, options.programs), [], 0
    for _ in range(options.programs):
        soak.program()
    begin = due = time.monotonic()
    while time.monotonic() < begin + options.seconds:
        soak.turn()
        turns += 1
        if time.monotonic() >= due:
            due = time.monotonic() + options.every
            lines.append(Use.now(turns))
            print(f"{time.monotonic() - begin:7.0f} s  {lines[-1]}", flush=True)
    wrong = grown(lines)
    print("; ".join(wrong) or "flat")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
