"""Kernels under NVIDIA's compute-sanitizer, on small graphs; every result is compared with the CPU's as well.

    python benchmarks/sanitizer.py                 runs itself under each tool, and writes a dated summary
    compute-sanitizer --tool memcheck python benchmarks/sanitizer.py --once

memcheck finds accesses outside of arrays: CuPy's pool is turned off, so that each array is an allocation of its own.
racecheck finds races in shared memory (not in global memory); synccheck, barriers that threads do not reach together.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuda_gpu
import cuda_graphs
import harness
import numpy as np
from cuda_cases import CASES, Case
from cuda_parts import BALANCES

import vgraph as vg
from vgraph.runtime import depth, policy

TOOLS = ("memcheck", "racecheck", "synccheck")
GRAPHS = ("rmat10", "road24")
BALANCED = ("bfs", "bellman_ford", "pagerank32")
CONFLICTS = (vg.blocked_diagonals(), vg.blocked_diagonals(16, 16), vg.EDGE_LOCKED, vg.SGM)
LABELS_OF_LISTS = {"triangles": "count", "clustering": "count_between"}
AS_LARGE: dict[str, Case] = {
    **{key: CASES[key] for key in ("bfs", "sssp", "cc", "kcore", "betweenness", *LABELS_OF_LISTS)},
    "path_counts": Case("path_counts", vg.algorithms.path_counts, "reach", {}, source="source"),
    "forest": Case("forest", vg.algorithms.minimum_spanning_forest, "lighten", {}),
}
"""What is also run as large graphs are: by crews, with hops and cascades, with heads of lists, by lanes that share
loops."""
FEW_AS_LARGE = ("path_counts", "triangles")
FAILED = 86
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: .*")
CLEAN = re.compile(r"SUMMARY: 0 (?:errors|hazards)")


@dataclass(frozen=True)
class Row:
    """One tool. `status` is the exit status; `summary` the tool's own last line; `log` the beginning of its log where
    it found something."""

    tool: str
    version: str
    runs: int
    clean: bool
    status: int
    summary: str
    seconds: float
    log: str


def schedules(key: str) -> Iterator[vg.Schedule | None]:
    """As vgraph chooses; and for some cases each direction with each balancer."""
    yield None
    if key in BALANCED:
        for direction in (vg.PUSH, vg.PULL):
            for balance in BALANCES.values():
                yield vg.Schedule().at(CASES[key].label, direction=direction, balance=balance)


def factors(few: bool) -> int:
    """An epoch of steps that write both ends of ratings, under each kind of schedule of conflicts; how many runs."""
    rows, conflicts = (20, CONFLICTS[:-1]) if few else (200, CONFLICTS)
    rng = np.random.default_rng(1)
    users, items = (rows * rng.random((2, 20 * rows)) ** 2).astype(int)
    graph = vg.from_ratings(users, items, rng.integers(1, 6, users.size))
    for conflict in conflicts:
        given = {"epochs": 1, "factors": 16, "schedule": vg.Schedule().at("learn", conflict=conflict)}
        runs = (vg.run(vg.algorithms.matrix_factorization, graph, device=d, **given) for d in ("cpu", "cuda"))
        wanted, found = (run.user_factors for run in runs)
        near = 0.05 if conflict == vg.EDGE_LOCKED else 1e-3  # whose order is by chance
        np.testing.assert_allclose(found, wanted, atol=near, rtol=0)
    return len(conflicts)


def once(few: bool) -> int:
    """All runs, or a few, one after the other; how many there were."""
    import cupy

    cupy.cuda.set_allocator(None)
    count = factors(few)
    for name in GRAPHS[-1:] if few else GRAPHS:
        loaded = cuda_graphs.make(name, np)
        for key, case in CASES.items():
            if few and key not in BALANCED:
                continue
            count += sum(checked(case, loaded, schedule) for schedule in schedules(key))
    with small_ones_are_large(), small_crews() if few else nullcontext():
        for name in ("road4", "rmat6") if few else GRAPHS:
            loaded = cuda_graphs.make(name, np)
            for key in FEW_AS_LARGE if few else AS_LARGE:
                count += sum(checked(AS_LARGE[key], loaded, schedule) for schedule in headed(key))
    print(f"runs: {count}", flush=True)
    return count


def checked(case: Case, loaded: cuda_graphs.Loaded, schedule: vg.Schedule | None) -> int:
    """A run, compared with the CPU's; 0 if a balancer does not go with the direction, else 1."""
    source = case.sources(loaded)[0]
    try:
        result = case.run(loaded, source, device="cuda", schedule=schedule)
    except vg.ScheduleError:
        return 0
    case.check(loaded, source, result)
    return 1


@contextmanager
def small_ones_are_large() -> Iterator[None]:
    """Inside, what is chosen from some size or depth on is chosen on small graphs."""
    kept = policy.LARGE, depth.PROBE_ROUNDS
    policy.LARGE, depth.PROBE_ROUNDS = 1, 1  # type: ignore[misc]
    try:
        yield
    finally:
        policy.LARGE, depth.PROBE_ROUNDS = kept  # type: ignore[misc]


@contextmanager
def small_crews() -> Iterator[None]:
    """Inside, a block of a crew has 128 threads: with 1024 the simplest run did not end under racecheck."""
    from vgraph.runtime.devices.cuda import cupy_device

    kept = cupy_device.WHOLE_BLOCK
    cupy_device.WHOLE_BLOCK = 128  # type: ignore[misc]
    try:
        yield
    finally:
        cupy_device.WHOLE_BLOCK = kept  # type: ignore[misc]


def headed(key: str) -> Iterator[vg.Schedule | None]:
    """As vgraph chooses; and lists that are compared also with heads."""
    yield None
    if key in LABELS_OF_LISTS:
        yield vg.Schedule().at(LABELS_OF_LISTS[key], hubs=64)


def under(tool: str, program: str, limit: float, few: bool) -> Row:
    """This script under a tool, in a process of its own."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="vgraph-sanitizer-") as folder:
        log = Path(folder) / "log"
        command = [program, "--tool", tool, "--target-processes", "application-only"]
        command += ["--error-exitcode", str(FAILED), "--log-file", str(log)]
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [*command, sys.executable, __file__, "--once", *(["--few"] if few else [])],
                stdout=subprocess.PIPE,
                text=True,
                timeout=limit,
                env={**os.environ, "VGRAPH_CACHE_DIR": folder},
            )
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, output = -1, ""
        seconds = time.perf_counter() - start
        text = log.read_text(errors="replace") if log.exists() else ""
    found = SUMMARY.findall(text)
    summary = found[-1] if found else "no summary"
    runs = re.search(r"runs: (\d+)", output)
    clean = status == 0 and CLEAN.search(summary) is not None and runs is not None
    named = re.search(r"[Vv]ersion\s+([\d.]+)", version)
    return Row(
        tool=tool,
        version=named[1] if named else version.strip(),
        runs=int(runs[1]) if runs else 0,
        clean=clean,
        status=status,
        summary=summary,
        seconds=seconds,
        log="" if clean else text[:8000],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--once", action="store_true", help="only the runs, for a tool around this process")
    parser.add_argument(
        "--few", action="store_true", help="only `--once`: the cases with balancers, on one graph"
    )
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--limit", type=float, default=240.0, help="seconds for each tool")
    parser.add_argument("--commit", help="of vgraph, where the files are no checkout")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "sanitizer.json")
    options = parser.parse_args(arguments)
    if options.once:
        once(options.few)
        return
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    rows = []
    for tool in options.tools.split(","):
        # racecheck takes seconds for each of the grid's barriers.
        rows.append(under(tool, program, options.limit, few=tool == "racecheck"))
        print(f"{tool}: {rows[-1].runs} runs, {rows[-1].seconds:.0f} s, {rows[-1].summary}", file=sys.stderr)
    more: dict[str, Any] = {k: v for k, v in cuda_gpu.environment(options.commit).items() if k != "date"}
    harness.write_results(options.out, rows, **more)
    sys.exit(0 if all(row.clean for row in rows) else 1)


if __name__ == "__main__":
    main()
