"""`vg.partition`: the methods by their names, and the call that is the same for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.partitioning import libraries, simple
from vgraph.partitioning.problem import Problem, problem_of, weights_of
from vgraph.partitioning.result import LevelStats, Partition
from vgraph.tracebacks import public

Method = Callable[[Problem], NDArray[np.int32] | tuple[NDArray[np.int32], tuple[LevelStats, ...]]]

METHODS: Final[dict[str, Method]] = {
    "metis": libraries.metis,
    "kahip": libraries.kahip,
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

    Directions are ignored, parallel edges count each, loops never. Raises ParameterError, and VGraphError
    where a method's library is not installed.
    """
    if not isinstance(graph, Graph):
        raise ParameterError(f"{shown(graph)} is not a vg.Graph")
    if method not in METHODS:
        raise ParameterError(f"method={shown(method)}: the methods are {', '.join(METHODS)}")
    problem = problem_of(graph, k, imbalance, seed, vertex_weight, edge_weight, threads, device)
    started = time.perf_counter()
    found = (
        METHODS[method](problem)
        if problem.k > 1 and graph.num_vertices
        else np.zeros(graph.num_vertices, np.int32)
    )
    seconds = time.perf_counter() - started
    parts, levels = found if isinstance(found, tuple) else (found, ())
    weights = weights_of(graph, edge_weight, "edge")
    return Partition(
        graph, parts, problem.k, method, problem.seed, problem.limit, seconds, levels, problem.loads, weights
    )
