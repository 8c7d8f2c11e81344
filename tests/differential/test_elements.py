"""Writes of elements of vectors: the same on every device and schedule."""

from __future__ import annotations

from types import ModuleType
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


@vg.operator
def reach(src, edge, dst):
    """One step more."""
    for i in range(len(dst.hops)):
        dst.hops[i] = min(dst.hops[i], src.hops[i] + 1)
    dst.kinds[src.id] += 1


@vg.operator
def at_itself(v):
    """It takes nothing to be where one is."""
    v.hops[v.id] = 0


@vg.algorithm
def all_hops(graph, k: vg.int32):
    """Hops between all pairs, up to two; sources of in-arcs by their numbers modulo 2 * k."""
    hops = graph.vertex_property(vg.vector(vg.int32, graph.num_vertices), fill=99)
    kinds = graph.vertex_property(vg.vector(vg.int64, 2 * k))
    graph.vertex_apply(at_itself)
    for _ in range(2):
        graph.edge_apply(reach)
    return hops, kinds


@pytest.mark.parametrize(("n", "k"), [(12, 1), (40, 20)])
def test_lengths_of_the_run(n: int, k: int) -> None:
    """Lengths of vectors from a parameter and from the graph; those of 40 stay in memory."""
    graph = graph_of_elements(n)
    s, t, _ = graph.edges()
    step, kinds = np.eye(n, dtype=bool), np.zeros((n, 2 * k), np.int64)
    step[s, t] = True
    np.add.at(kinds, (t, s % (2 * k)), 2)
    hops = np.where(np.eye(n), 0, np.where(step, 1, np.where(step @ step, 2, 99))).T
    ways: list[dict[str, Any]] = [{"device": "python"}, {"threads": 2}, {"deterministic": True}]
    ways += [{"schedule": vg.Schedule().at("reach", direction=d), "threads": 1} for d in (vg.PUSH, vg.PULL)]
    for way in ways:
        found = vg.run(all_hops, graph, k=k, **way)
        assert found.hops.dtype == np.int32
        assert found.hops.tolist() == hops.tolist()
        assert found.kinds.tolist() == kinds.tolist()


@vg.algorithm
def twice(graph, k):
    """Rows of two lengths, by an algorithm that is called; its own `k` is another."""
    narrow = all_hops(graph, k).kinds
    wide = all_hops(graph, 2 * k + 1).kinds
    return narrow, wide


def test_lengths_of_a_call() -> None:
    graph = graph_of_elements(12)
    for device in ({"device": "python"}, {"threads": 1}):
        found = vg.run(twice, graph, k=1, **device)
        assert found.narrow.shape == (12, 2)
        assert found.wide.shape == (12, 6)
        assert (found.narrow.sum(axis=1) == found.wide.sum(axis=1)).all()


@vg.function
def filled(v):
    """The degree, by ones in a local array of k + 1."""
    ones = vg.local(vg.int64, k + 1)  # noqa: F821
    for _ in v.out_neighbors:
        ones[min(vg.sum(ones), k)] = 1  # noqa: F821
    return vg.sum(ones)


@vg.operator
def rest(v):
    """Rests on k nowhere but in a slice and in the helper's local array."""
    v.found = vg.sum(v.ones[1:k]) * 100 + filled(v)  # noqa: F821


@vg.algorithm
def parts_of_the_run(graph, k):
    """Parameters in lengths and bounds of operators and helpers alone."""
    ones = graph.vertex_property(vg.vector(vg.int64, 9), fill=1)
    found = graph.vertex_property(vg.int64)
    graph.vertex_apply(rest)
    return found


def test_lengths_in_operators_and_helpers() -> None:
    graph = vg.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    for k in (2, 5):
        for device in ({"device": "python"}, {"threads": 1}):
            found = vg.run(parts_of_the_run, graph, k=k, **device).found
            assert (found - 100 * (k - 1)).tolist() == [min(3, k + 1), 1, 0, 0]


def test_long_vectors_stay_in_memory() -> None:
    """The code is as long for 900 elements as for 300, in a push and in a pull."""
    for direction in (vg.PUSH, vg.PULL):
        sizes = []
        for n in (300, 900):
            graph = vg.Graph.from_edges([0, 1], [1, 2], num_vertices=n, weight=[1, 2])
            schedule = vg.Schedule().at("reach", direction=direction)
            text = vg.explain(all_hops, graph, k=200, schedule=schedule, llvm=True, threads=1).llvm
            assert f"<{n} x" not in text
            sizes.append(len(text.splitlines()))
        assert sizes[0] == sizes[1]


def test_too_long_for_a_buffer_of_arcs() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], num_vertices=5000)
    schedule = vg.Schedule().at("reach", phases=vg.GATHER_APPLY)
    with pytest.raises(vg.ScheduleError, match="5,000 elements for each arc fits into no buffer"):
        vg.run(all_hops, graph, k=2, schedule=schedule)


def test_too_large_for_the_memory() -> None:
    """2 PB, which no machine's address space has; the message names the array by its shape."""
    graph = vg.Graph.from_edges([0], [1], num_vertices=16_000_000)
    with pytest.raises(vg.DeviceError, match=r"does not fit .*\(16000000, 16000000\)"):
        vg.run(all_hops, graph, k=1, threads=1)


HELPERS = ModuleType("helpers")


@vg.function
def one(v):
    return 1


@vg.function
def row_sum(v):
    row = vg.local(vg.int64, k, fill=2)  # noqa: F821
    row[0] = 7
    return len(row) + row[0]


@vg.operator
def by_a_helper(v):
    v.x = HELPERS.f(v)


@vg.algorithm
def helped(graph, k=3):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(by_a_helper)
    return x


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_lengths_of_a_helper_that_another_takes_the_place_of(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, where a cell is changed and run again; the helper stands in another module."""
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    monkeypatch.setattr(HELPERS, "f", one, raising=False)
    assert vg.run(helped, graph, device=device).x.tolist() == [1] * 3
    monkeypatch.setattr(HELPERS, "f", row_sum)
    assert vg.run(helped, graph, device=device).x.tolist() == [10] * 3
    assert vg.run(helped, graph, device=device, k=5).x.tolist() == [12] * 3
