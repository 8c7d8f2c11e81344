"""Factors of ratings, and scores: the errors that they are said to have are computed once more, in float64."""

from __future__ import annotations

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *

ROUNDING = 2.0**-16
"""By how much of the largest rating errors may differ: float32s of few hundred factors are summed up."""


def by_descent(graph: Graph, result: Result, given: Arguments) -> None:
    """Matrix factorization: predictions are off by what the last epoch says."""
    _errors(graph, result, given, result.user_bias, result.item_bias)


def by_least_squares(graph: Graph, result: Result, given: Arguments) -> None:
    """Alternating least squares: products are off by what the last epoch says, and no epoch made the loss larger."""
    ratings, products, learned = _errors(graph, result, given)
    if not result.loss.size:
        return
    p, q = result.user_factors.astype(np.float64), result.item_factors.astype(np.float64)
    confidence, shrink = given["confidence"], given["regularization"]
    if confidence is None:
        s, t = arcs(graph)
        counts = np.bincount(np.r_[s[learned], t[learned]], minlength=graph.num_vertices)
        loss = ((ratings - products)[learned] ** 2).sum()
        loss += shrink * counts @ (np.r_[p, q] ** 2).sum(axis=1)
        size = (ratings**2).sum() + ROUNDING * ratings.size
    else:
        count, products = 1 + confidence * ratings[learned], products[learned]
        loss = ((p.T @ p) * (q.T @ q)).sum() + (count * (1 - products) ** 2 - products**2).sum()
        loss += shrink * ((p**2).sum() + (q**2).sum())
        size = count.sum()
    same_number(result.loss[-1], loss, "loss", 1e-4 * (loss + size))
    worse = np.flatnonzero(np.diff(result.loss) > 1e-4 * result.loss[0] + 1e-6 * size)
    if worse.size:
        raise VerificationError(f"epoch {worse[0] + 1}: the loss has grown")


def by_pairs(graph: Graph, result: Result, given: Arguments) -> None:
    """Personalized ranking: scores put pairs into the right order about as often as the last epoch did, or more often.

    All pairs of up to a thousand users are looked at; lots and the last steps leave a margin.
    """
    if not result.auc.size or not graph.num_arcs:
        return
    users, (s, t) = len(result.user_factors), arcs(graph)
    weight = np.bincount(t - users, minlength=len(result.item_bias)).astype(np.float64)
    weight = weight if given["popular"] else np.ones_like(weight)
    right = pairs = 0.0
    for u in np.unique(s)[:: 1 + users // 1000].tolist():
        taken = np.unique(t[s == u]) - users
        score = result.item_factors @ result.user_factors[u] + result.item_bias
        left = weight.copy()
        left[taken] = 0
        order = np.argsort(score, kind="stable")
        below = np.cumsum(left[order])[np.searchsorted(score[order], score[taken])]
        right, pairs = right + below.sum(), pairs + left.sum() * taken.size
    if pairs and right / pairs < result.auc[-1] - 0.1 - 3 / np.sqrt(s.size):
        raise VerificationError(
            f"{right / pairs:.3f} of the pairs are in the right order; the last epoch found {result.auc[-1]:.3f}"
        )


def by_projections(graph: Graph, result: Result, given: Arguments) -> None:
    """Pairwise ranking: differences are off by what is said, and scores of a component sum up to 0."""
    from scipy.sparse.csgraph import connected_components

    s, t = arcs(graph)
    margin = weights(graph, given["margin"])
    off = np.sqrt(np.mean((margin - result.score[s] + result.score[t]) ** 2)) if s.size else 0.0
    size = max(1.0, abs(margin).max(initial=0), abs(result.score).max(initial=0))
    same_number(result.error, off, "error", 1e-9 * size)
    component = connected_components(matrix(graph, (s, t)), directed=False)[1]
    sums = abs(np.bincount(component, result.score, minlength=1))
    if sums.max() > 1e-9 * size * max(1, given["epochs"] * s.size):
        raise VerificationError(f"scores of a component sum up to {sums.max()}, and should to 0")


def _errors(graph: Graph, result: Result, given: Arguments, *biases: Array) -> tuple[Array, Array, Array]:
    """Ratings less the mean (1 with a confidence), what is predicted, and which are learned from."""
    name = given["rating"] or ("rating" if "rating" in graph.edge_properties else "weight")
    ratings = weights(graph, name)
    learned = np.ones(ratings.size, bool)
    if given["test"] is not None:
        test = given["test"]
        learned = ~(graph.edge_properties[test] if isinstance(test, str) else np.asarray(test))
    implicit = given.get("confidence") is not None
    mean = 0.0 if implicit or not learned.any() else float(ratings[learned].mean())
    scale = abs(ratings).max(initial=1)
    same_number(result.mean, mean, "mean", ROUNDING * scale)
    s, t = arcs(graph)
    t = t - len(result.user_factors)
    products = np.einsum(
        "ek,ek->e", result.user_factors[s].astype(np.float64), result.item_factors[t].astype(np.float64)
    )
    if biases:
        products += biases[0][s].astype(np.float64) + biases[1][t]
    off = (1.0 if implicit else ratings - mean) - products
    for what, part in (("rmse", learned), ("test_rmse", ~learned)):
        said = getattr(result, what)
        if said.size and not np.isnan(said[-1]):
            wanted = np.sqrt(np.mean(off[part] ** 2)) if part.any() else 0.0
            same_number(said[-1], wanted, what, ROUNDING * scale)
    return ratings if implicit else ratings - mean, products, learned
