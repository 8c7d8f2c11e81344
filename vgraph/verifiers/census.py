"""Subgraphs of few vertices, counted by products of sparse matrices; clubs and correlations by what defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *


def triads(graph: Graph, result: Result, given: Arguments) -> None:
    """Paths of two steps that a third one closes, or none; and pairs of vertices with all that neither is joined to."""
    n, near = graph.num_vertices, matrix(graph, simple_edges(graph))
    there = matrix(graph, simple_arcs(graph))
    both = there.multiply(there.T).tocsr()
    one = (there - both).tocsr()
    one.eliminate_zeros()
    back = one.T.tocsr()

    def closed(a: Any, b: Any, by: Any) -> int:
        return int(closed_paths(a, b, by).sum())

    def open_(a: Any, b: Any) -> int:
        return int(a.sum(axis=0) @ b.sum(axis=1)) - int(a.multiply(b.T).sum()) - closed(a, b, near)

    def pairs(a: Any) -> int:
        degree = np.asarray(near.sum(axis=1), np.int64)
        joined = int(a.sum(axis=1) @ degree) + int(a.sum(axis=0) @ degree)
        return n * int(a.sum()) - joined + closed(near, near, a)

    expected = {
        "t012": pairs(one),
        "t102": pairs(both) // 2,
        "t021D": open_(back, one) // 2,
        "t021U": open_(one, back) // 2,
        "t021C": open_(one, one),
        "t111D": open_(one, both),
        "t111U": open_(both, one),
        "t030T": closed(one, one, one),
        "t030C": closed(one, one, back) // 3,
        "t201": open_(both, both) // 2,
        "t120D": closed(back, one, both) // 2,
        "t120U": closed(one, back, both) // 2,
        "t120C": closed(one, one, both),
        "t210": closed(both, both, one),
        "t300": closed(both, both, both) // 6,
    }
    expected["t003"] = n * (n - 1) * (n - 2) // 6 - sum(expected.values())
    for name, count in expected.items():
        same_number(getattr(result, name), count, name)


def squares(graph: Graph, result: Result, given: Arguments) -> None:
    """Pairs of paths of two steps between the same ends."""
    near = matrix(graph, simple_edges(graph))
    degree = np.asarray(near.sum(axis=1))
    found = np.zeros(degree.size)
    for first in range(0, degree.size, 1024):
        rows = slice(first, first + 1024)
        ways = near[rows] @ near
        found[rows] = (ways.multiply(ways) - ways).sum(axis=1) - degree[rows] * (degree[rows] - 1)
    equal(result.squares, (found / 2).astype(np.int64), "squares")
    possible = (near @ degree - degree) * (degree - 1) - closed_paths(near, near, near) - found / 2
    share = np.divide(found / 2, possible, out=np.zeros(degree.size), where=found > 0)
    close(result.coefficient, share, "coefficient")


def motifs(graph: Graph, result: Result, given: Arguments) -> None:
    """Subgraphs that may have further edges, less those that have; of one shape in another as many as NumPy finds."""
    s, t = simple_edges(graph)
    n, near = graph.num_vertices, matrix(graph, (s, t), np.ones(s.size, np.int64))
    degree = np.bincount(s, minlength=n)
    after = matrix(graph, (s[s < t], t[s < t]))
    ways = (near @ near).tocsr()
    pairs = ways.data[np.repeat(np.arange(n), np.diff(ways.indptr)) != ways.indices]
    beside = near.multiply(ways)
    shared = np.asarray(beside.sum(axis=1), np.int64).ravel()  # twice the triangles at a vertex
    loose = {
        "p4": ((degree[s] - 1) * (degree[t] - 1)).sum() // 2 - shared.sum() // 2,
        "claw": (degree * (degree - 1) * (degree - 2) // 6).sum(),
        "c4": (pairs * (pairs - 1) // 2).sum() // 4,
        "paw": (shared * (degree - 2)).sum() // 2,
        "diamond": (beside.data * (beside.data - 1)).sum() // 4,
        "k4": _grown(after, after, 2),
    }
    # column j: how many subgraphs of each shape there are among the edges of shape j
    inside = np.eye(6, dtype=np.int64)
    inside[:, 2:] = [[4, 2, 6, 12], [0, 1, 2, 4], [1, 0, 1, 3], [0, 1, 4, 12], [0, 0, 1, 6], [0, 0, 0, 1]]
    tight = np.zeros(6, np.int64)
    for shape in reversed(range(6)):
        tight[shape] = list(loose.values())[shape] - inside[shape] @ tight
    for name, number in zip(loose, tight.tolist(), strict=True):
        same_number(getattr(result, name), number, name)


def cliques(graph: Graph, result: Result, given: Arguments) -> None:
    """Cliques grown by one vertex at a time, each from its smallest vertex, some at a time."""
    s, t = simple_edges(graph)
    n, size = graph.num_vertices, int(given["size"])
    after = matrix(graph, (s[s < t], t[s < t]))
    if size == 1:
        same_number(result.total, n, "total")
        return
    same_number(result.total, _grown(after, after, size - 2), "total")


def _grown(after: Any, common: Any, steps: int) -> int:
    """How many cliques have so many vertices more than those that rows of `common` stand for: what follows them all."""
    if steps == 0 or not common.nnz:
        return int(common.sum())
    rows, ends = common.nonzero()
    total = 0
    for first in range(0, rows.size, 1 << 16):
        some = slice(first, first + (1 << 16))
        total += _grown(after, common[rows[some]].multiply(after[ends[some]]).tocsr(), steps - 1)
    return total


def maximum_clique(graph: Graph, result: Result, given: Arguments) -> None:
    """Members are joined, each two; and no vertex has as many behind it, by degree, of which each two are joined."""
    s, t = simple_edges(graph)
    member = np.asarray(result.member)
    inside = member[s] & member[t]
    joined = np.bincount(s[inside], minlength=member.size)
    few = member & (joined != np.count_nonzero(member) - 1)
    none_of(few, lambda v: f"a member, and not a neighbor of all others, but of {joined[v]}")
    size = int(member.sum())
    same_number(result.size, size, "size")
    degree = np.bincount(s, minlength=member.size)
    behind = (degree[s] < degree[t]) | ((degree[s] == degree[t]) & (s < t))
    after = matrix(graph, (s[behind], t[behind]))
    for v in np.flatnonzero(np.diff(after.indptr) >= size).tolist():
        those = after.indices[after.indptr[v] : after.indptr[v + 1]]
        near = after[those][:, those]
        rows = (near + near.T).tolil().rows
        if _has_clique([sum(1 << int(w) for w in row) for row in rows], (1 << those.size) - 1, size):
            raise VerificationError(f"vertex {v}: it is in a clique of {size + 1}, and size is {result.size}")


def _has_clique(near: list[int], left: int, size: int) -> bool:
    """Whether so many of the vertices that are `left`, bits, are joined, each two (Tomita and Seki 2003)."""
    if size == 0:
        return True
    order, uncolored, color = [], left, 0
    while uncolored:
        color, apart = color + 1, uncolored
        while apart:
            v = apart.bit_length() - 1
            order.append((v, color))
            uncolored &= ~(1 << v)
            apart &= ~(near[v] | 1 << v)
    for v, color in reversed(order):
        if color < size:
            break
        if _has_clique(near, left & near[v], size - 1):
            return True
        left &= ~(1 << v)
    return False


def rich_clubs(graph: Graph, result: Result, given: Arguments) -> None:
    """Degrees in order: how many vertices, and edges by their lower end, are above each."""
    s, t = simple_edges(graph)
    degree = np.bincount(s, minlength=graph.num_vertices)
    lower = np.sort(np.minimum(degree[s], degree[t]))
    each = np.arange(degree.max(initial=0) + 1)
    members = degree.size - np.searchsorted(np.sort(degree), each, side="right")
    members = members[members > 1]
    joined = lower.size - np.searchsorted(lower, each[: members.size], side="right")
    if result.coefficient.size != members.size:
        raise VerificationError(
            f"coefficient is of {result.coefficient.size} degrees, and should be of {members.size}"
        )
    close(result.coefficient, joined / (members * (members - 1)), "coefficient", of="degree")


def assortativity(graph: Graph, result: Result, given: Arguments) -> None:
    """The correlation of two arrays of a number for each arc, by NumPy."""
    (s, t), n, values = arcs(graph), graph.num_vertices, given["value"]
    loops = 0 if graph.directed else np.bincount(s[s == t], minlength=n)
    tail, head = (np.bincount(ids, minlength=n) + loops if values is None else values for ids in (s, t))
    x, y = (np.asarray(ends, np.float64)[ids] for ends, ids in ((tail, s), (head, t)))
    expected, allowed = np.nan, 0.0
    if np.ptp(x) > 0 and np.ptp(y) > 0 if s.size else False:
        x, y = (ends / np.abs(ends).max() for ends in (x, y))
        expected = np.corrcoef(x, y)[0, 1]
        allowed = 1e-9 / min(np.std(x), np.std(y), 1.0)
    same_number(result.assortativity, expected, "assortativity", allowed)
