"""Searches and shortest paths: certificates that need one look at each arc."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *


def tree(graph: Graph, result: Result, given: Arguments) -> None:
    """BFS: no arc leads further than one level, and each parent is one level above, over an arc that exists."""
    n, ends = graph.num_vertices, arcs(graph)
    sources = np.atleast_1d(np.asarray(given.get("sources", given.get("source")), dtype=np.int64))
    depth = given.get("max_depth")
    level, parent = result.level.astype(np.int64), result.parent.astype(np.int64)
    begins = np.isin(np.arange(n), sources)
    none_of(begins & ((level != 0) | (parent != np.arange(n))), lambda v: "a source, without level 0")
    none_of((level < 0) != (parent < 0), lambda v: f"has level {level[v]}, but parent {parent[v]}")
    none_of((level < -1) | (parent >= n) | ((level == 0) & ~begins), lambda v: f"level {level[v]} is wrong")
    if depth is not None:
        none_of(level > depth, lambda v: f"level {level[v]} is beyond the depth of {depth}")
    s, t = ends
    before = (level[s] >= 0) & ((depth is None) | (level[s] < (n if depth is None else depth)))
    no_arc(
        before & ((level[t] < 0) | (level[t] > level[s] + 1)),
        ends,
        lambda u, v: f"level {level[v]}, but there is an arc from {u}, which has level {level[u]}",
    )
    child = np.flatnonzero(level > 0)
    above = parent[child]
    bad = np.zeros(n, bool)
    bad[child] = (level[above] + 1 != level[child]) | ~np.isin(above * n + child, s * n + t)
    none_of(bad, lambda v: f"its parent {parent[v]} is not a vertex one level above with an arc to it")


def _unreached(values: Array, high: bool) -> Array:
    if values.dtype.kind == "f":
        return np.asarray(np.isinf(values) & ((values > 0) == high))
    limits = np.iinfo(values.dtype)
    return np.asarray(values == (limits.max if high else limits.min))


def _reached_along(graph: Graph, ends: tuple[Array, Array], source: int) -> Array:
    from scipy.sparse.csgraph import breadth_first_order

    found = np.zeros(graph.num_vertices, bool)
    found[breadth_first_order(matrix(graph, ends), source, return_predecessors=False)] = True
    return found


def _sums(dist: Array, weight: Array) -> Array:
    """Distances and weights, added in the type of distances; what is beyond it is its largest or smallest number."""
    weight = weight.astype(dist.dtype)
    if dist.dtype.kind == "f":
        return np.asarray(dist + weight)
    limits, zero = np.iinfo(dist.dtype), dist.dtype.type(0)
    room = limits.min - np.minimum(dist, zero), limits.max - np.maximum(dist, zero)
    return np.asarray(dist + np.clip(weight, *room))


def shortest(graph: Graph, result: Result, given: Arguments) -> None:
    """No arc shortens a distance, and arcs that cannot be spared lead from the source to all that is reached.

    To the last bit: a distance is the sum of another one and a weight, rounded once. What is farther than all targets,
    if there are some, need not be reached.
    """
    source, (s, t) = int(given["source"]), arcs(graph)
    dist, weight, targets = result.dist, weight_of(graph), given.get("targets")
    far = _unreached(dist, high=True)
    none_of((np.arange(dist.size) == source) & (dist != 0), lambda v: f"the source, at distance {dist[v]}")
    on = ~far[s]
    s, t, weight = s[on], t[on], weight[on]
    over = _sums(dist[s], weight)
    asked = dist if targets is None else dist[np.asarray(targets, np.int64)]
    missed = far[t] & ((targets is None) | (over <= asked.max(initial=0)))
    no_arc(missed, (s, t), lambda u, v: f"not reached, but there is an arc from {u}, which is")
    s, t, over = s[~far[t]], t[~far[t]], over[~far[t]]
    no_arc(
        ~(dist[t] <= over),
        (s, t),
        lambda u, v: f"at distance {dist[v]}, but there is a shorter way through {u}",
    )
    tight = dist[t] == over
    away = ~far & ~_reached_along(graph, (s[tight], t[tight]), source)
    none_of(away, lambda v: f"at distance {dist[v]}, but no path is so short")


def shortest_tree(graph: Graph, result: Result, given: Arguments) -> None:
    """The distances as of `shortest`, and parents that are a tree: arcs of it cannot be spared, and lead to the source.

    A copy of a result that was made before anybody asked for its parents has none to check.
    """
    shortest(graph, result, given)
    found = getattr(result, "parent", None)
    if found is None:
        return
    n, source, dist, parent = graph.num_vertices, int(given["source"]), result.dist, found.astype(np.int64)
    none_of((np.arange(n) == source) & (parent != source), lambda v: f"the source, with parent {parent[v]}")
    none_of((parent < -1) | (parent >= n), lambda v: f"its parent {parent[v]} is no vertex")
    far = _unreached(dist, high=True)
    none_of(far != (parent < 0), lambda v: f"at distance {dist[v]}, but its parent is {parent[v]}")
    s, t = arcs(graph)
    tight = ~far[s] & (dist[t] == _sums(dist[s], weight_of(graph)))
    child = np.flatnonzero(~far & (np.arange(n) != source))
    bad = np.zeros(n, bool)
    bad[child] = ~np.isin(parent[child] * n + child, (s * n + t)[tight])
    none_of(bad, lambda v: f"no shortest path comes over its parent {parent[v]}")
    above = np.where(far, source, parent)
    for _ in range(n.bit_length()):  # twice as far up each time
        above = above[above]
    none_of(above != source, lambda v: "its parents lead in a circle")


def route(graph: Graph, result: Result, given: Arguments) -> None:
    """The path is one of the graph, of that length, and none is shorter: distances again, by rounds over all arcs."""
    source, target, ends = int(given["source"]), int(given["target"]), arcs(graph)
    weight, path = weights(graph, given["weight"]), result.path.astype(np.int64)
    far = float(lengths(graph, ends, source, weight)[0][target])
    if np.isinf(far) or not path.size:
        if path.size or not np.isinf(far) or not np.isinf(result.length):
            raise VerificationError(f"vertex {target}: a path of {path.size} vertices; its distance is {far}")
        return
    if (path[0], path[-1]) != (source, target):
        raise VerificationError(f"vertex {path[0]}: the path leads from here to {path[-1]}")
    along = float(lightest(ends, path, weight, graph.num_vertices).sum())
    for length in (along, far):
        if not abs(result.length - length) <= RELATIVE * far:  # infinite where two are joined by no arc
            raise VerificationError(f"vertex {target}: the length is {result.length}, and should be {length}")


def longest(graph: Graph, result: Result, given: Arguments) -> None:
    """Lengths again, by rounds over all arcs in NumPy; the path is one of the graph, of the greatest of them."""
    (s, t), weight, path = arcs(graph), weights(graph, given["weight"]), result.path.astype(np.int64)
    dist = np.zeros(graph.num_vertices)
    for _ in range(dist.size):
        before = dist.copy()
        np.maximum.at(dist, t, before[s] + weight)
        if (before == dist).all():
            break
    size = RELATIVE * (np.abs(dist) + np.abs(weight).max(initial=0))
    close(result.dist, dist, "dist", size)
    most = dist.max(initial=0)
    along = -float(lightest((s, t), path, -weight, dist.size).sum())
    for length in (along, most):
        if not abs(result.length - length) <= size.max(initial=0) or path.size < min(1, dist.size):
            end = path[-1] if path.size else -1
            raise VerificationError(f"vertex {end}: the length is {result.length}, and should be {length}")


def reduction(graph: Graph, result: Result, given: Arguments) -> None:
    """What each vertex leads to, as bits of an integer, those that it has arcs to first."""
    s, t = arcs(graph)
    ends: list[list[int]] = [[] for _ in range(graph.num_vertices)]
    for u, v in zip(s.tolist(), t.tolist(), strict=True):
        ends[u].append(v)
    below, far = [0] * len(ends), [0] * len(ends)
    for u in TopologicalSorter(dict(enumerate(ends))).static_order():
        for v in ends[u]:
            far[u] |= below[v]
        below[u] = far[u] | sum(1 << v for v in set(ends[u]))
    single = np.r_[True, (s[1:] != s[:-1]) | (t[1:] != t[:-1])][: s.size]
    lone = np.array([not far[u] >> v & 1 for u, v in zip(s.tolist(), t.tolist(), strict=True)], bool)
    expected = graph.in_given_order(single & lone)
    wrong = np.flatnonzero(result.needed != expected)
    if wrong.size:
        raise VerificationError(f"edge {wrong[0]}: needed is {result.needed[wrong[0]]}, and should not be")


def lightest(ends: tuple[Array, Array], path: Array, weight: Array, n: int) -> Array:
    """The least weight of the arcs from each vertex of a path to the next one; infinite where there is none."""
    key, wanted = ends[0] * n + ends[1], path[:-1] * n + path[1:]
    order = np.lexsort((weight, key))
    at = np.searchsorted(key[order], wanted)
    there = np.isin(wanted, key)
    found = np.full(wanted.size, np.inf)
    found[there] = weight[order][at[there]]
    return found


def widest(graph: Graph, result: Result, given: Arguments) -> None:
    """No arc widens a path, and arcs that are as wide as what they lead to come from the source."""
    source, (s, t) = int(given["source"]), arcs(graph)
    width, weight = result.width, weight_of(graph)
    through = np.minimum(width[s], weight)
    none_of(
        (np.arange(width.size) == source) & ~_unreached(width, high=True),
        lambda v: "the source, with a width",
    )
    no_arc(width[t] < through, (s, t), lambda u, v: f"width {width[v]}, but there is a wider way through {u}")
    tight = (through == width[t]) & ~_unreached(width, high=False)[t]
    away = ~_unreached(width, high=False) & ~_reached_along(graph, (s[tight], t[tight]), source)
    none_of(away, lambda v: f"width {width[v]}, but no path is so wide")


def hops(graph: Graph, ends: tuple[Array, Array], source: int) -> Array:
    """Levels of a search by SciPy, -1 where it does not come."""
    from scipy.sparse.csgraph import dijkstra

    found = dijkstra(matrix(graph, ends), indices=source, unweighted=True)
    return np.where(np.isinf(found), -1, found).astype(np.int64)


def counted(
    ends: tuple[Array, Array], level: Array, source: int, dtype: Any = np.float64
) -> tuple[Array, list[tuple[Array, Array]]]:
    """The numbers of shortest paths, and the arcs on shortest paths, level by level."""
    s, t = ends
    on = (level[s] >= 0) & (level[t] == level[s] + 1)
    return counted_along((s[on], t[on]), level, source, dtype)


def counted_along(
    ends: tuple[Array, Array], level: Array, source: int, dtype: Any = np.float64
) -> tuple[Array, list[tuple[Array, Array]]]:
    """The numbers of paths along arcs that lead to higher levels, and these arcs by the level that they leave."""
    s, t = ends
    order = np.argsort(level[s], kind="stable")
    s, t = s[order], t[order]
    cuts = np.flatnonzero(np.diff(level[s])) + 1
    steps = list(zip(np.split(s, cuts), np.split(t, cuts), strict=True))
    paths = np.zeros(level.size, dtype)
    paths[source] = 1
    for u, v in steps:
        np.add.at(paths, v, paths[u])
    return paths, steps


def lengths(
    graph: Graph, ends: tuple[Array, Array], source: int, weight: Array | None = None
) -> tuple[Array, Array]:
    """Distances by weights (the edge property `weight`), summed in their type, and what is reached: by rounds.

    `ends`: the sources and targets of the arcs, or the other way round for distances to `source`.
    """
    (s, t), weight = ends, weight_of(graph) if weight is None else weight
    dtype = weight.dtype if weight.dtype.kind == "f" or weight.dtype == np.uint64 else np.dtype(np.int64)
    far = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    dist = np.full(graph.num_vertices, far, dtype)
    dist[source] = 0
    for _ in range(graph.num_vertices):
        before = dist.copy()
        on = before[s] < far
        np.minimum.at(dist, t[on], _sums(before[s[on]], weight[on]))
        if (before == dist).all():
            break
    return dist, dist < far


def counts(graph: Graph, result: Result, given: Arguments) -> None:
    """The same counts from levels that SciPy finds; integers wrap."""
    source, ends = int(given["source"]), simple_arcs(graph)
    level = hops(graph, ends, source)
    none_of(result.level != level, lambda v: f"level is {result.level[v]}, and should be {level[v]}")
    dtype = result.paths.dtype
    with np.errstate(over="ignore"):
        paths, steps = counted(ends, level, source, np.float64 if dtype.kind == "f" else dtype)
        expected = paths.astype(dtype)
    if dtype.kind != "f":
        equal(result.paths, expected, "paths")
        return
    # A sum of k numbers is off by up to k roundings, and those of what is summed are in it as well.
    off, terms = np.zeros(level.size), np.zeros(level.size)
    for u, v in steps:
        np.add.at(terms, v, 1)
        np.add.at(off, v, off[u] + np.finfo(dtype).eps * terms[v] * paths[u])
    close(result.paths, expected, "paths", off)


def topological(graph: Graph, result: Result, given: Arguments) -> None:
    """Every arc leads to a higher level, one of them from the level below; vertices are in the order of levels."""
    ends, level = arcs(graph), result.level.astype(np.int64)
    s, t = ends
    no_arc(
        level[s] >= level[t],
        ends,
        lambda u, v: f"level {level[v]}, but there is an arc from {u}, which has level {level[u]}",
    )
    expected = np.zeros(level.size, np.int64)
    np.maximum.at(expected, t, level[s] + 1)
    equal(level, expected, "level")
    equal(result.order, np.argsort(level, kind="stable"), "order")
