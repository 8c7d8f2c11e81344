"""How fast an edge list and an archive become a graph, and how much memory that takes, beside other
libraries.

    python benchmarks/read_build.py --edges 30000000 --note "machine idle"

Makes a uniform random graph in a temporary folder as edge list, weighted edge list, vgraph archive and SciPy
archive. Each task runs in a process of its own, several times; a table of medians is printed, and everything
is written to `results/read_build.json`. NetworKit takes part if it can be imported. The peak is the process's
largest resident set; the final size is what the finished graph's arrays hold.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness

ROOT = Path(__file__).resolve().parents[1]
ROWS = 100_000
Task = Callable[[Path], tuple[float, int, int]]  # the folder -> seconds, bytes of the final graph, edges


def vgraph_read(name: str) -> Task:
    """Read a file with vgraph."""

    def task(folder: Path) -> tuple[float, int, int]:
        from vgraph.io import read

        start = time.perf_counter()
        graph = read(folder / name)
        return time.perf_counter() - start, graph.nbytes, graph.num_edges

    return task


def pandas_scipy(name: str, *, weighted: bool) -> Task:
    """`pandas.read_csv` into int32 columns, then SciPy's CSR."""

    def task(folder: Path) -> tuple[float, int, int]:
        import numpy as np
        import pandas as pd
        from scipy.sparse import coo_array

        start = time.perf_counter()
        columns = ["u", "v", "w"][: 2 + weighted]
        frame = pd.read_csv(folder / name, sep=" ", header=None, names=columns, dtype=np.int32, engine="c")
        size = 1 + int(max(frame["u"].max(), frame["v"].max()))
        ends = frame["u"].to_numpy(), frame["v"].to_numpy()
        values = frame["w"].to_numpy() if weighted else np.ones(len(frame), np.int8)
        matrix = coo_array((values, ends), shape=(size, size)).tocsr()
        seconds = time.perf_counter() - start
        return seconds, matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes, len(frame)

    return task


def scipy_npz(folder: Path) -> tuple[float, int, int]:
    """`scipy.sparse.load_npz` of an uncompressed archive."""
    from scipy.sparse import load_npz

    start = time.perf_counter()
    matrix = load_npz(folder / "scipy.npz")
    seconds = time.perf_counter() - start
    return seconds, matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes, matrix.nnz


def networkit_read(folder: Path) -> tuple[float, int, int]:
    """NetworKit's edge list reader; the final size is not known to Python."""
    import networkit as nk

    start = time.perf_counter()
    graph = nk.graphio.EdgeListReader(" ", 0, directed=True).read(str(folder / "graph.el"))
    return time.perf_counter() - start, 0, graph.numberOfEdges()


def random_ends(folder: Path) -> tuple[Any, Any, Any]:
    """Sources, targets and weights in memory, as in the files."""
    import numpy as np

    size = json.loads((folder / "size.json").read_text())
    rng = np.random.default_rng(0)
    sources, targets = (rng.integers(0, size["vertices"], size["edges"], dtype=np.int32) for _ in range(2))
    return sources, targets, rng.integers(1, 256, size["edges"], dtype=np.int32)


def vgraph_build(*, weighted: bool) -> Task:
    """`Graph.from_edges` of arrays in memory."""

    def task(folder: Path) -> tuple[float, int, int]:
        from vgraph.graph import Graph

        sources, targets, weight = random_ends(folder)
        start = time.perf_counter()
        graph = Graph.from_edges(sources, targets, **({"weight": weight} if weighted else {}))
        return time.perf_counter() - start, graph.nbytes, graph.num_edges

    return task


def scipy_build(folder: Path) -> tuple[float, int, int]:
    """SciPy's COO to sorted CSR with values, from arrays in memory."""
    from scipy.sparse import coo_array

    sources, targets, weight = random_ends(folder)
    start = time.perf_counter()
    matrix = coo_array((weight, (sources, targets))).tocsr()
    matrix.sort_indices()
    seconds = time.perf_counter() - start
    return seconds, matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes, weight.size


def vgraph_transpose(folder: Path) -> tuple[float, int, int]:
    """The incoming arcs of a graph that is read already."""
    from vgraph.io import read

    graph = read(folder / "graph.npz")
    start = time.perf_counter()
    incoming = graph.in_
    seconds = time.perf_counter() - start
    assert incoming.edge_ids is not None
    return seconds, graph.nbytes + incoming.column_indices.nbytes + incoming.edge_ids.nbytes, graph.num_edges


TASKS: dict[str, Task] = {
    "edge list: vgraph": vgraph_read("graph.el"),
    "edge list: pandas + SciPy": pandas_scipy("graph.el", weighted=False),
    "edge list: NetworKit": networkit_read,
    "weighted edge list: vgraph": vgraph_read("graph.wel"),
    "weighted edge list: pandas + SciPy": pandas_scipy("graph.wel", weighted=True),
    "npz: vgraph": vgraph_read("graph.npz"),
    "npz: SciPy": scipy_npz,
    "build: vgraph": vgraph_build(weighted=False),
    "build weighted: vgraph": vgraph_build(weighted=True),
    "build weighted: SciPy": scipy_build,
    "transpose: vgraph": vgraph_transpose,
}


def make_files(folder: Path, vertices: int, edges: int) -> None:
    """Write the random graph in every form that a task reads."""
    import numpy as np
    from scipy.sparse import csr_array, save_npz

    from vgraph.io import read, write

    (folder / "size.json").write_text(json.dumps({"vertices": vertices, "edges": edges}))
    ends = random_ends(folder)
    for name, columns in (("graph.el", ends[:2]), ("graph.wel", ends)):
        line = " ".join(["%d"] * len(columns)) + "\n"
        with (folder / name).open("w") as file:
            for start in range(0, edges, ROWS):
                rows = np.stack([column[start : start + ROWS] for column in columns], axis=1)
                file.write(line * len(rows) % tuple(rows.ravel().tolist()))
    del ends
    graph = read(folder / "graph.el")
    write(graph, folder / "graph.npz")
    arrays = np.ones(graph.num_arcs, np.int8), graph.out.column_indices.astype(np.int32)
    indptr = graph.out.row_offsets.astype(np.int32)
    save_npz(folder / "scipy.npz", csr_array((*arrays, indptr), shape=(vertices, vertices)), compressed=False)


def run_task(name: str, folder: Path) -> dict[str, float]:
    """Run one task in this process."""
    seconds, final, edges = TASKS[name](folder)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"seconds": seconds, "final_bytes": final, "edges": edges, "peak_bytes": peak}


def in_new_process(*arguments: str) -> str:
    """What this program prints for `arguments`, in a process whose memory use starts from nothing."""
    command = [sys.executable, __file__, *arguments]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """The results of all tasks, tasks interleaved, so that a disturbance does not hit one alone."""
    names = [name for name in TASKS if "NetworKit" not in name or importlib.util.find_spec("networkit")]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            runs[name].append(json.loads(in_new_process("--task", name, "--folder", str(folder))))
    return {name: summary(results) for name, results in runs.items()}


def summary(results: list[dict[str, float]]) -> dict[str, Any]:
    """Medians over the runs of a task."""
    seconds = statistics.median(result["seconds"] for result in results)
    final, peak = results[0]["final_bytes"], max(result["peak_bytes"] for result in results)
    return {
        "seconds": seconds,
        "all_seconds": [result["seconds"] for result in results],
        "edges_per_second": results[0]["edges"] / seconds,
        "final_bytes": final or None,
        "peak_bytes": peak,
        "peak_over_final": peak / final if final else None,
    }


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=int, default=30_000_000)
    parser.add_argument("--vertices", type=int, default=1 << 21)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "read_build.json")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(run_task(options.task, options.folder)))
        return
    if options.make:
        make_files(options.folder, options.vertices, options.edges)
        return
    before = harness.environment()
    with tempfile.TemporaryDirectory() as folder:
        size = ("--vertices", str(options.vertices), "--edges", str(options.edges))
        in_new_process("--make", "--folder", folder, *size)
        results = measure(Path(folder), options.repeats)
    for name, result in results.items():
        ratio = f"{result['peak_over_final']:5.2f}x" if result["peak_over_final"] else "     -"
        rate = result["edges_per_second"] / 1e6
        print(f"{name:36} {result['seconds']:7.2f} s {rate:7.1f} M edges/s   peak {ratio} the final graph")
    if importlib.util.find_spec("pandas"):
        before["versions"]["pandas"] = importlib.metadata.version("pandas")
    report = {
        **before,
        "note": options.note,
        "vertices": options.vertices,
        "edges": options.edges,
        "repeats": options.repeats,
        "results": results,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
