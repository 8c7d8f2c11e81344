"""Components, cores, triangles, sets of vertices and edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.graph.weights import check_sums
from vgraph.verifiers.common import *


def weak_components(graph: Graph, result: Result, given: Arguments) -> None:
    """SciPy's components, each named by its smallest vertex."""
    _components(graph, result, "weak")


def strong_components(graph: Graph, result: Result, given: Arguments) -> None:
    """SciPy's strong components, each named by its smallest vertex."""
    _components(graph, result, "strong")


def _components(graph: Graph, result: Result, connection: str) -> None:
    from scipy.sparse.csgraph import connected_components

    n = graph.num_vertices
    if not n:
        return
    count, labels = connected_components(matrix(graph, arcs(graph)), connection=connection)
    smallest = np.full(count, n)
    np.minimum.at(smallest, labels, np.arange(n))
    equal(result.component, smallest[labels], "component")


def cores(graph: Graph, result: Result, given: Arguments) -> None:
    """Vertices peeled off, all at once that have no more than k neighbors left, or arcs of such weight."""
    s, t = arcs(graph)
    value = weights(graph, given["weight"])
    s, t, value = s[s != t], t[s != t], value[s != t]
    sides = {"out": ((s, t),), "in": ((t, s),), "all": ((s, t), (t, s))}[
        given["mode"] if graph.directed else "out"
    ]
    a = sum(matrix(graph, ends, value) for ends in sides)
    whole = np.asarray(a.sum(axis=1))
    left, core = whole, np.zeros(whole.size)
    alive = np.ones(left.size, bool)
    k = 0.0
    while alive.any():
        k = max(k, left[alive].min())
        while (gone := alive & (left <= k + 1e-12 * whole)).any():
            core[gone] = k
            alive &= ~gone
            left = left - a @ gone.astype(np.float64)
    close(result.core, core, "core", 1e-9 * whole + NOTHING)


def triangles(graph: Graph, result: Result, given: Arguments) -> None:
    """Paths of two edges that a third one closes, by sparse matrices."""
    a = matrix(graph, simple_edges(graph))
    found = (closed_paths(a, a, a) / 2).astype(np.int64)
    equal(result.triangles, found, "triangles")
    same_number(result.total, int(found.sum()) // 3, "total")


def clustering(graph: Graph, result: Result, given: Arguments) -> None:
    """Arcs between neighbors, by sparse matrices."""
    near = matrix(graph, simple_edges(graph))
    between = closed_paths(near, matrix(graph, simple_arcs(graph)), near)
    degree = np.asarray(near.sum(axis=1))
    close(result.lcc, between / np.maximum(degree * (degree - 1), 1), "lcc")


def independent(graph: Graph, result: Result, given: Arguments) -> None:
    """No two members are neighbors, and whoever is none has one."""
    s, t = simple_edges(graph)
    member = result.member
    no_arc(member[s] & member[t], (s, t), lambda u, v: f"a member beside {u}, which is one, too")
    beside = np.zeros(member.size, bool)
    beside[t[member[s]]] = True
    none_of(~member & ~beside, lambda v: "no member, and none of its neighbors is one")


def coloring(graph: Graph, result: Result, given: Arguments) -> None:
    """All have a color, neighbors different ones, and no vertex could have one before its own."""
    color = result.color
    none_of((color < 0) | (color >= color.size), lambda v: f"color {color[v]}")
    s, t = simple_edges(graph)
    no_arc(color[s] == color[t], (s, t), lambda u, v: f"color {color[v]}, as {u} beside it")
    lower = color[t] < color[s]
    found = np.unique(s[lower] * (int(color.max(initial=0)) + 1) + color[t[lower]])
    beside = np.bincount(found // (int(color.max(initial=0)) + 1), minlength=color.size)
    none_of(beside < color, lambda v: f"color {color[v]}, and a smaller one is free")


def forest(graph: Graph, result: Result, given: Arguments) -> None:
    """Edges of the graph that join what is joined, without a cycle, together as light as SciPy's."""
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    n, (s, t) = max(1, graph.num_vertices), arcs(graph)
    weight = weight_of(graph)
    check_sums(graph, n)
    low, high = np.minimum(s, t), np.maximum(s, t)
    order = np.lexsort((weight, low * n + high))
    keys, first = np.unique((low * n + high)[order], return_index=True)
    lightest = weight[order][first]
    apart = keys // n != keys % n
    keys, lightest = keys[apart], lightest[apart]
    edges = np.asarray(result.edges, np.int64).reshape(-1, 2)
    chosen = edges.min(axis=1) * n + edges.max(axis=1)
    for edge in edges[~np.isin(chosen, keys)][:1].tolist():
        raise VerificationError(f"vertex {edge[0]}: there is no edge to {edge[1]}")
    if not graph.num_vertices:
        return
    pieces = connected_components(matrix(graph, (keys // n, keys % n)), directed=False)[0]
    joined = connected_components(matrix(graph, (edges[:, 0], edges[:, 1])), directed=False)[0]
    if joined != pieces or len(edges) != graph.num_vertices - pieces:
        raise VerificationError(f"{len(edges)} edges leave {joined} components; the graph has {pieces}")
    # All lightest forests have the same weights. In their place in order, from 1, SciPy takes them for what they are.
    order, place = np.unique(lightest, return_inverse=True)
    tree = minimum_spanning_tree(matrix(graph, (keys // n, keys % n), place + 1.0))
    best, own = np.sort(tree.data.astype(np.int64)) - 1, np.sort(place[np.searchsorted(keys, chosen)])
    best_sum, slack = _sum(order[best])
    if not abs(np.asarray(result.weight).item() - best_sum) <= slack:
        raise VerificationError(f"weight is {result.weight}, and should be {best_sum}")
    if (own != best).any():
        own_sum = _sum(order[own])[0]
        raise VerificationError(f"the edges weigh {own_sum}; there are some that weigh {best_sum}")
    if (edges[:, 0] > edges[:, 1]).any() or (np.diff(edges[:, 0] * n + edges[:, 1]) < 0).any():
        raise VerificationError("the edges are not in ascending order, the smaller end first")


def _sum(values: Array) -> tuple[Any, float]:
    """The sum of the values without any rounding, and how much one of their type may differ from it."""
    if values.dtype.kind != "f":
        return sum(values.tolist()), 0.0
    rounding = float(np.finfo(values.dtype).eps) * values.size
    return math.fsum(values.tolist()), rounding * math.fsum(np.abs(values).tolist())


def trusses(graph: Graph, result: Result, given: Arguments) -> None:
    """Edges peeled off, all at once that are in no more than k - 2 of the triangles that are left."""
    n = max(1, graph.num_vertices)
    s, t = (ids.astype(np.int64) for ids in graph.edges()[:2])
    every = s * n + t
    keys = np.unique(every[s != t])
    three = _triangles_of(keys, n)
    truss = np.full(keys.size, 2)
    alive, k = np.ones(keys.size, bool), 2
    while alive.any():
        support = np.bincount(three.ravel(), minlength=keys.size)
        k = max(k, int(support[alive].min()) + 2)
        gone = alive & (support + 2 <= k)
        truss[gone] = k
        alive &= ~gone
        three = three[alive[three].all(axis=1)]
    expected = np.full(every.size, 2)
    expected[s != t] = truss[np.searchsorted(keys, every[s != t])]
    off = result.truss != expected
    if off.any():
        e = int(off.argmax())
        raise VerificationError(
            f"edge {e}, from {s[e]} to {t[e]}: truss is {result.truss[e]}, and should be {expected[e]}"
        )


def _triangles_of(keys: Array, n: int) -> Array:
    """The numbers of the three edges of each triangle; `keys`: u * n + v of each edge, ascending, with u < v."""
    u, v = keys // n, keys % n
    first = np.searchsorted(keys, v * n)
    count = np.searchsorted(keys, (v + 1) * n) - first
    found = [np.zeros((0, 3), np.int64)]
    for some in np.array_split(np.arange(keys.size), 1 + int(count.sum()) // (1 << 22)):
        one = np.repeat(some, count[some])
        two = np.arange(one.size) - np.repeat(np.cumsum(count[some]) - count[some], count[some]) + first[one]
        closing = u[one] * n + v[two]
        three = np.minimum(np.searchsorted(keys, closing), keys.size - 1)
        closed = keys[three] == closing if keys.size else np.zeros(0, bool)
        found.append(np.stack([one, two, three], axis=1)[closed])
    return np.concatenate(found)
