"""How alike pairs of vertices are: rows of the adjacency matrix, compared by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *

Measure = Callable[[Any, Array, Array], tuple[Array, Array]]
"""Of the adjacency matrix and pairs: their scores, and how large the numbers are of which these are differences."""


def _fraction(whole: Callable[[Array, Array, Array], Array]) -> Measure:
    """Common neighbors as a fraction of `whole`: of both degrees, and of all that are in common."""

    def measure(near: Any, a: Array, b: Array) -> tuple[Array, Array]:
        both, degree = _shared(near, a, b, np.ones(near.shape[0])), near.sum(axis=1)
        shared, of = both - _own(near, a, b), whole(degree[a], degree[b], both)
        scores = np.divide(shared, of, out=np.zeros(a.size), where=shared > 0)
        return scores, scores

    return measure


def _sum(worth: Callable[[Array], Array]) -> Measure:
    """A sum of what common neighbors are worth by their degrees; a self-loop adds 2 to the degree."""

    def measure(near: Any, a: Array, b: Array) -> tuple[Array, Array]:
        found = worth(near.sum(axis=1) + near.diagonal())
        each = np.where(np.isfinite(found), found, 0.0)
        whole = _shared(near, a, b, each)
        return whole - _own(near, a, b, each), whole

    return measure


MEASURES: Final[dict[str, Measure]] = {
    "adamic_adar": _sum(lambda degree: 1 / np.log(degree)),
    "cosine": _fraction(lambda a, b, both: np.sqrt(a * b)),
    "jaccard": _fraction(lambda a, b, both: a + b - both),
    "overlap": _fraction(lambda a, b, both: np.minimum(a, b)),
    "resource_allocation": _sum(lambda degree: 1 / degree),
    "sorensen": _fraction(lambda a, b, both: (a + b) / 2),
}


def pairs(graph: Graph, result: Result, given: Arguments) -> None:
    """Rows of the adjacency matrix, compared."""
    a, b = (np.asarray(given[name], np.int64) for name in ("left", "right"))
    _same(result.score, *MEASURES[result.algorithm](_neighbors(graph), a, b), a, b)


def most_similar(graph: Graph, result: Result, given: Arguments) -> None:
    """All pairs that have a neighbor in common, sorted; of equal ones any, as rounding may part them."""
    n, k, near = graph.num_vertices, given["k"], _neighbors(graph)
    a, b = (near @ near).nonzero()
    a, b = (ends[a != b].astype(np.int64) for ends in (a, b))
    score, size = MEASURES[given["measure"]](near, a, b)
    common = score > 1e-12 * size
    a, b, score = a[common], b[common], score[common]
    order = np.lexsort((-score, a))
    place = np.arange(a.size) - np.searchsorted(a[order], a[order])
    best = np.zeros((n, k))
    kept = order[place < k]
    best[a[kept], place[place < k]] = score[kept]
    off = ~(np.abs(result.score - best) <= 1e-9 * best).all(axis=1)
    none_of(off, lambda v: f"score is {result.score[v]}, and should be {best[v]}")
    v, at = np.nonzero(result.similar >= 0)
    other = np.asarray(result.similar[v, at], np.int64)
    _same(result.score[v, at], *MEASURES[given["measure"]](near, v, other), v, other)
    ids = np.sort(result.similar, axis=1)
    twice = ((ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] >= 0)).any(axis=1) | (
        ids == np.arange(n)[:, None]
    ).any(axis=1)
    none_of(
        twice | ((result.similar >= 0) != (result.score > 0)).any(axis=1),
        lambda v: f"similar is {result.similar[v]}",
    )


def simrank(graph: Graph, result: Result, given: Arguments) -> None:
    """The rounds, as products of sparse matrices with dense ones."""
    from scipy.sparse import diags_array

    n, (s, t) = graph.num_vertices, arcs(graph)
    leads = matrix(graph, (t, s), weights(graph, given["weight"]))
    total = leads.sum(axis=1)
    mean = diags_array(np.divide(1.0, total, out=np.zeros(n), where=total > 0)) @ leads
    expected, change, rounds = np.eye(n), 1.0, 0
    while rounds < given["max_rounds"] and change > given["tolerance"]:
        before, expected = expected, given["importance"] * (mean @ (mean @ expected).T).T
        np.fill_diagonal(expected, 1.0)
        change, rounds = float((np.abs(expected - before) - 1e-5 * expected).max(initial=0)), rounds + 1
    off = ~(np.abs(result.similarity - expected) <= 1e-9 * expected)
    none_of(
        off.any(axis=1),
        lambda v: f"similarity to {off[v].argmax()} is {result.similarity[v][off[v].argmax()]}",
    )
    flagged(result, change <= given["tolerance"])


def _neighbors(graph: Graph) -> Any:
    """The adjacency matrix with 1 for parallel edges, too."""
    near = matrix(graph, arcs(graph))
    near.data[:] = 1
    return near


def _shared(near: Any, a: Array, b: Array, worth: Array) -> Array:
    """What the common neighbors of each pair are worth together, some pairs at a time."""
    found = np.zeros(a.size)
    for first in range(0, a.size, 1 << 16):
        some = slice(first, first + (1 << 16))
        found[some] = near[a[some]].multiply(near[b[some]]) @ worth
    return found


def _own(near: Any, a: Array, b: Array, worth: Array | None = None) -> Array:
    """What of that are the two vertices of the pair."""
    worth = np.ones(near.shape[0]) if worth is None else worth
    loop = near.diagonal()
    joined = np.asarray(near[a, b]).ravel() if a.size else np.zeros(0)
    one, other = loop[a] * worth[a], loop[b] * worth[b]
    return np.asarray(np.where(a == b, one, joined * (one + other)))


def _same(found: Array, expected: Array, size: Array, a: Array, b: Array) -> None:
    off = ~(np.abs(found - expected) <= 1e-9 * size)
    if off.any():
        k = int(off.argmax())
        raise VerificationError(
            f"pair {k}, vertices {a[k]} and {b[k]}: score is {found[k]}, and should be {expected[k]}"
        )
