"""Iterations, done again by SciPy round by round: what they give depends on how many rounds they took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import Array, arcs, close, flagged, in_scale, matrix

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result

Step = Callable[[Array], Array]
SMALL = 1e-12
"""How far two computations of a value may differ by rounding, beside the largest value."""
SMALL_32 = 1e-5


def _endings(
    step: Step, x: Array, enough: float, max_rounds: int, small: float = SMALL
) -> Iterator[tuple[Array, bool]]:
    """The values with which an iteration may have ended, and whether it had converged then.

    It ends with the first round that changes less than `enough`, summed; where rounding decides whether one
    does, there are several.
    """
    for _ in range(max_rounds):
        again = step(x)
        change, doubt = np.abs(again - x).sum(), small * np.abs(again).sum()
        x = again
        if change <= enough + doubt:
            yield x, True
        if change < enough - doubt:
            return
    yield x, False


def _ended(result: Result, name: str, endings: Iterator[tuple[Array, bool]], small: float = SMALL) -> None:
    """Raise VerificationError unless a result is one of these endings."""
    found = np.asarray(getattr(result, name), np.float64)
    fitting = (x for x, converged in endings if converged == result.converged)
    expected = min(fitting, key=lambda x: float(np.abs(found - x).sum()), default=None)
    flagged(result, result.converged if expected is not None else not result.converged)
    assert expected is not None
    close(found, expected, name, rtol=max(1e-9, 10 * small), small=small)


def _weights(graph: Graph, given: Mapping[str, Any]) -> Array:
    """A number for each arc: the run's `weight`, or 1."""
    name = given["weight"]
    return np.ones(graph.num_arcs) if name is None else graph.edge_properties[name].astype(np.float64)


def pagerank(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Ranks after as many rounds as it took, and their sum."""
    n, ends, values = graph.num_vertices, arcs(graph), _weights(graph, given)
    if not n:
        return
    heaviest = np.zeros(n)
    np.maximum.at(heaviest, ends[0], values)
    weighty = heaviest[ends[0]] > 0
    values[weighty] /= heaviest[ends[0]][weighty]
    a = matrix(graph, ends, values)
    leaving = np.asarray(a.sum(axis=1), float).ravel()
    jumps = np.ones(n) if given["personalization"] is None else np.asarray(given["personalization"], float)
    jumps = jumps / jumps.max()
    jumps /= jumps.sum()
    damping = given["damping"]

    def step(rank: Array) -> Array:
        part = np.divide(rank, leaving, out=np.zeros(n), where=leaving > 0)
        jumping = 1 - damping + damping * rank[leaving == 0].sum()
        return np.asarray(damping * (a.T @ part) + jumping * jumps)

    small = SMALL_32 if result.rank.dtype == np.float32 else SMALL
    endings = _endings(step, np.full(n, 1 / n), given["tolerance"], given["max_rounds"], small)
    _ended(result, "rank", endings, small)
    if not abs(result.rank.sum(dtype=np.float64) - 1) <= 10 * small:
        raise VerificationError(f"the ranks sum to {result.rank.sum()}")


def katz(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """x = alpha A' x + beta, round by round, and scaled."""
    n, a = graph.num_vertices, matrix(graph, arcs(graph), _weights(graph, given))
    own = np.full(n, given["beta"]) if given["betas"] is None else np.asarray(given["betas"], float)
    start = np.zeros(n) if given["start"] is None else np.asarray(given["start"], float)
    endings = _endings(
        lambda x: given["alpha"] * (a.T @ x) + own, start, n * given["tolerance"], given["max_rounds"]
    )
    if given["normalized"]:
        endings = ((_of_length_1(x), converged) for x, converged in endings)
    _ended(result, "centrality", endings if n else iter([(start, True)]))


def eigenvector(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Power iteration with the matrix shifted by 1."""
    n, a = graph.num_vertices, matrix(graph, arcs(graph), in_scale(_weights(graph, given)))
    start = np.full(n, 1 / max(1, n)) if given["start"] is None else in_scale(given["start"])
    endings = _endings(
        lambda x: _of_length_1(a.T @ x + x), start, n * given["tolerance"], given["max_rounds"]
    )
    _ended(result, "centrality", endings if n else iter([(start, True)]))


def hits(graph: Graph, result: Result, given: Mapping[str, Any]) -> None:
    """Hubs round by round, the authorities that they point to, and the hubs that point to those."""
    n, values = graph.num_vertices, _weights(graph, given)
    a = matrix(graph, arcs(graph), in_scale(values) if given["normalized"] else values)
    start = np.full(n, 1 / max(n, 1)) if given["start"] is None else in_scale(given["start"])

    def whole(x: Array) -> Array:
        return x / (x.sum() or 1.0)

    endings = _endings(lambda hub: whole(a @ (a.T @ hub)), start, given["tolerance"], given["max_rounds"])
    scale = whole if given["normalized"] else _of_length_1
    _ended(result, "authority", ((scale(a.T @ hub), converged) for hub, converged in endings))
    pointed = a @ result.authority
    close(result.hub, whole(pointed) if given["normalized"] else pointed, "hub")


def _of_length_1(x: Array) -> Array:
    largest = np.abs(x).max(initial=0)
    if not largest:
        return x
    return np.asarray(x / largest / np.linalg.norm(x / largest))
