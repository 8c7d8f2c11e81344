"""Centrality: PageRank, hubs, eigenvectors, distances, degrees, betweenness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.graph.weights import heaviest
from vgraph.language.decorators import AlgorithmDef
from vgraph.nx_backend import programs
from vgraph.nx_backend.common import FEW, A, asked, by_node, converted, levels, vertex
from vgraph.nx_backend.convert import NxGraph


def _given(graph: NxGraph, values: Mapping[Any, Any] | None, default: float) -> np.ndarray[Any, Any]:
    """What a dict gives each node, 0 where it gives nothing; `default` everywhere without one."""
    if values is None:
        return np.full(len(graph), default)
    return np.array([values.get(node, 0) for node in graph.nodes], float)


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, float] | None = None,
) -> dict[Any, float]:
    """PageRank; parallel edges count each."""
    graph = converted(G, weight)
    size = len(graph)
    if not size:
        return {}
    jump = _given(graph, personalization, 1 / size)
    if jump.sum() == 0:
        raise ZeroDivisionError
    values = graph.attribute(weight)
    alike = values is None or not values.size or bool((values == values[0]).all() and values[0] > 0)
    usual = nstart is None and dangling is None and jump.min() >= 0 and 0 <= alpha <= 1 and tol > 0
    if not (usual and (alike or _sensible(values))):
        start = _given(graph, nstart, 1 / size)
        lost = jump if dangling is None else _given(graph, dangling, 0)
        given = {"start": start / start.sum(), "jump": jump / jump.sum(), "lost": lost / lost.sum()}
        program = programs.pagerank_from
        return _iterated(graph, graph.summed(weight), program, max_iter, tol, alpha=float(alpha), **given)
    result = vg.run(
        A.pagerank,
        graph.graph if alike else graph.summed(weight),
        weight=None if alike else "weight",
        damping=float(alpha),
        tolerance=float(size * tol),
        max_rounds=max(0, int(max_iter)),
        personalization=None if personalization is None else jump,
    )
    if not result.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return by_node(graph, result.rank)


def _sensible(values: np.ndarray[Any, Any] | None) -> bool:
    """Whether weights are what the library takes for parts of a whole: finite and not negative."""
    return values is None or bool((np.isfinite(values) & (values >= 0)).all())


def _on(graph: NxGraph, weight: str | None) -> dict[str, Any]:
    """What to run on, and the argument `weight`: none where no edge carries one."""
    if graph.attribute(weight) is None:
        return {"graph": graph, "on": graph.graph, "weight": None}
    return {"graph": graph, "on": graph.summed(weight), "weight": "weight"}


def _iterated(
    graph: NxGraph, on: vg.Graph, algorithm: AlgorithmDef, max_iter: int, tol: float, **given: Any
) -> dict[Any, float]:
    """The values of a power iteration. Raises PowerIterationFailedConvergence."""
    if not tol > 0:  # nothing changes by less than that
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        result = vg.run(algorithm, on, tolerance=float(tol), max_rounds=int(max_iter), **given)
    except vg.AlgorithmError:
        raise nx.PowerIterationFailedConvergence(max_iter) from None
    return by_node(graph, result.centrality)


def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Katz centrality by iteration; `beta` is a number, or one of each node."""
    graph = converted(G, weight, refuses="multigraph")
    if not len(graph):
        return {}
    own = {"beta": float(beta)} if isinstance(beta, int | float) else {"betas": _betas(graph, beta)}
    start = None if nstart is None else _given(graph, nstart, 0)
    more: dict[str, Any] = {"alpha": float(alpha), "normalized": bool(normalized), "start": start, **own}
    return _iterated(**_on(graph, weight), algorithm=A.katz, max_iter=max_iter, tol=tol, **more)


def _betas(graph: NxGraph, beta: Any) -> np.ndarray[Any, Any]:
    try:
        return np.full(len(graph), float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(graph):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        return _given(graph, beta, 0)


def eigenvector_centrality(
    G: Any,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """The leading eigenvector, by power iteration."""
    graph = converted(G, weight, refuses="multigraph")
    if not len(graph):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = None if nstart is None else _given(graph, nstart, 1)
    if start is not None:
        if not start.any():
            raise nx.NetworkXError("initial vector cannot have all zero values")
        if start.sum() == 0:
            raise ZeroDivisionError("the initial vector sums to zero")
        start /= start.sum()
    run = _on(graph, weight)
    largest = 1.0 if run["weight"] is None else heaviest(run["on"]) or 1.0
    more: dict[str, Any] = {
        "start": start,
        "shift": 1 / largest,
    }  # NetworkX adds 1, whatever the unit of weights
    return _iterated(**run, algorithm=A.eigenvector, max_iter=max_iter, tol=tol, **more)


Hits = tuple[dict[Any, float], dict[Any, float]]

ROUNDS = 20
"""Rounds of power iteration for each of the `max_iter` of `hits`, which NetworkX gives to ARPACK: there an iteration is
about as many products with the matrix."""


def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
) -> Hits:
    """Hubs and authorities, which sum to 1 or, not `normalized`, come from authorities of length 1."""
    graph = converted(G, "weight")
    if not len(graph):
        return {}, {}
    on = _on(graph, "weight")
    found = vg.run(
        A.hits,
        on["on"],
        weight=on["weight"],
        start=None if nstart is None else _given(graph, nstart, 1),
        max_rounds=max(1, ROUNDS * int(max_iter)),
        tolerance=max(0.0, float(tol)),
        normalized=bool(normalized),
    )
    if max_iter < 1 or not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return by_node(graph, found.hub), by_node(graph, found.authority)


def closeness_centrality(G: Any, u: Any = None, distance: str | None = None, wf_improved: bool = True) -> Any:
    """The inverse of the mean distance to each node, or to one, from those that reach it."""
    graph = converted(G, distance)
    number = None if u is None else [vertex(graph, u, "Source")]
    weighted = graph.attribute(distance) is not None
    algorithm = A.weighted_closeness if weighted else A.closeness
    along = graph.weighted(distance) if weighted else graph.graph
    found = vg.run(algorithm, along, vertices=number, wf_improved=bool(wf_improved)).centrality
    return by_node(graph, found) if number is None else float(found[number[0]])


def harmonic_centrality(
    G: Any, nbunch: Any = None, distance: str | None = None, sources: Any = None
) -> dict[Any, float]:
    """The sum of 1 / distance over the nodes that reach each node, or some."""
    graph = converted(G)
    nodes = asked(graph, nbunch)
    if nbunch is not None and len(nodes) <= FEW:
        found = (levels(graph, node, reverse=True) for node in nodes)
        return {node: float((1 / hops[hops > 0]).sum()) for node, hops in zip(nodes, found, strict=True)}
    every = by_node(graph, vg.run(A.harmonic_centrality, graph.graph).centrality)
    return {node: every[node] for node in nodes}


def degree_centrality(G: Any) -> dict[Any, float]:
    """The number of edges of each node, divided by the number of other nodes."""
    return _degrees(converted(G), "centrality")


def in_degree_centrality(G: Any) -> dict[Any, float]:
    """The same of edges to the node."""
    graph = converted(G, refuses="undirected")
    return _degrees(graph, "in_centrality")


def out_degree_centrality(G: Any) -> dict[Any, float]:
    """The same of edges from the node."""
    graph = converted(G, refuses="undirected")
    return _degrees(graph, "out_centrality")


def _degrees(graph: NxGraph, which: str) -> dict[Any, float]:
    if len(graph) <= 1:
        return dict.fromkeys(graph.nodes, 1)
    return by_node(graph, getattr(vg.run(A.degree_centrality, graph.graph), which))


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """The share of shortest paths that lead through each node, from all nodes or `k` chosen at random."""
    graph = converted(G, weight)
    if not len(graph):
        return {}
    if k is not None and k != len(graph):
        return _sampled_betweenness(graph, weight, k, bool(normalized), bool(endpoints), seed)
    return by_node(graph, _between(graph, weight, normalized=bool(normalized), endpoints=bool(endpoints)))


def betweenness_centrality_subset(
    G: Any, sources: Any, targets: Any, normalized: bool = False, weight: str | None = None
) -> dict[Any, float]:
    """The same of the paths from some nodes to some; targets that are not in the graph are left out."""
    graph = converted(G, weight)
    begin = np.array([graph.index[node] for node in sources], np.int64)
    end = np.array([graph.index[node] for node in targets if node in graph], np.int64)
    found = _between(graph, weight, sources=begin, targets=end, normalized=bool(normalized))
    return by_node(graph, found)


def edge_betweenness_centrality(
    G: Any, k: int | None = None, normalized: bool = True, weight: str | None = None, seed: Any = None
) -> dict[Any, float]:
    """The share of shortest paths that lead along each edge; parallel ones are one to count, and divide its share."""
    graph = converted(G)
    size, sources = len(graph), None
    if k is not None:
        chosen = nx.utils.create_py_random_state(seed).sample(graph.nodes, k)
        sources = np.array([graph.index[node] for node in chosen], np.int64)
    on = graph.weighted(None) if graph.is_multigraph() else graph.graph
    found = vg.run(A.edge_betweenness, on, sources=sources, normalized=bool(normalized)).centrality
    if k is not None and size > 1:
        found = found * (size / k)
    if graph.is_multigraph():
        low, high = graph.sources, graph.targets
        if not graph.is_directed():
            low, high = np.minimum(low, high), np.maximum(low, high)
        _, which, count = np.unique(low * size + high, return_inverse=True, return_counts=True)
        found = found / count[which]
    return {graph.edge(i): value for i, value in enumerate(found.tolist())}


def _between(graph: NxGraph, weight: str | None, **how: Any) -> np.ndarray[Any, Any]:
    """Betweenness by hops, or where edges carry the weight by its sums."""
    values = graph.attribute(weight)
    if values is None:
        return np.asarray(vg.run(A.betweenness, graph.graph, **how).centrality)
    return np.asarray(vg.run(A.weighted_betweenness, graph.weighted(weight), **how).centrality)


def _sampled_betweenness(
    graph: NxGraph, weight: str | None, k: int, normalized: bool, endpoints: bool, seed: Any
) -> dict[Any, float]:
    """From `k` sources only, scaled up as NetworkX does: a source is no inner node of its own paths."""
    chosen = nx.utils.create_py_random_state(seed).sample(graph.nodes, k)
    sources = np.array([graph.index[node] for node in chosen], np.int64)
    found = _between(graph, weight, sources=sources, normalized=False, endpoints=endpoints)
    total = found if graph.is_directed() else 2 * found
    others = len(graph) - (not endpoints)
    if others < 2:
        return by_node(graph, total)
    if not k:
        raise ZeroDivisionError("betweenness from no sources")
    counted = np.full(len(graph), float(k))
    if not endpoints:
        counted[sources] = k - 1 if k > 1 else np.nan  # one source alone says nothing about itself
    pairs = others - 1 if normalized else (1 if graph.is_directed() else 2) / others
    return by_node(graph, total / (counted * pairs))
