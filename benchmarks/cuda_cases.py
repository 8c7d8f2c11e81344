"""What `gpu.py` runs: the algorithms with their parameters, how a result is compared with the CPU's, the bytes that
have to move, and what other systems need for the same."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import roofline
from cuda_graphs import Loaded

import vgraph as vg

ROUNDS = 20
ALGORITHMS = vg.algorithms


class WrongResultError(AssertionError):
    """The GPU and the CPU disagree."""


@dataclass(frozen=True)
class Case:
    """An algorithm with parameters. `label`: the traversal whose balance is compared; `per_round`: times are divided
    by the rounds; `close`: results that are compared to within a relative error, all others but `free` exactly."""

    name: str
    algorithm: Any
    label: str
    parameters: Mapping[str, Any]
    source: str = ""
    per_round: bool = False
    close: Mapping[str, float] | None = None
    free: tuple[str, ...] = ()
    traffic: Callable[[roofline.Size], roofline.Traffic] | None = None

    def sources(self, loaded: Loaded) -> tuple[int | None, ...]:
        """Where it starts: at each of the graph's sources, or nowhere in particular."""
        return loaded.sources if self.source else (None,)

    def run(self, loaded: Loaded, source: int | None, **options: Any) -> Any:
        """One run on a device."""
        return vg.run(self.algorithm, loaded.graph, **self.arguments(source), **options)

    def arguments(self, source: int | None) -> dict[str, Any]:
        """Its parameters, with the vertex it starts from."""
        if not self.source:
            return dict(self.parameters)
        return {**self.parameters, self.source: [source] if self.source == "sources" else source}

    def check(self, loaded: Loaded, source: int | None, result: Any) -> None:
        """Compare a result with the CPU's, which is kept. Raises WrongResultError."""
        expected = self.answer(loaded, source)
        for name in expected.names:
            if name in self.free:
                continue
            mine, other = np.asarray(getattr(result, name)), np.asarray(getattr(expected, name))
            limit = (self.close or {}).get(name)
            if limit is None:
                wrong = int(np.count_nonzero(mine != other))
            else:
                least = 1e-3 * float(np.abs(other).max(initial=0))
                allowed = limit * np.maximum(np.abs(other), least)
                wrong = int(np.count_nonzero(~(np.abs(mine.astype(np.float64) - other) <= allowed)))
            if wrong:
                raise WrongResultError(
                    f"{self.name} on {loaded.name}: {wrong} of {mine.size} in {name!r} differ"
                )
        if "parent" in self.free:
            _check_parents(loaded, result)

    def answer(self, loaded: Loaded, source: int | None) -> Any:
        """The CPU's result; PageRank's in float64 always, sums of which float32 must come close to."""
        key = (self.algorithm.name, source)
        if key not in loaded.answers:
            arguments = self.arguments(source)
            if "dtype" in arguments:
                arguments["dtype"] = vg.float64
            loaded.answers[key] = vg.run(self.algorithm, loaded.graph, device="cpu", **arguments)
        return loaded.answers[key]


def _check_parents(loaded: Loaded, result: Any) -> None:
    """Parents may differ from run to run; but each lies one level above, at the other end of an arc."""
    level, parent = np.asarray(result.level), np.asarray(result.parent).astype(np.int64)
    children = np.flatnonzero(level > 0)
    wrong = int(np.count_nonzero(level[parent[children]] != level[children] - 1))
    sample = children[:: max(1, children.size // 1000)]
    rows, columns = loaded.graph.out.row_offsets, loaded.graph.out.column_indices
    for v in sample:
        wrong += int(parent[v] not in columns[int(rows[v]) : int(rows[v + 1])])
    if wrong:
        raise WrongResultError(f"bfs on {loaded.name}: {wrong} parents are none")


def _pagerank(dtype: Any, size: int, error: float) -> Case:
    given = {"tolerance": 0.0, "max_rounds": ROUNDS, "dtype": dtype}
    return Case(
        f"pagerank {8 * size}-bit, per iteration",
        ALGORITHMS.pagerank,
        "gather",
        given,
        per_round=True,
        close={"rank": error},
        traffic=lambda s: roofline.pagerank(s, 1, size),
    )


CASES = {
    "bfs": Case("bfs", ALGORITHMS.bfs, "visit", {}, source="source", free=("parent",), traffic=roofline.bfs),
    "sssp": Case("sssp", ALGORITHMS.sssp, "relax", {}, source="source", traffic=roofline.sssp),
    "bellman_ford": Case(
        "bellman_ford", ALGORITHMS.bellman_ford, "relax", {}, source="source", traffic=roofline.sssp
    ),
    "pagerank32": _pagerank(vg.float32, 4, 1e-3),
    "pagerank64": _pagerank(vg.float64, 8, 1e-9),
    "cc": Case("cc", ALGORITHMS.connected_components, "finish", {}, traffic=roofline.components),
    "betweenness": Case(
        "betweenness, one source",
        ALGORITHMS.betweenness,
        "reach",
        {"normalized": False},
        source="sources",
        close={"centrality": 1e-6},
    ),
    "triangles": Case("triangles", ALGORITHMS.triangle_count, "count", {}),
    "clustering": Case("clustering", ALGORITHMS.local_clustering, "count", {}, close={"lcc": 1e-6}),
    "kcore": Case("kcore", ALGORITHMS.k_core, "leave", {}),
}

PEERS_FROM = (
    "measured earlier on one NVIDIA H200: kernel time, data resident, median of several sources; graphs of the same "
    "recipe (R-MAT scale 22, edge factor 16; 2048 x 2048 grid less 10 %), not of the same draws"
)
PEERS: dict[tuple[str, str], dict[str, float]] = {
    ("bfs", "rmat22"): {"GSWITCH": 1.36, "GraphIt-G2": 2.18, "Tigr": 3.12, "LonestarGPU": 6.99},
    ("sssp", "rmat22"): {"GSWITCH": 9.68, "GraphIt-G2": 9.93, "Tigr": 10.5, "LonestarGPU": 26.9},
    ("pagerank32", "rmat22"): {"Tigr": 1.45, "GraphIt-G2": 2.17, "LonestarGPU": 4.9},
    ("cc", "rmat22"): {"GSWITCH": 2.10, "Tigr": 4.19, "GraphIt-G2": 4.26, "ECL-CC": 4.49, "LonestarGPU": 9.8},
    ("betweenness", "rmat22"): {"GraphIt-G2": 8.93},
    ("triangles", "rmat22"): {"LonestarGPU": 660.0},
    ("bfs", "road2048"): {"GraphIt-G2 fused": 26.4, "LonestarGPU": 31.6, "GSWITCH": 57.3, "Tigr": 103.0},
    ("sssp", "road2048"): {"LonestarGPU": 51.4, "GraphIt-G2": 70.7, "GSWITCH": 126.0, "Tigr": 424.0},
    ("pagerank32", "road2048"): {"Tigr": 0.097, "GraphIt-G2": 0.188},
    ("cc", "road2048"): {"GSWITCH": 0.84, "LonestarGPU": 1.41, "ECL-CC": 2.17, "GraphIt-G2": 2.34},
    ("betweenness", "road2048"): {"GraphIt-G2": 59.0, "GSWITCH": 178.0},
}
"""Milliseconds, by key of `CASES` and graph; see PEERS_FROM."""

BY_HAND: dict[tuple[str, str], float] = {
    ("pagerank32", "rmat22"): 0.147,
    ("bfs", "rmat22"): 0.168,
    ("sssp", "rmat22"): 2.1,
    ("cc", "rmat22"): 0.40,
    ("triangles", "rmat22"): 11.8,
    ("clustering", "rmat22"): 29.0,
    ("kcore", "rmat22"): 5.75,
    ("betweenness", "rmat22"): 2.0,
    ("pagerank32", "road2048"): 0.0224,
    ("bfs", "road2048"): 1.37,
    ("sssp", "road2048"): 2.35,
    ("cc", "road2048"): 0.29,
    ("triangles", "road2048"): 2.0,
    ("kcore", "road2048"): 4.8,
}
"""Milliseconds of kernels written for one algorithm each, on an H200, with whatever layout suits them, on graphs of the
same recipe; triangles with the orientation. BFS and SSSP on the grid without preparation: 4.6 and 8.1."""


# --- timing ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timed:
    """Milliseconds: the kernel's by the GPU's clock (of one round, where a case is `per_round`), median, least and
    most; and the whole call's by the host's. `result` is that of the last run."""

    ms: float
    low_ms: float
    high_ms: float
    call_ms: float
    runs: int
    result: Any


def timed(case: Case, loaded: Loaded, repeats: int, *, sources: int = 1, **options: Any) -> Timed:
    """Check one run from each source, then time `repeats` more. Options are of `vg.run`; the device is the GPU.

    With several sources the median is over their medians, and so are least and most. Kernels of more than a
    second are timed once. Raises WrongResultError, or what `vg.run` raises.
    """
    medians, calls, runs = [], [], 0
    result = None
    for source in case.sources(loaded)[:sources]:
        result = case.run(loaded, source, device="cuda", **options)
        slow = result.stats.kernel_seconds > 1
        case.check(loaded, source, result)
        kernel = []
        for _ in range(1 if slow else repeats):
            begin = time.perf_counter()
            result = case.run(loaded, source, device="cuda", **options)
            calls.append(1e3 * (time.perf_counter() - begin))
            kernel.append(1e3 * result.stats.kernel_seconds)
        runs += len(kernel)
        rounds = result.stats.rounds if case.per_round else 1
        medians.append([value / rounds for value in kernel])
    spread = medians[0] if len(medians) == 1 else [statistics.median(values) for values in medians]
    middle = statistics.median(spread)
    return Timed(middle, min(spread), max(spread), statistics.median(calls), runs, result)


def size_of(case: Case, loaded: Loaded, result: Any) -> roofline.Size:
    """The size that the models of traffic take; arcs that a search did not walk do not count."""
    graph = loaded.graph
    walked = min(loaded.reached_arcs, result.stats.edges) if case.source else loaded.reached_arcs
    return roofline.Size(
        graph.num_vertices, graph.num_arcs, loaded.reached_vertices, walked, graph.offset_dtype.itemsize
    )
