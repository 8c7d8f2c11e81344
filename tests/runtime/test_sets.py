"""Programs on sets of devices: groups of CPU threads with memories of their own."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from library_arguments import NAMES, UNDIRECTED, arguments_for, graph_for

import vgraph as vg
from vgraph.compiler.facts import Facts
from vgraph.language.decorators import AlgorithmDef
from vgraph.refusals.sets import NotOnASet
from vgraph.runtime import policy

TWO = [vg.cpu(threads=1), vg.cpu(threads=1)]
REFUSED = {
    "biconnected_components", "connected_components", "edge_betweenness", "leiden", "louvain", "max_flow",
    "minimum_spanning_forest", "transitive_reduction",
}  # fmt: skip
"""The algorithms of the library that no set runs; all others do."""
OTHER_VERTICES = {"simrank", "k_truss"}
"""Algorithms that prepare a graph of other vertices, which nobody can place."""
BY_DEFAULT = {"bfs", "pagerank", "triangle_count", "connected_components"}


def small_graph(directed: bool = True, seed: int = 0) -> vg.Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 24, (2, 70))
    weight = rng.integers(1, 9, 70)
    return vg.Graph.from_edges(
        *ends, num_vertices=24, directed=directed, multi_edges=False, self_loops=False, weight=weight
    )


def placements(n: int) -> list[tuple[int, np.ndarray | None]]:
    """Members and placements: ranges, random ones, one without a vertex, one with a single one, all on one."""
    rng = np.random.default_rng(n)
    single = np.where(np.arange(n) == n // 2, 1, 0)
    return [
        (2, None),
        (3, rng.integers(0, 3, n)),
        (3, rng.integers(0, 2, n) * 2),
        (2, single),
        (2, np.ones(n, int)),
    ]


def assert_same(algorithm: AlgorithmDef, graph: vg.Graph, count: int, placement, expected, given) -> None:
    got = vg.run(algorithm, graph, device=[vg.cpu(threads=1)] * count, placement=placement, **given)
    same_results(got, expected)


def same_results(got: vg.Result, expected: vg.Result) -> None:
    for name in dir(expected):
        a, b = getattr(expected, name), getattr(got, name)
        if name == "parent":  # any of several, so it is checked as a tree
            vg.verify(got)
        elif not isinstance(a, np.ndarray | np.generic | int | float):
            continue
        elif np.asarray(a).dtype.kind == "f":
            np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in BY_DEFAULT else pytest.mark.slow) for n in NAMES],
)
def test_the_library_on_sets(name):
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, small_graph(name not in UNDIRECTED))
    given = arguments_for(algorithm, graph)
    if name in REFUSED:
        with pytest.raises(NotOnASet) as refused:
            vg.run(algorithm, graph, device=TWO, **given)
        assert "help: run it on one device" in str(refused.value)
        assert refused.value.span.source.line(refused.value.span.line).strip()
        return
    expected = vg.run(algorithm, graph, device="python", **given)
    for count, placement in placements(graph.num_vertices):
        if name in OTHER_VERTICES and placement is not None:
            with pytest.raises(vg.ParameterError, match="prepares one of others"):
                vg.run(algorithm, graph, device=TWO, placement=placement % 2, **given)
            continue
        assert_same(algorithm, graph, count, placement, expected, given)


def test_the_docs_count_the_library():
    refused = REFUSED | {"bayesian_personalized_ranking"}
    library = {name for name, x in vars(vg.algorithms).items() if isinstance(x, AlgorithmDef)}
    page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")
    told = page.partition("Of the library's ")[2].partition("\n\n")[0].replace("(label_components runs)", "")
    assert told.startswith(f"{len(library)} algorithms {len(library - refused)} run on a set.")
    assert set(re.findall(r"\w+", told)) & library == refused


# --- every kind of write, at vertices that others own -----------------------------------------------------------


@vg.operator
def push_all(src, edge, dst, graph):
    dst.low = min(dst.low, src.x)
    dst.high = max(dst.high, src.x * edge.weight)
    dst.total += src.x
    dst.bits |= src.x
    dst.both &= src.x
    graph.most = max(graph.most, src.x + dst.x)
    graph.sum += edge.weight


@vg.operator
def mix(v, graph):
    near = 0
    for u in v.out_neighbors:
        near += u.low + u.total
    v.y = near
    v.x = v.x + v.low + v.total - v.bits + graph.most % 7
    v.total = v.total // 2
    return v.x % 2 == 0


@vg.algorithm
def all_writes(graph, source: vg.vertex, seeds: vg.array(vg.vertex), rounds: int = 3):
    x = graph.vertex_property(vg.int64, 1)
    y = graph.vertex_property(vg.int64, 0)
    low = graph.vertex_property(vg.int64, 1000)
    high = graph.vertex_property(vg.int64, -1000)
    total = graph.vertex_property(vg.int64, 0)
    bits = graph.vertex_property(vg.int64, 0)
    both = graph.vertex_property(vg.int64, -1)
    graph.most = 0
    graph.sum = 0
    x[source] = 5
    frontier = graph.vertices
    seen = 0
    left = rounds
    while x[source] < 2000 and left > 0:
        frontier = graph.edge_apply(push_all, frontier)
        frontier = graph.vertex_filter(mix, frontier) | graph.frontier(seeds)
        seen += len(frontier) + x[source]
        left -= 1
    most = graph.most
    added = graph.sum
    return x, y, low, high, total, bits, both, most, added, seen


@vg.operator
def find(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth
        dst.parent = src


@vg.operator
def forget(v):
    v.level = -1


@vg.algorithm
def searches(graph, sources: vg.array(vg.vertex)):
    """Claims of a property that is set by others, too, and vertices that the driver loop finds in an array."""
    level = graph.vertex_property(vg.int64, -1)
    parent = graph.vertex_property(vg.vertex)
    reached = 0
    graph.depth = 0
    for i in range(len(sources)):
        graph.vertex_apply(forget)
        level[sources[i]] = 0
        graph.depth = 0
        frontier = graph.frontier(sources[i])
        while frontier:
            graph.depth += 1
            frontier = graph.edge_apply(find, frontier)
            reached += len(frontier)
    return level, reached


@vg.operator
def hand_on(src, edge, dst):
    (dst.far, dst.by) = min((dst.far, dst.by), (src.far + edge.weight, src))


@vg.operator
def blend(src, edge, dst):
    dst.feature += src.feature


@vg.algorithm
def packed_and_vectors(graph, source: vg.vertex):
    """Pairs in one word, vectors, and vertices as values."""
    far = graph.vertex_property(vg.int32, 1_000_000)
    by = graph.vertex_property(vg.vertex)
    feature = graph.vertex_property(vg.vector(vg.float64, 3), 1.0)
    far[source] = 0
    by[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(hand_on, frontier)
    graph.edge_apply(blend)
    graph.edge_apply(blend)
    return far, by, feature


@vg.operator
def weigh(src, edge, dst, graph):
    dst.total += src.x
    graph.arcs += 1


@vg.operator
def ask_the_boss(v, graph):
    v.y = v.boss.total
    v.boss.asked += 1
    graph.sum += len(v.out_neighbors & v.boss.out_neighbors)


@vg.algorithm
def found_in_data(graph, boss: vg.vertex_property(vg.vertex)):
    """Vertices that are neither the operator's own nor neighbors, so every member has all of the graph."""
    x = graph.vertex_property(vg.int64, 2)
    y = graph.vertex_property(vg.int64, 0)
    total = graph.vertex_property(vg.int64, 0)
    asked = graph.vertex_property(vg.int64, 0)
    graph.arcs = 0
    graph.sum = 0
    for _ in range(2):
        graph.edge_apply(weigh)
        graph.vertex_apply(ask_the_boss)
    arcs = graph.arcs
    common = graph.sum
    return y, total, asked, arcs, common


@vg.operator
def tag(src, edge, dst):
    if dst.first == 0:
        dst.first = 7
        dst.tags = src.x


@vg.operator
def see_tags(v):
    for u in v.out_neighbors:
        v.seen += u.tags
    v.x += 1


@vg.algorithm
def late_claims(graph, seeds: vg.array(vg.vertex)):
    """Claims of what no other member sees, and what goes with them, which others see."""
    x = graph.vertex_property(vg.int64, 1)
    first = graph.vertex_property(vg.int64, 0)
    tags = graph.vertex_property(vg.int64, 0)
    seen = graph.vertex_property(vg.int64, 0)
    found = 0
    for _ in range(4):
        reached = graph.edge_apply(tag, graph.frontier(seeds))
        found = found * 10 + len(reached)
        graph.vertex_apply(see_tags)
        more = graph.edge_apply(tag, reached, label="again")
        found = found * 10 + len(more)
        graph.vertex_apply(see_tags)
    return x, first, tags, seen, found


@vg.operator
def light(src, edge, dst):
    if dst.on == 0:
        dst.on = 1


@vg.operator
def put_out(src, edge, dst):
    if dst.on == 1:
        dst.on = 0


@vg.algorithm
def claims_back(graph, seeds: vg.array(vg.vertex)):
    """Claims of what another claim has set, so that ghosts may not fall behind."""
    on = graph.vertex_property(vg.int64, 0)
    frontier = graph.frontier(seeds)
    found = 0
    for _ in range(3):
        frontier = graph.edge_apply(light, frontier)
        found = found * 100 + len(frontier)
        frontier = graph.edge_apply(put_out, frontier)
        found = found * 100 + len(frontier)
    return on, found


@vg.operator
def add_some(src, edge, dst):
    if src.x > 22:
        dst.total += 1
    dst.most = max(dst.most, src.x)


@vg.algorithm
def sums_and_extremes(graph, seeds: vg.array(vg.vertex), x: vg.vertex_property(vg.int64)):
    """A vertex is in the frontier if it was added to, or if its maximum grew."""
    total = graph.vertex_property(vg.int64, 0)
    most = graph.vertex_property(vg.int64, 3)
    frontier = graph.frontier(seeds)
    found = 0
    for _ in range(4):
        frontier = graph.edge_apply(add_some, frontier)
        found = found * 30 + len(frontier)
    return total, most, found


PROGRAMS = {
    "sums_and_extremes": (
        sums_and_extremes,
        {"seeds": [20, 15], "x": np.random.default_rng(9).integers(0, 23, 24)},
    ),
    "claims_back": (claims_back, {"seeds": [1, 8]}),
    "late_claims": (late_claims, {"seeds": [1, 8, 20]}),
    "found_in_data": (found_in_data, {"boss": np.random.default_rng(5).integers(0, 24, 24)}),
    "all_writes": (all_writes, {"source": 3, "seeds": [1, 8, 20]}),
    "searches": (searches, {"sources": [3, 9, 3, 17]}),
    "packed_and_vectors": (packed_and_vectors, {"source": 3}),
}


FRONTIERS = {
    "all_writes": ["push_all"],
    "searches": ["find"],
    "packed_and_vectors": ["hand_on"],
    "late_claims": ["tag", "again"],
    "sums_and_extremes": ["add_some"],
}
"""Where it is known what has changed."""


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kind_of_write(name, directed, monkeypatch):
    monkeypatch.setitem(policy._NUMBERS, "policy.changed_bytes", 0)
    algorithm, given = PROGRAMS[name]
    graph = small_graph(directed)
    expected = vg.run(algorithm, graph, device="python", **given)
    changed = vg.Schedule()
    for label in FRONTIERS.get(name, ()):
        changed = changed.at(label, volume=vg.CHANGED)
    for count, placement in placements(24):
        for schedule in (changed, vg.Schedule()) if count == 3 else (changed,):
            assert_same(algorithm, graph, count, placement, expected, {**given, "schedule": schedule})


FORMS = [
    ("bfs", "visit", vg.BASE),
    ("bfs", "visit", vg.COMBINE),
    ("sssp", "relax", vg.DELAYED),
    ("sssp", "relax", vg.BASE),
]


@pytest.mark.parametrize(("name", "label", "exchange"), FORMS)
def test_forms_of_exchanges(name, label, exchange):
    algorithm, graph = getattr(vg.algorithms, name), small_graph()
    expected = vg.run(algorithm, graph, device="python", source=3)
    bytes_ = []
    for count, placement in placements(24):
        schedule = vg.Schedule().at(label, exchange=exchange)
        groups = [vg.cpu(threads=1)] * count
        got = vg.run(algorithm, graph, source=3, device=groups, placement=placement, schedule=schedule)
        result = "level" if name == "bfs" else "dist"
        np.testing.assert_array_equal(getattr(got, result), getattr(expected, result))
        assert vg.explain(algorithm, graph, device=groups, schedule=schedule, passes=False).schedule.count(
            f"exchange={exchange.value}"
        )
        bytes_.append(got.stats.exchanged_bytes)
    assert bytes_[0] > 0


@pytest.mark.parametrize(("name", "label", "exchange"), FORMS)
def test_only_what_changed_goes_over(name, label, exchange, monkeypatch):
    """On a path, where one vertex is active at a time."""
    monkeypatch.setitem(policy._NUMBERS, "policy.changed_bytes", 0)
    n = 200
    ends, one = np.arange(n), np.ones(n - 1, int)
    graph = vg.Graph.from_edges(ends[:-1], ends[1:], num_vertices=n, directed=False, weight=one)
    algorithm, bytes_ = getattr(vg.algorithms, name), {}
    for volume in (vg.DENSE, vg.CHANGED, vg.AUTO):
        schedule = vg.Schedule().at(label, exchange=exchange, volume=volume)
        got = vg.run(algorithm, graph, source=0, device=TWO, placement=np.arange(n) % 2, schedule=schedule)
        assert (getattr(got, "level" if name == "bfs" else "dist") == np.arange(n)).all()
        bytes_[volume] = got.stats.exchanged_bytes
    assert 3 * bytes_[vg.CHANGED] < bytes_[vg.DENSE]
    assert bytes_[vg.AUTO] == bytes_[vg.CHANGED]


@pytest.mark.parametrize("name", ["bfs", "searches", "late_claims"])
def test_a_direction_for_each_round(name, monkeypatch):
    """Pushes alone, pulls alone, and both."""
    algorithm, given = PROGRAMS.get(name, (vg.algorithms.bfs, {"source": 3}))
    graph = small_graph(directed=False)
    expected = vg.run(algorithm, graph, device="python", **given)
    monkeypatch.setattr(policy, "facts_of", lambda graph, device: Facts(large=True))
    for share, directions in ((0, {"push"}), (4, {"push", "pull"}), (1 << 30, {"pull"})):
        monkeypatch.setitem(policy._NUMBERS, "policy.set_share", share)
        for count, placement in placements(24)[:2]:
            groups = [vg.cpu(threads=1)] * count
            got = vg.run(algorithm, graph, device=groups, placement=placement, **given)
            same_results(got, expected)
            assert name != "bfs" or {r.direction for r in got.trace} == directions


@vg.operator
def tell_sizes(v, graph):
    v.edges = graph.num_edges
    v.vertices = graph.num_vertices


@vg.algorithm
def sizes(graph):
    """How large the graph is, as its vertices and the algorithm see it."""
    edges, vertices = graph.vertex_property(vg.int64)
    graph.vertex_apply(tell_sizes)
    both = graph.num_edges * 100 + graph.num_vertices
    return edges, vertices, both


@pytest.mark.parametrize("directed", [True, False])
def test_the_graph_is_as_large_for_each_member_as_for_all(directed):
    graph = small_graph(directed)
    expected = vg.run(sizes, graph, device="python")
    for count, placement in placements(24):
        assert_same(sizes, graph, count, placement, expected, {})


@vg.operator
def count_around(v):
    for _ in v.out_neighbors & (v.in_neighbors | v.out_neighbors):
        v.around += 1


@vg.algorithm
def around_each(graph):
    """A bisection in a list: a part has the neighbors in the graph's order, by numbers of its own."""
    around = graph.vertex_property(vg.int64)
    graph.vertex_apply(count_around)
    return around


@vg.operator
def enter_with_degree(v):
    for u in v.out_neighbors:
        if u.entered == -1:
            u.entered = u.in_degree


@vg.algorithm
def in_degrees(graph):
    """No in-arcs are walked."""
    entered = graph.vertex_property(vg.int64, fill=-1)
    graph.vertex_apply(enter_with_degree)
    return entered


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("algorithm", [around_each, in_degrees], ids=["around", "degrees"])
def test_what_a_part_knows_of_neighbors(algorithm, directed):
    graph = small_graph(directed)
    expected = vg.run(algorithm, graph, device="python")
    for count, placement in placements(24):
        assert_same(algorithm, graph, count, placement, expected, {})


@vg.operator
def count_active(src, edge, dst):
    dst.hits += src.weight


@vg.algorithm
def pulls_twice(graph, seeds: vg.array(vg.vertex)):
    """A frontier that is used again after it was pulled from."""
    hits = graph.vertex_property(vg.int64, 0)
    weight = graph.vertex_property(vg.int64, 3)
    frontier = graph.frontier(seeds)
    reached = graph.edge_apply(count_active, frontier, label="first")
    graph.edge_apply(count_active, frontier, label="second")
    both = len(frontier) * 100 + len(reached)
    left = reached - frontier
    return hits, both, left


def test_a_frontier_stays_what_it_is_where_ghosts_have_to_be_known():
    graph, given = small_graph(), {"seeds": [1, 5, 9, 20, 22]}
    expected = vg.run(pulls_twice, graph, device="python", **given)
    schedule = vg.Schedule().at("first", exchange=vg.BASE).at("second", exchange=vg.BASE)
    for count, placement in placements(24):
        groups = [vg.cpu(threads=1)] * count
        got = vg.run(pulls_twice, graph, device=groups, placement=placement, schedule=schedule, **given)
        np.testing.assert_array_equal(got.hits, expected.hits)
        np.testing.assert_array_equal(got.left, expected.left)
        assert got.both == expected.both


@pytest.mark.parametrize("exchange", [vg.BASE, vg.COMBINE])
def test_arcs_of_a_whole_graph_are_walked_once(exchange):
    graph, given = small_graph(), PROGRAMS["found_in_data"][1]
    expected = vg.run(found_in_data, graph, device="python", **given)
    schedule = vg.Schedule().at("weigh", exchange=exchange)
    for count, placement in placements(24):
        groups = [vg.cpu(threads=1)] * count
        got = vg.run(found_in_data, graph, device=groups, placement=placement, schedule=schedule, **given)
        assert (got.arcs, got.common) == (2 * graph.num_arcs, expected.common)
        np.testing.assert_array_equal(got.total, expected.total)
        np.testing.assert_array_equal(got.asked, expected.asked)


def test_groups_of_several_threads():
    graph = small_graph()
    expected = vg.run(all_writes, graph, device="python", **PROGRAMS["all_writes"][1])
    groups = [vg.cpu(threads=2), vg.cpu(threads=1), vg.cpu(threads=2)]
    got = vg.run(all_writes, graph, device=groups, **PROGRAMS["all_writes"][1])
    np.testing.assert_array_equal(got.x, expected.x)
    assert got.stats.threads == 5


# --- what a run tells -------------------------------------------------------------------------------------------


def test_what_members_had():
    graph = small_graph()
    result = vg.run(vg.algorithms.bfs, graph, source=0, device=TWO)
    one = vg.run(
        vg.algorithms.bfs, graph, source=0, threads=1, schedule=vg.Schedule().at("visit", direction=vg.PUSH)
    )
    members = result.stats.members
    assert [m.name for m in members] == ["cpu(threads=1)"] * 2
    assert sum(m.vertices for m in members) == graph.num_vertices
    assert sum(m.arcs for m in members) == graph.num_arcs
    assert all(0 <= m.seconds <= result.stats.run_seconds for m in members)
    assert result.stats.exchanged_bytes == sum(m.received_bytes for m in members) > 0
    assert (result.stats.rounds, result.stats.edges) == (one.stats.rounds, one.stats.edges)
    assert [r.frontier for r in result.trace] == [r.frontier for r in one.trace]
    alone = vg.run(vg.algorithms.bfs, graph, source=0, device=[vg.cpu(threads=1)])
    assert alone.stats.exchanged_bytes == 0


def test_explain_tells_why_members_have_the_whole_graph():
    graph = small_graph(directed=False)
    told = vg.explain(vg.algorithms.jaccard, graph, device=TWO, passes=False)
    assert "every member has all arcs and a copy of every vertex: " in told.reasons
    assert told.members.count("ghosts") == 2
    parts = vg.run(vg.algorithms.pagerank, graph, device=TWO).stats.members
    whole = vg.run(vg.algorithms.label_propagation, graph, device=TWO).stats.members
    assert sum(m.arcs for m in whole) == sum(m.arcs for m in parts) == graph.num_arcs
    assert all(m.vertices + m.ghosts == graph.num_vertices for m in whole)


def test_explain_tells_where_members_exchange_what():
    graph = small_graph()
    told = vg.explain(vg.algorithms.sssp, graph, device=TWO)
    assert told.members.count("ghosts") == 2
    (line,) = (x for x in told.reasons.splitlines() if "after a round" in x)
    assert "dist to owners, frontier.size to all members; at most" in line
    bound = int(line.rpartition("at most ")[2].removesuffix(" bytes").replace(",", ""))
    result = vg.run(vg.algorithms.sssp, graph, device=TWO, source=0)
    assert 0 < result.stats.exchanged_bytes <= bound * result.stats.rounds
    assert "all_to_all" in told.passes["place-exchanges"]


# --- refusals ---------------------------------------------------------------------------------------------------

WRONG_DEVICES = {
    "no list": ("cpu:0", r"named in a set of devices: device=\['cpu:0'\]"),
    "nothing": ([], "a list with at least one"),
    "no set": ("cpu:*", "cores are named as"),
    "unknown": (["gpu"], "is not available; members are .* 'cpu:0-7' and 'cuda:0'"),
    "no name": ([3], "a member is"),
    "no range": (["cpu:x"], "cores are named as"),
    "backwards": (["cpu:1-0"], "1-0 goes from a higher core to a lower one"),
    "missing": (["cpu:99999"], "this process has no core 99999"),
    "twice": (["cpu:0", "cpu:0"], "core 0 is in two members"),
}


@pytest.mark.parametrize("cores", [[0.5], "0", [None]])
def test_cores_are_whole_numbers(cores):
    with pytest.raises(vg.ParameterError, match="numbers of CPUs"):
        vg.cpu(cores=cores)


@pytest.mark.parametrize("case", WRONG_DEVICES)
def test_sets_that_cannot_be(case):
    asked, message = WRONG_DEVICES[case]
    with pytest.raises(vg.DeviceError, match=message):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=asked)


WRONG_PLACEMENTS = {
    "short": (np.zeros(5, int), "it needs one member per vertex"),
    "out of range": (np.full(24, 2), "is 2 at vertex 0; the members are 0 to 1"),
    "negative": (np.arange(24) - 1, "is -1 at vertex 0"),
    "NaN": (np.where(np.arange(24) == 4, np.nan, 0), "NaN at vertex 4"),
    "fractions": (np.full(24, 0.5), "whole numbers"),
    "ragged": ([[0], [1, 2]], "placement cannot be made an array"),
    "a method": ("metis", "'metis': \"partition\", or an array"),
}


@pytest.mark.parametrize("case", WRONG_PLACEMENTS)
def test_placements_that_cannot_be(case):
    parts, message = WRONG_PLACEMENTS[case]
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=TWO, placement=parts)


@pytest.mark.parametrize(
    "more",
    [{"threads": 2}, {"relabel": "degree"}, {"deterministic": True}, {"debug": [0]}, {"checked": True}],
)
def test_what_a_set_does_not_do(more):
    with pytest.raises(vg.ParameterError):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=TWO, **more)


def test_a_placement_by_a_partition_of_the_graph():
    graph = small_graph(directed=False)
    expected = vg.run(vg.algorithms.bfs, graph, source=0)
    made = vg.partition(graph, 2, vertex_weight="degree")
    for placement in ("partition", made):
        got = vg.run(vg.algorithms.bfs, graph, source=0, device=TWO, placement=placement)
        np.testing.assert_array_equal(got.level, expected.level)
        owned = [member.vertices for member in got.stats.members]
        assert owned == np.bincount(made.parts).tolist()
    with pytest.raises(vg.ParameterError, match="which member of a set"):
        vg.run(vg.algorithms.bfs, graph, source=0, placement="partition")


def test_a_placement_by_a_partition_is_made_once(monkeypatch):
    graph = small_graph(directed=False)
    vg.run(vg.algorithms.bfs, graph, source=0, device=TWO, placement="partition")
    monkeypatch.setattr("vgraph.partitioning.partition", None)
    vg.run(vg.algorithms.bfs, graph, source=0, device=TWO, placement="partition")


def test_a_placement_needs_a_set():
    with pytest.raises(vg.ParameterError, match="which member of a set"):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, placement=np.zeros(24, int))


WRONG_SCHEDULES = {
    "one by one": ({"order": vg.STRICT}, "no thread that takes vertices one by one"),
    "delayed buckets": ({"order": vg.delta_stepping(2), "exchange": vg.DELAYED}, "agree on no bucket"),
    "tiles": ({"tiles": 4}, "tiles are those of one device"),
    "combined and pulled": ({"exchange": vg.COMBINE, "direction": vg.PULL}, "is pushed"),
    "base and scattered": ({"exchange": vg.BASE, "phases": vg.APPLY_SCATTER}, "pull"),
    "combined and gathered": ({"exchange": vg.COMBINE, "phases": vg.GATHER_APPLY}, "push"),
    "base and pushed": ({"exchange": vg.BASE, "direction": vg.PUSH}, "pull"),
    "delayed rounds": ({"exchange": vg.DELAYED, "sync": vg.BSP}, "see updates at once"),
    "segments": ({"segments": 2}, "in the order of the whole graph"),
}


@pytest.mark.parametrize("case", WRONG_SCHEDULES)
def test_schedules_that_a_set_does_not_take(case):
    asked, message = WRONG_SCHEDULES[case]
    schedule = vg.Schedule().at("relax", **asked)
    with pytest.raises(vg.VGraphError, match=message):
        vg.run(vg.algorithms.sssp, small_graph(), source=0, device=TWO, schedule=schedule)


@pytest.mark.parametrize("phases", [vg.GATHER_APPLY, vg.APPLY_SCATTER], ids=str)
def test_each_member_has_a_pipeline_of_its_own(phases):
    graph = small_graph()
    expected = vg.run(vg.algorithms.sssp, graph, device="python", source=3)
    schedule = vg.Schedule().at("relax", phases=phases, pipeline=2)
    for threads in ((1, 1), (2, 1), (3, 2)):
        device = [vg.cpu(threads=t) for t in threads]
        found = vg.run(vg.algorithms.sssp, graph, device=device, schedule=schedule, source=3)
        assert found.schedule.labels["relax"].pipeline == 2
        same_results(found, expected)


BUCKETS = [("sssp", "relax", "dist"), ("widest_path", "widen", "width")]


@pytest.mark.parametrize(("name", "label", "result"), BUCKETS)
def test_members_agree_on_the_lowest_bucket(name, label, result):
    algorithm, graph = getattr(vg.algorithms, name), small_graph()
    expected = vg.run(algorithm, graph, device="python", source=3)
    for width, volume in ((None, vg.AUTO), (2, vg.CHANGED)):
        schedule = vg.Schedule().at(label, order=vg.delta_stepping(width), volume=volume)
        told = vg.explain(algorithm, graph, schedule, device=TWO, passes=False, source=3)
        assert "agree on the lowest bucket" in told.reasons
        for count, placement in placements(24):
            assert_same(algorithm, graph, count, placement, expected, {"schedule": schedule, "source": 3})


def test_the_lowest_bucket_comes_first():
    """A long way of short arcs is a round each; the short way of one long arc waits until they are done."""
    n = 30
    src, dst = np.r_[np.arange(n - 1), 0], np.r_[np.arange(1, n), n - 1]
    weight = np.r_[np.ones(n - 1, int), 1000]
    graph = vg.Graph.from_edges(src, dst, num_vertices=n, weight=weight)
    schedule = vg.Schedule().at("relax", order=vg.delta_stepping(1), exchange=vg.COMBINE)
    found = vg.run(
        vg.algorithms.sssp, graph, source=0, device=TWO, placement=np.arange(n) % 2, schedule=schedule
    )
    assert (found.dist == np.arange(n)).all()
    assert [r.frontier for r in found.trace] == [1] * n


def test_a_vertex_waits_once_however_often_it_is_reached():
    """Others would not fit into the list."""
    rng = np.random.default_rng(0)
    ends, weight = rng.integers(0, 100, (2, 8000)), rng.integers(1, 256, 8000)
    graph = vg.Graph.from_edges(*ends, num_vertices=100, weight=weight)
    expected = vg.run(vg.algorithms.sssp, graph, source=0, threads=1).dist
    schedule = vg.Schedule().at("relax", order=vg.delta_stepping(64), exchange=vg.COMBINE)
    for _ in range(3):
        found = vg.run(vg.algorithms.sssp, graph, source=0, device=TWO, schedule=schedule)
        assert (found.dist == expected).all()
    told = vg.explain(vg.algorithms.sssp, graph, schedule, device=TWO, source=0)
    pushes = re.findall(r"push \S+ \S+ sparse.*", told.passes["lower-push"])
    assert len(pushes) > 4
    assert all("dedupe" in push for push in pushes)


def test_members_go_on_by_themselves_on_deep_graphs(monkeypatch):
    line = np.arange(99)
    graph = vg.Graph.from_edges(line, line + 1, weight=np.ones(99, int))
    monkeypatch.setattr(policy, "facts_of", lambda graph, device: Facts(deep=True))
    chosen = {
        name: vg.explain(getattr(vg.algorithms, name), graph, device=TWO, passes=False).schedule
        for name in ("sssp", "bfs")
    }
    assert "exchange=delayed" in chosen["sssp"]
    assert "exchange=combine" in chosen["bfs"]
    asked = vg.Schedule().at("relax", sync=vg.BSP)
    assert "combine" in vg.explain(vg.algorithms.sssp, graph, asked, device=TWO, passes=False).schedule
    placement = np.arange(100) % 2
    got = vg.run(vg.algorithms.sssp, graph, source=0, device=TWO, placement=placement)
    assert (got.dist == np.arange(100)).all()


def test_what_may_not_be_delayed_is_refused_with_its_line():
    schedule = vg.Schedule().at("visit", exchange=vg.DELAYED)
    with pytest.raises(vg.ScheduleError, match="`level` is claimed") as refused:
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=TWO, schedule=schedule)
    assert "^^^" in str(refused.value)


def test_one_device_exchanges_nothing():
    with pytest.raises(vg.ScheduleError, match="one device has nobody to exchange with"):
        vg.run(
            vg.algorithms.bfs, small_graph(), source=0, schedule=vg.Schedule().at("visit", exchange=vg.BASE)
        )


# --- ends -------------------------------------------------------------------------------------------------------


@vg.operator
def turn(src, edge, dst):
    dst.x += src.x


@vg.algorithm
def endless(graph, fails: bool = False):
    x = graph.vertex_property(vg.int64, 1)
    rounds = 0
    while rounds >= 0:
        graph.edge_apply(turn)
        if fails:
            vg.fail("enough")
    return x


class Stop(Exception):
    """What a caller's progress function raises."""


def test_an_interrupt_ends_all_members_and_the_next_run_works():
    def stop(_: object) -> None:
        raise Stop

    graph = small_graph()
    for _ in range(2):
        with pytest.raises(Stop):
            vg.run(endless, graph, device=TWO, progress=stop)
    expected = vg.run(vg.algorithms.bfs, graph, source=0, device="python").level
    np.testing.assert_array_equal(vg.run(vg.algorithms.bfs, graph, source=0, device=TWO).level, expected)


def test_a_failing_program_ends_with_one_error():
    with pytest.raises(vg.AlgorithmError, match="enough"):
        vg.run(endless, small_graph(), device=TWO, fails=True)


def test_a_failing_member_ends_all(monkeypatch):
    from vgraph.compiler.backends.abi import Status
    from vgraph.runtime.devices import threads

    submit = threads._submit

    def broken(kernel, context, *rest):
        submit(kernel, context, *rest)
        if context is second[0]:
            context.set("payload", 123)
            context.set("status", Status.OUT_OF_MEMORY)

    second: list[object] = [None]
    together = threads.run_together

    def run(members, *, progress=None):
        second[0] = members[1][1]
        together(members, progress=progress)

    monkeypatch.setattr(threads, "_submit", broken)
    monkeypatch.setattr("vgraph.runtime.devices.sets.run_together", run)
    with pytest.raises(vg.DeviceError, match="out of memory: 123 more bytes"):
        vg.run(endless, small_graph(), device=TWO)
    monkeypatch.undo()
    expected = vg.run(vg.algorithms.bfs, small_graph(), source=0, device="python").level
    np.testing.assert_array_equal(
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=TWO).level, expected
    )


def test_cores_of_a_run_under_way_are_busy():
    from vgraph.runtime.devices.sets import reserved

    with reserved([vg.cpu(cores=[0])]), pytest.raises(vg.DeviceError, match="cpu:0 is busy"):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=["cpu:0"])
    assert (
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=["cpu:0"]).stats.members[0].name == "cpu:0"
    )


def test_devices_are_listed():
    first = vg.devices()[0]
    assert (first.name, first.kind) == ("cpu", "cpu")
    assert first.threads >= 1


@vg.operator
def claim_with_none(src, edge, dst):
    x = src.q
    if dst.p == vg.none:
        dst.p = x


@vg.algorithm
def claimed_with_none(graph):
    p = graph.vertex_property(vg.vertex, vg.none)
    q = graph.vertex_property(vg.vertex, vg.none)
    found = graph.edge_apply(claim_with_none, graph.vertices)
    return p, q, found


def test_a_claim_with_the_value_of_what_is_unclaimed_enters_at_its_owner():
    graph = vg.Graph.from_edges([0, 1, 2, 3, 4, 5], [19, 18, 17, 16, 15, 14], num_vertices=20)
    expected = vg.run(claimed_with_none, graph, device="python").found.tolist()
    assert vg.run(claimed_with_none, graph, device=TWO).found.tolist() == expected == list(range(14, 20))


@vg.algorithm
def set_and_array(graph, several: vg.array(vg.vertex)):
    x = graph.vertex_property(vg.int64)
    chosen = graph.frontier(several)
    for s in several:
        x[s] += 1 + len(chosen)
    return x


def test_an_array_of_vertices_is_whole_where_it_is_a_set_too():
    several = np.array([9, 3, 9, 0])
    expected = vg.run(set_and_array, small_graph(), device="python", several=several).x
    np.testing.assert_array_equal(
        vg.run(set_and_array, small_graph(), device=TWO, several=several).x, expected
    )


@vg.operator
def take(src, edge, dst):
    dst.x += src.y


@vg.algorithm
def taken(graph):
    x = graph.vertex_property(vg.int64, 1)
    y = graph.vertex_property(vg.int64, 1)
    graph.edge_apply(take)
    return x


@pytest.mark.parametrize(
    "options", [{"balance": vg.EDGE}, {"prefetch": 8}, {"phases": vg.GATHER_APPLY}], ids=str
)
def test_parts_have_more_arcs_in_than_out(options):
    """One member has the sources of all arcs, the other the ends."""
    ends = np.random.default_rng(0).integers(0, 500, (2, 3000)) + [[0], [500]]
    graph = vg.Graph.from_edges(*ends, num_vertices=1000)
    schedule = vg.Schedule().at("take", exchange=vg.BASE, **options)
    got = vg.run(taken, graph, device=TWO, placement=np.arange(1000) // 500, schedule=schedule).x
    np.testing.assert_array_equal(got, 1 + graph.in_degree)
