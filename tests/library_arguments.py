"""What the library's algorithms are called with by the tests that run all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import vgraph as vg
from vgraph.compiler.frontend.signature import Signature
from vgraph.language.names import ArrayAnnotation, PropertyAnnotation
from vgraph.runtime.prepare import prepare

STEPS = {
    "alternating_least_squares",
    "bayesian_personalized_ranking",
    "matrix_factorization",
    "pairwise_ranking",
}
"""Algorithms whose steps come in an order that is part of the schedule, or are rounded so often that results agree in
few digits: no test says of them that all schedules give the same."""
NAMES = [name for name in vg.algorithms.__all__ if name not in STEPS]
"""All others."""
COVERS = {
    "bfs": "claims; direction, drive and layout per round",
    "sssp": "a minimum, buckets",
    "pagerank": "sums along arcs beside a vertex operator, a global sum",
    "connected_components": "disjoint sets",
    "betweenness": "a list of frontiers, guards, a loop in a loop, vg.fail",
    "strongly_connected_components": "applies against the arcs, minima that spread in a loop in a loop",
    "coloring": "scratch, a priority queue",
    "k_core": "filters of frontiers",
    "triangle_count": "common neighbors, a preparation by degree",
    "minimum_spanning_forest": "minima of pairs of steps, unions, edges that are gathered at the end",
    "random_walks": "vertices as values, arithmetic of 64 bits",
}
"""Algorithms that use all of the language between them, and what each is here for: where a test of the whole library
takes long, these run by default."""


def library(by_default: Collection[str] = COVERS) -> list[ParameterSet]:
    """All algorithms as parameters of a test; what is not in `by_default` is slow."""
    every = [getattr(vg.algorithms, name) for name in NAMES]
    return [pytest.param(a, id=a.name, marks=() if a.name in by_default else pytest.mark.slow) for a in every]


UNDIRECTED = {
    "adamic_adar",
    "biconnected_components",
    "conjugate_gradient",
    "cosine",
    "diameter",
    "jaccard",
    "k_truss",
    "most_similar",
    "overlap",
    "resource_allocation",
    "rich_club",
    "sorensen",
}
"""Algorithms of undirected graphs alone."""
BIPARTITE = {"bipartite_matching"}
"""Algorithms of graphs of two sides alone."""
ACYCLIC = {"longest_path", "topological_order", "transitive_reduction"}
"""Algorithms of directed graphs without cycles alone."""
POSITIVE = {"weighted_betweenness"}
"""Algorithms that take no weights of 0."""
CHOSEN: dict[str, dict[str, Any]] = {
    "a_star": {"weight": "weight"},
    "katz": {"alpha": 0.001},
    "eigenvector": {"max_rounds": 20000},
    "longest_path": {"weight": "weight"},
    "max_flow": {"capacity": "weight"},
    "most_similar": {"k": 3},
    "neighbor_sampling": {"fan_outs": np.array([2, 3])},
    "node2vec_walks": {"length": 4, "p": 0.5, "q": 2.0},
    "random_walks": {"walks": 300},
}
"""Arguments with which algorithms come to an end, and soon, that would not everywhere by default."""


def arguments_for(algorithm: vg.AlgorithmDef, graph: vg.Graph, seed: int = 0) -> dict[str, Any]:
    """A vertex, or an array with a number for each vertex, for each parameter that has no default."""
    n = graph.num_vertices
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {}
    for name, p in algorithm.signature.parameters.items():
        if p.default is not p.empty:
            continue
        annotation = algorithm.annotations.get(name)
        if isinstance(annotation, ArrayAnnotation) and annotation.dimensions == 2:
            given[name] = rng.integers(0, 64, (n, 3)) / 8
        elif not isinstance(annotation, PropertyAnnotation):
            given[name] = (seed * 7919) % max(1, n)
            if name == "sink":
                given[name] = (given["source"] + n // 2) % max(1, n)
            if name == "target" and n:  # one that is reached, by as many arcs as possible
                given[name] = int(vg.run(vg.algorithms.bfs, graph, source=given["source"]).level.argmax())
        elif annotation.dtype is vg.float64:
            given[name] = rng.integers(0, 64, n) / 8
        else:
            given[name] = rng.integers(0, max(1, n), n)
    return given | CHOSEN.get(algorithm.name, {})


def defaults(algorithm: vg.AlgorithmDef) -> dict[str, Any]:
    """The parameters that have a default, with it."""
    parameters = algorithm.signature.parameters.items()
    return {name: p.default for name, p in parameters if p.default is not p.empty}


def prepared(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, given: Mapping[str, Any]
) -> tuple[vg.Graph, Signature]:
    """The graph that a run with these arguments runs on, and what its program's types depend on."""
    job = prepare(algorithm, graph, given)
    return job.graph, job.signature


def graph_for(algorithm: vg.AlgorithmDef, graph: vg.Graph) -> vg.Graph:
    """The graph, or the same without directions or cycles, with other weights, as the algorithm takes it."""
    if algorithm.name == "conjugate_gradient":
        return positive_definite(graph)
    if algorithm.name in ACYCLIC:
        return acyclic(graph)
    if algorithm.name in BIPARTITE:
        return bipartite(graph)
    if algorithm.name in POSITIVE and "weight" in graph.edge_properties:
        weight = graph.edge_properties["weight"]
        return graph.with_edge_property("weight", weight + weight.dtype.type(1))
    if algorithm.name not in UNDIRECTED or not graph.directed:
        return graph
    sources, targets, properties = graph.edges()
    return vg.Graph.from_edges(
        sources, targets, num_vertices=graph.num_vertices, directed=False, **properties
    )


def bipartite(graph: vg.Graph) -> vg.Graph:
    """The graph with its edges between even and odd vertices alone."""
    sources, targets, properties = graph.edges()
    kept = sources % 2 != targets % 2
    ends = sources[kept], targets[kept]
    properties = {name: values[kept] for name, values in properties.items()}
    return vg.Graph.from_edges(*ends, num_vertices=graph.num_vertices, directed=graph.directed, **properties)


def acyclic(graph: vg.Graph) -> vg.Graph:
    """The graph with directions that make no cycle, and without self-loops."""
    n = graph.num_vertices
    sources, targets, properties = graph.edges()
    apart = sources != targets
    s, t = sources[apart], targets[apart]
    rank = np.random.default_rng(n).permutation(n)
    forth = rank[s] < rank[t]
    kept = {name: values[apart] for name, values in properties.items()}
    return vg.Graph.from_edges(np.where(forth, s, t), np.where(forth, t, s), num_vertices=n, **kept)


def positive_definite(graph: vg.Graph) -> vg.Graph:
    """The graph without directions, with self-loops that outweigh the other edges of each vertex."""
    n = graph.num_vertices
    sources, targets = (ids.astype(np.int64) for ids in graph.edges()[:2])
    apart = sources != targets
    s, t = sources[apart], targets[apart]
    every = np.arange(n)
    diagonal = np.bincount(np.r_[s, t], minlength=n) + 1.0
    weight = np.r_[np.full(s.size, -1.0), diagonal]
    return vg.Graph.from_edges(
        np.r_[s, every], np.r_[t, every], num_vertices=n, directed=False, weight=weight
    )
