"""Runs of more rounds than are recorded."""

from __future__ import annotations

import numpy as np

import vgraph as vg


def test_rounds_are_counted_beyond_the_trace() -> None:
    n = (1 << 20) + 5000
    v = np.arange(n - 1)
    graph = vg.Graph.from_edges(v, v + 1, num_vertices=n)
    result = vg.run(vg.algorithms.bfs, graph, source=0, threads=2)
    assert len(result.trace) == 1 << 20
    assert result.stats.rounds == n
    assert (result.level == np.arange(n)).all()
