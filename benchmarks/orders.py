"""What each order of vertices gives PageRank, searches, triangles and products with a matrix, and how long it takes.

    python benchmarks/orders.py --data FOLDER --graphs kron18 cnr-2000 cnr-2000~ --orders degree rcm

Graphs are those of `graphs.py`, and files of the folder `--data`, found by the begin of their names; `~` behind a name
shuffles the vertices. Seconds are those inside the native code, the least of many runs that take turns with those in
the graph's own order; `auto` is what `vg.reorder(by="auto")` chooses, and the same graph where it chooses nothing.
With `--gap`, the folder of the GAP programs, PageRank in 32 bits on generated graphs runs beside GAP's, too. `--keep`
leaves rows of other graphs in the file.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from graphs import make
from harness import RESULTS, first_in_line, write_results
from peers import gap

import vgraph as vg
from vgraph import algorithms
from vgraph.graph.relabel import BY_COORDINATES, ORDERS, order_of

ROUNDS = 10
DIRECTED = ("cnr-2000", "osm-")


@dataclass(frozen=True)
class Row:
    """A graph in an order: seconds to find the order, and to move the arcs as well; and each case's, by threads.

    `ratios` are to the graph's own order; `order` is what "auto" chose.
    """

    graph: str
    vertices: int
    arcs: int
    order: str
    order_seconds: float
    prepare_seconds: float
    seconds: dict[str, float]
    ratios: dict[str, float]
    to_gap: dict[str, float]
    """PageRank, 20 rounds in 32 bits, as a ratio to GAP's time; by threads."""


def load(name: str, data: Path | None, cache: Path) -> vg.Graph:
    """A graph by its name."""
    plain = name.removesuffix("~")
    found = sorted(data.rglob(f"{plain}*")) if data is not None else []
    if found:
        graph = vg.read(found[0], directed=plain.startswith(DIRECTED))
    else:
        stored = make(plain, cache)
        graph = vg.Graph.from_csr(stored.row_offsets, stored.column_indices, directed=False)
    if plain == name:
        return graph
    return graph.relabelled(np.random.default_rng(1).permutation(graph.num_vertices)).graph


def cases(graph: vg.Graph) -> dict[str, tuple[Any, dict[str, Any]]]:
    """What is run on a graph."""
    x = np.random.default_rng(2).random(graph.num_vertices)
    return {
        "pagerank": (algorithms.pagerank, {"max_rounds": ROUNDS, "tolerance": 0.0}),
        "bfs": (algorithms.bfs, {"source": int(np.argmax(graph.out_degree))}),
        "spmv": (algorithms.spmv, {"x": x}),
        "triangles": (algorithms.triangle_count, {}),
    }


def measure(name: str, graph: vg.Graph, args: argparse.Namespace) -> list[Row]:
    """All orders of one graph."""
    graphs, prepared = {"": graph}, {"": (0.0, 0.0)}
    for by in args.orders:
        if by in BY_COORDINATES and "x" not in graph.vertex_properties:
            continue
        started = time.perf_counter()
        if by != "auto":
            order_of(graph, by)
        found = time.perf_counter() - started
        graphs[by] = vg.reorder(graph, by)
        prepared[by] = found, time.perf_counter() - started
    seconds: dict[str, dict[str, float]] = {by: {} for by in graphs}
    for case, (algorithm, given) in cases(graph).items():
        if case not in args.cases:
            continue
        for threads in args.threads:
            least = dict.fromkeys(graphs, float("inf"))
            for _ in range(args.runs + 1):
                for by, made in graphs.items():
                    taken = vg.run(algorithm, made, threads=threads, **given).stats.run_seconds
                    least[by] = min(least[by], taken)
            for by in graphs:
                seconds[by][f"{case} {threads}"] = least[by]
    size = graph.num_vertices, graph.num_arcs
    own = seconds[""]
    to_gap = beside_gap(name, graphs, args)
    return [
        Row(
            name,
            *size,
            f"auto: {graphs[by].order or 'none'}" if by == "auto" else by,
            *(round(s, 3) for s in prepared[by]),
            {key: round(s, 6) for key, s in mine.items()},
            {key: round(s / own[key], 3) for key, s in mine.items()},
            to_gap.get(by, {}),
        )
        for by, mine in seconds.items()
    ]


def beside_gap(
    name: str, graphs: dict[str, vg.Graph], args: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """By order and threads: the least time of PageRank over that of GAP's program."""
    if args.gap is None or not re.fullmatch(r"(kron|urand)\d+", name):
        return {}
    program, data = gap(args.gap, "pagerank", delta=1, rounds=20)[0], make(name, args.cache)
    given = {"max_rounds": 20, "tolerance": 0.0, "dtype": vg.float32}
    found: dict[str, dict[str, float]] = {by: {} for by in graphs}
    for threads in args.threads:
        theirs, least = float("inf"), dict.fromkeys(graphs, float("inf"))
        for _ in range(max(2, args.runs // 2)):
            theirs = min(theirs, *program.run(data, args.cache, threads, 2))
            for by, made in graphs.items():
                for _ in range(2):
                    taken = vg.run(algorithms.pagerank, made, threads=threads, **given).stats.run_seconds
                    least[by] = min(least[by], taken)
        for by in graphs:
            found[by][f"threads {threads}"] = round(least[by] / theirs, 3)
    return found


def main() -> None:
    """Measure, print, write `results/orders.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=["kron18"])
    parser.add_argument("--orders", nargs="+", default=[o for o in ORDERS if o != "random"] + ["auto"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cases", nargs="+", default=["pagerank", "bfs", "spmv", "triangles"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--gap", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "orders.json")
    args = parser.parse_args()
    preferred = first_in_line()
    rows: list[Any] = []
    if args.keep and args.out.exists():
        rows = [row for row in json.loads(args.out.read_text())["rows"] if row["graph"] not in args.graphs]
    for name in args.graphs:
        found = measure(name, load(name, args.data, args.cache), args)
        rows += found
        for row in found:
            shown = ", ".join(f"{key} {ratio:.2f}" for key, ratio in row.ratios.items())
            print(
                f"{name} {row.order or 'as it is'} ({row.prepare_seconds:.2f} s): {shown} {row.to_gap}",
                flush=True,
            )
        write_results(args.out, rows, preferred=preferred)


if __name__ == "__main__":
    main()
