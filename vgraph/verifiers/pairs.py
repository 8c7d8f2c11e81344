"""How alike pairs of vertices are: rows of the adjacency matrix, compared by SciPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import Array, arcs, flagged, matrix, none_of, weights

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result

Whole = Callable[[Array, Array, Array], Array]


def fraction(whole: Whole) -> Callable[[Graph, Result, Mapping[str, Any]], None]:
    """The verifier of common neighbors as a fraction of `whole`: of both degrees, and of all that are in common."""

    def verify(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
        near, (a, b) = _neighbors(graph), _pairs(given)
        both, degree = _shared(near, a, b, np.ones(graph.num_vertices)), near.sum(axis=1)
        shared, of = both - _own(near, a, b), whole(degree[a], degree[b], both)
        expected = np.divide(shared, of, out=np.zeros(a.size), where=shared > 0)
        _same(result.score, expected, a, b, 1e-9 * expected)

    return verify


def summed(worth: Callable[[Array], Array]) -> Callable[[Graph, Result, Mapping[str, Any]], None]:
    """The verifier of a sum of what common neighbors are worth by their degrees; a self-loop adds 2 to the degree."""

    def verify(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
        near, (a, b) = _neighbors(graph), _pairs(given)
        found = worth(near.sum(axis=1) + near.diagonal())
        each = np.where(np.isfinite(found), found, 0.0)
        whole = _shared(near, a, b, each)
        _same(result.score, whole - _own(near, a, b, each), a, b, 1e-9 * whole)

    return verify


jaccard = fraction(lambda a, b, both: a + b - both)
overlap = fraction(lambda a, b, both: np.minimum(a, b))
sorensen = fraction(lambda a, b, both: (a + b) / 2)
cosine = fraction(lambda a, b, both: np.sqrt(a * b))
adamic_adar = summed(lambda degree: 1 / np.log(degree))
resource_allocation = summed(lambda degree: 1 / degree)


def simrank(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
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


def _pairs(given: Mapping[str, Any]) -> tuple[Array, Array]:
    return np.asarray(given["left"], np.int64), np.asarray(given["right"], np.int64)


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


def _same(found: Array, expected: Array, a: Array, b: Array, allowed: Array) -> None:
    off = ~(np.abs(found - expected) <= allowed)
    if off.any():
        k = int(off.argmax())
        raise VerificationError(
            f"pair {k}, vertices {a[k]} and {b[k]}: score is {found[k]}, and should be {expected[k]}"
        )
