"""Products with a matrix, conjugate gradients and PageRank on CPU threads: each order of the vertices with each layout
of the arcs; and, for one case, the data that a round misses in the caches, as cachegrind counts them.

    python benchmarks/cpu_locality.py --graphs mesh1000~ USA-road-NY~ --data FOLDER --threads 2 16
    python benchmarks/cpu_locality.py --graphs mesh200~ --misses

Graphs and cases are those of `gpu_locality.py`. Milliseconds are those of a round inside the native code, the least of
several runs in turns. `--misses` runs products of one thread under valgrind, twice with different numbers of rounds:
the difference is what rounds read and write, without what comes before. Caches are as `CACHES` says.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from gpu_locality import PULL, ROUNDS, cases, load
from harness import RESULTS, write_results

import vgraph as vg

LAYOUTS: dict[str, dict[str, Any]] = {
    "rows": {**PULL, "segments": 1, "rows": vg.CSR},
    "slices": {**PULL, "rows": vg.SLICES},
    "parts": {**PULL, "rows": vg.SLICES, "parts": "part"},
    "chosen": {},
}
CACHES = ("--D1=32768,8,64", "--LL=262144,16,64")
FEW, MANY = 2, 52
"""Rounds of the two runs under valgrind."""


@dataclass
class Row:
    """A graph in an order: milliseconds of a round by case, threads and layout; of an arc of a round, by layout, the
    references, the misses of the first cache and those of the last."""

    graph: str
    vertices: int
    arcs: int
    order: str
    ms: dict[str, dict[str, float]] = field(default_factory=dict)
    misses: dict[str, tuple[float, float, float]] = field(default_factory=dict)


def matrix(name: str, data: Path | None, parts: int, order: str) -> tuple[vg.Graph, Any]:
    """The Laplacian of a graph plus the unit matrix; an edge has the `part` of one of its ends. And the order."""
    s, t, n = load(name, data)
    plain = vg.Graph.from_edges(s, t, num_vertices=n, directed=False, keep_order=False)
    found = vg.partition(plain, parts, vertex_weight="degree").parts
    own = np.arange(n)
    part = np.concatenate((found[np.minimum(s, t)], found))
    weight = np.concatenate((np.full(s.size, -1.0), 1.0 + plain.out_degree)).astype(np.float32)
    ends = np.concatenate((s, own)), np.concatenate((t, own))
    values = {"weight": weight, "part": part}
    graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=False, keep_order=False, **values)
    moved = {"none": None, "partition": np.argsort(found, kind="stable")}.get(order, order)
    return graph, moved


def asked(graph: vg.Graph, case: str, layout: str, moved: Any, threads: int) -> tuple[Any, dict[str, Any]]:
    """Algorithm and arguments of a run."""
    algorithm, label, arguments = cases(graph)[case]
    given: dict[str, Any] = {"threads": threads, **arguments}
    if moved is not None:
        given["relabel"] = moved
    if LAYOUTS[layout]:
        given["schedule"] = vg.Schedule().at(label, **LAYOUTS[layout])
    return algorithm, given


def times(graph: vg.Graph, moved: Any, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Milliseconds of a round by case and layout, the layouts in turns."""
    found = {}
    for case in args.cases:
        for threads in args.threads:
            least: dict[str, float] = {}
            for _ in range(args.repeats + 1):
                for layout in LAYOUTS:
                    algorithm, given = asked(graph, case, layout, moved, threads)
                    if layout == "chosen":
                        vg.prepare(algorithm, graph, **given)
                    ran = vg.run(algorithm, graph, **given)
                    rounds = int(ran.rounds) if case.startswith("cg") else ROUNDS
                    least[layout] = min(least.get(layout, np.inf), 1e3 * ran.stats.run_seconds / rounds)
            found[f"{case}, {threads} thr"] = {layout: round(ms, 4) for layout, ms in least.items()}
    return found


def counted(file: Path, layout: str, rounds: int) -> Any:
    """References to data, and misses of the first and the last cache, of a process that makes so many rounds."""
    child = [sys.executable, __file__, "--child", str(file), layout, str(rounds)]
    with TemporaryDirectory() as folder:
        own = {**os.environ, "VGRAPH_CACHE_DIR": str(file.parent / "cache"), "PYTHONHASHSEED": "0"}
        subprocess.run(child, check=True, env=own)  # which compiles
        out = Path(folder) / "out"
        tool = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHES, f"--cachegrind-out-file={out}"]
        ran = subprocess.run([*tool, *child], env=own, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(ran.stderr)
        said = ran.stderr
    named = (r"D\s+refs:", r"D1\s+misses:", r"LLd misses:")
    return np.array(
        [int(re.search(rf"{name}\s+([\d,]+)", said)[1].replace(",", "")) for name in named]  # type: ignore[index]
    )


def misses(graph: vg.Graph, moved: Any) -> dict[str, tuple[float, float, float]]:
    """Of an arc of a round, by layout."""
    found = {}
    walked = graph if moved is None else graph.relabelled(moved).graph
    with TemporaryDirectory() as folder:
        file = Path(folder) / "graph.npz"
        vg.write(walked, file)
        for layout in ("rows", "slices", "parts"):
            few, many = (counted(file, layout, rounds) for rounds in (FEW, MANY))
            a, b, c = ((many - few) / (MANY - FEW) / walked.num_arcs).tolist()
            found[layout] = round(a, 3), round(b, 3), round(c, 3)
    return found


def child(file: Path, layout: str, rounds: int) -> None:
    """Products of one thread, as many as said, by instructions that valgrind knows."""
    from llvmlite import binding

    binding.get_host_cpu_name = lambda: "x86-64-v3"
    binding.get_host_cpu_features = binding.FeatureMap
    graph = vg.read(file)
    algorithm, given = asked(graph, "product64", layout, None, 1)
    vg.run(algorithm, graph, rounds=rounds, **given)


def main() -> None:
    """Measure, print, write `results/cpu_locality.json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", nargs="+", default=["mesh1000~"])
    parser.add_argument("--orders", nargs="+", default=["none", "rcm", "partition"])
    parser.add_argument("--cases", nargs="+", default=["product64", "pagerank32", "cg64"])
    parser.add_argument("--threads", nargs="+", type=int, default=[2])
    parser.add_argument("--parts", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the rows that are in the file")
    parser.add_argument("--child", nargs=3, metavar=("FILE", "LAYOUT", "ROUNDS"))
    parser.add_argument("--out", type=Path, default=RESULTS / "cpu_locality.json")
    args = parser.parse_args()
    if args.child is not None:
        child(Path(args.child[0]), args.child[1], int(args.child[2]))
        return
    rows = []
    if args.keep and args.out.exists():
        rows = [Row(**row) for row in json.loads(args.out.read_text())["rows"]]
    for name in args.graphs:
        for order in args.orders:
            graph, moved = matrix(name, args.data, args.parts, order)
            row = Row(name, graph.num_vertices, graph.num_arcs, order)
            if args.misses:
                row.misses = misses(graph, moved)
            else:
                row.ms = times(graph, moved, args)
            rows.append(row)
            print(row, flush=True)
            write_results(args.out, rows)


if __name__ == "__main__":
    main()
