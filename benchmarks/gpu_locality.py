"""Products with a matrix, conjugate gradients and PageRank on a GPU: each order of the vertices with each layout of the
arcs, beside cuSPARSE's product of the same matrix in the same order.

    python benchmarks/gpu_locality.py --graphs mesh1000~ rmat20 USA-road-FLA --orders none degree rcm partition

Graphs are those of `cuda_graphs.py`, or `meshN`: a grid of N x N with one diagonal; `~` behind a name shuffles the
vertices. Milliseconds are those of a round, by the device's clock: of all rounds of one launch, the least of several.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuda_graphs
import numpy as np
from cuda_gpu import arrays, environment, spmv_ms
from harness import RESULTS, table, write_results

import vgraph as vg

ROUNDS = 20
PARTS = 264
PULL = {"direction": vg.PULL, "drive": vg.TOPOLOGY}
LAYOUTS: dict[str, dict[str, Any]] = {
    "rows": {**PULL, "segments": 1, "rows": vg.CSR, "balance": vg.VERTEX},
    "slices": {**PULL, "rows": vg.SLICES},
    "parts": {**PULL, "rows": vg.SLICES, "parts": "part"},
    "chosen": {},
}


@vg.operator
def multiply(src, edge, dst):
    dst.y += edge.weight * src.x


@vg.algorithm
def products(graph, scale: vg.float64, dtype=vg.float32, rounds=ROUNDS):
    """The matrix times a vector, again and again, so scaled that numbers stay small."""
    x = graph.vertex_property(dtype, fill=1)
    y = graph.vertex_property(dtype)
    for _ in range(rounds):
        y = 0
        graph.edge_apply(multiply)
        x[:] = y * dtype(scale)
    return x


@dataclass(frozen=True)
class Row:
    """A graph in an order: milliseconds of a round by case and layout, and of cuSPARSE's product by type."""

    graph: str
    vertices: int
    arcs: int
    order: str
    ms: dict[str, dict[str, float]]
    cusparse: dict[str, float]


def load(name: str, data: Path | None) -> tuple[Any, Any, int]:
    """The edges of the undirected graph of that name, each once, and the number of vertices."""
    plain = name.removesuffix("~")
    if plain.startswith("mesh"):
        side = int(plain.removeprefix("mesh"))
        n = side * side
        i = np.arange(n).reshape(side, side)
        s = np.concatenate((i[:, :-1].ravel(), i[:-1].ravel(), i[:-1, :-1].ravel()))
        t = np.concatenate((i[:, 1:].ravel(), i[1:].ravel(), i[1:, 1:].ravel()))
    else:
        graph = cuda_graphs.make(plain, arrays(), data).graph
        n = graph.num_vertices
        s, t = np.repeat(np.arange(n), graph.out_degree), graph.out.column_indices.astype(np.int64)
        s, t = s[s < t], t[s < t]
    if name.endswith("~"):
        number = np.random.default_rng(1).permutation(n)
        s, t = number[s], number[t]
    return s, t, n


def matrix(s: Any, t: Any, n: int) -> tuple[vg.Graph, Any]:
    """The Laplacian of a graph plus the unit matrix, as a graph with loops; an edge has the `part` of one of its ends.
    And the vertices part by part."""
    plain = vg.Graph.from_edges(s, t, num_vertices=n, directed=False, keep_order=False)
    parts = vg.partition(plain, PARTS, vertex_weight="degree", device="cuda").parts
    own = np.arange(n)
    part = np.concatenate((parts[np.minimum(s, t)], parts))
    weight = np.concatenate((np.full(s.size, -1.0), 1.0 + plain.out_degree)).astype(np.float32)
    ends = np.concatenate((s, own)), np.concatenate((t, own))
    found = vg.Graph.from_edges(
        *ends, num_vertices=n, directed=False, keep_order=False, weight=weight, part=part
    )
    return found, np.argsort(parts, kind="stable")


def cases(graph: vg.Graph) -> dict[str, tuple[Any, str, dict[str, Any]]]:
    """Algorithm, the label of its product, and arguments, by name."""
    scale = 1 / (2 * graph.max_degree)
    b = np.random.default_rng(1).random(graph.num_vertices)
    pagerank = {"dtype": vg.float32, "tolerance": 0.0, "max_rounds": ROUNDS}
    return {
        "product32": (products, "multiply", {"scale": scale}),
        "product64": (products, "multiply", {"scale": scale, "dtype": vg.float64}),
        "pagerank32": (vg.algorithms.pagerank, "gather", pagerank),
        "cg64": (vg.algorithms.conjugate_gradient, "multiply", {"b": b}),
    }


def measure(graph: vg.Graph, order: str, moved: Any, names: list[str], repeats: int) -> dict[str, Any]:
    """Milliseconds of a round, by case and layout."""
    found: dict[str, dict[str, float]] = {}
    relabel = {} if moved is None else {"relabel": moved}
    for name in names:
        algorithm, label, arguments = cases(graph)[name]
        found[name] = {}
        for layout, said in LAYOUTS.items():
            asked: dict[str, Any] = {"device": "cuda", **relabel, **arguments}
            if said:
                asked["schedule"] = vg.Schedule().at(label, **said)
            else:
                vg.prepare(algorithm, graph, **asked)
            try:
                runs = [vg.run(algorithm, graph, **asked) for _ in range(repeats)]
            except vg.VGraphError as error:
                print(graph, order, name, layout, str(error).splitlines()[0], flush=True)
                continue
            rounds = int(runs[0].rounds) if name.startswith("cg") else ROUNDS
            found[name][layout] = min(1e3 * r.stats.kernel_seconds / rounds for r in runs)
    return found


def main() -> None:
    """Measure, print, write `results/gpu_locality.json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", nargs="+", default=["mesh1000~", "rmat20", "road1024"])
    parser.add_argument("--orders", nargs="+", default=["none", "degree", "rcm", "partition"])
    parser.add_argument("--cases", nargs="+", default=["product32", "product64", "pagerank32", "cg64"])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu_locality.json")
    parser.add_argument("--commit")
    args = parser.parse_args()
    rows, machine = [], environment(args.commit)
    for name in args.graphs:
        graph, by_part = matrix(*load(name, args.data))
        for order in args.orders:
            moved = {"none": None, "partition": by_part}.get(order, order)
            walked = graph if moved is None else graph.relabelled(moved).graph
            ms = measure(graph, order, moved, args.cases, args.repeats)
            peer = spmv_ms(cuda_graphs.Loaded(name, walked, (), 0, 0))
            rows.append(Row(name, graph.num_vertices, graph.num_arcs, order, ms, peer))
            print(rows[-1], flush=True)
            write_results(args.out, rows, **machine)
    head = ["graph", "order", "case", *LAYOUTS, "cuSPARSE"]
    shown = []
    for r in rows:
        for case, by_layout in r.ms.items():
            peer = r.cusparse["float64" if case.endswith("64") else "float32"]
            ms = [f"{by_layout[x]:.4f}" if x in by_layout else "-" for x in LAYOUTS]
            shown.append([r.graph, r.order, case, *ms, f"{peer:.4f}"])
    print(table(head, shown))


if __name__ == "__main__":
    main()
