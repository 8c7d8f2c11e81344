"""Segments in slices of 16 rows: every arc once, whatever the number of threads that make them."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph import machine
from vgraph.graph.layouts import on_host, ordered, sell
from vgraph.graph.orient import oriented


def graph_of(seed: int, *, directed: bool = True, id_bits: int | None = None) -> vg.Graph:
    """With a hub whose rows are long, loops, parallel arcs, and vertices that no arc enters."""
    rng, n, m = np.random.default_rng(seed), 300, 3000
    sources, targets = rng.integers(0, n, (2, m))
    targets[: m // 2] = 5
    targets[targets > n - 9] = 1
    return vg.Graph.from_edges(
        sources, targets, num_vertices=n, directed=directed, id_bits=id_bits, weight=rng.integers(1, 99, m)
    )


@pytest.mark.parametrize("most", [1, 7, 100, 0xFFFF])
def test_the_layout_holds_every_arc_once(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sell, "MOST", most)
    monkeypatch.setattr(sell, "TASK", 4)
    empty = vg.Graph.from_edges([], [], num_vertices=9, weight=np.zeros(0, int))
    for graph in (graph_of(1), graph_of(2, directed=False), graph_of(3, id_bits=64), empty):
        found, weight = on_host(graph, "sell.2"), ordered(graph, "weight", "sell.2")
        a = {name: array.astype(np.int64) for name, array in found.arrays.items()}
        width = found.numbers["width"]
        assert width == max(1, min(most, -(-graph.num_vertices // 2)))
        assert found.numbers["count"] == a["starts"].size == a["bounds"].size - 1
        assert a["tasks"][-1] == a["steps"].size - 1
        arcs = []
        for s, start in enumerate(a["starts"]):
            seen = []
            for i in range(a["tasks"][a["bounds"][s]], a["tasks"][a["bounds"][s + 1]]):
                rows, steps = range(16 * i, 16 * i + 16), range(a["steps"][i], a["steps"][i + 1])
                assert len(steps) == a["lengths"][rows].max()
                assert a["full"][i] == a["lengths"][rows].min()
                for lane, row in enumerate(rows):
                    sources = a["offsets"][[16 * k + lane for k in steps]]
                    length = a["lengths"][row]
                    assert (sources[:length] < width).all()
                    assert (sources[length:] == sell.NONE).all()
                    assert (a["vertices"][row] == graph.num_vertices) == (length == 0)
                    columns = graph.in_.column_indices[a["firsts"][row] :][:length]
                    assert (start + sources[:length] == columns).all()
                    values = weight[[16 * k + lane for k in steps[:length]]].tolist()
                    arcs += [
                        (int(u), int(a["vertices"][row]), w) for u, w in zip(columns, values, strict=True)
                    ]
                    seen += [a["vertices"][row]] * bool(length)
            assert len(seen) == len({*seen}) > 0 or not graph.num_arcs
        sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(int)))
        stored = zip(sources, graph.out.column_indices, graph.edge_array("weight"), strict=True)
        assert sorted(arcs) == sorted((int(u), int(v), int(w)) for u, v, w in stored)


def test_little_of_it_is_padding() -> None:
    """Beyond 16 of the longest rows of a segment, a 32nd."""
    rng = np.random.default_rng(5)
    ends = (rng.random((2, 60_000)) ** 4 * 2000).astype(int)
    graph = vg.Graph.from_edges(*ends, num_vertices=2000)
    found = on_host(graph, "sell.2").arrays
    assert found["offsets"].size < graph.num_arcs * (1 + 1 / 32) + 2 * 16 * int(found["lengths"].max())


def test_any_number_of_threads_makes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LEAST", 1)
    made = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(machine, "threads", lambda n=threads: n)
        graph = graph_of(4)
        made.append([*on_host(graph, "sell.3").arrays.values(), ordered(graph, "weight", "sell.3")])
    for others in zip(*made, strict=True):
        assert all(np.array_equal(others[0], other) for other in others[1:])


def test_how_long_rows_are() -> None:
    graph = graph_of(6)
    lengths = on_host(graph, "sell.2").arrays["lengths"]
    assert sell.arcs_of_a_row(graph) == pytest.approx(graph.num_arcs / np.count_nonzero(lengths))
    assert sell.arcs_of_a_row(vg.Graph.from_edges([], [], num_vertices=3)) == 0


def test_orientations_and_lists_of_hubs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LEAST", 1)
    ends = (np.random.default_rng(6).random((2, 3000)) ** 3 * 200).astype(int)
    made = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(machine, "threads", lambda n=threads: n)
        graph = vg.Graph.from_edges(*ends, num_vertices=200, directed=False, multi_edges=False)
        acyclic = oriented(graph)
        arrays = acyclic.graph.out.row_offsets, acyclic.graph.out.column_indices
        rows = [row.tolist() for row in np.split(arrays[1], arrays[0][1:-1])]
        assert rows == [sorted({*row}) for row in rows]
        s, t, _ = graph.edges()
        before, behind = np.sort(acyclic.rank[np.stack((s, t))[:, s != t]], axis=0)
        assert {*zip(behind.tolist(), before.tolist(), strict=True)} == {
            (v, u) for v, row in enumerate(rows) for u in row
        }
        lists = [*on_host(graph, "out_hubs.50").arrays.values(), *on_host(graph, "in_hubs.3").arrays.values()]
        made.append([*arrays, *lists])
    for others in zip(*made, strict=True):
        assert all(np.array_equal(others[0], other) for other in others[1:])


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_are_the_same_with_any_number_of_threads(threads: int) -> None:
    schedule = vg.Schedule().at("gather", rows=vg.SLICES)
    arguments = {"dtype": vg.float32, "max_rounds": 5, "schedule": schedule}
    graph = graph_of(7)
    want = vg.run(vg.algorithms.pagerank, graph, threads=2, **arguments).rank
    assert np.array_equal(vg.run(vg.algorithms.pagerank, graph, threads=threads, **arguments).rank, want)
    with pytest.raises(
        vg.ScheduleError, match="the sum `incoming` of floats depends on the order of its parts"
    ):
        vg.run(vg.algorithms.pagerank, graph, deterministic=True, **arguments)


@pytest.mark.parametrize(("parts", "hub"), [(5, False), (70, True), (40, False)])
def test_parts_hold_every_arc_once_and_share_phases(
    parts: int, hub: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task has arcs of one part, a phase no destination twice; a hub leaves a phase to each part."""
    monkeypatch.setattr(sell, "TASK", 3)
    rng, n, m = np.random.default_rng(parts), 300, 1500
    sources, targets = rng.integers(0, n, (2, m))
    part = targets * parts // n  # so that few parts write a vertex
    targets = (targets + rng.integers(0, 9, m)) % n
    if hub:
        targets[: m // 2] = 7
    graph = vg.Graph.from_edges(sources, targets, num_vertices=n, weight=rng.integers(0, 99, m), part=part)
    found = on_host(graph, "parts.part")
    a = {name: array.astype(np.int64) for name, array in found.arrays.items()}
    weight, part_of = (ordered(graph, name, "parts.part") for name in ("weight", "part"))
    assert found.numbers["parts"] == np.unique(graph.edge_array("part")).size
    assert found.numbers["count"] >= 60 if hub else found.numbers["count"] < parts
    arcs = []
    for p in range(found.numbers["count"]):
        seen = []
        for t in range(a["bounds"][p], a["bounds"][p + 1]):
            held = set()
            for row in range(16 * a["tasks"][t], 16 * a["tasks"][t + 1]):
                i, lane, length = row // 16, row % 16, a["lengths"][row]
                places = 16 * np.arange(a["steps"][i], a["steps"][i + 1]) + lane
                assert a["full"][i] == a["lengths"][16 * i : 16 * i + 16].min()
                assert (a["sources"][places[length:]] == n).all()
                seen += [a["vertices"][row]] * bool(length)
                for k in places[:length]:
                    arcs.append((a["sources"][k], a["vertices"][row], weight[k]))
                    held.add(part_of[k])
            assert len(held) == 1
        assert len(seen) == len({*seen})
    sources = np.repeat(np.arange(n), np.diff(graph.out.row_offsets.astype(int)))
    stored = zip(sources, graph.out.column_indices, graph.edge_array("weight"), strict=True)
    assert sorted(arcs) == sorted((int(u), int(v), int(w)) for u, v, w in stored)


def test_parts_by_name_and_by_number() -> None:
    """The number of parts of an edge partition, or any edge property of ints; `explain` counts phases."""
    cheap = partial(vg.edge_partition, method="hdrf")
    graph = graph_of(8, directed=False)
    marked = graph.with_edge_property("part", cheap(graph, 4).of_arcs)
    want = vg.run(vg.algorithms.pagerank, graph, max_rounds=4).rank
    for given, parts in ((graph, 4), (marked, "part"), (vg.Graph.from_edges([], [], num_vertices=3), 2)):
        schedule = vg.Schedule().at("gather", rows=vg.SLICES, parts=parts)
        found = vg.run(vg.algorithms.pagerank, given, max_rounds=4, schedule=schedule)
        assert [x.name for x in found.stats.layouts] == [f"parts.{parts}"]
        if given.num_arcs:
            np.testing.assert_allclose(found.rank, want, rtol=1e-12)
            layout = vg.explain(vg.algorithms.pagerank, given, schedule).layouts
            assert re.search(r"4 parts in \d+ phases, \d+ rows", layout)
    numbers = "an int from 0 to 2"
    for values in (-marked.edge_array("weight"), np.full(marked.num_arcs, 2**64 - 1, np.uint64)):
        wrong = marked.with_edge_property("weight", values)
        for name, message in (("nothing", "nothing"), ("weight", numbers)):
            schedule = vg.Schedule().at("gather", rows=vg.SLICES, parts=name)
            with pytest.raises(vg.GraphError, match=message):
                vg.run(vg.algorithms.pagerank, wrong, schedule=schedule)
