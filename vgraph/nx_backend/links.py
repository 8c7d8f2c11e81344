"""Links that there might be, and communities that explain those that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

import vgraph as vg
from vgraph.language.decorators import AlgorithmDef
from vgraph.nx_backend.common import A, by_node, converted, members, vertex
from vgraph.nx_backend.convert import NxGraph

PAIRS = 1 << 18
"""So many pairs are computed at a time: all pairs without an edge are too many to keep."""

Pairs = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def _without_edge(graph: NxGraph) -> Iterator[Pairs]:
    """All pairs of different nodes that no edge joins, row by row."""
    offsets, ends = graph.graph.out.row_offsets, graph.graph.out.column_indices
    for v in range(len(graph) - 1):
        free = np.ones(len(graph) - v - 1, bool)
        neighbors = ends[offsets[v] : offsets[v + 1]]
        free[neighbors[neighbors > v].astype(np.int64) - v - 1] = False
        right = v + 1 + np.flatnonzero(free)
        yield np.full(right.size, v), right


def _together(rows: Iterator[Pairs]) -> Iterator[Pairs]:
    """Rows joined until they are long enough."""
    kept: list[Pairs] = []
    size = 0
    for row in rows:
        kept.append(row)
        size += row[0].size
        if size >= PAIRS:
            yield np.concatenate([r[0] for r in kept]), np.concatenate([r[1] for r in kept])
            kept, size = [], 0
    if size:
        yield np.concatenate([r[0] for r in kept]), np.concatenate([r[1] for r in kept])


def _asked(graph: NxGraph, ebunch: Iterable[Any]) -> Iterator[Pairs]:
    """The pairs that are asked for, which are checked at once."""
    pairs = [(vertex(graph, u), vertex(graph, v)) for u, v in ebunch]
    rows = iter(pairs)
    while some := list(islice(rows, PAIRS)):
        left, right = np.array(some, np.int64).T
        yield left, right


def _scores(
    graph: NxGraph, algorithm: AlgorithmDef, pairs: Iterable[Pairs]
) -> Iterator[tuple[Any, Any, float]]:
    for left, right in pairs:
        scores = vg.run(algorithm, graph.graph, left=left, right=right).score
        for a, b, score in zip(left.tolist(), right.tolist(), scores.tolist(), strict=True):
            yield graph.nodes[a], graph.nodes[b], score


def _pairs(G: Any, ebunch: Any) -> tuple[NxGraph, Iterator[Pairs]]:
    graph = converted(G, refuses="directed multigraph")
    return graph, _together(_without_edge(graph)) if ebunch is None else iter(list(_asked(graph, ebunch)))


def jaccard_coefficient(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The neighbors that two nodes share, as a fraction of all that they have; by default of all without an edge."""
    graph, pairs = _pairs(G, ebunch)
    return _scores(graph, A.jaccard, pairs)


def adamic_adar_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The neighbors that two nodes share, each counting 1 / log(its degree); by default of all without an edge."""
    graph, pairs = _pairs(G, ebunch)
    return _scores(graph, A.adamic_adar, pairs if ebunch is None else _defined(graph, pairs))


def resource_allocation_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The neighbors that two nodes share, each counting 1 / its degree; by default of all without an edge."""
    graph, pairs = _pairs(G, ebunch)
    return _scores(graph, A.resource_allocation, pairs)


def simrank_similarity(
    G: Any,
    source: Any = None,
    target: Any = None,
    importance_factor: float = 0.9,
    max_iterations: int = 1000,
    tolerance: float = 1e-4,
) -> Any:
    """How alike all pairs of nodes are, or one node and the others, or two."""
    graph = converted(G, "weight")
    for node, what in ((source, "Source"), (target, "Target")):
        if node is not None and node not in graph:
            raise nx.NodeNotFound(f"{what} node {node} not in G")
    found = vg.run(
        A.simrank,
        graph.summed("weight"),
        importance=float(importance_factor),
        max_rounds=int(max_iterations),
        tolerance=float(tolerance),
        weight="weight",
    )
    if not found.converged:
        raise nx.ExceededMaxIterations(f"simrank did not converge after {max_iterations} iterations.")
    if source is None:
        rows = found.similarity.tolist()
        return {u: dict(zip(graph.nodes, row, strict=True)) for u, row in zip(graph.nodes, rows, strict=True)}
    row = by_node(graph, found.similarity[graph.index[source]])
    return row if target is None else row[target]


def _defined(graph: NxGraph, pairs: Iterator[Pairs]) -> Iterator[Pairs]:
    """Raise ZeroDivisionError, as NetworkX does, where a node is paired with itself and has a neighbor of degree 1."""
    degree = np.bincount(np.concatenate([graph.sources, graph.targets]), minlength=len(graph))
    lonely = np.zeros(len(graph), bool)
    lonely[graph.sources[degree[graph.targets] == 1]] = True
    lonely[graph.targets[degree[graph.sources] == 1]] = True
    for left, right in pairs:
        if lonely[left[left == right]].any():
            raise ZeroDivisionError("a neighbor of degree 1 has a logarithm of 0")
        yield left, right


def modularity(G: Any, communities: Any, weight: str | None = "weight", resolution: float = 1) -> float:
    """The share of the edges within communities, less `resolution` times what it would be by chance."""
    graph = converted(G, weight)
    given = list(communities)
    number = np.full(len(graph), -1, np.int64)
    size = 0
    for k, community in enumerate(c for c in given if len(c)):
        size += len(community)
        number[[graph.index[node] for node in community if node in graph]] = k
    if size != len(graph) or (number < 0).any():
        raise NotAPartition(graph, given)
    _weighty(graph, weight)
    found = vg.run(A.modularity, graph.summed(weight), community=number, resolution=float(resolution))
    return float(found.modularity)


def louvain_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Communities of high modularity. Lots are drawn by the default seed of a run, so `seed` has no influence."""
    return _communities(A.louvain, G, weight, resolution, max_level, max(float(threshold), 0.0))


def leiden_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """The same by the method of Leiden, which NetworkX has in backends only."""
    return _communities(A.leiden, G, weight, resolution, max_level, 1e-7)


def _communities(
    algorithm: AlgorithmDef,
    G: Any,
    weight: str | None,
    resolution: float,
    max_level: int | None,
    tolerance: float,
) -> list[set[Any]]:
    """The communities as NetworkX gives them."""
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    graph = converted(G, weight)
    if not graph.sources.size:
        return [{node} for node in graph.nodes]
    _weighty(graph, weight)
    found = vg.run(
        algorithm,
        graph.summed(weight),
        resolution=float(resolution),
        max_levels=100 if max_level is None else int(max_level),
        tolerance=tolerance,
    )
    return list(members(graph, found.community))


def _weighty(graph: NxGraph, weight: str | None) -> None:
    """Raise ZeroDivisionError, as NetworkX does, where all weights are 0."""
    values = graph.attribute(weight)
    if not (graph.sources.size if values is None else values.any()):
        raise ZeroDivisionError("the edges of the graph weigh nothing")
