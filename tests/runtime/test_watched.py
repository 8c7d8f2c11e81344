"""`vg.run(..., debug=vertices)`: values of chosen vertices after each round."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.runtime import watching
from vgraph.runtime.devices import compiled

FORMS: list[dict[str, Any]] = [
    {"direction": vg.PUSH, "frontier": vg.SPARSE},
    {"direction": vg.PUSH, "frontier": vg.BITMAP},
    {"direction": vg.PULL},
    {"direction": vg.AUTO},
    {"phases": vg.GATHER_APPLY},
    {"phases": vg.APPLY_SCATTER},
]


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.parent = min((dst.dist, dst.parent), (src.dist + edge.weight, src))


@vg.operator
def note(v):
    v.seen[v.dist] += 1
    if v.dist < 9:
        v.near = True


@vg.operator
def join(src, edge, dst):
    vg.union(src.component, dst.component)


@vg.operator
def collect(src, edge, dst):
    dst.coming += src.share


@vg.algorithm
def whole(graph, rounds=3):
    """Assignments of whole properties, of which several stand in one round."""
    share = graph.vertex_property(vg.float64)
    share = 1 / graph.num_vertices
    for _ in range(rounds):
        coming = graph.vertex_property(vg.float64)
        graph.edge_apply(collect)
        before = share / 2
        share = coming / 4
        share[:] = share + before
        twice = 2 * share
    return share, twice


@vg.algorithm
def paths(graph, source: vg.vertex):
    """Pairs in a word, vectors, bools, disjoint sets, and what is declared when rounds are over."""
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    near = graph.vertex_property(vg.bool_)
    seen = graph.vertex_property(vg.vector(vg.int64, 3))
    graph.vertex_apply(note)
    component = graph.disjoint_sets()
    graph.edge_apply(join)
    return dist, parent, near, seen, component


def graph_of(n: int = 40) -> vg.Graph:
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, 3 * n))
    return vg.Graph.from_edges(*ends, num_vertices=n, weight=rng.integers(1, 9, 3 * n))


GRAPH = graph_of()


def check(result: vg.Result, wanted: vg.Result) -> None:
    """The same was kept of both."""
    found, expected = result.trace.watched, wanted.trace.watched
    assert found is not None
    assert expected is not None
    assert list(found.values) == list(expected.values)
    for name, values in expected.values.items():
        np.testing.assert_array_equal(found.values[name], values, name)


def test_the_reference_keeps_what_the_text_says():
    line = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[5, 2, 4])
    trace = vg.run(paths, line, source=0, device="python", debug=[2, 0, 2]).trace
    watched = trace.watched
    assert watched is not None
    assert watched.vertices.tolist() == [2, 0]
    assert watched.first == 0
    most = np.iinfo(np.int32).max
    assert watched.values["dist"][:, 0].tolist() == [most, 7, 7, 7, 7, 7]
    assert watched.values["parent"].tolist() == [[-1, -1], *[[1, -1]] * 5]
    assert watched.values["near"][:, 0].tolist() == [False] * 4 + [True] * 2
    assert watched.values["seen"][:, 0].tolist() == [[0, 0, 0]] * 4 + [[0, 1, 0]] * 2
    assert watched.values["component"].tolist() == [[-1, -1]] * 5 + [[0, 0]]
    assert str(trace).splitlines()[3:6] == [
        "1  relax push: 1 active, 1 arcs",
        "    2: dist=7, parent=1, near=False, seen=[0 0 0], component=-1",
        "    0: dist=0, parent=-1, near=False, seen=[0 0 0], component=-1",
    ]


@pytest.mark.parametrize(
    "device",
    [{"threads": 1}, {"threads": 2}, {"checked": True}, {"deterministic": True, "threads": 2}],
    ids=str,
)
def test_devices_agree(device: dict[str, Any]) -> None:
    given = {"source": 3, "debug": [5, 3, 39]}
    check(vg.run(paths, GRAPH, **given, **device), vg.run(paths, GRAPH, device="python", **given))


def test_whole_properties() -> None:
    line = vg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    found, wanted = (vg.run(whole, line, debug=range(4), device=d) for d in ("cpu", "python"))
    assert len(found.trace) == len(wanted.trace) > 6
    check(found, wanted)
    assert wanted.trace.watched.values["share"][-1].tolist() == wanted.share.tolist()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_schedules_agree(form: dict[str, Any]) -> None:
    given = {"source": 3, "debug": range(40)}
    found = vg.run(paths, GRAPH, schedule=vg.Schedule().at("relax", **form), **given)
    check(found, vg.run(paths, GRAPH, device="python", **given))


def test_other_orders_of_vertices() -> None:
    """Those of `relabel=`, and of an algorithm that prepares its graph."""
    tree = vg.Graph.from_edges(np.arange(1, 40) // 3, np.arange(1, 40), directed=False)
    bfs, given = vg.algorithms.bfs, {"source": 13, "debug": [0, 39]}
    check(vg.run(bfs, tree, relabel="degree", **given), vg.run(bfs, tree, device="python", **given))
    graph = vg.Graph.from_edges(*GRAPH.edges()[:2], num_vertices=40, directed=False)
    result = vg.run(vg.algorithms.triangle_count, graph, debug=range(40))
    watched = result.trace.watched
    assert watched is not None
    assert len(set(result.triangles.tolist())) > 1
    assert watched.values["triangles"][-1].tolist() == result.triangles.tolist()


def test_who_is_watched_is_no_part_of_the_code() -> None:
    vg.run(paths, GRAPH, source=3, debug=[1])
    kernels = len(compiled._loaded)
    vg.run(paths, GRAPH, source=3, debug=[7, 8, 9])
    assert len(compiled._loaded) == kernels
    assert vg.run(paths, GRAPH, source=3).trace.watched is None
    assert vg.run(paths, GRAPH, source=3, debug=[]).trace.watched is None


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(watching, "ROOM", 5)
    return


@pytest.mark.parametrize("device", [{"device": "python"}, {"threads": 1}, {"threads": 2}], ids=str)
def test_the_last_rounds_are_kept(small: None, device: dict[str, Any]) -> None:
    """There is room for two rounds of two vertices."""
    line = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[5, 2, 4])
    trace = vg.run(paths, line, source=0, debug=[2, 0], **device).trace
    watched = trace.watched
    assert watched is not None
    assert watched.first == 4
    assert watched.values["component"].tolist() == [[-1, -1], [0, 0]]
    text = str(trace).splitlines()
    assert text[0] == "the values after the first 4 rounds were overwritten"
    assert [line[:8] for line in text[1:6]] == ["0  relax", "1  relax", "2  relax", "3  relax", "4  note "]
    assert text[6].startswith("    2: dist=7, ")


@vg.algorithm
def of_another(graph, source: vg.vertex):
    """No property of its own: what it calls has some."""
    called = vg.algorithms.bfs(graph, source)
    graph.far = graph.max(called.level)
    return graph.far


@pytest.mark.parametrize("device", [{"device": "python"}, {"threads": 1}], ids=str)
def test_called_algorithms(device: dict[str, Any]) -> None:
    """Nothing was overwritten where there is nothing to watch."""
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    found = vg.run(of_another, path, source=0, debug=[0, 3], **device)
    assert found.far == 3
    assert found.trace.watched.first == 0
    assert "overwritten" not in str(found.trace)


def test_a_trace_is_pickled_with_it() -> None:
    trace = vg.run(paths, GRAPH, source=3, debug=[1]).trace
    assert str(pickle.loads(pickle.dumps(trace))) == str(trace)
    assert "watched" not in str(vg.run(paths, GRAPH, source=3).trace)


def test_rounds_are_those_of_the_text() -> None:
    result = vg.run(vg.algorithms.sssp, GRAPH, source=3, debug=[1], device="cpu")
    assert {r.direction for r in result.trace} <= {"push", "pull"}
    schedule = vg.Schedule().at("relax", sync=vg.ASYNC)
    with pytest.raises(vg.ParameterError, match="debug= shows rounds, and sync=async at 'relax'"):
        vg.run(vg.algorithms.sssp, GRAPH, source=3, debug=[1], schedule=schedule)


@pytest.mark.parametrize(
    ("debug", "told"),
    [
        ([1.5], "the vertices to watch"),
        ("all", "the vertices to watch"),
        ([True], "the vertices to watch"),
        ([[1]], "the vertices to watch"),
        ([3, 40], "the graph has no vertex 40"),
        (-1, "the graph has no vertex -1"),
    ],
    ids=str,
)
def test_what_is_no_vertex(debug: Any, told: str) -> None:
    with pytest.raises(vg.ParameterError, match=told):
        vg.run(paths, GRAPH, source=3, debug=debug)
