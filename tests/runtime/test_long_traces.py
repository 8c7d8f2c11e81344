"""Runs of more rounds than are recorded."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import vgraph as vg
from vgraph.runtime.devices import cpu


def test_rounds_are_counted_beyond_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    room, n = 1000, 1500
    monkeypatch.setattr(cpu, "ContextView", partial(cpu.ContextView, trace_limit=room))
    v = np.arange(n - 1)
    graph = vg.Graph.from_edges(v, v + 1, num_vertices=n)
    result = vg.run(vg.algorithms.bfs, graph, source=0, threads=2)
    assert len(result.trace) == room
    assert result.stats.rounds == n
    assert (result.level == np.arange(n)).all()
