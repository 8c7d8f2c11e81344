"""Factors and scores on a GPU: least squares unasked, steps that write both ends or what was gathered on request."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms


def ratings() -> vg.Graph:
    rng = np.random.default_rng(2)
    return vg.from_ratings(rng.integers(0, 9, 50), rng.integers(0, 7, 50), rng.integers(1, 6, 50))


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [None, 2.0])
def test_least_squares(gpu, confidence):
    given = {"confidence": confidence, "factors": 3, "epochs": 2, "regularization": 0.5}
    expected = vg.run(A.alternating_least_squares, ratings(), **given)
    found = vg.run(A.alternating_least_squares, ratings(), device="cuda", **given)
    for name in ("user_factors", "item_factors", "loss"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=2e-3, atol=2e-3)
    vg.verify(found)


@pytest.mark.parametrize("conflict", [vg.EDGE_LOCKED, vg.blocked_diagonals(4, 4)], ids=str)
def test_factors_stored_as_float16(gpu, conflict):
    schedule = vg.Schedule().at("learn", conflict=conflict)
    given = {"factors": 8, "epochs": 20, "rate": 0.05, "schedule": schedule, "device": "cuda"}
    wide, narrow = (
        vg.run(A.matrix_factorization, ratings(), dtype=t, **given) for t in (vg.float32, vg.float16)
    )
    assert narrow.item_factors.dtype == np.float16
    assert narrow.rmse[-1] == pytest.approx(wide.rmse[-1], rel=0.01)
    vg.verify(narrow)


@pytest.mark.parametrize(
    ("name", "label", "conflict"),
    [
        pytest.param("pairwise_ranking", "project", vg.COLORED, marks=pytest.mark.slow),
        ("bayesian_personalized_ranking", "learn", vg.MARKED),
    ],
)
def test_steps_in_one_order(gpu, name, label, conflict):
    schedule = vg.Schedule().at(label, conflict=conflict)
    given = {"epochs": 2, "schedule": schedule} | ({"factors": 3} if label == "learn" else {})
    expected, found = (
        vg.run(getattr(A, name), ratings(), device=device, **given) for device in ("cpu", "cuda")
    )
    for part in found.names:
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-4, atol=1e-5)
