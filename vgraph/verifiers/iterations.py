"""Iterations, done again by SciPy round by round: what they give depends on how many rounds they took."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from vgraph.verifiers.common import *

Step = Callable[[Array], Array]
Blur = Callable[[Array, Array], Array]
"""How far off the values of a round may be, from that of the round before and the values."""
Ending = tuple[Array, Array, bool]
"""Values with which an iteration may have ended, how far off rounding may have led, and whether it had converged."""
SMALL = 1e-12
"""How far two computations of a value may differ by the rounding of a round."""


def _endings(
    step: Step, x: Array, enough: float, max_rounds: int, blur: Blur | None = None
) -> Iterator[Ending]:
    """It ends with the first round that changes less than `enough`, summed; where rounding decides whether one
    does, there are several.
    """
    blur = blur or (lambda _, x: SMALL * np.abs(x))
    off = blur(np.zeros(x.size), x)
    for _ in range(max_rounds):
        again = step(x)
        off = blur(off, again)
        change, doubt = np.abs(again - x).sum(), 2 * off.sum()
        x = again
        if change <= enough + doubt:
            yield x, off, True
        if change < enough - doubt:
            return
    yield x, off, False


def _ended(result: Result, name: str, endings: Iterator[Ending], signed: bool = False) -> None:
    """Raise VerificationError unless a result is one of these endings.

    `signed`: numbers of both signs are added up, so that errors are as large as the largest number explains.
    """
    found = np.asarray(getattr(result, name), np.float64)

    def allowed(x: Array, off: Array) -> Array:
        largest = np.abs(x).max(initial=0) if signed else 0.0
        return np.asarray(off + RELATIVE * np.abs(x) + SMALL * largest + NOTHING)

    fitting = ((x, allowed(x, off)) for x, off, converged in endings if converged == result.converged)
    best = min(fitting, key=lambda e: float(apart(found, *e).max(initial=0)), default=None)
    flagged(result, result.converged if best is not None else not result.converged)
    assert best is not None
    close(found, best[0], name, best[1])


def pagerank(graph: Graph, result: Result, given: Arguments) -> None:
    """Ranks after as many rounds as it took."""
    n, ends, values = graph.num_vertices, arcs(graph), weights(graph, given["weight"])
    heaviest = np.zeros(n)
    np.maximum.at(heaviest, ends[0], values)
    weighty = heaviest[ends[0]] > 0
    values[weighty] /= heaviest[ends[0]][weighty]
    a = matrix(graph, ends, values)
    leaving = np.asarray(a.sum(axis=1), float).ravel()
    jumps = np.ones(n) if given["personalization"] is None else np.asarray(given["personalization"], float)
    jumps = jumps / jumps.max(initial=0)
    jumps /= jumps.sum()
    damping = given["damping"]

    def step(rank: Array, jumping: float = 1 - damping) -> Array:
        part = np.divide(rank, leaving, out=np.zeros(n), where=leaving > 0)
        return np.asarray(damping * (a.T @ part) + (jumping + damping * rank[leaving == 0].sum()) * jumps)

    # A sum of k numbers is off by up to k roundings, and those of the round before are handed on as ranks are.
    limits = np.finfo(result.rank.dtype)
    rounding = limits.eps * (np.bincount(ends[1], minlength=n) + 8.0)

    def blur(off: Array, rank: Array) -> Array:
        return np.asarray(step(off, 0.0) + rounding * rank + 1e8 * limits.tiny)

    start = np.full(n, 1 / max(n, 1))
    _ended(result, "rank", _endings(step, start, given["tolerance"], given["max_rounds"], blur))


def katz(graph: Graph, result: Result, given: Arguments) -> None:
    """x = alpha A' x + beta, round by round, and scaled."""
    n, a, alpha = (
        graph.num_vertices,
        matrix(graph, arcs(graph), weights(graph, given["weight"])),
        given["alpha"],
    )
    own = np.full(n, given["beta"], float) if given["betas"] is None else np.asarray(given["betas"], float)
    start = np.zeros(n) if given["start"] is None else np.asarray(given["start"], float)
    endings = _endings(lambda x: alpha * (a.T @ x) + own, start, n * given["tolerance"], given["max_rounds"])
    if given["normalized"]:
        endings = ((_of_length_1(x), 0 * x, converged) for x, _, converged in endings)
    signed = alpha < 0 or any(values.min(initial=0) < 0 for values in (a.data, own, start))
    _ended(result, "centrality", endings if n else iter([(start, start, True)]), signed)


def eigenvector(graph: Graph, result: Result, given: Arguments) -> None:
    """Power iteration with the matrix shifted by its largest element."""
    n, values = graph.num_vertices, weights(graph, given["weight"])
    a = matrix(graph, arcs(graph), values / (np.abs(values).max(initial=0) or 1.0))
    start = np.full(n, 1 / max(1, n)) if given["start"] is None else in_scale(given["start"])
    endings = _endings(
        lambda x: _of_length_1(a.T @ x + given["shift"] * x),
        start,
        n * given["tolerance"],
        given["max_rounds"],
    )
    signed = given["shift"] < 0 or a.data.min(initial=0) < 0 or start.min(initial=0) < 0
    _ended(result, "centrality", endings if n else iter([(start, start, True)]), signed)


def hits(graph: Graph, result: Result, given: Arguments) -> None:
    """Hubs round by round, the authorities that they point to, and the hubs that point to those."""
    n, values = graph.num_vertices, weights(graph, given["weight"])
    a = matrix(graph, arcs(graph), in_scale(values) if given["normalized"] else values)
    start = np.full(n, 1 / max(n, 1)) if given["start"] is None else in_scale(given["start"])

    def whole(x: Array) -> Array:
        return x / (x.sum() or 1.0)

    endings = _endings(lambda hub: whole(a @ (a.T @ hub)), start, given["tolerance"], given["max_rounds"])
    scale = whole if given["normalized"] else _of_length_1
    _ended(result, "authority", ((scale(a.T @ hub), 0 * hub, converged) for hub, _, converged in endings))
    pointed = a @ result.authority
    close(result.hub, whole(pointed) if given["normalized"] else pointed, "hub")


def _of_length_1(x: Array) -> Array:
    largest = np.abs(x).max(initial=0)
    if not largest:
        return x
    return np.asarray(x / largest / np.linalg.norm(x / largest))
