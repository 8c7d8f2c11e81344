"""The whole table of `cpu.py` for one commit, on a machine of many cores, within some minutes.

    python benchmarks/cpu_table.py --gap SOURCES --data DIR --seconds 400 --out benchmarks/results/cpu.json
    python benchmarks/report.py

`--gap` takes GAP's sources (the folder with `bfs.cc`), which are compiled here. Each graph is made once, and all sides
read it from files; what results are checked against is computed once, too. Each graph with each number of threads is
a process of its own (`cpu.py`), held to cores that no other uses: with more than 4 threads alone on the machine, then
with fewer side by side, as many as there are cores for; triangles there in a process of their own, since they take
longest. So those side by side share the last cache and the memory. Whatever is there when the time is over is put
together in `--out`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cases
import graphs
import harness
import library

from vgraph.records import dataclass

HERE = Path(__file__).parent
PROGRAMS = ("tc", "bc", "sssp", "bfs", "cc", "pr_spmv")
TOGETHER = 4
"""Threads up to which measurements run side by side."""
LONGEST = "triangles"
"""The algorithm that gets a process of its own there."""
OTHERS = ",".join(dict.fromkeys(c.algorithm for c in cases.CASES if c.algorithm != LONGEST))


@dataclass(frozen=True)
class Job:
    """Some algorithms on one graph with one number of threads."""

    graph: str
    threads: int
    arcs: int
    algorithms: str

    @property
    def file(self) -> str:
        """Of its rows."""
        return f"{self.graph}-{self.threads}-{self.algorithms.partition(',')[0]}.json"

    @property
    def work(self) -> float:
        """About how long it takes, beside others."""
        return self.arcs * (2 if self.algorithms == LONGEST else 1) / self.threads


class Table:
    """The jobs of a run, their cores and their time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.folder = options, options.cache
        self.end = time.monotonic() + options.seconds
        self.cores = sorted(os.sched_getaffinity(0))

    def left(self) -> float:
        """Seconds until it has to be written."""
        return self.end - time.monotonic()

    # --- what is made once

    def prepare(self) -> list[Job]:
        """Compile the peers, make the graphs and what results are checked against; the jobs."""
        names = self.options.graphs.split(",")
        with ThreadPoolExecutor(len(self.cores)) as pool:
            built = [pool.submit(self.compiled, program) for program in (*PROGRAMS, "pr_spmv64", "kcore")]
            arcs = list(pool.map(self.graph, names))
            for program in built:
                program.result()
        return [
            Job(name, t, m, algorithms)
            for name, m in zip(names, arcs, strict=True)
            for t in map(int, self.options.threads.split(","))
            for algorithms in ((OTHERS, LONGEST) if t <= TOGETHER else (f"{OTHERS},{LONGEST}",))
        ]

    def compiled(self, program: str) -> None:
        """A program of GAP's, that of PageRank with ranks of 64 bits as well, or one that is written here."""
        if (self.folder / program).exists():
            return
        source = self.options.gap / f"{program}.cc"
        if program == "kcore":
            source = HERE / "handwritten" / "kcore.cc"
        elif program == "pr_spmv64":
            text = (self.options.gap / "pr_spmv.cc").read_text()
            assert text.count("typedef float ScoreT;") == 1
            source = self.folder / "pr_spmv64.cc"
            source.write_text(text.replace("typedef float ScoreT;", "typedef double ScoreT;"))
        command = ["g++", "-std=c++11", "-O3", "-march=native", "-fopenmp", f"-I{self.options.gap}"]
        command += [str(source), "-o", str(self.folder / program)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{program} does not compile: {done.stderr.splitlines()[-1:]}", file=sys.stderr)

    def graph(self, name: str) -> int:
        """Make a graph in a process of its own; gives its arcs."""
        command = [sys.executable, __file__, "--make", name, "--cache", str(self.folder)]
        subprocess.run([*command, "--data", str(self.options.data)], check=True)
        data = graphs.GraphData.load(self.folder / f"{name}.npz")
        assert data is not None
        return data.num_edges

    # --- measuring

    def start(self, job: Job, cores: Iterable[int]) -> subprocess.Popen[bytes]:
        """A process that measures a job on these cores."""
        command = [sys.executable, str(HERE / "cpu.py"), "--gap", str(self.folder)]
        command += ["--graphs", job.graph, "--threads", str(job.threads), "--cache", str(self.folder)]
        command += ["--out", str(self.folder / job.file), "--blocks", "5", "--trials", "3"]
        command += ["--algorithms", job.algorithms]
        command += ["--seconds", f"{self.left() - 5:.0f}"]
        with open(self.folder / f"{job.file}.log", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        os.sched_setaffinity(process.pid, cores)  # before it has started threads
        return process

    def run(self, jobs: Sequence[Job]) -> None:
        """Those of many threads, one after the other; then those of few side by side, the longest first."""
        many = sorted((j for j in jobs if j.threads > TOGETHER), key=lambda j: (-j.threads, j.arcs))
        for job in many:
            if job.threads <= len(self.cores) and self.left() > 0:
                process = self.start(job, self.cores[: job.threads])
                try:
                    process.wait(self.left())
                except subprocess.TimeoutExpired:
                    process.kill()
        few = sorted((j for j in jobs if j.threads <= TOGETHER), key=lambda j: -j.work)
        free, running = list(self.cores), dict[subprocess.Popen[bytes], list[int]]()
        while (few or running) and self.left() > 0:
            job = next((j for j in few if j.threads <= len(free)), None)
            if job is not None:
                few.remove(job)
                cores, free = free[: job.threads], free[job.threads :]
                running[self.start(job, cores)] = cores
                continue
            time.sleep(0.05)
            for process in [p for p in running if p.poll() is not None]:
                free += running.pop(process)
        for process in running:
            process.kill()

    def write(self, jobs: Sequence[Job]) -> None:
        """All rows in one file, and the logs of jobs that have none."""
        rows: list[Any] = []
        names = self.options.graphs.split(",")
        for job in jobs:
            file = self.folder / job.file
            found = json.loads(file.read_text())["rows"] if file.exists() else []
            rows += found
            if not found or self.options.verbose:
                log = self.folder / f"{job.file}.log"
                print(f"{job}: {log.read_text()[-1500:] if log.exists() else 'not begun'}", file=sys.stderr)
        order = [case.name for case in cases.CASES]
        rows.sort(key=lambda row: (names.index(row["graph"]), order.index(row["case"]), row["threads"]))
        note = f"up to {TOGETHER} threads several ran side by side, each held to cores of its own"
        method = {"blocks": 5, "trials": 3, "note": note, "seconds": self.options.seconds - self.left()}
        harness.write_results(self.options.out, rows, method=method)
        print(f"{len(rows)} rows, {method['seconds']:.0f} s")


def make(name: str, data: Path, cache: Path) -> None:
    """A graph and what is known of it, in files."""
    if name in library.FILES:
        instance = library.read(name, data, cache)
    else:
        instance = cases.Instance.of(graphs.make(name, cache))
    for weighted in (False, True):
        graphs.gap_file(instance.data, cache, weighted=weighted)
    instance.answer(cache)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gap", type=Path, help="folder with GAP's sources")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with real graphs")
    parser.add_argument("--graphs", default="kron18,kron20,urand18,road,cnr-2000,ego-Twitter")
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--seconds", type=float, default=400.0, help="until it is written")
    parser.add_argument("--cache", type=Path, help="folder that keeps graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "cpu.json")
    parser.add_argument("--verbose", action="store_true", help="print what the measurements say")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.make:
        make(options.make, options.data, options.cache)
        return
    folder = options.cache or Path(tempfile.mkdtemp(prefix="vgraph-benchmark-"))
    folder.mkdir(parents=True, exist_ok=True)
    options.cache = folder.resolve()
    table = Table(options)
    try:
        jobs = table.prepare()
        print(f"prepared in {options.seconds - table.left():.0f} s", flush=True)
        table.run(jobs)
        table.write(jobs)
    finally:
        if folder != options.cache:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
