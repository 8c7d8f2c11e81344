"""What a partitioner is given: a symmetric graph without loops and parallel arcs, whole weights, a limit of a part."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.arrays import as_array
from vgraph.graph.build import count_self_loops, repeats, sources_of
from vgraph.graph.topology import Adjacency, Topology
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.devices.runner import Loaded, Runner
from vgraph.runtime.executor import Job

SKEWED: Final = 32
"""A graph is skewed if its largest degree is at least HUB and so many times the mean: parts get equally many arcs."""
HUB: Final = 256
MOST: Final = 2**53
"""Sums of weights are below this."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph to be divided into k parts, none heavier than `limit`.

    `graph` has each edge as two arcs, no loops and no parallel arcs, an edge property `weight` and a vertex property
    `load`, int32 where their sums fit, else int64; all are at least 1.
    """

    graph: Graph
    k: int
    limit: int
    seed: int
    threads: int | None = None
    device: str | None = None
    unweighted: bool = False
    """Whether all arcs weigh 1."""
    ready: dict[AlgorithmDef, tuple[Job, Runner, Loaded]] = field(default_factory=dict)
    """What it takes to run a program again, of those that have run."""

    @property
    def loads(self) -> NDArray[Any]:
        """The weights of the vertices."""
        return self.graph.vertex_properties["load"]


def problem_of(
    graph: Graph,
    k: int,
    imbalance: float,
    seed: int,
    vertex_weight: ArrayLike | str | None,
    edge_weight: ArrayLike | str | None,
    threads: int | None = None,
    device: str | None = None,
) -> Problem:
    """The arguments of `vg.partition`, checked. Raises ParameterError and GraphError as that does."""
    check_request(k, imbalance, seed)
    arcs = weights_of(graph, edge_weight, "edge")
    if not (graph.directed or edge_weight is None or isinstance(edge_weight, str)):
        graph.with_edge_property("edge_weight", arcs)  # refuses what differs between the arcs of an edge
    made = symmetric(graph, arcs)
    if max(made.num_arcs, made.num_vertices) >= 2**31:
        raise ParameterError(
            "partition takes graphs of fewer than 2**31 vertices and arcs, each edge two arcs"
        )
    skewed = vertex_weight is None and is_skewed(graph)
    loads = weights_of(graph, "degree" if skewed else vertex_weight, "vertex")
    made = Graph(made._topology, dict(made.edge_properties), {"load": narrowed(loads)})
    unweighted = edge_weight is None and made.num_arcs == graph.num_arcs and not graph.directed
    asked = int(k), limit_of(loads, int(k), imbalance), int(seed), threads, device
    return Problem(made, *asked, unweighted)


def check_request(k: object, imbalance: object, seed: object) -> None:
    """Raise ParameterError for a number of parts, an imbalance or a seed that cannot be."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < 2**31:
        raise ParameterError(f"k={shown(k)}: a number of parts, an int from 1 to 2**31 - 1")
    if not isinstance(imbalance, int | float) or not 1 <= imbalance < float("inf"):
        raise ParameterError(f"imbalance={shown(imbalance)}: a number of at least 1, such as 1.03")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**31:
        raise ParameterError(f"seed={shown(seed)}: an int from 0 to 2**31 - 1")


def is_skewed(graph: Graph) -> bool:
    """Whether some vertices have so many arcs that parts of equally many vertices would have very different work."""
    mean = graph.num_arcs / max(1, graph.num_vertices)
    return int(graph.out_degree.max(initial=0)) >= max(HUB, SKEWED * mean)


def weights_of(graph: Graph, given: ArrayLike | str | None, of: str) -> NDArray[np.int64]:
    """Weights of vertices, or of arcs in out order: 1 for None, "degree", the name of a property, or an array."""
    size = graph.num_vertices if of == "vertex" else graph.num_arcs
    properties = graph.vertex_properties if of == "vertex" else graph.edge_properties
    name = f"{of}_weight"
    if given is None:
        return np.ones(size, np.int64)
    if isinstance(given, str):
        if of == "vertex" and given == "degree":
            return np.maximum(graph.out_degree.astype(np.int64), 1)
        if given not in properties:
            known = ", ".join(properties) or "none"
            raise ParameterError(
                f"{name}={shown(given)}: the graph has no such {of} property; it has: {known}"
            )
        given = properties[given]
    values = as_array(given, name)
    if values.shape != (size,):
        what = "vertex" if of == "vertex" else "arc, in the order of graph.out"
        raise ParameterError(f"{name} has shape {values.shape}; it needs {size} numbers, one for each {what}")
    if values.dtype.kind not in "iu":
        raise ParameterError(f"{name} holds {values.dtype}: weights are integers; scale and round others")
    if size and values.min() < 1:
        raise ParameterError(
            f"{name}: the weight {values.min()} is below 1; leave out edges that do not count"
        )
    if size and (int(values.max()) >= MOST or values.sum(dtype=np.float64) >= MOST):
        raise ParameterError(f"{name}: the sum of the weights is not below 2**53; scale them down")
    return values.astype(np.int64)


def narrowed(weights: NDArray[np.int64]) -> NDArray[Any]:
    """int32 where the sum fits."""
    return weights.astype(np.int32) if weights.sum() < 2**31 else weights


def symmetric(graph: Graph, weights: NDArray[np.int64]) -> Graph:
    """Arcs both ways without loops, parallel ones added up, with the edge property `weight`.

    Two vertices have an edge that weighs what all edges between them do, so a cut of it is one of the given graph.
    """
    offsets, columns = graph.out.row_offsets, graph.out.column_indices
    if not (graph.directed or count_self_loops(offsets, columns) or repeats(offsets, columns).any()):
        arcs = Topology(Adjacency(offsets, columns), columns.size, True)
        return Graph(arcs, {"weight": narrowed(weights)}, {})
    from scipy.sparse import coo_array

    sources, targets = sources_of(offsets, np.dtype(np.int64)), columns.astype(np.int64)
    keep = sources != targets
    sources, targets, weights = sources[keep], targets[keep], weights[keep]
    if graph.directed:
        sources, targets, weights = np.r_[sources, targets], np.r_[targets, sources], np.r_[weights, weights]
    matrix = coo_array((weights, (sources, targets)), shape=(graph.num_vertices,) * 2).tocsr()
    matrix.sum_duplicates()
    edge = {"weight": narrowed(matrix.data)}
    return Graph.from_rows(matrix.indptr, matrix.indices, True, None, edge, {}, copy=False)


def limit_of(loads: NDArray[np.int64], k: int, imbalance: float) -> int:
    """How heavy a part may be: `imbalance` times the mean, or more where whole vertices do not go into parts so.

    Vertices that are lighter than the slack always fit; the heavier ones are packed, the heaviest first into the
    lightest part (Graham 1969), and what that needs is allowed.
    """
    total = int(loads.sum())
    mean, imbalance = total / k, min(imbalance, k)
    heavy = np.sort(loads[loads > (imbalance - 1) * mean])[::-1]
    packed = [0] * min(k, max(1, heavy.size))
    for load in heavy.tolist():
        heapq.heapreplace(packed, packed[0] + load)
    return max(int(imbalance * mean), max(packed), -(-total // k) if total else 0)
