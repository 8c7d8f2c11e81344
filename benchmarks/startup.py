"""How long a user waits before anything runs: cold compile, and warm start of a new process.

    setsid --wait python benchmarks/startup.py

Each figure is the median over new processes, on a graph of four vertices. `first`: the cache is empty, so the
native runtime is built too. `cold`: another algorithm has run before, this one is compiled. `warm`: this one
comes from the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness

PROJECT = Path(__file__).parent.parent
ALGORITHMS = ("bfs", "sssp", "pagerank", "connected_components")
STATES = ("first", "cold", "warm")


@dataclass(frozen=True)
class Row:
    """Milliseconds, medians over processes.

    `import_ms` is of vgraph, `run_ms` of all after it (building the graph, compiling and the first vg.run),
    `compile_ms` is what the result's stats say, `process_ms` is from start to end of the process.
    """

    algorithm: str
    state: str
    import_ms: float
    run_ms: float
    compile_ms: float
    process_ms: float
    process_low_ms: float
    process_high_ms: float
    from_cache: bool


def launch(arguments: Sequence[str], cache: str) -> tuple[float, str]:
    """Seconds and output of a new Python process that keeps its objects in `cache`."""
    path = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))
    settings = {**os.environ, "PYTHONPATH": path, "VGRAPH_CACHE_DIR": cache}
    for name in ("VGRAPH_NO_CACHE", "VGRAPH_OPT"):  # `harness` asks for optimised code
        settings.pop(name, None)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=settings, stdout=subprocess.PIPE, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def once(algorithm: str, state: str) -> dict[str, Any]:
    """One process of `algorithm` with the cache in `state`."""
    script = [str(Path(__file__).with_name("startup_child.py"))]
    with tempfile.TemporaryDirectory(prefix="vgraph-startup-") as cache:
        if state != "first":
            other = ALGORITHMS[ALGORITHMS.index(algorithm) - 1]
            launch([*script, algorithm if state == "warm" else other], cache)
        process, output = launch([*script, algorithm], cache)
    times: dict[str, Any] = json.loads(output)
    times["cached"] = bool(times["cached"])
    if times["cached"] != (state == "warm"):
        raise RuntimeError(f"{algorithm} {state}: the result says cached={times['cached']}")
    return {**times, "process": process}


def measure(repeats: int) -> list[Row]:
    """All algorithms and states in turn, `repeats` times."""
    keys = [(algorithm, state) for state in STATES for algorithm in ALGORITHMS]
    taken: dict[tuple[str, str], list[dict[str, Any]]] = {key: [] for key in keys}
    for _ in range(repeats):
        for key in keys:
            taken[key].append(once(*key))
    return [_row(*key, times) for key, times in taken.items()]


def _row(algorithm: str, state: str, times: Sequence[dict[str, Any]]) -> Row:
    def sample(name: str) -> harness.Sample:
        return harness.Sample.of([1e3 * taken[name] for taken in times])

    process = sample("process")
    return Row(
        algorithm,
        state,
        sample("import").median,
        sample("run").median,
        sample("compile").median,
        process.median,
        process.low,
        process.high,
        from_cache=state == "warm",
    )


def show(rows: Sequence[Row]) -> str:
    header = ["state", "algorithm", "import ms", "run ms", "of it compile ms", "process ms"]
    cells = [
        [
            row.state,
            row.algorithm,
            *(f"{value:.0f}" for value in (row.import_ms, row.run_ms, row.compile_ms, row.process_ms)),
        ]
        for row in rows
    ]
    return harness.table(header, cells)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "startup.json")
    options = parser.parse_args(arguments)
    preferred = harness.first_in_line()
    with tempfile.TemporaryDirectory() as cache:
        bare = {
            name: harness.Sample.of([1e3 * launch(["-c", code], cache)[0] for _ in range(options.repeats)])
            for name, code in (("python", "pass"), ("numpy", "import numpy"))
        }
    rows = measure(options.repeats)
    print(show(rows))
    print(f"python alone {bare['python'].median:.0f} ms, with numpy {bare['numpy'].median:.0f} ms")
    how = {"repeats": options.repeats, "preferred_session": preferred}
    harness.write_results(
        options.out, rows, method=how, bare_ms={name: sample.median for name, sample in bare.items()}
    )


if __name__ == "__main__":
    main()
