"""The library's algorithms and random operators in two phases, with and without a pipeline."""

from __future__ import annotations

import threading
import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from test_algorithms_differential import check_tree, larger

import vgraph as vg

A = vg.algorithms
FORMS = [
    {"phases": phases, "payload": payload, "pipeline": pipeline}
    for phases, payload, pipeline in product(
        (vg.GATHER_APPLY, vg.APPLY_SCATTER), (vg.RAW, vg.COMPUTED), (0, 2)
    )
]
CASES = {
    "gather": (A.pagerank, {"max_rounds": 10, "tolerance": 0.0}),
    "visit": (A.bfs, {"source": 3}),
    "relax": (A.sssp, {"source": 3}),
    "lower": (A.label_components, {}),
}


def hub(leaves: int) -> vg.Graph:
    """A star with a path at its end: one vertex has more arcs than a slot of a channel has room for by itself."""
    s = np.r_[np.zeros(leaves, int), np.arange(leaves, leaves + 50)]
    t = np.r_[np.arange(1, leaves + 1), np.arange(leaves + 1, leaves + 51)]
    weight = (1 + np.arange(s.size) % 7).astype(np.int32)
    return vg.Graph.from_edges(s, t, directed=False, weight=weight)


def agrees(graph: vg.Graph, label: str, threads: int, **options: Any) -> None:
    algorithm, params = CASES[label]
    schedule = vg.Schedule().at(label, **options)
    expected = vg.run(algorithm, graph, threads=1, **params)
    found = vg.run(algorithm, graph, threads=threads, schedule=schedule, **params)
    if label == "visit":
        np.testing.assert_array_equal(found.level, expected.level)
        check_tree(graph, 3, found.level, found.parent)
        return
    for name in expected.names:
        tolerance = 1e-12 if label == "gather" else 0.0
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=tolerance)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("label", CASES)
def test_algorithms_in_two_phases(label: str, threads: int) -> None:
    graph = larger(5, label != "lower", "int32")
    drives = (None,) if label == "gather" else (vg.TOPOLOGY, vg.DATA)
    for options, drive in product(FORMS, drives):
        more = {} if drive is None else {"drive": drive}
        agrees(graph, label, threads, **options, **more)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("label", CASES)
def test_a_vertex_with_more_arcs_than_a_slot_has_room_for(label: str, threads: int) -> None:
    graph = hub(9000)
    for options in FORMS:
        if options["pipeline"]:
            agrees(graph, label, threads, **options)


def test_pipelines_on_graphs_without_anything() -> None:
    for graph in (vg.Graph.from_edges([], [], num_vertices=0), vg.Graph.from_edges([], [], num_vertices=3)):
        for options, threads in product(FORMS, (1, 3)):
            schedule = vg.Schedule().at("gather", **options)
            assert (
                vg.run(A.pagerank, graph, schedule=schedule, threads=threads).rank.size == graph.num_vertices
            )


@vg.operator
def add(src, edge, dst):
    dst.total += src.total


@vg.algorithm
def endless(graph):
    total = graph.vertex_property(vg.int64, fill=1)
    going = 1
    while going > 0:
        graph.edge_apply(add)
    return total


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("phases", [vg.GATHER_APPLY, vg.APPLY_SCATTER])
@pytest.mark.parametrize("pipeline", [0, 1, 3])
def test_a_run_stops_when_it_is_told_to(pipeline: int, phases: Any, threads: int) -> None:
    """An error of the progress report cancels as Ctrl-C does; no side of a pipeline waits for the other for ever."""
    graph = larger(2, True, "int32")
    schedule = vg.Schedule().at("add", phases=phases, pipeline=pipeline)
    ended = threading.Event()

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            vg.run(endless, graph, threads=threads, schedule=schedule, progress=stop)
        ended.set()

    worker = threading.Thread(target=work, daemon=True)
    start = time.monotonic()
    worker.start()
    assert ended.wait(300), f"still running after {time.monotonic() - start:.0f} s"
