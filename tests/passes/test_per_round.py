"""A direction chosen per round: both forms give the same answer whenever they take turns, and do take turns."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_lowering import fitted, graphs, native, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, CUDA
from vgraph.compiler.backends.scan import needs_transpose
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.runtime import depth, policy

LARGE = Facts(large=True)
DIRECTED = Facts(large=True, directed=True)
OVER_FRONTIER = tuple(ir.members("frontier", layout) for layout in ir.Layout)

# What the hidden parameters may hold: as they come, always push, always pull, turn back as soon as possible.
NUMBERS = {
    "usual": {},
    "push": {
        "policy.queue_share": 0,
        "policy.pull_share": 1,
        "graph.max_degree": 0,
        "graph.max_in_degree": 0,
    },
    "pull": {
        "graph.transposed": True,
        "policy.queue_share": 1 << 40,
        "policy.pull_share": 1 << 40,
        "policy.gather_share": 1 << 40,
        "policy.pushed_arcs": 0,
        "policy.pulled_arcs": 0,
        "policy.push_share": 1 << 40,
    },
    "waver": {
        "graph.transposed": True,
        "policy.pull_share": 1 << 40,
        "policy.pushed_arcs": 0,
        "policy.pulled_arcs": 0,
        "policy.push_share": 0,
    },
}


def lowered(program, threads, facts=LARGE):
    schedule = vg.Schedule()
    for label in labels(program):
        schedule = schedule.at(label, order=vg.UNORDERED)
    return PassManager(Context(schedule, threads, facts)).run(program, PIPELINE)


def numbers(kernel, graph, changed):
    hidden = {p.name for p in kernel.params if p.name.startswith(("policy.", "graph."))}
    return {name: changed.get(name, policy.number(name, graph)) for name in hidden}


def directions(kernel):
    return {n.direction for n in walk(kernel) if isinstance(n, ir.Trace)}


@pytest.mark.parametrize("name", PROGRAMS)
@given(
    graph=graphs(),
    kind=st.sampled_from(list(NUMBERS)),
    seed=st.integers(0, 99),
    threads=st.sampled_from((0, 1)),
    facts=st.sampled_from((LARGE, DIRECTED)),
)
@settings(max_examples=10)
def test_kernels_give_the_answer_of_the_program(name, graph, kind, seed, threads, facts):
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    kernel = lowered(program, threads, facts)
    given = {"source": 0, **numbers(kernel, graph, NUMBERS[kind])}
    same(interpret(kernel, graph, given, seed=seed, threads=1 if threads else 3), want)


@pytest.mark.parametrize("name", ["bfs", "bfs_by_level", "paths"])
@given(graph=graphs(), kind=st.sampled_from(list(NUMBERS)), seed=st.integers(0, 99))
@settings(max_examples=8)
def test_kernels_for_warps_give_the_answer_of_the_program(name, graph, kind, seed):
    """There a pull is cut, too, and what it leaves open is kept in a loop of its own."""
    program = fitted(PROGRAMS[name], graph)
    kernel = PassManager(Context(facts=LARGE, abilities=CUDA)).run(program, PIPELINE)
    assert directions(kernel) >= {"push", "pull"}
    given = {"source": 0, **numbers(kernel, graph, NUMBERS[kind])}
    same(interpret(kernel, graph, given, seed=seed, threads=3), interpret(program, graph, {"source": 0}))


@pytest.mark.covering(2)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(
    "name", ["bfs", "bfs_by_level", "sssp", "limited", "paths", "bfs_reverse", "paths_reverse"]
)
def test_machine_code_gives_the_answer_of_the_program(name, threads, kind, monkeypatch):
    usual = policy.number
    monkeypatch.setattr(policy, "number", lambda n, g, *w: NUMBERS[kind].get(n, usual(n, g, *w)))
    rng = np.random.default_rng(threads)
    n, m = 300, 1500
    ends, weight = rng.integers(0, n, (2, m)), rng.integers(0, 9, m).astype(np.int32)
    graph = vg.Graph.from_edges(*ends, num_vertices=n, weight=weight)
    if "graph.transposed" in NUMBERS[kind]:
        assert graph.in_ is not None  # built before the run
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    for facts in (LARGE, DIRECTED):
        same(native(lowered(program, threads, facts), graph, threads), want)


@pytest.mark.parametrize("name", ["bfs", "bfs_by_level", "paths"])
def test_a_claim_or_a_guard_is_lowered_to_both_directions(name):
    assert directions(lowered(parse_program(PROGRAMS[name]), 0)) >= {"push", "pull"}


@pytest.mark.parametrize(
    "facts",
    [Facts(), Facts(large=True, deep=True)],
    ids=["small", "deep"],
)
def test_one_direction_where_the_other_cannot_pay(facts):
    assert directions(lowered(parse_program(PROGRAMS["bfs"]), 0, facts)) == {"push"}


def test_what_is_claimed_elsewhere_in_the_loop_is_looked_at_again():
    """A set of open vertices is kept from pull to pull only while nothing else can open one again."""
    text = PROGRAMS["bfs"].replace(
        "@depth = (@depth + 1:i32)", "@depth = (@depth + 1:i32)\n    level[source] = -1:i32"
    )
    assert "visit.open" in print_program(lowered(parse_program(PROGRAMS["bfs"]), 0))
    assert "visit.open" not in print_program(lowered(parse_program(text), 0))


def test_a_loop_behind_the_apply_in_its_loop_is_another():
    """What lives from round to round is declared before the loop around the apply, and before no other."""
    apply = "    frontier = edge_apply(visit, frontier)\n"
    behind = "    for i in range(0:i64, 2:i64, 1:i64) {\n      fill parent = none\n    }\n"
    text = PROGRAMS["bfs"].replace(apply, apply + behind)
    assert directions(lowered(parse_program(text), 0)) == {"push", "pull"}


def scale_free():
    """A few hubs, which a search from the last vertex meets in its second round, and a path behind that vertex."""
    rng = np.random.default_rng(5)
    n = 1 << 12
    ends = (n * rng.random((2, 16 * n)) ** 4).astype(np.int64)
    path = np.arange(n - 1, n + 3)
    src, dst = np.append(ends[0], path[:-1]), np.append(ends[1], path[1:])
    return vg.Graph.from_edges(src, dst, directed=False)


def run_as_large(graph, monkeypatch, source=0, **options):
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": LARGE)
    return vg.run(vg.algorithms.bfs, graph, source=source, **options)


@cache
def search_of_a_scale_free_graph():
    """The graph, and its search from the last vertex by the reference."""
    graph = scale_free()
    return graph, vg.run(vg.algorithms.bfs, graph, source=graph.num_vertices - 1, device="python")


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_search_of_a_scale_free_graph_turns_to_pulling_and_back(threads, monkeypatch):
    graph, expected = search_of_a_scale_free_graph()
    source = graph.num_vertices - 1
    result = run_as_large(graph, monkeypatch, source, threads=threads)
    taken = [r.direction for r in result.trace]
    assert {"push", "pull"} == set(taken)
    assert taken[0] == taken[-1] == "push"
    np.testing.assert_array_equal(result.level, expected.level)


def test_many_threads_share_the_arcs_of_a_push_and_pull_by_vertex(monkeypatch):
    graph, expected = search_of_a_scale_free_graph()
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": Facts(large=True, heavy=True))
    result = vg.run(vg.algorithms.bfs, graph, source=graph.num_vertices - 1, threads=8)
    assert "balance=edge" in str(result.schedule)
    assert {r.direction for r in result.trace} == {"push", "pull"}
    np.testing.assert_array_equal(result.level, expected.level)


@pytest.mark.parametrize("threads", [1, 2])
def test_arcs_that_pulls_have_closed_are_no_longer_counted_as_open(threads, monkeypatch):
    """Behind a dense part, pulled, and a path lies a part of fewer arcs than 1/15 of all, but most of what is left."""
    rng = np.random.default_rng(3)
    dense, path, rest = 1000, 3, 200
    bounds = np.cumsum([0, dense, path, rest])
    ends = rng.integers(0, dense, (2, 64 * dense)), rng.integers(bounds[2], bounds[3], (2, 12 * rest))
    steps = np.arange(dense - 1, bounds[2] + 1)
    src, dst = (np.concatenate((ends[0][k], ends[1][k], steps[k : len(steps) - 1 + k])) for k in (0, 1))
    graph = vg.Graph.from_edges(src, dst, directed=False)
    result = run_as_large(graph, monkeypatch, threads=threads)
    taken = [r.direction for r in result.trace]
    on_path = max(k for k, r in enumerate(result.trace) if r.frontier == 1)
    assert taken[on_path] == "push"
    assert "pull" in taken[:on_path]
    assert "pull" in taken[on_path:]
    a, b = result.level[np.stack((src, dst))]
    reached = np.union1d(src[a > b], dst[b > a])
    assert (abs(a - b) <= 1).all()
    assert set(reached) | {0} == set(np.flatnonzero(result.level >= 0))


@vg.operator
def claim_with_weight(src, edge, dst):
    """What is claimed reads a property of the arc, which a pull has in the order of in-arcs."""
    if dst.level == -1:
        dst.level = src.level + 1
        dst.through = edge.weight


@vg.algorithm
def weighted_search(graph, source: vg.vertex):
    level = graph.vertex_property(vg.int32, fill=-1)
    through = graph.vertex_property(vg.int32, fill=0)
    level[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(claim_with_weight, frontier)
    return level, through


@pytest.mark.parametrize("threads", [1, 2])
def test_a_transpose_is_not_built_for_a_pull_that_might_be_a_push(threads, monkeypatch):
    """Once it is there, the same code pulls."""
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": DIRECTED)
    one, other, _ = scale_free().edges()
    sources, targets = np.append(one, other), np.append(other, one)
    weight = (targets % 7).astype(np.int32)  # whichever arc claims, the weight is the same
    graph = vg.Graph.from_edges(sources, targets, weight=weight)

    def search():
        return vg.run(weighted_search, graph, source=graph.num_vertices - 1, threads=threads)

    first = search()
    assert {r.direction for r in first.trace} == {"push"}
    assert not graph.has_transpose
    assert graph.in_ is not None
    second = search()
    assert {r.direction for r in second.trace} == {"push", "pull"}
    assert second.schedule == first.schedule
    for name in first.names:
        np.testing.assert_array_equal(getattr(second, name), getattr(first, name))


@pytest.mark.parametrize("name", ["bfs", "paths"])
def test_in_arcs_are_walked_under_a_test_of_them_alone(name):
    """So that a run without them never looks for any; a program against the arcs cannot do without."""
    kernel = lowered(parse_program(PROGRAMS[name]), 0, DIRECTED)
    assert not needs_transpose(kernel)
    assert needs_transpose(parse_program(print_program(kernel).replace("graph.transposed and", "true and")))
    assert needs_transpose(lowered(parse_program(PROGRAMS[name]), 0))
    reverse = lowered(parse_program(PROGRAMS[f"{name}_reverse"]), 0, DIRECTED)
    assert needs_transpose(reverse)
    assert "graph.transposed" not in print_program(reverse)


@pytest.mark.parametrize("name", ["bfs", "paths"])
def test_where_a_pull_cannot_be_a_push_takes_a_queue_or_a_bitmap(name):
    for facts, layouts in ((LARGE, {ir.Layout.SPARSE}), (DIRECTED, {ir.Layout.SPARSE, ir.Layout.BITMAP})):
        kernel = lowered(parse_program(PROGRAMS[name]), 0, facts)
        walked = {
            n.domain.layout
            for n in walk(kernel)
            if isinstance(n, ir.ParFor) and n.domain in OVER_FRONTIER and n.label
        }
        assert walked == layouts


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_paths_are_counted_in_both_directions(threads, kind, monkeypatch):
    usual = policy.number
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": LARGE)
    monkeypatch.setattr(policy, "number", lambda n, g, *w: NUMBERS[kind].get(n, usual(n, g, *w)))
    graph = scale_free()
    sources = [graph.num_vertices - 1, 0]
    result = vg.run(vg.algorithms.betweenness, graph, sources=sources, threads=threads)
    taken = {r.direction for r in result.trace if r.label == "reach"}
    assert taken == {"push", "pull"} if kind == "usual" else ("pull" in taken) == (kind != "push")
    assert {"collect", "send_up"} <= {r.label for r in result.trace}
    push = vg.Schedule().at("reach", direction=vg.PUSH)
    expected = vg.run(vg.algorithms.betweenness, graph, sources=sources, threads=1, schedule=push)
    np.testing.assert_allclose(result.centrality, expected.centrality, rtol=1e-9, atol=1e-15)


GUARDED = PROGRAMS["paths"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level[v] = @depth", "level[v] = -1:i32"),
        ("vertex_apply(settle, frontier)", "@depth = @depth"),
        ("(level[dst] == -1:i32)", "(level[dst] <= -1:i32)"),
        ("(level[dst] == -1:i32)", "(level[src] == 0:i32)"),
    ],
    ids=["opens again", "never closes", "no state", "of src"],
)
def test_only_a_guard_that_closes_leaves_the_direction_open(old, new):
    assert old in GUARDED
    assert "pull" not in directions(lowered(parse_program(GUARDED.replace(old, new)), 0))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_of_a_path_never_pulls(threads, monkeypatch):
    ids = np.arange(1 << 10)
    result = run_as_large(
        vg.Graph.from_edges(ids[:-1], ids[1:], directed=False), monkeypatch, threads=threads
    )
    assert {r.direction for r in result.trace} == {"push"}
    np.testing.assert_array_equal(result.level, ids)


def test_the_schedule_says_that_it_is_chosen_in_every_round(monkeypatch):
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": LARGE)
    text = str(vg.explain(vg.algorithms.bfs, scale_free()))
    assert "direction=auto: each round pushes or pulls" in text
    assert "more than 1/15" in text


@pytest.mark.parametrize(
    "fixed", [{"direction": vg.PUSH}, {"drive": vg.DATA}, {"frontier": vg.SPARSE}], ids=str
)
def test_what_is_asked_for_is_not_left_open(fixed, monkeypatch):
    result = run_as_large(scale_free(), monkeypatch, 4096, schedule=vg.Schedule().at("visit", **fixed))
    assert {r.direction for r in result.trace} == {"push"}


@pytest.mark.parametrize("name", ["bfs", "sssp", "paths", "bfs_reverse", "bfs_directed"])
def test_golden_of_both_forms(name, golden):
    from pathlib import Path

    facts = DIRECTED if name.endswith("_directed") else LARGE
    kernel = lowered(parse_program(PROGRAMS[name.removesuffix("_directed")]), 0, facts)
    golden(Path(__file__).parent / "golden" / f"{name}-per-round.ir", print_program(kernel))


def frontiers_walked(kernel):
    return {n.layout for n in walk(kernel) if n in OVER_FRONTIER}


def test_a_push_is_compiled_for_a_queue_and_for_a_bitmap():
    both = lowered(parse_program(PROGRAMS["sssp"]), 0)
    assert frontiers_walked(both) == {ir.Layout.SPARSE, ir.Layout.BITMAP}
    assert frontiers_walked(lowered(parse_program(PROGRAMS["sssp"]), 0, Facts(large=True, deep=True))) == {
        ir.Layout.SPARSE
    }


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("share", [0, 2, 1 << 40], ids=["queue", "usual", "bitmap"])
def test_drives_take_turns(share, threads, monkeypatch):
    usual = policy.number
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": LARGE)
    monkeypatch.setattr(
        policy, "number", lambda n, g, *w: share if n == "policy.queue_share" else usual(n, g, *w)
    )
    graph = scale_free()
    found = vg.run(vg.algorithms.label_components, graph, threads=threads)
    expected = vg.run(vg.algorithms.connected_components, graph, threads=threads)
    np.testing.assert_array_equal(found.component, expected.component)


def grid(side):
    ids = np.arange(side * side).reshape(side, side)
    src = np.concatenate((ids[:, :-1].ravel(), ids[:-1].ravel()))
    dst = np.concatenate((ids[:, 1:].ravel(), ids[1:].ravel()))
    return vg.Graph.from_edges(src, dst, directed=False)


def test_grids_are_deep_and_graphs_with_hubs_and_random_ones_are_not():
    rng = np.random.default_rng(3)
    ids = np.arange(1 << 12)
    assert depth.is_deep(grid(100))
    assert depth.is_deep(vg.Graph.from_edges(ids[:-1], ids[1:], directed=False))
    assert not depth.is_deep(scale_free())
    assert not depth.is_deep(vg.Graph.from_edges(*rng.integers(0, 4096, (2, 40000)), directed=False))
    assert not depth.is_deep(vg.Graph.from_edges([], [], num_vertices=3))


def test_lanes_share_the_arcs_of_open_vertices_where_there_are_lanes():
    program = parse_program(PROGRAMS["paths"])
    for device, lanes in ((CUDA, ir.Lanes.BINS), (CPU, ir.Lanes.THREAD)):
        kernel = PassManager(Context(facts=LARGE, abilities=device)).run(program, PIPELINE)
        (pull,) = [
            n
            for n in walk(kernel)
            if isinstance(n, ir.ParFor) and n.label and isinstance(n.domain, ir.BitmapMembers)
        ]
        assert pull.lanes is lanes


def test_many_threads_search_a_deep_graph_by_buckets_of_levels():
    graph = grid(200)
    few, many = (vg.run(vg.algorithms.bfs, graph, source=0, threads=threads) for threads in (4, 8))
    assert "order" not in str(few.schedule)
    assert "order=delta(16)" in str(many.schedule)
    assert many.level.max() == 2 * 199
    np.testing.assert_array_equal(few.level, many.level)
