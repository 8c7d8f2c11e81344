"""Centralities and linear algebra: residuals where there are any, else the same by other means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.errors import ParameterError, VerificationError
from vgraph.verifiers.common import Array, arcs, close, matrix, none_of, simple_arcs, weights
from vgraph.verifiers.paths import counted, counted_along, hops, lengths

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result


def _matrix(graph: Graph, given: Mapping[str, Any]) -> Any:
    """The matrix of arcs, each as heavy as the run's `weight` says, or 1."""
    name = given["weight"]
    values = None if name is None else graph.edge_properties[name].astype(np.float64)
    return matrix(graph, arcs(graph), values)


def _residual(found: Array, again: Array, allowed: float, name: str) -> None:
    """Raise VerificationError where a further round would change more than is allowed, summed."""
    none_of(~np.isfinite(found), lambda v: f"{name} is {found[v]}")
    change = np.abs(again - found)
    if change.sum() > allowed:
        worst = int(change.argmax())
        raise VerificationError(
            f"vertex {worst}: {name} is {found[worst]}, and would be {again[worst]} after another round; "
            f"all would change by {change.sum():.3g}, where {allowed:.3g} is allowed"
        )


def pagerank(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Ranks sum to 1, and another round changes less than it did when it ended."""
    n = graph.num_vertices
    if not n:
        return
    rank, damping = result.rank.astype(np.float64), given["damping"]
    digits = 1e-5 if result.rank.dtype == np.float32 else 1e-12
    jumps = given["personalization"]
    jumps = np.full(n, 1 / n) if jumps is None else np.asarray(jumps, float) / np.sum(jumps)
    a = _matrix(graph, given)
    degree = np.asarray(a.sum(axis=1), float).ravel()
    part = np.divide(rank, degree, out=np.zeros(n), where=degree > 0)
    dangling = rank[degree == 0].sum()
    again = damping * (a.T @ part) + (1 - damping + damping * dangling) * jumps
    # Each round shrinks the change by the damping; at first it is at most 2.
    allowed = max(given["tolerance"], 2 * damping ** given["max_rounds"]) + digits
    _residual(rank, again, allowed, "rank")
    if given["max_rounds"] > 0 and abs(rank.sum() - 1) > 10 * digits:
        raise VerificationError(f"the ranks sum to {rank.sum()}")


def katz(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Before they were scaled, the values solve x = alpha A' x + beta."""
    n, found = graph.num_vertices, result.centrality
    if not n:
        return
    gathered = given["alpha"] * (_matrix(graph, given).T @ found)
    own = np.full(n, given["beta"]) if given["betas"] is None else np.asarray(given["betas"], float)
    if given["normalized"]:
        # Scaled by s, it is x = alpha A' x + beta s: s is what fits best.
        close(np.array([np.linalg.norm(found)]), np.ones(1), "the length of all")
        scale = (found - gathered) @ own / (own @ own) if own.any() else 1.0
        allowed = 2 * n * given["tolerance"] * abs(scale)
        _residual(found, gathered + scale * own, allowed + 1e-12 * n, "centrality")
    else:
        _residual(found, gathered + own, n * given["tolerance"] + 1e-12 * n, "centrality")


def eigenvector(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Of length 1, and another round changes little."""
    found = result.centrality
    if not graph.num_vertices:
        return
    again = _matrix(graph, given).T @ found + found
    close(np.array([np.linalg.norm(found)]), np.ones(1), "the length of all")
    allowed = 2 * graph.num_vertices * given["tolerance"]
    _residual(found, again / np.linalg.norm(again), allowed, "centrality")


def closeness(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Distances by SciPy, from each vertex."""
    n, ends = graph.num_vertices, simple_arcs(graph)
    total, reached = np.zeros(n), np.zeros(n)
    for source in range(n):
        level = hops(graph, ends, source)
        total += np.maximum(level, 0)
        reached += level > 0
    expected = np.divide(reached, total, out=np.zeros(n), where=total > 0)
    if given["wf_improved"]:
        expected *= reached / max(1, n - 1)
    close(result.centrality, expected, "centrality")


def weighted_closeness(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Distances against the arcs, in NumPy, from each vertex that was asked for."""
    n, (s, t) = graph.num_vertices, arcs(graph)
    expected = np.zeros(n)
    for vertex in range(n) if given["vertices"] is None else given["vertices"]:
        dist, reached = lengths(graph, (t, s), int(vertex))
        others, total = reached.sum() - 1, float(dist[reached].sum(dtype=np.float64))
        if total > 0:
            expected[vertex] = others / total * (others / (n - 1) if given["wf_improved"] else 1)
    close(result.centrality, expected, "centrality")


def betweenness(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Brandes' sums again, level by level in NumPy, from levels that SciPy finds."""
    ends = simple_arcs(graph)

    def paths_from(source: int) -> Counted:
        level = hops(graph, ends, source)
        return counted(ends, level, source)

    close(result.centrality, _brandes(graph, given, paths_from), "centrality")


def weighted_betweenness(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """The same over the arcs on shortest paths, by how many arcs lead there at most."""
    (s, t), weight = arcs(graph), graph.edge_properties["weight"]

    def paths_from(source: int) -> Counted:
        dist, reached = lengths(graph, (s, t), source)
        on = reached[s] & reached[t] & (dist[s] + weight.astype(dist.dtype) == dist[t])
        u, v = np.unique(np.stack([s[on], t[on]]), axis=1)
        depth = np.zeros(dist.size, np.int64)
        while (depth[v] <= depth[u]).any():
            np.maximum.at(depth, v, depth[u] + 1)
            if depth.max() >= dist.size:
                raise ParameterError(
                    "weighted_betweenness: a way around adds nothing to a distance; not verified"
                )
        return counted_along((u, v), depth, source)

    close(result.centrality, _brandes(graph, given, paths_from), "centrality")


Counted = tuple[Array, list[tuple[Array, Array]]]


def _brandes(graph: Graph, given: Mapping[str, Any], paths_from: Callable[[int], Counted]) -> Array:
    """The sums of Brandes' algorithm over the sources, from the numbers of paths from each and the arcs on them."""
    n, extra, samples = graph.num_vertices, 1.0 if given["endpoints"] else 0.0, given["samples"]
    sources = range(n) if given["sources"] is None else given["sources"]
    if samples is not None:
        sources = np.random.default_rng(given["seed"]).choice(n, samples, replace=False)
    wanted = np.ones(n) if given["targets"] is None else np.zeros(n)
    if given["targets"] is not None:
        wanted[np.asarray(given["targets"], np.int64)] = 1
    expected = np.zeros(n)
    for source in (int(v) for v in sources):
        with np.errstate(over="ignore"):
            paths, steps = paths_from(source)
        if not np.isfinite(paths).all():
            raise ParameterError("betweenness: more shortest paths than a float64 holds; not verified")
        worth = np.zeros(n)
        for u, v in reversed(steps):
            np.add.at(worth, u, paths[u] / paths[v] * (wanted[v] + worth[v]))
        others = (paths > 0) & (np.arange(n) != source)
        expected += np.where(others, worth + extra * wanted, 0)
        expected[source] += extra * wanted[others].sum()
    if given["normalized"]:
        expected /= max(1, (n - 1) * (n if given["endpoints"] else n - 2))
    elif not graph.directed:
        expected /= 2
    return expected if samples is None else expected * (n / samples)


def product(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """The same by SciPy."""
    a = matrix(graph, arcs(graph), weights(graph))
    a = a if given["transposed"] is None else a.T
    x = np.asarray(given["x"], np.float64)
    size = abs(a) @ np.abs(x)
    off = ~(np.abs(result.product - a @ x) <= 1e-12 * size)
    none_of(off, lambda v: f"product is {result.product[v]}, and should be {(a @ x)[v]}")


def solution(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """The residual, by SciPy."""
    b = np.asarray(given["b"], np.float64)
    rest = np.abs(matrix(graph, arcs(graph), weights(graph)) @ result.x - b)
    allowed = 10 * given["tolerance"] * np.linalg.norm(b) + 1e-12
    if not np.linalg.norm(rest) <= allowed:
        worst = int(rest.argmax())
        raise VerificationError(
            f"vertex {worst}: the residual is {rest[worst]}, where {allowed:.3g} is allowed"
        )


def degrees(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Ends of arcs, counted; a self-loop of an undirected graph has two."""
    n, (s, t) = graph.num_vertices, arcs(graph)
    if n < 2:
        outward = inward = both = np.ones(n)
    else:
        outward, inward = (np.bincount(ids, minlength=n) / (n - 1) for ids in (s, t))
        both = outward + inward
        if not graph.directed:
            both = outward + np.bincount(s[s == t], minlength=n) / (n - 1)
            outward = inward = both
    close(result.out_centrality, outward, "out_centrality")
    close(result.in_centrality, inward, "in_centrality")
    close(result.centrality, both, "centrality")


def hits(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Hubs add up what they point to; authorities are those of SciPy's rounds, as no bound says how far these came."""
    n, a = graph.num_vertices, _matrix(graph, given)
    tolerance = given["tolerance"]
    hub = np.full(n, 1 / max(n, 1)) if given["start"] is None else np.asarray(given["start"], float)
    for _ in range(given["max_rounds"]):
        found = a @ (a.T @ hub)
        found /= found.sum() or 1.0
        change = np.abs(found - hub).sum()
        hub = found
        if change < tolerance:
            break
    authority = a.T @ hub
    if given["normalized"]:
        authority /= authority.sum() or 1.0
        pointed = a @ result.authority
        pointed /= pointed.sum() or 1.0
    else:
        authority /= np.linalg.norm(authority) or 1.0
        pointed = a @ result.authority
    close(result.authority, authority, "authority", atol=2 * tolerance + 1e-12)
    close(result.hub, pointed, "hub")


def walks(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Numbers of walks that add up, and are as far from the ranks that SciPy finds as chance allows.

    Bernstein's inequality: right results are refused once in 10^9 times. Where no walk can end, none did.
    """
    n, number, damping = graph.num_vertices, given["walks"], given["damping"]
    rank = _ranks_from(graph, int(given["source"]), damping)
    ended = result.rank * number
    log = np.log(2e9 * n)
    spread = rank * (1 - rank) / number
    allowed = log / (3 * number) + np.sqrt((log / (3 * number)) ** 2 + 2 * log * spread) + 1e-8
    off = ~(np.abs(result.rank - rank) <= allowed) | ((rank <= 0) & (ended != 0))
    none_of(off, lambda v: f"rank is {result.rank[v]}, and should be near {rank[v]}")
    whole = np.abs(ended - np.rint(ended)) <= 1e-6
    none_of(~whole | (ended < 0), lambda v: f"rank is {result.rank[v]}: {ended[v]} of {number} walks")
    if round(float(ended.sum())) != number:
        worst = int(np.abs(result.rank - rank).argmax())
        raise VerificationError(
            f"vertex {worst}: rank is {result.rank[worst]}, and all add up to {ended.sum()} of {number} walks"
        )


def _ranks_from(graph: Graph, source: int, damping: float) -> Array:
    """Where walks from `source` end; those that go on after so many steps are too few to count."""
    n, degree = graph.num_vertices, np.asarray(graph.out_degree, float)
    onward = matrix(graph, arcs(graph)).T
    here, rank = np.zeros(n), np.zeros(n)
    here[source] = 1.0
    left = 1.0
    while left > 1e-9:
        rank += (1 - damping) * left * here
        stuck = here[degree == 0].sum()
        here = onward @ np.divide(here, degree, out=np.zeros(n), where=degree > 0)
        here[source] += stuck
        left *= damping
    return rank
