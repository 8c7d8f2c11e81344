"""Bayesian personalized ranking: the same on all devices in the same order, and what it learns under the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms


def tastes(users: int = 24, items: int = 16) -> vg.Graph:
    """Even users take even items, odd users odd ones; the last user takes nothing."""
    rng = np.random.default_rng(4)
    u, i = np.nonzero(rng.random((users - 1, items)) < 0.6)
    alike = u % 2 == i % 2
    return vg.Graph.from_edges(u[alike], users + i[alike], num_vertices=users + items)


def ranked(graph: vg.Graph, conflict: Any = vg.SEQUENTIAL, **given: Any) -> Any:
    schedule = vg.Schedule().at("learn", conflict=conflict)
    given = {"users": 24, "factors": 4, **given}
    return vg.run(A.bayesian_personalized_ranking, graph, schedule=schedule, **given)


@pytest.mark.parametrize("popular", [False, True])
def test_the_same_in_the_same_order(popular: bool) -> None:
    wanted = ranked(tastes(), epochs=1, popular=popular, device="python")
    found = ranked(tastes(), epochs=1, popular=popular, threads=2)
    for name in ("user_factors", "item_factors", "item_bias", "auc"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("conflict", [vg.SEQUENTIAL, vg.NODE_LOCKED, vg.MARKED], ids=str)
def test_tastes_are_found(conflict: Any) -> None:
    graph = tastes()
    found = ranked(graph, conflict, epochs=60, rate=0.2, threads=2)
    vg.verify(found)
    assert found.auc[-1] > 0.95 > 0.75 > found.auc[0]
    for user in range(0, 23, 5):
        items, scores = found.recommend(user, 3)
        taken = {*(graph.out.column_indices[slice(*graph.out.row_offsets[user : user + 2])] - 24).tolist()}
        assert not taken & {*items.tolist()}
        assert (np.diff(scores) <= 0).all()
        alike = [i for i in range(user % 2, 16, 2) if i not in taken]
        assert not alike or items[0] in alike
    np.testing.assert_allclose(
        found.predict(3, np.arange(16)),
        found.item_factors @ found.user_factors[3] + found.item_bias,
        rtol=1e-5,
    )


def test_more_items_than_a_visit_goes_through_and_other_lots() -> None:
    graph = vg.Graph.from_edges([0] * 40 + [1], [*range(2, 42), 50], num_vertices=60)
    first, second = (ranked(graph, users=2, epochs=70, seed=seed) for seed in (0, 1))
    assert (first.auc != second.auc).any()
    assert first.auc.shape == (70,)
    assert first.item_bias[:40].min() > first.item_bias[-8:].max()


def test_what_is_wrong_is_found() -> None:
    found = ranked(tastes(), epochs=60, rate=0.2)
    found._values["item_factors"] = -found.item_factors
    with pytest.raises(
        vg.VerificationError, match="of the pairs are in the right order; the last epoch found"
    ):
        vg.verify(found)


def test_what_is_refused() -> None:
    for given, message in (
        ({"factors": 0}, "factors=0 is below 1"),
        ({"epochs": -1}, "epochs=-1 is below 0"),
        ({"rate": np.inf}, "rate: a value is not finite"),
        ({"users": 30}, "users=30: vertex .* is rated"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            ranked(tastes(), **given)
    with pytest.raises(vg.AlgorithmError, match="use a smaller rate"):
        ranked(tastes(), rate=1e20)
    nobody = vg.Graph.from_edges([], [], num_vertices=30)
    assert ranked(nobody, epochs=3).auc.tolist() == [0, 0, 0]
