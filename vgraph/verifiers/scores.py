"""Centralities, products and walks: residuals where there are any, else the same by other means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vgraph.errors import ParameterError, VerificationError
from vgraph.graph.weights import own_weight
from vgraph.verifiers.common import *
from vgraph.verifiers.paths import counted, counted_along, hops, lengths


def closeness(graph: Graph, result: Result, given: Arguments) -> None:
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
    if given["vertices"] is not None:
        expected[np.isin(np.arange(n), given["vertices"], invert=True)] = 0
    close(result.centrality, expected, "centrality")


def harmonic(graph: Graph, result: Result, given: Arguments) -> None:
    """The same searches, and the sum of what they say."""
    n, ends = graph.num_vertices, simple_arcs(graph)
    expected = np.zeros(n)
    for source in range(n):
        level = hops(graph, ends, source)
        expected += np.divide(1.0, level, out=np.zeros(n), where=level > 0)
    if given["normalized"]:
        expected /= max(1, n - 1)
    close(result.centrality, expected, "centrality")


def weighted_closeness(graph: Graph, result: Result, given: Arguments) -> None:
    """Distances against the arcs, in NumPy, from each vertex that was asked for."""
    n, (s, t) = graph.num_vertices, arcs(graph)
    expected = np.zeros(n)
    for vertex in range(n) if given["vertices"] is None else given["vertices"]:
        dist, reached = lengths(graph, (t, s), int(vertex))
        others, total = reached.sum() - 1, float(dist[reached].sum(dtype=np.float64))
        if total > 0:
            expected[vertex] = others / total * (others / (n - 1) if given["wf_improved"] else 1)
    close(result.centrality, expected, "centrality")


def betweenness(graph: Graph, result: Result, given: Arguments) -> None:
    """Brandes' sums again, level by level in NumPy, from levels that SciPy finds."""
    ends = simple_arcs(graph)

    def paths_from(source: int) -> Counted:
        level = hops(graph, ends, source)
        return counted(ends, level, source)

    close(result.centrality, _brandes(graph, given, paths_from), "centrality")


def weighted_betweenness(graph: Graph, result: Result, given: Arguments) -> None:
    """The same over the arcs on shortest paths, by how many arcs lead there at most."""
    (s, t), weight = arcs(graph), weight_of(graph)

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


def _brandes(graph: Graph, given: Arguments, paths_from: Callable[[int], Counted]) -> Array:
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
        worth = _behind(paths, steps, wanted)
        others = (paths > 0) & (np.arange(n) != source)
        expected += np.where(others, worth + extra * wanted, 0)
        expected[source] += extra * wanted[others].sum()
    if given["normalized"]:
        expected /= max(1, (n - 1) * (n if given["endpoints"] else n - 2))
    elif not graph.directed:
        expected /= 2
    return expected if samples is None else expected * (n / samples)


def _behind(paths: Array, steps: list[tuple[Array, Array]], wanted: Array) -> Array:
    """What lies behind each vertex: of the paths to the vertices wanted, the fraction that leads on through it."""
    if not np.isfinite(paths).all():
        raise ParameterError("betweenness: more shortest paths than a float64 holds; not verified")
    worth = np.zeros(paths.size)
    for u, v in reversed(steps):
        np.add.at(worth, u, paths[u] / paths[v] * (wanted[v] + worth[v]))
    return worth


def edge_betweenness(graph: Graph, result: Result, given: Arguments) -> None:
    """The same sums, handed to the edges along which they came; each of parallel edges is one of its own."""
    n, (s, t, _) = graph.num_vertices, graph.edges()
    ways = ((s, t),) if graph.directed else ((s, t), (t, s))
    ends = np.concatenate([u for u, _ in ways]), np.concatenate([v for _, v in ways])
    values = np.zeros(s.size)
    for source in range(n) if given["sources"] is None else (int(v) for v in given["sources"]):
        level = hops(graph, ends, source)
        paths, steps = counted(ends, level, source)
        worth = 1 + _behind(paths, steps, np.ones(n))
        for u, v in ways:
            on = (level[u] >= 0) & (level[v] == level[u] + 1)
            values[on] += paths[u[on]] / paths[v[on]] * worth[v[on]]
    values /= max(1, n * (n - 1)) if given["normalized"] else 1 if graph.directed else 2
    close(result.centrality, graph.in_given_order(values), "centrality", of="edge")


def product(graph: Graph, result: Result, given: Arguments) -> None:
    """The same by SciPy."""
    a = matrix(graph, arcs(graph), weights(graph, own_weight(graph)))
    a = a if given["transposed"] is None else a.T
    x = np.asarray(given["x"] if "x" in given else given["dense"], np.float64)
    x, found = (values if values.ndim == 2 else values[:, None] for values in (x, result.product))
    terms = np.diff(a.tocsr().indptr)[:, None]
    off = apart(found, expected := a @ x, (1e-12 + 2.0**-52 * terms) * (abs(a) @ np.abs(x)))
    wrong = np.asarray(~(off <= 1).all(axis=1))
    none_of(wrong, lambda v: f"product is {found[v]}, and should be {expected[v]}")


def solution(graph: Graph, result: Result, given: Arguments) -> None:
    """The residual, by SciPy."""
    a, b = matrix(graph, arcs(graph), weights(graph, own_weight(graph))), np.asarray(given["b"], np.float64)
    if not 0 <= result.rounds <= given["max_rounds"]:
        raise VerificationError(f"rounds is {result.rounds}, of at most {given['max_rounds']}")
    largest = np.abs(b).max(initial=0) or 1.0
    b, x = b / largest, result.x / largest
    rest, size = np.abs(a @ x - b), np.linalg.norm(abs(a) @ np.abs(x))
    allowed = 1.001 * given["tolerance"] * np.linalg.norm(b) + 1e-15 * (1 + result.rounds) * size
    if not (np.linalg.norm(rest) <= allowed and np.isfinite(size)):
        worst = int(np.nan_to_num(rest, nan=np.inf).argmax())
        raise VerificationError(
            f"vertex {worst}: the residual is {rest[worst] * largest}, where {allowed * largest:.3g} is allowed"
        )


def degrees(graph: Graph, result: Result, given: Arguments) -> None:
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


def walks(graph: Graph, result: Result, given: Arguments) -> None:
    """Numbers of walks that add up, as far from the ranks that SciPy finds as chance allows, and those of the seed.

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
    close(result.rank, _walked(graph, int(given["source"]), number, damping, given["seed"]) / number, "rank")


def _drawn(walk: Array, step: int, seed: int) -> Array:
    """The 64 bits of SplitMix64 (Steele et al. 2014) for a step of each walk."""
    a = walk * np.uint64(0x9E3779B97F4A7C15) + np.uint64(step * 0xD1B54A32D192ED03 % 2**64)
    b = a + np.uint64(seed * 0x8CB92BA72F3D8DD7 % 2**64)
    c = (b ^ (b >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    d = (c ^ (c >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(d ^ (d >> np.uint64(31)))


def _walked(graph: Graph, source: int, number: int, damping: float, seed: int) -> Array:
    """How many of the walks end at each vertex, all of them taking a step at a time."""
    n, degree, ended = graph.num_vertices, graph.out_degree.astype(np.uint64), np.zeros(graph.num_vertices)
    for first in range(0, number, 1 << 20):
        walk = np.arange(first, min(number, first + (1 << 20)), dtype=np.uint64)
        here, step = np.full(walk.size, source), 0
        while walk.size:
            on = (_drawn(walk, step, seed) >> np.uint64(11)).astype(np.float64) < damping * 2.0**53
            ended += np.bincount(here[~on], minlength=n)
            walk, here = walk[on], here[on]
            which = (_drawn(walk, step + 1, seed) >> np.uint64(32)) * degree[here] >> np.uint64(32)
            free = degree[here] > 0
            at = graph.out.row_offsets[here[free]].astype(np.int64) + which[free].astype(np.int64)
            here = np.full(walk.size, source)
            here[free] = graph.out.column_indices[at]
            step += 2
    return ended


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
