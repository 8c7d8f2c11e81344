"""vgraph on an NVIDIA GPU: what each algorithm takes, beside other systems, cuSPARSE and the GPU's copy rate.

    python benchmarks/gpu.py --parts headline,balance --graphs rmat22,road2048
    python benchmarks/gpu.py --parts headline --graphs cnr-2000,ego-Twitter,USA-road-FLA --data DIR
    python benchmarks/gpu.py --parts layouts --graphs rmat18,rmat22,road2048
    python benchmarks/gpu.py --parts tiles --cases bfs,sssp --graphs road1024,road2048,USA-road-FLA --data DIR
    python benchmarks/gpu.py --parts growth --graphs rmat18,rmat19,rmat20,rmat21,rmat22,rmat23,rmat24
    python benchmarks/gpu.py --parts devices,constants --graphs rmat22,road2048
    python benchmarks/gpu.py --parts startup
    python benchmarks/gpu.py --parts headline,layouts,auto --graphs rmat18,rmat22,rmat24,road2048 --seconds 160
    python benchmarks/gpu.py --merge FILE ...
    python benchmarks/report.py

Times are of the kernel by events, the graph on the GPU: medians of `--repeats` runs, with the least and the most; for
searches in `headline` and `growth` the median, the least and the most over five sources of each one's median. Every
result is compared with the CPU's before it is timed. What fails or is refused is named with its reason, and the rest
goes on; the exit status is 1 if anything failed. Figures of other systems are constants (`cuda_cases.py`).

With `--seconds` each graph has a process, which makes it and the CPU's answers while others measure; one at a time
has the GPU. What has not begun when the time is over is named as left out; a graph may name its cases,
`rmat26:bfs+pagerank32`. `auto` puts what is chosen beside the best of some schedules.

The result file has a list of runs for each part: environment, method, rows. A run that measures a row again takes the
earlier one's place. `--merge` puts in files that were written elsewhere. Warp execution efficiency is not in it:
`ncu --clock-control none --metrics smsp__thread_inst_executed_per_inst_executed.ratio` around such a call has it.

The file is not called cuda.py, because CuPy imports a package `cuda`, and would find it.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import cuda_gpu
import cuda_graphs
import cuda_parts
import harness
import startup
from cuda_cases import CASES, PEERS_FROM

import vgraph as vg

PER_GRAPH = ("headline", "layouts", "auto", "tiles", "balance", "growth", "devices", "constants")
PARTS = (*PER_GRAPH, "startup")
KEY = ("graph", "case", "balance", "relabel", "constant", "value", "algorithm", "state")
OUT = harness.RESULTS / "cuda.json"
STARTING = ("bfs", "sssp", "pagerank", "connected_components")
STARTUP_SCALE = 16
LAST = 6.0
"""Seconds before all has to be over in which nothing is begun."""
REFERENCE_CASES = ",".join(CASES)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="headline,balance", help=f"of {','.join(PARTS)}")
    parser.add_argument(
        "--graphs",
        default="rmat22,road2048",
        help="rmatN, urandN, roadN, names of files in --data",
    )
    parser.add_argument("--cases", default=REFERENCE_CASES, help=f"of {REFERENCE_CASES}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(16, os.cpu_count() or 1), help="of the CPU")
    parser.add_argument("--data", type=Path, help="folder with social/ and road/, the graphs read from files")
    parser.add_argument("--seconds", type=float, help="a process for each graph, all together for so long")
    parser.add_argument("--until", type=float, default=float("inf"), help=argparse.SUPPRESS)
    parser.add_argument("--turn", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--commit", help="of vgraph, where the files are no checkout")
    parser.add_argument("--merge", type=Path, nargs="+", help="put these files into --out; measure nothing")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    for given, known in ((options.parts, PARTS), (options.cases, tuple(CASES))):
        unknown = set(given.split(",")) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return options


# --- the file -------------------------------------------------------------------------------------------------


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is about: of two with the same key the later counts."""
    return tuple(row.get(name) for name in KEY)


def merge(parts: dict[str, list[Any]], name: str, run: dict[str, Any]) -> None:
    """Put a run into a part; rows and failures that it measured again leave the runs before it."""
    again = {key_of(row) for row in (*run["rows"], *run["failures"])}
    for earlier in parts.setdefault(name, []):
        for kind in ("rows", "failures"):
            earlier[kind] = [row for row in earlier[kind] if key_of(row) not in again]
    parts[name] = [earlier for earlier in parts[name] if earlier["rows"] or earlier["failures"]] + [run]


def merge_files(out: Path, files: Sequence[Path]) -> None:
    """Put what other files have into one."""
    parts = read(out)
    for path in files:
        for name, runs in read(path).items():
            for run in runs:
                merge(parts, name, run)
    write(out, parts)


def read(path: Path) -> dict[str, list[Any]]:
    """The parts of a result file; none if there is no file."""
    if not path.exists():
        return {}
    parts: dict[str, list[Any]] = json.loads(path.read_text())["parts"]
    return parts


def write(path: Path, parts: dict[str, list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"peers_from": PEERS_FROM, "parts": parts}, indent=1) + "\n")
    partial.replace(path)


# --- measuring ------------------------------------------------------------------------------------------------


class Session:
    """All parts of one call, and the file that they go to."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.environment = cuda_gpu.environment(options.commit)
        with self.alone():
            self.copy_rate = cuda_gpu.copy_rate()
            cuda_gpu.release()
        self.before = json.dumps(read(options.out))
        self.parts = {name: self._part() for name in options.parts.split(",")}
        print(f"copy rate {self.copy_rate / 1e12:.2f} TB/s", file=sys.stderr, flush=True)

    def _part(self) -> cuda_parts.Part:
        chosen = self.options.cases.split(",")
        return cuda_parts.Part(self.options.repeats, chosen, self.save, self.copy_rate, self.options.until)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """The GPU is ours; where no other process wants it, it always is."""
        if self.options.turn is None:
            yield
            return
        with self.options.turn.open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            yield

    @property
    def failed(self) -> int:
        """How much could not be measured; schedules that are refused by design are no failures."""
        return sum(not found["refused"] for part in self.parts.values() for found in part.failures)

    def save(self) -> None:
        merged: dict[str, list[Any]] = json.loads(self.before)
        method = {"repeats": self.options.repeats, "copy_bytes_per_second": self.copy_rate}
        for name, part in self.parts.items():
            if part.rows or part.failures:
                run = {**self.environment, "method": method, "rows": part.rows, "failures": part.failures}
                merge(merged, name, run)
        write(self.options.out, merged)

    def on(self, name: str) -> None:
        """All parts that work on graphs, on one."""
        start = time.perf_counter()
        with self.alone():
            arrays = cuda_graphs.arrays(name, cuda_gpu.arrays(), self.options.data)
            cuda_gpu.release()
        loaded = cuda_graphs.loaded(name, *arrays)
        for key in self.options.cases.split(","):
            with suppress(vg.VGraphError):  # who measures it says so
                for source in CASES[key].sources(loaded):
                    CASES[key].answer(loaded, source)
        if {"layouts", "auto"} & set(self.parts):
            cuda_parts.order_for(loaded)
        print(f"{name}: {loaded.graph}, {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        with self.alone():
            for chosen in (part for part in self.parts if part in PER_GRAPH):
                begin = time.perf_counter()
                more = (self.options.threads,) if chosen == "devices" else ()
                getattr(cuda_parts, chosen)(self.parts[chosen], loaded, *more)
                print(f"{name} {chosen}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)


def together(options: argparse.Namespace) -> int:
    """A process for each graph; what they find is put into `--out` whenever one ends. How many failed."""
    until, failed = time.time() + options.seconds, 0
    with tempfile.TemporaryDirectory(prefix="vgraph-gpu-") as folder:
        threads = max(1, (os.cpu_count() or 1) // (1 + options.graphs.count(",")))
        environment = {**os.environ, "VGRAPH_THREADS": str(threads)}
        running: dict[Path, subprocess.Popen[bytes]] = {}
        for wanted in options.graphs.split(","):
            name, _, cases = wanted.partition(":")
            out = Path(folder, f"{name}.json")
            given = {
                "--graphs": name,
                "--out": out,
                "--turn": Path(folder, "turn"),
                "--until": until - LAST,
                "--cases": cases.replace("+", ",") or options.cases,
                **{f"--{k}": getattr(options, k) for k in ("parts", "repeats", "commit", "data")},
            }
            words = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
            running[out] = subprocess.Popen([sys.executable, __file__, *words], env=environment)
        while running:
            time.sleep(0.2)
            late = time.time() > until
            for out, process in list(running.items()):
                if late:
                    process.kill()
                if process.poll() is not None or late:
                    failed += process.wait() != 0
                    merge_files(options.out, [out])
                    del running[out]
    return failed


def start(part: cuda_parts.Part) -> None:
    """New processes: what passes until the first result, with an empty cache and with a full one."""
    child = str(Path(__file__).with_name("cuda_child.py"))
    for algorithm in STARTING:
        with part.trying(algorithm=algorithm):
            taken: dict[str, list[dict[str, Any]]] = {"cold": [], "warm": []}
            for _ in range(part.repeats):
                with tempfile.TemporaryDirectory(prefix="vgraph-startup-") as cache:
                    for state, runs in taken.items():
                        seconds, output = startup.launch([child, algorithm, str(STARTUP_SCALE)], cache)
                        runs.append({**json.loads(output), "process_ms": 1e3 * seconds})
                        if runs[-1].pop("cached") != (state == "warm"):
                            raise RuntimeError(f"{algorithm}: the cache is not {state}")
            for state, runs in taken.items():
                names = list(runs[0])
                middle = {name: statistics.median(run[name] for run in runs) for name in names}
                spread = [run["first_run_ms"] for run in runs]
                part.add(
                    algorithm=algorithm,
                    state=state,
                    scale=STARTUP_SCALE,
                    runs=len(runs),
                    ms=middle["first_run_ms"],
                    low_ms=min(spread),
                    high_ms=max(spread),
                    **middle,
                )


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.merge:
        merge_files(options.out, options.merge)
        return
    if options.seconds:
        sys.exit(together(options) > 0)
    session = Session(options)
    if any(part in PER_GRAPH for part in session.parts):
        for name in options.graphs.split(","):
            session.on(name)
    if "startup" in session.parts:
        start(session.parts["startup"])
    session.save()
    print(f"wrote {options.out}", file=sys.stderr)
    sys.exit(1 if session.failed else 0)


if __name__ == "__main__":
    main()
