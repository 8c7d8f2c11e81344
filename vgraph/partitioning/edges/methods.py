"""`vg.edge_partition`: the methods by their names, and the call that is the same for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.partitioning.edges.hypergraph import hypergraph
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.partitioning.edges.result import EdgePartition
from vgraph.partitioning.edges.simple import grid, random
from vgraph.partitioning.edges.spac import spac
from vgraph.partitioning.edges.streaming import greedy, hdrf
from vgraph.partitioning.edges.weighted import weighted_greedy, weighted_random
from vgraph.partitioning.methods import METHODS
from vgraph.partitioning.problem import check_request
from vgraph.tracebacks import public

EDGE_METHODS: Final[dict[str, Callable[[EdgeProblem], NDArray[np.int32]]]] = {
    "spac": spac,
    "random": random,
    "greedy": greedy,
    "hdrf": hdrf,
    "grid": grid,
    "weighted_random": weighted_random,
    "weighted_greedy": weighted_greedy,
    "hypergraph": hypergraph,
}
"""What divides the edges, by number."""


@public
def edge_partition(
    graph: Graph,
    k: int,
    method: str = "spac",
    imbalance: float = 1.03,
    seed: int = 0,
    *,
    partitioner: str = "vgraph",
    threads: int | None = None,
    device: str | None = None,
) -> EdgePartition:
    """Divide the edges into k parts of about as many, so that few vertices have edges in several; an `EdgePartition`.

    method: one of `vgraph.partitioning.EDGE_METHODS`. imbalance: how many edges a part may have, in units of the mean;
    "weighted_greedy" and "weighted_random" divide vertices so, "grid" has no limit. seed: 0 to 2**31 - 1; equal calls
    give equal parts. partitioner: the method of `vgraph.partition` for those that divide vertices ("spac" and the
    weighted ones); threads, device: as in `vg.run`, for the same. "greedy" and "hdrf" go over the edges in the order in
    which `Graph.from_edges` got them.

    An undirected edge is one, parallel edges are several, self-loops count as edges. Raises ParameterError, and
    VGraphError where a method's library is not installed.
    """
    if not isinstance(graph, Graph):
        raise ParameterError(f"{shown(graph)} is not a vg.Graph")
    if not isinstance(method, str) or method not in EDGE_METHODS:
        raise ParameterError(f"method={shown(method)}: the methods are {', '.join(EDGE_METHODS)}")
    if not isinstance(partitioner, str) or partitioner not in METHODS:
        raise ParameterError(f"partitioner={shown(partitioner)}: the methods are {', '.join(METHODS)}")
    check_request(k, imbalance, seed)
    problem = EdgeProblem(graph, int(k), imbalance, int(seed), partitioner, threads, device)
    started = time.perf_counter()
    trivial = problem.k == 1 or not graph.num_edges
    numbered = np.zeros(graph.num_edges, np.int32) if trivial else EDGE_METHODS[method](problem)
    return EdgePartition(graph, numbered, problem.k, method, problem.seed, time.perf_counter() - started)
