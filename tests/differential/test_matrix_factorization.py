"""Matrix factorization: a loop in NumPy gives the same, and every schedule comes to the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms
SCHEDULES = [
    vg.SEQUENTIAL,
    *(vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID),
    *(vg.AGM_E, vg.AGM_N, vg.SGM, vg.COLORED, vg.DIAGONAL, vg.blocked_diagonals(16, 4)),
]


def taste(users: int = 60, items: int = 40, part: float = 0.6, tests: float = 0.2) -> vg.Graph:
    """Ratings that two factors and biases explain, some for tests."""
    rng = np.random.default_rng(6)
    one, other = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    values = 3 + one[:, :2] @ other[:, :2].T + one[:, 2:] + other[:, 2]
    values += rng.normal(scale=0.5, size=values.shape)
    u, i = np.nonzero(rng.random((users, items)) < part)
    graph = vg.from_ratings(u, i, values[u, i])
    return graph.with_edge_property("test", rng.random(graph.num_arcs) < tests)


def under(conflict: vg.Schedule, graph: vg.Graph, **given: Any) -> Any:
    return vg.run(
        A.matrix_factorization, graph, schedule=vg.Schedule().at("learn", conflict=conflict), **given
    )


def errors(graph: vg.Graph, result: Any) -> np.ndarray:
    """What predictions are off by, for each edge."""
    s, t, properties = graph.edges()
    return result.predict(s.astype(int), t.astype(int) - result.user_bias.size) - properties["rating"]


def test_a_loop_in_numpy_gives_the_same() -> None:
    """One rating after the other, in the order in which they were given."""
    rng = np.random.default_rng(3)
    u, i, rating = rng.integers(0, 8, 60), rng.integers(0, 6, 60), rng.integers(1, 11, 60) / 2
    graph = vg.from_ratings(u, i, rating)
    begin = under(vg.SEQUENTIAL, graph, factors=5, epochs=0, seed=4)
    p, q = begin.user_factors.copy(), begin.item_factors.copy()
    b, c = np.zeros(8, np.float32), np.zeros(6, np.float32)
    step, shrink, mean = np.float32(0.03), np.float32(0.1), np.float32(rating.mean())
    assert (begin.mean, begin.rmse.size) == (rating.mean(), 0)
    assert 0.05 < p.std() < 0.2
    for _ in range(7):
        for x, y, r in zip(u, i, rating.astype(np.float32), strict=True):
            product = np.float32(0)
            for one, other in zip(p[x], q[y], strict=True):
                product += one * other
            error = r - (mean + b[x] + c[y] + product)
            b[x] += step * (error - shrink * b[x])
            c[y] += step * (error - shrink * c[y])
            p[x], q[y] = (
                p[x] + step * (error * q[y] - shrink * p[x]),
                q[y] + step * (error * p[x] - shrink * q[y]),
            )
    given = {"factors": 5, "epochs": 7, "rate": 0.03, "regularization": 0.1, "seed": 4}
    for how in ({"threads": 2}, {"device": "python"}):
        found = under(vg.SEQUENTIAL, graph, **given, **how)
        for name, wanted in (("user_factors", p), ("item_factors", q), ("user_bias", b), ("item_bias", c)):
            np.testing.assert_allclose(getattr(found, name), wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "conflicts", [[vg.EDGE_LOCKED, vg.SGM], pytest.param(SCHEDULES, marks=pytest.mark.slow)]
)
def test_every_schedule_comes_to_the_same_errors(conflicts: list[Any]) -> None:
    graph = taste()
    given = {"factors": 4, "epochs": 30, "rate": 0.02, "test": "test", "threads": 2}
    first = under(vg.SEQUENTIAL, graph, **given)
    test = graph.edges()[2]["test"]
    assert first.test_rmse[-1] < 0.6 * errors(graph, under(vg.SEQUENTIAL, graph, epochs=0))[test].std()
    assert (np.diff(first.rmse) < 0).all()
    for conflict in conflicts:
        found = under(conflict, graph, **given)
        assert found.test_rmse[-1] == pytest.approx(first.test_rmse[-1], rel=0.01), conflict
        off = errors(graph, found)
        for part, rmse in ((~test, found.rmse), (test, found.test_rmse)):
            assert rmse[-1] == pytest.approx(np.sqrt(np.mean(off[part] ** 2)), rel=1e-5)
            assert rmse.shape == (30,)
        if conflict not in (vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID):
            again = under(conflict, graph, **{**given, "threads": 1})
            for name in ("user_factors", "item_factors", "user_bias", "item_bias"):
                np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


@pytest.mark.parametrize("conflict", [vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.even_blocks(4)], ids=str)
def test_factors_stored_as_float16(conflict: Any) -> None:
    graph, given = taste(), {"factors": 4, "epochs": 30, "rate": 0.02, "test": "test", "threads": 2}
    wide, narrow = (under(conflict, graph, dtype=t, **given) for t in (vg.float32, vg.float16))
    assert narrow.user_factors.dtype == narrow.item_factors.dtype == np.float16
    assert narrow.test_rmse[-1] == pytest.approx(wide.test_rmse[-1], rel=0.01)
    vg.verify(narrow)
    assert narrow.predict(3, 4).dtype == np.float32
    assert narrow.recommend(3, 2, rated=True)[1].dtype == np.float32


def test_float16_factors_are_those_of_cpython() -> None:
    given = {"factors": 9, "epochs": 2, "dtype": vg.float16}
    found, wanted = (under(vg.SEQUENTIAL, taste(9, 7), **given, device=d) for d in ("cpu", "python"))
    for name in ("user_factors", "item_factors", "user_bias", "item_bias"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_held_out_ratings_are_not_learned_from() -> None:
    graph = taste(20, 15)
    test = graph.edges()[2]["test"]
    other = graph.with_edge_property("rating", np.where(test, 1000.0, graph.edges()[2]["rating"]))
    results = [under(vg.SEQUENTIAL, g, test="test", epochs=3) for g in (graph, other)]
    np.testing.assert_array_equal(results[0].user_factors, results[1].user_factors)
    np.testing.assert_array_equal(results[0].rmse, results[1].rmse)
    assert results[1].test_rmse[0] > 900
    assert np.isnan(under(vg.SEQUENTIAL, graph, epochs=2).test_rmse).all()


def test_the_same_ratings_with_other_tests() -> None:
    graph = taste(20, 15)
    one = np.arange(graph.num_edges) % 3 == 0
    first, second, array = (
        under(vg.SEQUENTIAL, g, test=test, epochs=2)
        for g, test in (
            (graph.with_edge_property("part", one), "part"),
            (graph.with_edge_property("part", ~one), "part"),
            (graph, ~one),
        )
    )
    assert first.mean != second.mean
    assert array.mean == second.mean
    ratings = graph.edge_properties["rating"]
    assert second.mean == pytest.approx(ratings[one].mean(), rel=1e-6)


@pytest.mark.parametrize("factors", [1, 33, 256])
def test_numbers_of_factors(factors: int) -> None:
    graph = taste(20, 15)
    found = vg.run(A.matrix_factorization, graph, factors=factors, epochs=15, rate=0.02, threads=2)
    assert found.user_factors.shape == (20, factors)
    assert found.item_factors.dtype == np.float32
    assert found.rmse[-1] == pytest.approx(np.sqrt(np.mean(errors(graph, found) ** 2)), rel=1e-5)
    assert found.rmse[-1] < 0.9 * found.rmse[0]


def test_rates_seeds_and_biases() -> None:
    graph = taste(20, 15)

    def rmse(**given: Any) -> np.ndarray:
        return under(vg.SEQUENTIAL, graph, epochs=4, threads=1, **given).rmse

    base = rmse()
    assert (rmse(seed=0) == base).all()
    assert (rmse(seed=1) != base).all()
    assert rmse(rate=0.0)[3] == rmse(decay=0.0, rate=0.0)[0]
    assert (rmse(decay=0.5)[:1] == base[:1]).all()
    assert (rmse(decay=0.5)[1:] > base[1:]).all()
    assert rmse(bold=True)[2] < base[2]
    frozen = under(vg.SEQUENTIAL, graph, epochs=4, biases=False)
    assert not frozen.user_bias.any()
    wild = under(vg.SEQUENTIAL, graph, epochs=30, rate=0.2, bold=True, threads=1).rmse
    assert (np.diff(wild) > 0).any()  # the rate is halved then
    assert wild[-1] < wild[0]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_too_large_a_rate(device: str) -> None:
    with pytest.raises(vg.AlgorithmError, match="grows beyond all bounds: use a smaller rate"):
        vg.run(A.matrix_factorization, taste(6, 5), epochs=20, rate=100.0, device=device)


def test_it_ends_early_where_tests_get_worse() -> None:
    graph = taste(20, 15, part=0.3, tests=0.3)
    given = {"factors": 16, "epochs": 400, "rate": 0.05, "regularization": 0.0, "test": "test", "threads": 1}
    every = under(vg.SEQUENTIAL, graph, **given).test_rmse
    found = under(vg.SEQUENTIAL, graph, patience=3, **given).test_rmse
    size = found.size
    assert size < 400
    assert (found == every[:size]).all()
    assert found.argmin() == size - 4


def test_predictions_and_recommendations() -> None:
    graph = taste(20, 15)
    found = under(vg.SEQUENTIAL, graph, epochs=5)
    score = found.mean + found.user_bias[3] + found.item_bias + found.item_factors @ found.user_factors[3]
    np.testing.assert_allclose(found.predict(3, np.arange(15)), score, rtol=1e-5)
    items, scores = found.recommend(3, 15, rated=True)
    assert items.tolist() == np.argsort(-score, kind="stable").tolist()
    np.testing.assert_allclose(scores, np.sort(score)[::-1], rtol=1e-5)
    s, t, _ = graph.edges()
    known = {*(t[s == 3] - 20).tolist()}
    assert found.recommend(3)[0].tolist() == [i for i in items.tolist() if i not in known][:10]
    for call in (
        lambda: found.predict(20, 0),
        lambda: found.predict(0, [15]),
        lambda: found.predict(0.5, 0),
        lambda: found.recommend(-1),
        lambda: found.recommend(0, -1),
    ):
        with pytest.raises(vg.ParameterError):
            call()


def test_few_vertices_and_many_epochs() -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 2], [3, 4, 4, 3], weight=[5.0, 1.0, 2.0, 4.0])
    found = vg.run(A.matrix_factorization, graph, epochs=300, factors=3, rate=0.05, regularization=0.0)
    assert (found.rmse.size, found.user_factors.shape, found.item_factors.shape) == (300, (3, 3), (2, 3))
    assert found.rmse[-1] < 1e-3
    more = vg.run(A.matrix_factorization, graph, epochs=1, users=2 + 1, rating="weight")
    assert more.item_bias.size == 2
    none = vg.run(
        A.matrix_factorization, vg.Graph.from_edges([], [], num_vertices=4, rating=[]), users=3, epochs=2
    )
    assert (none.rmse.tolist(), none.mean, none.user_bias.size) == ([0, 0], 0, 3)


def test_what_is_refused() -> None:
    graph = taste(5, 4)
    s, t, properties = graph.edges()
    for bad, given, message in (
        (graph, {"factors": 0}, "factors=0 is below 1"),
        (graph, {"epochs": -1}, "epochs=-1 is below 0"),
        (graph, {"rate": -1.0}, "rate=-1"),
        (graph, {"rating": "stars"}, "rating='stars': the graph has no such edge property"),
        (graph, {"epochs": 2**40}, "do not fit into memory"),
        (graph, {"rate": np.inf}, "rate: a value is not finite"),
        (vg.from_ratings([1], [1], [1e300]), {}, "rating='rating': a rating is too large for a float32"),
        (graph, {"users": "two"}, "users='two' is not a number of vertices"),
        (graph, {"users": -1}, "users=-1: the graph has 9 vertices"),
        (graph, {"users": 7}, "users=7: vertex 5 is rated"),
        (graph, {"users": 3}, "vertex 4 rates"),
        (vg.Graph.from_edges(s, t, directed=False, **properties), {}, "directed=True"),
        (
            vg.Graph.from_edges([0, 1], [1, 2], rating=[1.0, 2.0]),
            {},
            "vertex 1 rates, and the first items are 1",
        ),
        (vg.Graph.from_edges([0], [1], rating=[np.nan]), {}, "a rating is not finite"),
        (vg.Graph.from_edges([0], [1]), {}, "rating='rating': the graph has no such edge property"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(A.matrix_factorization, bad, **given)
    result = under(vg.SEQUENTIAL, graph, epochs=1)
    for call, message in (
        (lambda: result.predict([0, 1], [0, 1, 2]), "one item for each user"),
        (lambda: result.recommend([0, 1]), "one user at a time"),
        (lambda: result.recommend(0, k=1.5), "k=1.5 is no int of at least 0"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            call()
    assert result.predict([], []).size == 0
