"""Alternating least squares and pairwise ranking: loops in NumPy give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_matrix_factorization import taste

import vgraph as vg

A = vg.algorithms


def feedback(users: int = 12, items: int = 9) -> vg.Graph:
    """How often users took items, some pairs for tests; a user and an item that nobody knows yet."""
    rng = np.random.default_rng(5)
    u, i = np.nonzero(rng.random((users, items)) < 0.4)
    u, i = u[(u != 3) & (i != 4)], i[(u != 3) & (i != 4)]
    graph = vg.Graph.from_edges(u, users + i, num_vertices=users + items, rating=rng.integers(1, 9, u.size))
    return graph.with_edge_property("test", rng.random(u.size) < 0.2)


def als(graph: vg.Graph, **given: Any) -> Any:
    return vg.run(A.alternating_least_squares, graph, **given)


def solved(
    x: Any, others: Any, weight: Any, target: Any, among: Any, shrink: float, steps: int | None
) -> np.ndarray:
    """The best factors, or where so many steps of conjugate gradients lead."""
    matrix = among + shrink * np.eye(x.size) + (others.T * weight) @ others
    right = others.T @ target
    if steps is None:
        return np.linalg.solve(matrix, right)
    left = right - matrix @ x
    along, size = left.copy(), left @ left
    for _ in range(steps):
        image = matrix @ along
        x, left = x + size / (along @ image) * along, left - size / (along @ image) * image
        along, size = left + (left @ left) / size * along, left @ left
    return x


def in_numpy(
    graph: vg.Graph, begin: Any, epochs: int, confidence: float | None, shrink: float, steps: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Factors of users and items: `begin`'s, after so many epochs."""
    sides = [begin.user_factors.astype(float), begin.item_factors.astype(float)]
    s, t, properties = graph.edges()
    learned = ~properties["test"]
    ends = [s[learned], t[learned].astype(int) - len(sides[0])]
    r = properties["rating"][learned].astype(float)
    for _ in range(epochs):
        for one in (0, 1):
            other = sides[1 - one]
            for v in range(len(sides[one])):
                at = ends[one] == v
                near, count = other[ends[1 - one][at]], at.sum()
                if not count:
                    sides[one][v] = 0
                elif confidence is None:
                    given = np.ones(count), r[at] - r.mean(), 0, shrink * count, steps
                    sides[one][v] = solved(sides[one][v], near, *given)
                else:
                    weight = confidence * r[at]
                    given = weight, 1 + weight, other.T @ other, shrink, steps
                    sides[one][v] = solved(sides[one][v], near, *given)
    return sides[0], sides[1]


@pytest.mark.parametrize("steps", [3, None])
@pytest.mark.parametrize("confidence", [None, 2.0])
def test_a_loop_in_numpy_gives_the_same(confidence: float | None, steps: int | None) -> None:
    graph = feedback()
    given = {"factors": 5, "confidence": confidence, "regularization": 0.3, "test": "test", "spread": 0.3}
    wanted = in_numpy(graph, als(graph, epochs=0, **given), 2, confidence, 0.3, steps)
    ways: list[dict[str, Any]] = [{"threads": 2}, {"device": "python"}]
    for how in ways if steps else ways[:1]:
        found = als(graph, epochs=2, steps=steps or 12, **given, **how)
        for one, other in zip((found.user_factors, found.item_factors), wanted, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-3 * abs(other).max())
        vg.verify(found)
        assert found.loss.shape == found.rmse.shape == found.test_rmse.shape == (2,)
        assert (np.diff(found.loss) < 0).all()


@pytest.mark.parametrize("factors", [1, 40])
def test_numbers_of_factors(factors: int) -> None:
    found = als(feedback(), factors=factors, confidence=5.0, epochs=6, threads=2)
    vg.verify(found)
    assert found.user_factors.shape == (12, factors)
    assert abs(found.user_factors[3]).max() < 1e-5
    assert abs(found.item_factors[4]).max() < 1e-5
    items, scores = found.recommend(0, 3)
    np.testing.assert_allclose(scores, found.item_factors[items] @ found.user_factors[0], rtol=1e-5)
    assert (np.diff(scores) <= 0).all()


@pytest.mark.parametrize("rating", [0, 1])
@pytest.mark.parametrize("confidence", [None, 3.0])
def test_more_factors_than_ratings_tell_of(confidence: float | None, rating: int) -> None:
    """Of equations that do not settle all numbers a solution stays, whatever number of steps is asked for."""
    users, items = np.divmod(np.arange(20), 5)
    graph = vg.from_ratings(users, items, np.full(20, rating))
    found = als(graph, factors=2, epochs=9, steps=9, regularization=0, confidence=confidence)
    vg.verify(found)
    assert found.rmse.max() < 1e-5


def test_ratings_are_learned_as_well_as_by_descent() -> None:
    graph = taste()
    found = als(graph, factors=4, test="test", regularization=0.05)
    descended = vg.run(A.matrix_factorization, graph, factors=4, epochs=60, rate=0.02, test="test")
    vg.verify(found)
    vg.verify(descended)
    assert found.test_rmse[-1] < 1.2 * descended.test_rmse[-1]
    s, t, properties = graph.edges()
    off = properties["rating"] - found.predict(s.astype(int), t.astype(int) - 60)
    assert found.rmse[-1] == pytest.approx(np.sqrt(np.mean(off[~properties["test"]] ** 2)), rel=1e-5)


def test_other_ratings_and_tests_of_the_same_edges() -> None:
    graph = feedback()
    test = graph.edge_properties["test"]
    first = als(graph, test="test", epochs=2)
    second = als(graph.with_edge_property("test", ~test), test="test", epochs=2)
    third = als(graph.with_edge_property("rating", 1 + graph.edge_properties["rating"]), test=test, epochs=2)
    assert first.mean != second.mean
    assert third.mean == pytest.approx(1 + first.mean)


@pytest.mark.parametrize("confidence", [pytest.param(None, marks=pytest.mark.slow), 2.0])
def test_on_a_set_of_devices(confidence: float | None) -> None:
    given = {"confidence": confidence, "factors": 4, "epochs": 3, "regularization": 0.3, "test": "test"}
    expected = als(feedback(), **given)
    found = als(feedback(), device=[vg.cpu(threads=1), vg.cpu(threads=1)], **given)
    for name in ("user_factors", "item_factors", "loss", "test_rmse"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["alternating_least_squares", "matrix_factorization"])
def test_what_is_wrong_is_found(name: str) -> None:
    graph = feedback()
    result = vg.run(getattr(A, name), graph, test="test", epochs=3, factors=3)
    vg.verify(result)
    for field in result.names:
        before = getattr(result, field)
        changed = before * np.where(np.arange(np.size(before)).reshape(np.shape(before)) % 2, 1, 1.5) + 0.5
        result._values[field] = changed.astype(before.dtype) if np.ndim(before) else changed
        if field in ("loss", "rmse", "test_rmse"):
            result._values[field] = before * 1.5
        with pytest.raises(vg.VerificationError):
            vg.verify(result)
        result._values[field] = before
    vg.verify(result)


def test_what_is_refused() -> None:
    graph = feedback()
    less = graph.with_edge_property("rating", graph.edge_properties["rating"] - 2)
    for bad, given, message in (
        (graph, {"factors": 0}, "factors=0 is below 1"),
        (graph, {"steps": -1}, "steps=-1 is below 0"),
        (graph, {"confidence": -1.0}, "confidence=-1.0 is below 0"),
        (graph, {"confidence": np.nan}, "confidence: a value is not finite"),
        (less, {"confidence": 1.0}, "rating='rating': the rating -1 is negative"),
        (graph, {"rating": "stars"}, "rating='stars': the graph has no such edge property"),
        (vg.Graph.from_edges([0, 1], [1, 2], rating=[1.0, 2.0]), {}, "vertex 1 rates"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            als(bad, **given)
    with pytest.raises(vg.AlgorithmError, match="too large for a float32"):
        als(vg.Graph.from_edges([0, 0], [1, 2], rating=[3e38, -3e38]))


def games(consistent: bool) -> tuple[vg.Graph, np.ndarray]:
    """Who was ahead of whom by how much, and the scores of the least sum of squares."""
    rng = np.random.default_rng(2)
    n, strength = 12, rng.normal(size=12)
    s, t = rng.integers(0, n, (2, 80))
    s, t = s[s != t], t[s != t]
    margin = strength[s] - strength[t] + (0 if consistent else rng.normal(size=s.size))
    rows = np.zeros((s.size, n))
    rows[np.arange(s.size), s], rows[np.arange(s.size), t] = 1, -1
    graph = vg.Graph.from_edges(s, t, num_vertices=n, margin=margin)
    return graph, np.linalg.lstsq(rows, margin)[0]


CONFLICTS = [vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.AGM_E, vg.SGM, vg.COLORED, vg.DIAGONAL]


def test_scores_of_pairs_in_numpy() -> None:
    graph, _ = games(consistent=False)
    order = graph.in_given_order(np.arange(graph.num_edges))
    s, t, properties = graph.edges()
    score = np.zeros(12)
    for k in range(4):
        for e in order.tolist():
            half = 0.5 * (0.8 / (1 + 0.3 * k)) * (properties["margin"][e] - (score[s[e]] - score[t[e]]))
            score[s[e]], score[t[e]] = score[s[e]] + half, score[t[e]] - half
    schedule = vg.Schedule().at("project", conflict=vg.SEQUENTIAL)
    for how in ({"threads": 2}, {"device": "python"}):
        given = {"epochs": 4, "margin": "margin", "relaxation": 0.8, "cooling": 0.3}
        found = vg.run(A.pairwise_ranking, graph, schedule=schedule, **given, **how)
        assert (found.score == score).all()
        vg.verify(found)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_scores_come_to_those_of_the_least_squares(conflict: Any) -> None:
    schedule = vg.Schedule().at("project", conflict=conflict)
    for consistent, cooling, epochs, tolerance in ((True, 0.0, 200, 1e-9), (False, 1.0, 2000, 3e-3)):
        graph, wanted = games(consistent)
        given = {"epochs": epochs, "cooling": cooling, "margin": "margin", "threads": 2}
        found = vg.run(A.pairwise_ranking, graph, schedule=schedule, **given)
        assert abs(found.score - wanted).max() < tolerance
        vg.verify(found)
    result = found._values
    for field, value in (("error", found.error * 1.01), ("score", found.score + 0.1)):
        before, result[field] = result[field], value
        with pytest.raises(vg.VerificationError):
            vg.verify(found)
        result[field] = before


def test_rankings_that_are_refused() -> None:
    graph, _ = games(consistent=True)
    for bad, given, message in (
        (vg.Graph.from_edges([0], [1], directed=False), {}, "directed=True"),
        (graph, {"epochs": -1}, "epochs=-1 is below 0"),
        (graph, {"margin": np.nan}, "a margin is not finite"),
        (graph, {"cooling": np.inf}, "cooling: a value is not finite"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(A.pairwise_ranking, bad, **given)
