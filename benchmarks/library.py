"""The algorithm library beside other libraries, on real graphs: times as ratios, and lines of user code.

    python benchmarks/library.py --data ../shared/data --threads 2 --peer networkx=PYTHON --peer igraph=PYTHON \\
        --peer networkit=PYTHON --peer graphblas=PYTHON --peer networkx-vgraph=PYTHON \\
        --peer networkx-vgraph-cached=PYTHON

Each `--peer` names a library and an interpreter that has it; `networkx-vgraph` is NetworkX with this backend as a user
sees it, conversion included, and `-cached` the same once NetworkX has kept the converted graph. Graphs are taken as
undirected and simple; weights are drawn. Times are of the algorithm alone, medians of interleaved blocks; a ratio is
the peer's time over vgraph's, so above 1 vgraph is faster. Each of vgraph's results is checked against SciPy before it
is timed. Peers that stop by convergence (PageRank of NetworkX and igraph) or give more than was asked for
(`list_triangles` of igraph) do other work than vgraph: their ratios say what a user waits for, no more.
A peer that is missing, fails, or needs more than `--limit` seconds is named with the reason.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import graphs
import harness
import numpy as np
import peers
import python_peers
from cases import CASES, ROUNDS, Case, Instance
from cpu import vgraph_side

import vgraph as vg
from vgraph.decorators import AlgorithmDef

FILES = {
    "email-Enron": "social/email-Enron.el.xz",
    "ego-Twitter": "social/ego-Twitter-undirected.el.xz",
    "cnr-2000": "social/cnr-2000.el.xz",
    "USA-road-NY": "road/USA-road-NY.pace.gr.xz",
}
PROGRAMS = {
    "bfs": vg.algorithms.bfs,
    "sssp": vg.algorithms.sssp,
    "pagerank": vg.algorithms.pagerank,
    "cc": vg.algorithms.connected_components,
    "triangles": vg.algorithms.triangle_count,
    "betweenness": vg.algorithms.betweenness,
    "kcore": vg.algorithms.k_core,
}


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph: milliseconds of vgraph, the peers' times over it, and what is missing."""

    case: str
    graph: str
    vertices: int
    arcs: int
    threads: int
    ms: float
    ratios: dict[str, float]
    missing: tuple[str, ...]


# --- lines of code --------------------------------------------------------------------------------------------


def lines_of(algorithm: AlgorithmDef) -> int:
    """Lines of the operators, functions and the algorithm in its file: no docstrings, comments, imports or checks."""
    module = inspect.getmodule(algorithm.function)
    assert module is not None
    tree = ast.parse(inspect.getsource(module))
    written = [f for f in tree.body if isinstance(f, ast.FunctionDef) and _is_program(f)]
    return sum(len(_lines(f)) for f in written)


def _is_program(function: ast.FunctionDef) -> bool:
    names = [d.attr for d in function.decorator_list if isinstance(d, ast.Attribute)]
    return any(name in ("operator", "function", "algorithm") for name in names)


def _lines(function: ast.FunctionDef) -> set[int]:
    """The numbers of the lines on which a statement or a decorator stands."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    found = {d.lineno for d in function.decorator_list} | {function.lineno}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt | ast.expr):
                found |= (
                    {node.lineno, node.end_lineno or node.lineno}
                    if isinstance(node, ast.expr)
                    else {node.lineno}
                )
    return found


def graphblas_lines() -> dict[str, int]:
    """The same of the programs for python-graphblas, which are the user's too."""
    tree = ast.parse(inspect.getsource(python_peers.graphblas))
    (outer,) = tree.body
    assert isinstance(outer, ast.FunctionDef)
    return {f.name: len(_lines(f)) for f in outer.body if isinstance(f, ast.FunctionDef)}


# --- times ----------------------------------------------------------------------------------------------------


def read(name: str, data: Path, cache: Path) -> graphs.GraphData:
    """A real graph, undirected and simple, as the peers get it."""
    kept = cache / f"{name}.npz"
    found = graphs.GraphData.load(kept) if kept.exists() else None
    if found is None:
        graph = vg.read(data / FILES[name])
        sources, targets, _ = graph.edges()
        ends = sources.astype(np.int64), targets.astype(np.int64)
        found = graphs.from_pairs(name, graph.num_vertices, *ends)
        found.save(kept)
    return found


def measure(options: argparse.Namespace, case: Case, instance: Instance, file: Path) -> Row:
    """One row; every peer in a process of its own."""
    result, _ = case.timed(instance, options.threads)
    case.check(instance, result)
    sides: dict[str, harness.Side] = {"vgraph": vgraph_side(case, instance, options.threads, options.trials)}
    running, missing = [], []
    for library, python in options.peer:
        try:
            arguments = (Path(python), library, case.algorithm, file, options.threads, ROUNDS)
            peer = peers.Library(*arguments, limit=options.limit)
            running.append(peer)
            peer.run(1)
            sides[library] = partial(peer.run, options.trials)
        except peers.PeerError as error:
            missing.append(str(error))
    try:
        samples = harness.interleave(sides, options.blocks)
    finally:
        for peer in running:
            peer.close()
    mine = samples.pop("vgraph").median
    ratios = {name: round(sample.median / mine, 3) for name, sample in samples.items()}
    data = instance.data
    return Row(
        case.name,
        data.name,
        data.num_vertices,
        data.num_edges,
        options.threads,
        mine * 1e3,
        ratios,
        tuple(missing),
    )


def show(rows: Sequence[Row], libraries: Sequence[str]) -> str:
    """The rows as a table."""
    header = ["graph", "case", "vgraph ms", *libraries]
    body = [
        [r.graph, r.case, f"{r.ms:.3f}", *(f"{r.ratios[p]:.2f}" if p in r.ratios else "-" for p in libraries)]
        for r in rows
    ]
    return harness.table(header, body)


def _peer(text: str) -> tuple[str, str]:
    library, equals, python = text.partition("=")
    if library not in peers.LIBRARIES or not equals:
        raise argparse.ArgumentTypeError(f"expected LIBRARY=PYTHON with one of {', '.join(peers.LIBRARIES)}")
    return library, python


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with the graphs")
    parser.add_argument("--graphs", default=",".join(FILES))
    parser.add_argument("--algorithms", default=",".join(PROGRAMS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="LIBRARY=PYTHON")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a peer to load or to answer")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "library.json")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write what is asked for."""
    options = parse(arguments)
    harness.first_in_line()
    wanted = options.algorithms.split(",")
    lines = {name: lines_of(PROGRAMS[name]) for name in wanted}
    blas = graphblas_lines()
    body = [[name, str(lines[name]), str(blas.get(name, "-"))] for name in wanted]
    print(harness.table(["algorithm", "lines in vgraph", "lines in python-graphblas"], body), "\n")
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        rows: list[Row] = []
        for name in options.graphs.split(","):
            if not (options.data / FILES[name]).exists():
                print(f"{name}: {options.data / FILES[name]} is not there", file=sys.stderr)
                continue
            instance = Instance.of(read(name, options.data, cache))
            for case in (c for c in CASES if c.algorithm in wanted):
                rows.append(measure(options, case, instance, cache / f"{name}.npz"))
                more: dict[str, Any] = {"lines": lines, "graphblas_lines": blas}
                harness.write_results(options.out, [asdict(r) for r in rows], **more)
    print(show(rows, [library for library, _ in options.peer]))
    for row in rows:
        for reason in row.missing:
            print(f"{row.graph} {row.case}: {reason}")


if __name__ == "__main__":
    main()
