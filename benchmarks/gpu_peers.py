"""vgraph on a GPU beside programs for one task each, on the same arrays and GPU, in turns: ECL-MST and ECL-SCC.

    nvcc -O3 -arch=native ECL-MST_10.cu -o ecl-mst
    nvcc -O3 -arch=native ECL-SCC_10.cu -o ecl-scc
    python benchmarks/gpu_peers.py --mst ./ecl-mst --scc ./ecl-scc --graphs rmat22,road2048

Programs read ECL's binary format and print the seconds of their computation, the graph on the GPU; vgraph's are its
kernel's. For strong components every edge of the graphs of `cuda_graphs.py` leads one way or both ways, a third each,
by lot. Forests are compared by their weight, components by their number, with vgraph's on the CPU. A program that is
not given is left out. ECL-MST checks itself on the CPU, which may take longer than all else.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuda_gpu
import cuda_graphs
import cuda_report
import harness
import numpy as np

import vgraph as vg

SECONDS = re.compile(r"(?:Dev.|compute time):\s*([0-9.]+)")


@dataclass(frozen=True)
class Row:
    """A task on a graph: milliseconds of vgraph and of the program, medians, with the least and the most."""

    graph: str
    case: str
    vertices: int
    arcs: int
    ms: float
    low_ms: float
    high_ms: float
    peer: str
    peer_ms: float
    peer_low_ms: float
    peer_high_ms: float


def write_ecl(graph: vg.Graph, path: Path, weighted: bool) -> None:
    """ECL's format: vertices and arcs, then row offsets, column indices and, if `weighted`, weights, all int32."""
    with path.open("wb") as file:
        np.array([graph.num_vertices, graph.num_arcs], np.int32).tofile(file)
        arrays = [graph.out.row_offsets, graph.out.column_indices]
        for array in [*arrays, graph.edge_properties["weight"]] if weighted else arrays:
            np.asarray(array).astype(np.int32).tofile(file)


def one_way(graph: vg.Graph) -> vg.Graph:
    """The arcs that are left where each edge leads one way or both."""
    degree = np.diff(graph.out.row_offsets.astype(np.int64))
    src = np.repeat(np.arange(graph.num_vertices), degree)
    dst = graph.out.column_indices.astype(np.int64)
    key = np.minimum(src, dst) * graph.num_vertices + np.maximum(src, dst)
    lot = cuda_graphs.mix(key.astype(np.uint64)) % np.uint64(3)
    keep = (lot == 2) | ((lot == 1) == (src < dst))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(src[keep], minlength=graph.num_vertices))))
    return vg.Graph.from_csr(offsets.astype(np.uint32), dst[keep].astype(np.uint32), directed=True)


def weight_of(result: Any) -> int:
    return int(result.weight)


def number_of(result: Any) -> int:
    return int(np.unique(result.component).size)


def measure(
    name: str,
    case: str,
    algorithm: Any,
    graph: vg.Graph,
    program: Path,
    figure: Callable[[Any], int],
    blocks: int,
) -> Row:
    """Both in turns, after vgraph's result was found to be the CPU's."""
    if figure(vg.run(algorithm, graph, device="cuda")) != figure(vg.run(algorithm, graph, device="cpu")):
        raise AssertionError(f"{case} on {name}: not what the CPU finds")
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        file = Path(folder) / "graph.egr"
        write_ecl(graph, file, weighted=case == "minimum spanning forest")
        for _ in range(blocks):
            printed = subprocess.run(
                [str(program.resolve()), str(file)], capture_output=True, text=True, check=True
            )
            theirs.append(1e3 * float(SECONDS.findall(printed.stdout)[0]))
            runs = [vg.run(algorithm, graph, device="cuda").stats.kernel_seconds for _ in range(3)]
            ours.append(1e3 * statistics.median(runs))
    peer = harness.Sample.of(theirs)
    mine = harness.Sample.of(ours)
    return Row(
        name,
        case,
        graph.num_vertices,
        graph.num_arcs,
        *(mine.median, mine.low, mine.high),
        program.name,
        *(peer.median, peer.low, peer.high),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mst", type=Path, help="ECL-MST")
    parser.add_argument("--scc", type=Path, help="ECL-SCC")
    parser.add_argument("--graphs", default="rmat22,road2048", help="rmatN, roadN")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--commit", help="of vgraph, where the files are no checkout")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "gpu_peers.json")
    options = parser.parse_args()
    xp = cuda_gpu.arrays()
    rows: list[Row] = []
    library = vg.algorithms
    environment = cuda_gpu.environment(options.commit)
    for name in options.graphs.split(","):
        graph = cuda_graphs.make(name, xp).graph
        if options.mst:
            case = "minimum spanning forest", library.minimum_spanning_forest, graph
            rows.append(measure(name, *case, options.mst, weight_of, options.blocks))
        if options.scc:
            case = "strong components", library.strongly_connected_components, one_way(graph)
            rows.append(measure(name, *case, options.scc, number_of, options.blocks))
        harness.write_results(options.out, rows, **environment)
    print(cuda_report.beside([vars(row) for row in rows]))


if __name__ == "__main__":
    main()
