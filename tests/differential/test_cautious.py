"""Vertex operators that gather vertices: one visit after the other, in an order that the schedule may choose."""

from __future__ import annotations

import cautious_programs as programs
import gathering_algorithms as algorithms
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

import vgraph as vg

CONFLICTS = [vg.SEQUENTIAL, vg.NODE_LOCKED, vg.MARKED, vg.RACED]


def stirred(directed: bool, conflict: object, **options: object) -> vg.Result:
    schedule = vg.Schedule().at("stir", conflict=conflict)
    return vg.run(
        programs.stirred, programs.graph_of(directed), seeds=programs.SEEDS, schedule=schedule, **options
    )


def check_serial(found: vg.Result, directed: bool) -> None:
    """Visits that share a vertex have other turns, in the order in which they came."""
    order = programs.SEEDS[np.argsort(found.turn[programs.SEEDS], kind="stable")]
    np.testing.assert_array_equal(found.x, programs.replayed(programs.graph_of(directed), order))


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("directed", [True, False])
def test_one_after_the_other_is_a_loop_over_the_vertices(directed, device):
    found = stirred(directed, vg.SEQUENTIAL, device=device)
    np.testing.assert_array_equal(found.x, programs.replayed(programs.graph_of(directed), programs.SEEDS))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_what_comes_out_is_that_of_some_serial_order(conflict, directed, threads):
    found = stirred(directed, conflict, threads=threads)
    check_serial(found, directed)
    assert found.schedule.labels["stir"].conflict == conflict
    (tried,) = found.trace
    assert tried.edges - tried.frontier >= (conflict == vg.MARKED)


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_pairs_of_vectors_and_filters(conflict, device):
    """Each pair once, by its smaller end; what lists give is counted."""
    graph, schedule = programs.graph_of(True), vg.Schedule().at("pair_up", conflict=conflict)
    found = vg.run(
        programs.paired,
        graph,
        schedule=schedule,
        device=device,
        **({} if device == "python" else {"threads": 2}),
    )
    ends = np.flatnonzero(found.mate >= 0)
    np.testing.assert_array_equal(found.mate[found.mate[ends]], ends)
    first = ends[(ends < found.mate[ends])]
    assert set(found.first) <= set(ends)
    assert found.given[:, 1].max() >= 100
    assert len(found.first) <= len(first)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_who_has_no_room_comes_in_a_second_pass(conflict):
    graph, schedule = programs.graph_of(False), vg.Schedule().at("stir_all", conflict=conflict)
    found = vg.run(programs.all_stirred, graph, schedule=schedule, threads=2)
    hubs = np.flatnonzero(np.diff(graph.out.row_offsets) > 6)
    np.testing.assert_array_equal(found.hubs, hubs)
    assert hubs.size > 20
    assert found.visits == graph.num_vertices
    first = np.setdiff1d(np.arange(graph.num_vertices), hubs)
    order = np.concatenate([part[np.argsort(found.turn[part], kind="stable")] for part in (first, hubs)])
    np.testing.assert_array_equal(found.x, programs.all_replayed(graph, order))
    if conflict == vg.SEQUENTIAL:
        expected = vg.run(programs.all_stirred, graph, device="python")
        np.testing.assert_array_equal(found.x, expected.x)
        np.testing.assert_array_equal(found.hubs, expected.hubs)
        assert len(found.trace) == len(expected.trace) == 1


def test_a_second_pass_belongs_to_its_round():
    """In what is watched, too."""
    graph = programs.graph_of(False)
    given = {"debug": [0, 7], "schedule": vg.Schedule().at("stir_all", conflict=vg.SEQUENTIAL)}
    shown = [vg.run(programs.all_stirred, graph, device=d, **given).trace.watched for d in ("cpu", "python")]
    np.testing.assert_array_equal(shown[0].values["x"], shown[1].values["x"])
    assert shown[0].values["x"].shape == (1, 2)


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_a_full_list_ends_the_run(device):
    hub = vg.Graph.from_edges([0] * 50, range(1, 51), weight=np.arange(50))
    with pytest.raises(vg.AlgorithmError, match="a local list with room for 40 vertices is full") as caught:
        vg.run(programs.paired, hub, device=device)
    if device == "cpu":
        assert "near = vg.local_list(vg.vertex, 40)" in caught.value.__notes__[0]


def test_the_order_of_visits_is_one_of_numbers():
    with pytest.raises(vg.ScheduleError, match=r"near.append\(edge.dst\)(.|\n)*visits that gather vertices"):
        vg.run(programs.paired, programs.graph_of(True), relabel="degree")


def test_sums_at_edges_have_one_order():
    """Visits that share no vertex may add at one edge."""
    given = {"deterministic": True, "schedule": vg.Schedule().at("weigh", conflict=vg.MARKED)}
    with pytest.raises(vg.ScheduleError, match=r"edge.load \+= (.|\n)*the sum `load` of floats"):
        vg.run(programs.weighed, programs.graph_of(False), **given)
    found = vg.run(programs.weighed, programs.graph_of(False), deterministic=True, threads=2)
    assert found.schedule.labels["weigh"].conflict == vg.SEQUENTIAL


def sparse_graph(n: int, m: int) -> vg.Graph:
    """Undirected, without loops, no two edges of one weight."""
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, n, (2, m))
    pairs = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)])[:, a != b], axis=1)
    weight = rng.permutation(pairs.shape[1]).astype(np.int32)
    return vg.Graph.from_edges(*pairs, weight=weight, directed=False, num_vertices=n)


def ends_of(graph: vg.Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges and their weights."""
    s, t, properties = graph.edges()
    return s, t, properties["weight"]


def run(
    algorithm: vg.AlgorithmDef, label: str, graph: vg.Graph, conflict: object, **given: object
) -> vg.Result:
    return vg.run(algorithm, graph, threads=2, schedule=vg.Schedule().at(label, conflict=conflict), **given)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_greedy_matching_by_weight(conflict):
    graph = sparse_graph(300, 900)
    mate = np.full(300, -1)
    s, t, w = ends_of(graph)
    for k in np.argsort(-w):
        if mate[s[k]] == mate[t[k]] == -1:
            mate[s[k]], mate[t[k]] = t[k], s[k]
    np.testing.assert_array_equal(run(algorithms.greedy_matching, "marry", graph, conflict).mate, mate)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_boruvka_by_contraction(conflict):
    graph = sparse_graph(300, 500)
    s, t, w = ends_of(graph)
    tree = minimum_spanning_tree(coo_array((w + 1, (s, t)), (300, 300)).tocsr())
    count, part = connected_components(tree, directed=False)
    found = run(algorithms.boruvka, "contract", graph, conflict)
    assert found.total == tree.sum() - tree.nnz
    assert (
        len({*zip(part.tolist(), found.part.tolist(), strict=True)}) == count == len({*found.part.tolist()})
    )


@pytest.mark.parametrize("conflict", CONFLICTS, ids=str)
def test_a_better_cut(conflict):
    graph = sparse_graph(300, 1500)
    s, t, _ = ends_of(graph)
    begin = np.random.default_rng(1).random(300) < 0.5
    found = run(algorithms.better_cut, "change", graph, conflict, begin=begin)
    same_side = np.where(found.side[s] == found.side[t], 1, -1)
    own = np.bincount(s, same_side, 300) + np.bincount(t, same_side, 300)
    np.testing.assert_array_equal(found.own, own)
    assert own.max() <= 0
    assert (
        (found.side[s] != found.side[t]).sum() >= (begin[s] != begin[t]).sum() + found.moves > found.moves > 0
    )
