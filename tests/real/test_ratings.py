"""Recommendations from ratings of MovieLens and Jester: LensKit's predictions, and errors under each schedule."""

from __future__ import annotations

import csv
import importlib.util
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vgraph as vg

ROOT = Path(__file__).resolve().parents[2]
RATINGS = ROOT.parent / "shared" / "data" / "ratings"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not RATINGS.is_dir(), reason="the ratings (../shared/data) are not there"),
]


def test_predictions_of_lenskit() -> None:
    """FunkSVD: 15 features, 125 epochs for each; 2,000 predictions of another program, which shuffles the ratings."""
    spec = importlib.util.spec_from_file_location("funk_svd", ROOT / "examples" / "funk_svd.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graph = vg.read_ratings(RATINGS / "ml-latest-small" / "ratings.csv.xz")
    ids = graph.vertex_properties["id"]
    users = int(graph.out.column_indices.min())
    with lzma.open(RATINGS / "lenskit_reference" / "funksvd-preds.csv.xz", "rt") as file:
        rows = np.array([[float(x) for x in row.values()] for row in csv.DictReader(file)])
    u = np.searchsorted(ids[:users], rows[:, 0])
    i = users + np.searchsorted(ids[users:], rows[:, 1])
    assert (ids[u] == rows[:, 0]).all()
    assert (ids[i] == rows[:, 1]).all()
    assert len(rows) == 2000
    for conflict in (vg.SEQUENTIAL, vg.EDGE_LOCKED):
        schedule = vg.Schedule().at("learn", conflict=conflict)
        found = vg.run(module.funk_svd, graph, schedule=schedule, threads=2)
        products = (found.features[u] * found.features[i]).sum(axis=1)
        assert abs(found.mean + found.bias[u] + found.bias[i] + products - rows[:, 2]).max() < 0.01


@pytest.mark.parametrize(
    ("name", "rate", "best"),
    [("ml-latest-small/ratings.csv.xz", 0.02, 0.892), ("jester-1.csv.xz", 0.003, 4.1)],
)
def test_errors_under_each_schedule(name: str, rate: float, best: float) -> None:
    """Beside one rating after the other, by lot."""
    graph = vg.read_ratings(RATINGS / name)
    test = np.random.default_rng(0).random(graph.num_arcs) < 0.1
    s, t, properties = graph.edges()
    lot = np.random.default_rng(1).permutation(s.size)
    graph = vg.Graph.from_edges(
        s[lot], t[lot], num_vertices=graph.num_vertices, rating=properties["rating"][lot], test=test[lot]
    )
    found = {}
    for conflict in (
        *(vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID, vg.AGM_E, vg.AGM_N, vg.SGM),
        *(vg.COLORED, vg.DIAGONAL, vg.blocked_diagonals(), vg.blocked_diagonals(64, 64)),
        *(vg.blocked_diagonals(1024, 1024), vg.dealt_blocks(), vg.even_blocks()),
    ):
        schedule = vg.Schedule().at("learn", conflict=conflict)
        result = vg.run(
            vg.algorithms.matrix_factorization, graph, test="test", rate=rate, threads=2, schedule=schedule
        )
        found[str(conflict)] = result.test_rmse[-1]
    assert found["sequential"] < best
    assert found == pytest.approx(dict.fromkeys(found, found["sequential"]), rel=0.01)


@pytest.mark.parametrize("conflict", [vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.even_blocks(8)], ids=str)
def test_errors_of_factors_stored_as_float16(conflict: Any) -> None:
    graph = vg.read_ratings(RATINGS / "ml-latest-small" / "ratings.csv.xz")
    test = np.random.default_rng(0).random(graph.num_arcs) < 0.1
    schedule = vg.Schedule().at("learn", conflict=conflict)
    wide, narrow = (
        vg.run(
            vg.algorithms.matrix_factorization,
            graph,
            test=test,
            dtype=t,
            rate=0.02,
            threads=2,
            schedule=schedule,
        )
        for t in (vg.float32, vg.float16)
    )
    assert narrow.user_factors.dtype == np.float16
    for name in ("rmse", "test_rmse"):
        assert getattr(narrow, name)[-1] == pytest.approx(getattr(wide, name)[-1], rel=0.01)
