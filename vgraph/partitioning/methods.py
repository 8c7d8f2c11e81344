"""`vg.partition`: the methods by their names, and the call that is the same for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.arrays import as_array
from vgraph.partitioning import libraries, simple
from vgraph.partitioning.multilevel import label_propagation, multilevel
from vgraph.partitioning.problem import Problem, check_request, problem_of, weights_of
from vgraph.partitioning.result import LevelStats, Partition
from vgraph.tracebacks import public

Method = Callable[[Problem], NDArray[np.int32] | tuple[NDArray[np.int32], tuple[LevelStats, ...]]]

METHODS: Final[dict[str, Method]] = {
    "vgraph": multilevel,
    "metis": libraries.metis,
    "kahip": libraries.kahip,
    "label_propagation": label_propagation,
    "random": simple.random,
    "blocks": simple.blocks,
    "hash": simple.hashed,
    "rcm": simple.rcm,
}
"""What divides a problem into parts, and says of its levels if it has any."""


@public
def partition(
    graph: Graph,
    k: int,
    method: str = "vgraph",
    imbalance: float = 1.03,
    seed: int = 0,
    *,
    vertex_weight: ArrayLike | str | None = None,
    edge_weight: ArrayLike | str | None = None,
    threads: int | None = None,
    device: str | None = None,
) -> Partition:
    """Divide the vertices into k parts of about the same weight with few edges between them; a `Partition`.

    method: one of `vgraph.partitioning.METHODS`. imbalance: how heavy a part may be, in units of the mean; more is
    allowed where whole vertices do not go into parts so (`limit` of the result). seed: 0 to 2**31 - 1; equal calls
    give equal parts, at any number of threads.
    vertex_weight: an array, the name of a vertex property, or "degree". By default every vertex weighs 1, or on a
    skewed graph its degree, so that parts have about equally many arcs. edge_weight: an array with one number per arc,
    or the name of an edge property; by default every edge counts 1. Weights are integers of at least 1.
    threads, device: as in `vg.run`, for methods that are programs of vgraph.

    Directions are ignored, parallel edges count each, loops never. Raises ParameterError, GraphError for weights that
    are no array or differ between the arcs of an undirected edge, and VGraphError where a method's library is not
    installed.
    """
    if not isinstance(graph, Graph):
        raise ParameterError(f"{shown(graph)} is not a vg.Graph")
    if not isinstance(method, str) or method not in METHODS:
        raise ParameterError(f"method={shown(method)}: the methods are {', '.join(METHODS)}")
    problem = problem_of(graph, k, imbalance, seed, vertex_weight, edge_weight, threads, device)
    started = time.perf_counter()
    trivial = problem.k == 1 or not graph.num_vertices
    found = np.zeros(graph.num_vertices, np.int32) if trivial else METHODS[method](problem)
    seconds = time.perf_counter() - started
    parts, levels = found if isinstance(found, tuple) else (found, ())
    return Partition(
        graph=graph,
        parts=parts,
        k=problem.k,
        method=method,
        seed=problem.seed,
        limit=problem.limit,
        seconds=seconds,
        levels=levels,
        vertex_weights=problem.loads,
        edge_weights=weights_of(graph, edge_weight, "edge"),
    )


@public
def measured(
    graph: Graph,
    parts: ArrayLike,
    k: int | None = None,
    *,
    vertex_weight: ArrayLike | str | None = None,
    edge_weight: ArrayLike | str | None = None,
) -> Partition:
    """A `Partition` of parts that are given, to see their figures: an int from 0 to k - 1 for each vertex.

    k: by default one more than the largest part. Weights as in `partition`. Raises ParameterError, and GraphError
    as it does.
    """
    if not isinstance(graph, Graph):
        raise ParameterError(f"{shown(graph)} is not a vg.Graph")
    if k is not None:
        check_request(k, 1.0, 0)
    numbers = as_array(parts, "parts")
    if numbers.shape != (graph.num_vertices,) or numbers.dtype.kind not in "iu":
        raise ParameterError(
            f"parts of shape {numbers.shape} and type {numbers.dtype} are not an int for each vertex"
        )
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if low < 0 or (k is not None and high >= k):
        raise ParameterError(
            f"parts go from {low} to {high}: they are numbered from 0" + (f" to {k - 1}" if k else "")
        )
    problem = problem_of(graph, high + 1 if k is None else k, 1.0, 0, vertex_weight, edge_weight)
    return Partition(
        graph=graph,
        parts=numbers.astype(np.int32),
        k=problem.k,
        method="given",
        seed=0,
        limit=problem.limit,
        seconds=0.0,
        levels=(),
        vertex_weights=problem.loads,
        edge_weights=weights_of(graph, edge_weight, "edge"),
    )
