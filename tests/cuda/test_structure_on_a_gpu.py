"""What the matrix of schedules does not reach of the library: cores of directed graphs, cliques of a size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graph() -> vg.Graph:
    rng = np.random.default_rng(8)
    return vg.Graph.from_edges(*rng.integers(0, 40, (2, 260)), weight=rng.integers(1, 9, 260))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("clique_count", {"size": 4}),
        ("k_core", {"mode": "in"}),
        ("k_core", {"mode": "all", "weight": "weight"}),
        ("k_core", {"mode": "out", "weight": "weight"}),
        ("leiden", {}),
        ("louvain", {}),
        ("maximum_clique", {}),
    ],
)
def test_the_same_as_on_the_cpu(gpu: Any, graph: vg.Graph, name: str, given: dict[str, Any]) -> None:
    algorithm = getattr(A, name)
    expected = vg.run(algorithm, graph, threads=1, **given)
    found = vg.run(algorithm, graph, device="cuda", **given)
    vg.verify(found)
    for field in found.names:
        np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=1e-12)
