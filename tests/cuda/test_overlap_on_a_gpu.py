"""Orders that are made beside runs on a GPU: the next run begins in one, and the next ones go back if it is slower."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.runtime.devices.overlap import LEAST, Trial


def some_graph() -> vg.Graph:
    rng = np.random.default_rng(2)
    return vg.Graph.from_edges(*rng.integers(0, 80, (2, 300)), num_vertices=80)


def the_trial(graph: vg.Graph) -> Trial:
    """What runs on the graph began, when its thread has ended."""
    found = graph.kept_with_topology("trial of rcm", lambda: pytest.fail("nothing was begun"))
    found._thread.join()
    return found


def test_the_next_run_begins_in_the_order(gpu: Any) -> None:
    graph = some_graph()
    asked = {"device": "cuda", "relabel": vg.overlap("rcm")}
    first = vg.run(vg.algorithms.pagerank, graph, **asked)
    assert first.stats.order is None
    the_trial(graph)
    second = vg.run(vg.algorithms.pagerank, graph, **asked)
    assert (second.stats.order, second.stats.overlap.order, second.stats.overlap.changed) == ("rcm", "rcm", 1)
    assert second.stats.overlap.seconds > 0
    np.testing.assert_allclose(second.rank, first.rank, rtol=1e-9)
    with pytest.raises(vg.ScheduleError, match="numbers of the vertices"):
        vg.run(vg.algorithms.connected_components, graph, **asked)


def test_runs_go_back_if_they_take_longer() -> None:
    graph = some_graph()
    trial = Trial("rcm")
    assert trial.order_for("any") is None

    def ran(seconds: float, arcs: int = 100) -> Any:
        return SimpleNamespace(records=np.full((2, 6), arcs // 2), dropped=0, kernel_seconds=seconds)

    for program, later in (("slower", 2.1), ("quicker", 1.0), ("longer", 20.0)):
        for _ in range(LEAST):
            assert trial.noted(graph, program, ran(2.0), False).gain is None
            trial._thread.join()
            assert trial.order_for(program) == "rcm"
        for _ in range(LEAST):
            told = trial.noted(graph, program, ran(later, 2000 if program == "longer" else 100), True)
        assert told.kept == (program != "slower")
    assert (trial.order_for("slower"), trial.order_for("quicker")) == (None, "rcm")
    assert told.gain == 2.0


def test_what_the_thread_has_to_say_is_said(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(graph: vg.Graph, by: object) -> str:
        raise vg.GraphError("no order today")

    monkeypatch.setattr("vgraph.runtime.devices.overlap.made_beside", fails)
    graph = some_graph()
    asked = {"device": "cuda", "relabel": vg.overlap("rcm")}
    vg.run(vg.algorithms.pagerank, graph, **asked)
    the_trial(graph)
    with pytest.raises(vg.GraphError, match="no order today"):
        vg.run(vg.algorithms.pagerank, graph, **asked)
