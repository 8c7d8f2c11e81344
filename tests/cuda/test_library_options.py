"""Options of the library that choose other code than the defaults, on the GPU: results are those of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schedule_matrix import same

import vgraph as vg

A = vg.algorithms
OPTIONS: list[tuple[vg.AlgorithmDef, dict[str, Any]]] = [
    (A.a_star, {"source": 3, "target": 17, "weight": "weight", "heuristic": np.arange(40) / 40}),
    (A.bfs, {"source": 3, "max_depth": 2}),
    (A.closeness, {"vertices": [3, 5, 5]}),
    (A.sssp, {"source": 3, "targets": [17, 4]}),
]


def test_functions(gpu: Any) -> None:
    rng = np.random.default_rng(7)
    graph = vg.Graph.from_edges(
        *rng.integers(0, 70, (2, 160)), num_vertices=70, weight=rng.integers(0, 30, 160)
    )
    for weighted in (False, True):
        mine, expected = (
            A.all_pairs_shortest_paths(graph, weighted=weighted, device=device) for device in ("cuda", "cpu")
        )
        for found, right in zip(mine, expected, strict=True):
            assert (found.distances == right.distances).all()
    lengths = [
        [p.length for p in A.k_shortest_paths(graph, 3, 4, 4, "weight", device=d)] for d in ("cuda", "cpu")
    ]
    assert lengths[0] == lengths[1]
    assert len(lengths[0]) == 4


@pytest.mark.parametrize(("algorithm", "options"), OPTIONS, ids=lambda x: getattr(x, "name", ""))
def test_options(algorithm: vg.AlgorithmDef, options: dict[str, Any], gpu: Any) -> None:
    rng = np.random.default_rng(6)
    ends = rng.integers(0, 40, (2, 90))
    graph = vg.Graph.from_edges(*ends, num_vertices=40, weight=rng.integers(0, 30, 90) / 4)
    found = vg.run(algorithm, graph, device="cuda", **options)
    vg.verify(found)
    expected = vg.run(algorithm, graph, device="cpu", threads=1, **options)
    for name in set(found.names) - {"parent"}:
        same(getattr(found, name), getattr(expected, name), name)
