"""The algorithm library beside other libraries, on real graphs: times as ratios, and lines of user code.

    setsid --wait python benchmarks/library.py --data ../shared/data --threads 2 --limit 8 --peer networkx=PYTHON \\
        --peer igraph=PYTHON --peer networkit=PYTHON --peer graphblas=PYTHON --peer scipy=PYTHON \\
        --peer networkx-vgraph=PYTHON --peer networkx-vgraph-cached=PYTHON

Each `--peer` names a library and an interpreter that has it; `networkx-vgraph` is NetworkX with this backend as a user
sees it, conversion included, and `-cached` the same once NetworkX has kept the converted graph. Graphs are taken as
simple, and as undirected where an algorithm does not need directions; weights are drawn. Times are of whole calls
without compiling, medians of interleaved blocks; a ratio is the peer's time over vgraph's: above 1 vgraph is faster.
Each of vgraph's results is checked before it is timed. Where a peer does other work than vgraph, the case has a note
that says so: the ratio says what a user waits for, no more.

A call that takes more than `--limit` seconds is ended, and the row says so. A peer whose call takes more than an
eighth of that is not asked again and again: its ratio is from one call and is marked "once".
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import math
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import graphs
import harness
import library_report
import numpy as np
import peers
from cases import Case, Instance
from library_cases import LIBRARY
from limits import TooLongError, at_most
from tasks import directed_file

import vgraph as vg
from vgraph.language.decorators import AlgorithmDef, Definition

FILES = {
    "email-Enron": "social/email-Enron.el.xz",
    "ego-Twitter": "social/ego-Twitter-undirected.el.xz",
    "cnr-2000": "social/cnr-2000.el.xz",
    "USA-road-NY": "road/USA-road-NY.pace.gr.xz",
    "facebook-combined": "social/facebook-combined.el.xz",
}
SMALL = "facebook-combined"
FROM_ALL = ("closeness", "harmonic_centrality", "eccentricity")
"""Cases of a search from every vertex: of the small graph, which has no others."""
DIRECTED = ("cnr-2000",)
"""Files in which an edge has a direction; in the others each stands once or twice, and means both."""
COMPILE = 10
"""Seconds more for the first call, which compiles."""
CHECK = 3
"""Times the limit is for the check of a result; what takes longer is marked as unchecked on this graph."""
SLOW = 0.25
"""Seconds from which a call needs none before it to warm up."""
SHARE = 1 / 8
"""Of the limit: a peer whose call takes longer is not asked for all blocks."""
BLOCKS = 5
"""Of which a median needs at least so many."""


@dataclass(frozen=True)
class Row:
    """One algorithm on one graph: milliseconds of vgraph, and the peers' times over it.

    `ms` is None where vgraph gave no result within the limit; `once` has the ratios that are of one call, `missing` the
    reason why a library is in neither.
    """

    case: str
    graph: str
    vertices: int
    arcs: int
    threads: int
    ms: float | None = None
    ratios: dict[str, float] = field(default_factory=dict)
    once: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    checked: bool = True
    note: str = ""


# --- lines of code --------------------------------------------------------------------------------------------


def lines_of(algorithm: AlgorithmDef) -> int:
    """Lines of the algorithm, its operators and functions, shared ones too; no docstrings, comments or checks."""
    module = inspect.getmodule(algorithm.function)
    written = {value.function for value in vars(module).values() if isinstance(value, Definition)}
    return sum(len(_lines(_parsed(textwrap.dedent(inspect.getsource(f))))) for f in written)


def _parsed(source: str) -> ast.FunctionDef:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    return function


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
    """The same of the programs for python-graphblas, which are the user's too: the functions within its methods."""
    source = Path(__file__).with_name("libraries") / "graphblas.py"
    methods = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.FunctionDef)]
    inner = [node for method in methods for node in method.body if isinstance(node, ast.FunctionDef)]
    return {program.name: len(_lines(program)) for program in inner}


def lines() -> dict[str, dict[str, int]]:
    """Lines of every algorithm of the library, and of those that python-graphblas has."""
    called = {c.name: c.algorithm for c in LIBRARY} | {
        "connected_components": "cc",
        "k_core": "kcore",
        "triangle_count": "triangles",
    }
    blas, found = graphblas_lines(), {}
    for name in vg.algorithms.__all__:
        found[name] = {"vgraph": lines_of(getattr(vg.algorithms, name))}
        if called.get(name, name) in blas:
            found[name]["graphblas"] = blas[called.get(name, name)]
    return found


# --- times ----------------------------------------------------------------------------------------------------


def read(name: str, data: Path, cache: Path) -> Instance:
    """A real graph; the peers read it from `cache`, undirected, and with its directions if it has any."""
    kept = cache / f"{name}.npz"
    if not kept.exists():
        graph = vg.read(data / FILES[name])
        sources, targets, _ = graph.edges()
        ends = sources.astype(np.int64), targets.astype(np.int64)
        graphs.from_pairs(name, graph.num_vertices, *ends).save(kept)
        if name in DIRECTED:
            graphs.from_arcs(name, graph.num_vertices, *ends).save(directed_file(kept))
    return Instance.load(kept)


def cases_of(graph: str) -> list[Case]:
    """What is measured on it."""
    return [case for case in LIBRARY if (case.name in FROM_ALL) == (graph == SMALL)]


@contextmanager
def libraries(options: argparse.Namespace, file: Path) -> Iterator[dict[str, peers.Library]]:
    """The peers for one graph, which end with the block."""
    made = {
        name: peers.Library(Path(python), name, file, options.threads, options.limit)
        for name, python in options.peer
    }
    try:
        yield made
    finally:
        for peer in made.values():
            peer.close()


class Side:
    """A peer in one row: a side that fails later than in its first call is left out with its reason."""

    def __init__(self, peer: peers.Library, algorithm: str, options: argparse.Namespace) -> None:
        self.peer, self.algorithm, self.trials = peer, algorithm, options.trials
        self.failure = ""
        self.first = math.nan
        self._attempt(1)
        if (
            SLOW < self.first < options.limit / 2
        ):  # it may have compiled or converted something: the next counts
            self._attempt(1)

    def _attempt(self, count: int) -> list[float]:
        """Seconds of so many calls, not a number from the first failure on."""
        if self.failure:
            return [math.nan]
        try:
            seconds = self.peer.runs(self.algorithm, count)
            self.first = seconds[0]
            return seconds
        except peers.PeerError as error:
            self.failure = str(error).partition(": ")[2]
            return [math.nan]

    def __call__(self) -> list[float]:
        if self.first > SLOW:
            return self._attempt(self.trials)
        return self._attempt(self.trials + 1)[1:] or [math.nan]


def vgraph_side(case: Case, instance: Instance, threads: int, trials: int, first: float) -> harness.Side:
    def block() -> list[float]:
        if first <= SLOW:
            case.whole(instance, threads)
        return [case.whole(instance, threads)[1] for _ in range(trials)]

    return block


def checked(case: Case, instance: Instance, result: object, limit: float) -> bool:
    """Whether the check came to its end in time. Raises what it raises for a wrong result."""
    try:
        with at_most(CHECK * limit):
            case.check(instance, result)
    except TooLongError:
        return False
    return True


def measure(
    options: argparse.Namespace, case: Case, instance: Instance, beside: Mapping[str, peers.Library]
) -> Row:
    """One row."""
    data = instance.data
    row = Row(case.name, data.name, data.num_vertices, data.num_edges, options.threads, note=case.note)
    try:
        for compiles in (COMPILE, 0):
            with at_most(options.limit + compiles):
                result, first = case.whole(instance, options.threads)
    except (TooLongError, vg.VGraphError) as error:
        return replace(row, missing={"vgraph": str(error).splitlines()[0]})
    was_checked = checked(case, instance, result, options.limit)
    found = {name: Side(peer, case.algorithm, options) for name, peer in beside.items()}
    slow = {name for name, side in found.items() if side.first > options.limit * SHARE}
    sides: dict[str, harness.Side] = {
        "vgraph": vgraph_side(case, instance, options.threads, options.trials, first)
    }
    sides |= {name: s for name, s in found.items() if name not in slow and not s.failure}
    mine = (samples := harness.interleave(sides, options.blocks)).pop("vgraph").median
    missing = {name: side.failure for name, side in found.items() if side.failure}
    return replace(
        row,
        ms=mine * 1e3,
        ratios={n: round(s.median / mine, 3) for n, s in samples.items() if n not in missing},
        once={name: round(found[name].first / mine, 3) for name in slow - missing.keys()},
        missing=missing,
        checked=was_checked,
    )


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
    parser.add_argument("--cases", default=",".join(case.name for case in LIBRARY))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="LIBRARY=PYTHON")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help=f"at least {BLOCKS}")
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--limit", type=float, default=8.0, help="seconds that a call may take")
    parser.add_argument("--keep", action="store_true", help="keep rows of --out that are not measured again")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "library.json")
    options = parser.parse_args(arguments)
    if options.blocks < BLOCKS:
        parser.error(f"--blocks {options.blocks}: a median needs at least {BLOCKS}")
    if unknown := set(options.cases.split(",")) - {case.name for case in LIBRARY}:
        parser.error(f"no such cases: {', '.join(sorted(unknown))}")
    return options


def kept(before: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """The rows, after those of an earlier run that have not been measured again."""
    made = [asdict(row) for row in rows]
    again = {(row["case"], row["graph"]) for row in made}
    return [*(row for row in before if (row["case"], row["graph"]) not in again), *made]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write what is asked for."""
    options = parse(arguments)
    preferred = harness.first_in_line()
    start, wanted = time.monotonic(), options.cases.split(",")
    named = [name for name, _ in options.peer]
    how = {"blocks": options.blocks, "trials": options.trials, "limit": options.limit}
    more: dict[str, Any] = {
        "method": {**how, "preferred_session": preferred},
        "libraries": {name: peers.version(Path(python), name) for name, python in options.peer},
        "lines": lines(),
    }
    before: list[Mapping[str, Any]] = []
    if options.keep and options.out.exists():
        earlier = json.loads(options.out.read_text())
        before, more["libraries"] = earlier["rows"], earlier["libraries"] | more["libraries"]
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        rows: list[Row] = []
        for name in options.graphs.split(","):
            if not (options.data / FILES[name]).exists():
                print(f"{name}: {options.data / FILES[name]} is not there", file=sys.stderr)
                continue
            instance = read(name, options.data, cache)
            with libraries(options, cache / f"{name}.npz") as beside:
                for case in (c for c in cases_of(name) if c.name in wanted):
                    rows.append(measure(options, case, instance, beside))
                    print(
                        f"{time.monotonic() - start:.0f} s: {name} {case.name}", file=sys.stderr, flush=True
                    )
                    harness.write_results(options.out, kept(before, rows), **more)
    shown = [asdict(row) for row in rows]
    for name in dict.fromkeys(row.graph for row in rows):
        of_graph = [row for row in shown if row["graph"] == name]
        print(f"{name}\n{library_report.table(of_graph, named)}\n")
    print("\n".join(library_report.remarks(shown)))


if __name__ == "__main__":
    main()
