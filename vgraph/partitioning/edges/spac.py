"""Split and connect (Li et al. 2017, "A simple yet effective balanced edge partition model for parallel computing").

Each vertex is split into as many clones as it has edges, which are connected to a path; an edge joins one clone of
either end. A partition of the clones that cuts no edge, but paths only, is one of the edges, and costs at most what it
cuts. The source gives edges a weight of 1000, so that they are hardly ever cut. Here they never are: the clones at the
two ends of an edge are one vertex from the start, which is where the first level of a multilevel method would put them.
So the clone graph has a vertex for each edge, and at most twice as many edges. What is left is settled edge by edge
(`settling.py`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.arrays import MAX_ID_32
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.partitioning.edges.settling import settled

AROUND: Final = "rabbit"
"""The order of the vertices by which the clones of one follow each other: those of a community are near. C with METIS,
64 parts, after settling, beside that with the vertices as they are: mdual 0.98, ego-Facebook 0.70, email-Enron 0.82,
soc-Slashdot 0.96, wiki-Vote 1.03, kron16 0.91."""


def spac(problem: EdgeProblem) -> NDArray[np.int32]:
    """The parts, by a partition of the vertices of the clone graph."""
    place = problem.graph.relabelled(AROUND).new_of_old
    return settled(problem, problem.vertices(clones(problem.graph, place)))


def clones(graph: Graph, place: NDArray[np.int64]) -> Graph:
    """The undirected graph whose vertex i is edge i of `graph.edges()`; neighbors follow each other around a vertex.

    Around a vertex, edges come as their other ends do in an order of the vertices: `place` of each. O(edges log edges).
    """
    sources, targets, _ = graph.edges()
    size = sources.size
    narrow = np.int32 if size <= MAX_ID_32 else np.int64
    apart = np.flatnonzero(sources != targets)  # of a self-loop both ends are one clone
    keys = np.concatenate((sources, targets[apart])).astype(np.uint64) << np.uint64(32)
    keys |= place[np.concatenate((targets, sources[apart]))].astype(np.uint64)
    order = np.argsort(keys, kind="stable")
    numbers = np.concatenate((np.arange(size, dtype=narrow), apart.astype(narrow)))[order]
    around = keys[order] >> np.uint64(32)
    del keys, order, sources, targets, apart
    follows = np.flatnonzero(around[1:] == around[:-1])
    ends = numbers[follows], numbers[follows + 1]
    del around, numbers, follows
    return Graph.from_edges(*ends, num_vertices=size, directed=False, keep_order=False)
