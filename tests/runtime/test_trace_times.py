"""Times of rounds are taken where all threads have met: they leave no gap, and no round beats the memory."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends.abi import Steering
from vgraph.runtime.devices import cpu
from vgraph.runtime.devices import threads as native_threads

BANDWIDTH = 400e9
"""Bytes per second that no memory gives to two cores; nor do their caches to a loop that follows indices."""
ARC = 12
"""Bytes that a round of PageRank reads for each arc: an id and a rank."""


@pytest.fixture(scope="module")
def graph():
    ends = np.random.default_rng(3).integers(0, 4000, (2, 88_000))
    return vg.Graph.from_edges(*ends, num_vertices=4000, directed=False)


@pytest.fixture(params=[Steering.TOGETHER, Steering.RANDOM, Steering.ADAPTIVE], ids=lambda s: s.name)
def steering(request, monkeypatch):
    monkeypatch.setattr(native_threads, "STEERING", request.param)
    return request.param


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_round_beats_the_memory(graph, steering, threads):
    result = vg.run(vg.algorithms.pagerank, graph, threads=threads, max_rounds=25, tolerance=0.0)
    gathers = [r for r in result.trace if r.label == "gather"]
    assert len(gathers) == 25
    for record in gathers:
        assert record.edges == graph.num_arcs
        assert record.seconds > record.edges * ARC / BANDWIDTH
        assert 0 <= record.waited <= record.seconds


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rounds_leave_no_gap(graph, steering, threads, monkeypatch):
    seen = []
    run = cpu.run_native

    def watched(kernel, context, count, **more):
        run(kernel, context, count, **more)
        seen.append(context.trace())

    monkeypatch.setattr(cpu, "run_native", watched)
    result = vg.run(vg.algorithms.pagerank, graph, threads=threads, max_rounds=10, tolerance=0.0)
    (trace,) = seen
    begin = trace["end_ns"] - trace["ns"]
    np.testing.assert_array_equal(begin[1:], trace["end_ns"][:-1])
    assert sum(r.seconds for r in result.trace) <= result.stats.run_seconds
    assert sum(r.waited for r in result.trace) == pytest.approx(result.stats.waited, abs=1e-7)
    assert result.stats.waited <= result.stats.run_seconds
    assert (threads > 1) or result.stats.waited == 0


def test_waiting_is_told(graph, monkeypatch):
    monkeypatch.setattr(native_threads, "STEERING", Steering.TOGETHER)
    result = vg.run(vg.algorithms.pagerank, graph, threads=2, max_rounds=25, tolerance=0.0)
    assert result.stats.waited > 0
