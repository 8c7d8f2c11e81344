"""Writes of elements of vectors: the same on every device and schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elements import elements, graph_of_elements, same_elements
from schedule_matrix import Case, program_of

import vgraph as vg
from vgraph.compiler import space

DEVICES: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"checked": True}]


@pytest.mark.parametrize("directed", [True, False])
def test_devices_agree(directed: bool) -> None:
    graph = graph_of_elements(directed=directed)
    expected = vg.run(elements, graph, device="python")
    for device in DEVICES:
        same_elements(vg.run(elements, graph, **device), expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_schedules_agree(threads: int) -> None:
    graph = graph_of_elements()
    expected = vg.run(elements, graph, device="python")
    asked = program_of(elements, Case("", graph, {}, expected), threads)
    schedules = space.sample(*asked, 8, seed=threads)
    assert len(schedules) == 8
    for schedule in schedules:
        same_elements(vg.run(elements, graph, schedule=schedule, threads=threads), expected)


@vg.operator
def tally(src, edge, dst):
    """A histogram of labels."""
    dst.counts[src.label] += 1


@vg.algorithm
def histogram(graph, label: vg.vertex_property(vg.int32)):
    """How many in-neighbors have each of three labels."""
    counts = graph.vertex_property(vg.vector(vg.int64, 3))
    graph.edge_apply(tally)
    return counts


def test_a_histogram() -> None:
    graph = graph_of_elements(200)
    label = np.random.default_rng(0).integers(-9, 9, 200).astype(np.int32)
    s, t, _ = graph.edges()
    want = np.zeros((200, 3), np.int64)
    np.add.at(want, (t, label[s] % 3), 1)  # elements are counted modulo the length
    for direction in (vg.PUSH, vg.PULL):
        schedule = vg.Schedule().at("tally", direction=direction)
        for threads in (1, 2):
            found = vg.run(histogram, graph, label=label, schedule=schedule, threads=threads)
            assert (found.counts == want).all()


def test_only_the_element_is_touched() -> None:
    """A push adds to one number, whatever the length: no vector comes into a register."""
    schedule = vg.Schedule().at("tally", direction=vg.PUSH)
    text = vg.explain(histogram, graph_of_elements(), schedule=schedule, llvm=True).llvm
    assert "<3 x i64>, ptr" not in text
    assert "insertelement" not in text


@vg.operator
def lower(src, edge, dst):
    """A minimum of whole vectors."""
    dst.least = min(dst.least, src.own)


@vg.algorithm
def lowest(graph):
    """Minima of vectors, and where they took effect."""
    own = graph.vertex_property(vg.vector(vg.float64, 2), fill=4)
    least = graph.vertex_property(vg.vector(vg.float64, 2), fill=vg.inf)
    first = len(graph.edge_apply(lower))
    again = len(graph.edge_apply(lower, label="again"))
    return own, least, first, again


@pytest.mark.parametrize("direction", [vg.PUSH, vg.PULL])
def test_where_vectors_changed(direction: Any) -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    schedule = vg.Schedule().at("lower", direction=direction).at("again", direction=direction)
    found = vg.run(lowest, graph, schedule=schedule)
    assert (found.first, found.again) == (2, 0)
    assert found.least.tolist() == [[np.inf, np.inf], [4, 4], [4, 4]]


@vg.operator
def numbered(v):
    """Neighbors by their order."""
    order = vg.local(vg.vertex, 200)
    flags = vg.local(vg.bool_, 200, fill=True)
    k = 0
    for u in v.out_neighbors:
        order[k] = u
        flags[k] = u.id > v.id
        k += 1
    if k > 0 and not flags[k - 1]:
        v.last = order[k - 1]


@vg.algorithm
def lasts(graph):
    """The last neighbor of each vertex, if it is a smaller one."""
    last = graph.vertex_property(vg.vertex)
    graph.vertex_apply(numbered)
    return last


def test_local_arrays_lie_in_memory() -> None:
    """An element is read and written at its address, whatever the length: no vector comes into a register."""
    graph = graph_of_elements()
    text = vg.explain(lasts, graph, llvm=True, threads=1).llvm
    assert "alloca [200 x i32]" in text
    assert "alloca [200 x i8]" in text
    assert not any(word in text for word in ("insertelement", "extractelement", "<200 x"))
    expected = vg.run(lasts, graph, device="python")
    assert (vg.run(lasts, graph, threads=2).last == expected.last).all()
