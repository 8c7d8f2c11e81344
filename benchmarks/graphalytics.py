"""LDBC Graphalytics: its six algorithms on any of its data sets, timed, and validated against its answers.

    python benchmarks/graphalytics.py FOLDER/NAME.properties [--algorithms bfs,wcc] [--threads 8] [--repeat 3]

A data set is NAME.v, NAME.e and NAME.properties, which says what is to be run; answers are NAME-BFS, NAME-CDLP and so
on beside them or in `--answers`. Validation is by the benchmark's rules (specification 1.0, section 2.3.3): BFS and
CDLP equal, WCC the same up to names, LCC, PR and SSSP within a relative difference of 0.0001. EVPS is vertices and
edges per second of run time; the graph's loading is given on its own. Exit status 1: an answer differs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import numpy as np
from numpy.typing import NDArray

import vgraph as vg

EPSILON = 1e-4
UNREACHED = np.iinfo(np.int64).max  # the level of a vertex that BFS did not reach
Values = NDArray[Any]


@dataclass(frozen=True)
class DataSet:
    """A data set: vertices are numbered by ascending `ids`, so that ties of CDLP are resolved as by ids."""

    name: str
    graph: vg.Graph
    ids: NDArray[np.int64]
    settings: Mapping[str, str]

    @property
    def algorithms(self) -> list[str]:
        """What the data set is made for."""
        return [name.strip() for name in self.settings["algorithms"].split(",")]

    def source(self, algorithm: str) -> int:
        """The vertex at which `algorithm` begins."""
        wanted = int(self.settings[f"{algorithm}.source-vertex"])
        found = int(np.searchsorted(self.ids, wanted))
        if found == self.ids.size or self.ids[found] != wanted:
            raise SystemExit(f"{self.name}: the source {wanted} of {algorithm} is no vertex")
        return found


def load(properties: Path) -> DataSet:
    """Read a data set by its `.properties` file."""
    name = properties.name.removesuffix(".properties")
    settings = {}
    for line in properties.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            settings[key.strip().removeprefix(f"graph.{name}.")] = value.strip()
    graph = vg.read(properties)
    ids = np.asarray(graph.vertex_properties["id"])
    rank = np.empty(ids.size, np.int64)
    rank[np.argsort(ids)] = np.arange(ids.size)
    sources, targets, weights = graph.edges()
    wanted = settings.get("sssp.weight-property", "weight")
    kept = {"weight": weights[wanted]} if wanted in weights else {}
    if kept.keys() != weights.keys() or not (rank == np.arange(ids.size)).all():
        graph = vg.Graph.from_edges(
            rank[sources], rank[targets], num_vertices=ids.size, directed=graph.directed, **kept
        )
    return DataSet(name, graph, np.sort(ids), settings)


# --- the algorithms -------------------------------------------------------------------------------------------


def bfs(data: DataSet, how: dict[str, Any]) -> Values:
    """Hops, UNREACHED where there is no path."""
    level = vg.run(vg.algorithms.bfs, data.graph, source=data.source("bfs"), **how).level
    return np.where(level < 0, UNREACHED, level.astype(np.int64))


def cdlp(data: DataSet, how: dict[str, Any]) -> Values:
    """Communities, named by ids of vertices."""
    rounds = int(data.settings["cdlp.max-iterations"])
    label = vg.run(vg.algorithms.label_propagation, data.graph, max_rounds=rounds, **how).label
    return data.ids[label]


def lcc(data: DataSet, how: dict[str, Any]) -> Values:
    """Local clustering coefficients."""
    run: Any = vg.run(getattr(vg.algorithms, "local_clustering"), data.graph, **how)  # noqa: B009
    return np.asarray(run.lcc)


def pr(data: DataSet, how: dict[str, Any]) -> Values:
    """PageRank after a fixed number of rounds."""
    damping, rounds = float(data.settings["pr.damping-factor"]), int(data.settings["pr.num-iterations"])
    options = {"damping": damping, "tolerance": 0.0, "max_rounds": rounds}
    return np.asarray(vg.run(vg.algorithms.pagerank, data.graph, **options, **how).rank)


def sssp(data: DataSet, how: dict[str, Any]) -> Values:
    """Lengths of shortest paths; infinity where there is none."""
    dist = vg.run(vg.algorithms.sssp, data.graph, source=data.source("sssp"), **how).dist
    if dist.dtype.kind == "f":
        return np.asarray(dist)
    return np.where(dist == np.iinfo(dist.dtype).max, np.inf, dist)


def wcc(data: DataSet, how: dict[str, Any]) -> Values:
    """Weakly connected components, named by ids of vertices."""
    return data.ids[vg.run(vg.algorithms.connected_components, data.graph, **how).component]


ALGORITHMS: dict[str, Callable[[DataSet, dict[str, Any]], Values]] = {
    "bfs": bfs,
    "cdlp": cdlp,
    "pr": pr,
    "sssp": sssp,
    "wcc": wcc,
}
if hasattr(vg.algorithms, "local_clustering"):
    ALGORITHMS["lcc"] = lcc


# --- validation -----------------------------------------------------------------------------------------------


def read_answer(path: Path, ids: NDArray[np.int64], dtype: type) -> Values:
    """The answer of each vertex, in the order of `ids`; raises ValueError where vertices differ."""
    vertices, values = [np.empty(0, np.int64)], [np.empty(0, dtype)]
    with path.open("rb") as file:
        while lines := file.readlines(1 << 24):
            fields = b"".join(lines).split()
            vertices.append(np.array(fields[0::2]).astype(np.int64))
            values.append(np.array(fields[1::2]).astype(dtype))
    vertex, value = np.concatenate(vertices), np.concatenate(values)
    order = np.argsort(vertex)
    if not np.array_equal(vertex[order], ids):
        raise ValueError(f"{path} does not name each vertex once")
    return value[order]


def _equal(found: Values, answer: Values) -> NDArray[np.bool_]:
    return np.asarray(found == answer)


def _near(found: Values, answer: Values) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray((found == answer) | (np.abs(found - answer) <= EPSILON * np.abs(answer)))


def _same_sets(found: Values, answer: Values) -> NDArray[np.bool_]:
    """Equal up to names: each name here goes with one name there, and the other way round."""
    return np.asarray(_first(found) == _first(answer))


def _first(labels: Values) -> Values:
    """For each vertex the first vertex with its label."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


RULES: dict[str, tuple[type, Callable[[Values, Values], NDArray[np.bool_]]]] = {
    "bfs": (np.int64, _equal),
    "cdlp": (np.int64, _equal),
    "lcc": (np.float64, _near),
    "pr": (np.float64, _near),
    "sssp": (np.float64, _near),
    "wcc": (np.int64, _same_sets),
}


def validate(algorithm: str, data: DataSet, found: Values, answers: Path) -> str:
    """`passed`, `no answer`, or how many vertices differ and the first of them."""
    path = answers / f"{data.name}-{algorithm.upper()}"
    if not path.is_file():
        return "no answer"
    dtype, rule = RULES[algorithm]
    answer = read_answer(path, data.ids, dtype)
    wrong = np.flatnonzero(~rule(found, answer))
    if not wrong.size:
        return "passed"
    v = int(wrong[0])
    return f"{wrong.size} vertices differ; vertex {data.ids[v]}: {found[v]}, the answer is {answer[v]}"


# --- the command ----------------------------------------------------------------------------------------------


def measure(algorithm: str, data: DataSet, repeat: int, how: dict[str, Any]) -> tuple[Values, float]:
    """The result, and the median of the seconds of `repeat` runs after one that compiles."""
    found = ALGORITHMS[algorithm](data, how)
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = ALGORITHMS[algorithm](data, how)
        seconds.append(time.perf_counter() - start)
    return found, statistics.median(seconds)


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 1 if an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("dataset", type=Path, help="the .properties file of a data set")
    parser.add_argument(
        "--algorithms", default="", help="of bfs, cdlp, lcc, pr, sssp, wcc; all that it names"
    )
    parser.add_argument("--answers", type=Path, help="the folder with the answers; that of the data set")
    parser.add_argument("--threads", type=int, help="threads; all cores")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs, of which the median is given")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    data = load(options.dataset)
    size = data.graph.num_vertices + data.graph.num_edges
    print(
        f"{data.name}: {data.graph.num_vertices:,} vertices, {data.graph.num_edges:,} edges, "
        f"loaded in {time.perf_counter() - start:.2f} s\n"
    )
    how = {"device": options.device, **({"threads": options.threads} if options.threads else {})}
    rows = []
    for algorithm in [a for a in options.algorithms.split(",") if a] or data.algorithms:
        if algorithm not in RULES:
            raise SystemExit(f"{algorithm} is none of {', '.join(RULES)}")
        if algorithm not in ALGORITHMS:
            rows.append([algorithm, "", "", "vgraph has no such algorithm"])
            continue
        found, seconds = measure(algorithm, data, options.repeat, how)
        verdict = validate(algorithm, data, found, options.answers or options.dataset.parent)
        rows.append([algorithm, f"{seconds:.4g}", f"{size / seconds:.3g}", verdict])
    print(harness.table(["algorithm", "seconds", "EVPS", "validation"], rows))
    return int(any("differ" in row[3] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
