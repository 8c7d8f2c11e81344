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
def products(graph, dtype=vg.float32, rounds=ROUNDS):
    """The matrix times a vector, again and again."""
    x = graph.vertex_property(dtype, fill=1)
    y = graph.vertex_property(dtype)
    for _ in range(rounds):
        y = 0
        graph.edge_apply(multiply)
        x[:] = y / 64
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


def load(name: str, data: Path | None) -> vg.Graph:
    """The undirected graph of that name, with weights of 1 and a part for each edge, that of one of its ends."""
    plain = name.removesuffix("~")
    if plain.startswith("mesh"):
        side = int(plain.removeprefix("mesh"))
        i = np.arange(side * side, dtype=np.int64).reshape(side, side)
        a = np.concatenate((i[:, :-1].ravel(), i[:-1].ravel(), i[:-1, :-1].ravel()))
        b = np.concatenate((i[:, 1:].ravel(), i[1:].ravel(), i[1:, 1:].ravel()))
        found = vg.Graph.from_edges(a, b, num_vertices=side * side, directed=False, keep_order=False)
    else:
        found = cuda_graphs.make(plain, arrays(), data).graph
    if name.endswith("~"):
        found = found.relabelled("random").graph
    return found


def with_parts(graph: vg.Graph) -> tuple[vg.Graph, Any]:
    """With an edge property `part`, and the vertices part by part."""
    parts = vg.partition(graph, PARTS, device="cuda").parts
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    lower = np.minimum(sources, graph.out.column_indices)
    plain = vg.Graph.from_csr(
        graph.out.row_offsets,
        graph.out.column_indices,
        directed=False,
        part=parts[lower],
        weight=np.ones(lower.size, np.float32),
    )
    return plain, np.argsort(parts, kind="stable")


def cases(n: int) -> dict[str, tuple[Any, str, dict[str, Any]]]:
    """Algorithm, the label of its product, and arguments, by name."""
    b = np.random.default_rng(1).random(n)
    return {
        "product32": (products, "multiply", {}),
        "product64": (products, "multiply", {"dtype": vg.float64}),
        "pagerank32": (
            vg.algorithms.pagerank,
            "gather",
            {"dtype": vg.float32, "tolerance": 0.0, "max_rounds": ROUNDS},
        ),
        "cg64": (vg.algorithms.conjugate_gradient, "multiply", {"b": b, "tolerance": 1e-30}),
    }


def measure(graph: vg.Graph, order: str, moved: Any, names: list[str], repeats: int) -> dict[str, Any]:
    """Milliseconds of a round, by case and layout."""
    found: dict[str, dict[str, float]] = {}
    relabel = {} if moved is None else {"relabel": moved}
    for name in names:
        algorithm, label, arguments = cases(graph.num_vertices)[name]
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
            found[name][layout] = min(1e3 * r.stats.kernel_seconds / ROUNDS for r in runs)
    return found


def main() -> None:
    """Measure, print, write `results/gpu_locality.json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", nargs="+", default=["mesh1000~", "rmat20", "road1024"])
    parser.add_argument("--orders", nargs="+", default=["none", "degree", "rcm", "partition"])
    parser.add_argument("--cases", nargs="+", default=["product32", "product64", "pagerank32"])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu_locality.json")
    parser.add_argument("--commit")
    args = parser.parse_args()
    rows = []
    for name in args.graphs:
        graph, by_part = with_parts(load(name, args.data))
        for order in args.orders:
            moved = {"none": None, "partition": by_part}.get(order, order)
            walked = graph if moved is None else graph.relabelled(moved).graph
            ms = measure(graph, order, moved, args.cases, args.repeats)
            peer = spmv_ms(cuda_graphs.Loaded(name, walked, (), 0, 0))
            rows.append(Row(name, graph.num_vertices, graph.num_arcs, order, ms, peer))
            print(rows[-1], flush=True)
    head = ["graph", "order", "case", *LAYOUTS, "cuSPARSE"]
    shown = []
    for r in rows:
        for case, by_layout in r.ms.items():
            peer = r.cusparse["float64" if case.endswith("64") else "float32"]
            ms = [f"{by_layout[x]:.4f}" if x in by_layout else "-" for x in LAYOUTS]
            shown.append([r.graph, r.order, case, *ms, f"{peer:.4f}"])
    print(table(head, shown))
    write_results(args.out, rows, environment=environment(args.commit))


if __name__ == "__main__":
    main()
