"""Edge properties under schedules, on every shape of graph, against the reference interpreter and by definition."""

from __future__ import annotations

from typing import Any

import edge_programs as programs
import numpy as np
import pytest
from schedule_matrix import SHAPES, Case, Kind, agree, check, graph_of, groups

import vgraph as vg
from vgraph.compiler import space
from vgraph.refusals.writes import ReadsWhatItReduces, SharedEdge

DIRECTED, UNDIRECTED = Kind(True, "int32"), Kind(False, "int32")
BOTH = ("shared", "passing", "by_own_lengths")
PROGRAMS = [(name, kind) for name in BOTH for kind in (DIRECTED, UNDIRECTED)] + [
    ("alone", DIRECTED),
    ("opposite", DIRECTED),
]


def cases_of(algorithm: vg.AlgorithmDef, kind: Kind, seed: int) -> list[Case]:
    found = []
    for shape in SHAPES:
        graph = graph_of(shape, kind, seed)
        given = {"source": 1} if "source" in algorithm.signature.parameters else {}
        if given and graph.num_vertices < 2:
            continue
        expected = vg.run(algorithm, graph, device="python", **given)
        found.append(Case(f"{shape} graph, {kind}", graph, given, expected))
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("name", "kind"), PROGRAMS, ids=lambda x: x if isinstance(x, str) else str(x.directed)
)
def test_schedules_agree(name: str, kind: Kind, threads: int) -> None:
    algorithm = getattr(programs, name)
    found = cases_of(algorithm, kind, 7)
    tried = 0
    for group in groups(algorithm, found, threads):
        for i, schedule in enumerate(space.sample(group.program, group.context, 3, threads)):
            for case in group.cases[i % 4 :: 4]:
                agree(algorithm, case, schedule, threads)
                tried += 1
    assert tried > 3


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("name", "kind"), PROGRAMS, ids=lambda x: x if isinstance(x, str) else str(x.directed)
)
def test_all_schedules_agree(name: str, kind: Kind, threads: int) -> None:
    algorithm = getattr(programs, name)
    for group in groups(algorithm, cases_of(algorithm, kind, 7), threads):
        for schedule in space.schedules(group.program, group.context):
            for case in group.cases:
                agree(algorithm, case, schedule, threads)


# --- by definition ----------------------------------------------------------------------------------------------------


@vg.operator
def touch(src, edge, dst):
    edge.times += 1
    edge.ends = edge.ends + src.id * 100 + dst.id


@vg.algorithm
def touched(graph, again=False):
    """How often each edge was visited, and by whom; `other` is read and written by nobody."""
    other = graph.edge_property(vg.float64, fill=2.5)
    times = graph.edge_property(vg.int32)
    ends = graph.edge_property(vg.int64)
    graph.edge_apply(touch)
    if again:
        times = graph.edge_property(vg.int32, fill=7)
    return times, ends, other


def expected_of(s: Any, t: Any, directed: bool) -> tuple[Any, Any]:
    both = not directed
    times = 1 + (both & (s != t))
    return times, s * 100 + t + both * (s != t) * (t * 100 + s)


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("directed", [True, False])
def test_results_stand_as_the_edges_were_given(directed: bool, device: str) -> None:
    rng = np.random.default_rng(3)
    s, t = rng.integers(0, 12, (2, 60))
    graph = vg.Graph.from_edges(s, t, directed=directed)
    times, ends = expected_of(s, t, directed)
    for schedule in (None, vg.Schedule().at("touch", direction=vg.PULL)):
        result = vg.run(touched, graph, device=device, schedule=schedule)
        assert result.times.tolist() == times.tolist()
        assert result.ends.tolist() == ends.tolist()
        assert result.other.tolist() == [2.5] * s.size
    assert vg.run(touched, graph, device=device, again=True).times.tolist() == [7] * s.size
    relabelled = vg.run(search_edges, graph, source=int(s[0]), device=device, relabel="degree")
    assert (
        relabelled.seen.tolist() == vg.run(search_edges, graph, source=int(s[0]), device=device).seen.tolist()
    )


@vg.operator
def compare(src, edge, dst):
    dst.more += edge.w - edge.reverse.w


@vg.algorithm
def compared(graph):
    more = graph.vertex_property(vg.int64)
    graph.edge_apply(compare)
    return more


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_opposite_arcs_in_another_order_of_vertices(device: str) -> None:
    rng = np.random.default_rng(3)
    graph = vg.Graph.from_edges(*rng.integers(0, 12, (2, 60)), multi_edges=True, w=rng.integers(0, 99, 60))
    before, after = (vg.run(compared, graph, device=device, relabel=by) for by in (None, "random"))
    assert after.stats.order or device == "python"
    assert after.more.tolist() == before.more.tolist()


@vg.operator
def cross(src, edge, dst):
    edge.seen = True
    dst.reached = True


@vg.algorithm
def search_edges(graph, source: vg.vertex):
    seen = graph.edge_property(vg.bool_)
    reached = graph.vertex_property(vg.bool_)
    reached[source] = True
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(cross, frontier)
    return seen, reached


@pytest.mark.parametrize("directed", [True, False])
def test_edges_that_the_graph_left_out_or_merged(directed: bool) -> None:
    s, t = np.array([2, 0, 1, 2, 0, 1, 2]), np.array([1, 1, 2, 1, 1, 1, 0])
    options = {"directed": directed, "multi_edges": False, "self_loops": False}
    times, ends = expected_of(s, t, directed)
    low, high = np.minimum(s, t), np.maximum(s, t)
    ends = ends if directed else low * 100 + high + high * 100 + low
    result = vg.run(touched, vg.Graph.from_edges(s, t, **options))
    assert result.times.tolist() == np.where(s == t, 0, times).tolist()
    assert result.ends.tolist() == np.where(s == t, 0, ends).tolist()
    in_order = vg.run(touched, vg.Graph.from_edges(s, t, keep_order=False, **options))
    assert in_order.times.size == vg.Graph.from_edges(s, t, **options).num_edges


def test_arrays_that_changed_have_no_order() -> None:
    s, t = np.array([2, 0, 1]), np.array([1, 1, 2])
    graph = vg.Graph.from_edges(s, t)
    s[0] = 0
    with pytest.raises(vg.GraphError, match="keep_order=False"):
        vg.run(touched, graph)


@pytest.mark.parametrize("direction", [vg.PUSH, vg.PULL])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_edge_of_each_claim(threads: int, direction: Any) -> None:
    for kind in (DIRECTED, UNDIRECTED):
        graph = graph_of("power law", kind, 4)
        schedule = vg.Schedule().at("discover", direction=direction)
        source = int(graph.out_degree.argmax())
        found = vg.run(programs.tree_edges, graph, source=source, threads=threads, schedule=schedule)
        reached = np.flatnonzero(found.parent >= 0)
        assert found.tree.sum() == reached.size - 1 > 5
        s, t, _ = graph.edges()
        order = graph.in_given_order(np.arange(graph.num_edges))
        ends = np.c_[s[order], t[order]][found.tree]
        by = {frozenset((int(v), int(found.parent[v]))) for v in reached if found.parent[v] != v}
        assert {frozenset(map(int, e)) for e in ends} == by


@pytest.mark.parametrize(
    ("name", "kind"), PROGRAMS, ids=lambda x: x if isinstance(x, str) else str(x.directed)
)
def test_checked_runs_find_nothing(name: str, kind: Kind) -> None:
    algorithm = getattr(programs, name)
    case = cases_of(algorithm, kind, 7)[-1]
    found = vg.run(algorithm, case.graph, checked=True, threads=3, **case.arguments)
    check(algorithm, case, found, "checked")


@vg.operator
def drift(src, edge, dst):
    edge.x += src.value


@vg.algorithm
def drifted(graph, value):
    x = graph.edge_property(vg.float64, fill=1e8)
    graph.edge_apply(drift)
    graph.edge_apply(drift, graph.vertices, label="again")
    return x


def test_sums_of_two_arcs_have_one_order() -> None:
    graph = graph_of("random", UNDIRECTED, 1)
    value = np.random.default_rng(0).random(graph.num_vertices) * 1e-8
    asked = vg.Schedule().at("again", direction=vg.PUSH)
    runs = [
        vg.run(
            drifted, graph, value=value, deterministic=True, threads=threads, schedule=schedule
        ).x.tobytes()
        for schedule in (None, asked)
        for threads in (1, 3)
    ]
    assert len(set(runs)) == 1


@vg.operator
def plain(src, edge, dst):
    edge.x = src.value


@vg.operator
def first(src, edge, dst):
    if edge.x == 0:
        edge.x = 5


@vg.operator
def read_back(src, edge, dst):
    edge.x += 1
    dst.value += edge.x


@pytest.mark.parametrize(
    ("operator", "refusal"), [(plain, SharedEdge), (first, SharedEdge), (read_back, ReadsWhatItReduces)]
)
def test_what_only_directed_graphs_take(operator: Any, refusal: type[Exception]) -> None:
    @vg.algorithm
    def program(graph):
        x = graph.edge_property(vg.int64)
        value = graph.vertex_property(vg.int64, fill=3)
        graph.edge_apply(operator)
        return x, value

    assert vg.run(program, vg.Graph.from_edges([0, 1], [1, 2])).x.tolist() in ([3, 3], [5, 5], [1, 1])
    with pytest.raises(refusal):
        vg.run(program, vg.Graph.from_edges([0, 1], [1, 2], directed=False))


@vg.operator
def mark(src, edge, dst):
    edge.seen = True
    dst.level = min(dst.level, src.level + 1)


@vg.algorithm
def marked(graph, source: vg.vertex):
    seen = graph.edge_property(vg.bool_)
    level = graph.vertex_property(vg.int32, fill=vg.inf)
    level[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(mark, frontier)
    return seen, level


@pytest.mark.parametrize("option", [{"sync": vg.ASYNC}, {"phases": vg.GATHER_APPLY}])
@pytest.mark.parametrize("directed", [True, False])
def test_rounds_that_would_not_have_each_arc_once_are_refused(directed: bool, option: Any) -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=directed)
    assert vg.run(marked, graph, source=0).level.tolist() == [0, 1, 2]
    with pytest.raises(vg.ScheduleError, match=r"at edges|at the edge"):
        vg.run(marked, graph, source=0, schedule=vg.Schedule().at("mark", **option))


@vg.operator
def lower(src, edge, dst):
    edge.low = min(edge.low, src.id + 0)


@vg.algorithm
def lowest(graph):
    low = graph.edge_property(vg.int64, fill=vg.inf)
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(lower, frontier)
    return low


def test_no_edge_is_a_priority_and_no_vertex_is_active_for_one() -> None:
    graph = vg.Graph.from_edges([0, 2], [1, 1], directed=False)
    for device in ("python", "cpu"):
        assert vg.run(lowest, graph, device=device).low.tolist() == [0, 1]
    with pytest.raises(vg.ScheduleError, match="at edges"):
        vg.run(lowest, graph, schedule=vg.Schedule().at("lower", order=vg.STRICT))
