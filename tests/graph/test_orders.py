"""Graphs in another order of vertices: the same arcs under other names, and what each order is for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph.relabel import ORDERS, order_of
from vgraph.orders.morton import cells
from vgraph.runtime import ordering


def grid(side: int, seed: int, *, directed: bool) -> vg.Graph:
    """A grid whose vertices are numbered at random, with one vertex apart and their places as coordinates."""
    ids = np.random.default_rng(seed).permutation(side * side + 1)[: side * side].reshape(side, side)
    src = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    dst = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    place = np.zeros((2, side * side + 1))
    place[:, ids.ravel()] = np.indices((side, side)).reshape(2, -1)
    return vg.Graph.from_edges(
        src, dst, num_vertices=side * side + 1, directed=directed, weight=np.arange(src.size),
        vertex_properties={"x": place[0], "y": place[1]},
    )  # fmt: skip


def farthest(graph: vg.Graph) -> int:
    """The largest difference of the numbers of two neighbors."""
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return int(abs(sources - graph.out.column_indices.astype(int)).max())


def nearness(graph: vg.Graph, by: Any) -> float:
    """The mean difference of the numbers of two neighbors in an order, as a part of what a random one has."""
    found = graph.relabelled(by).graph
    sources = np.repeat(np.arange(graph.num_vertices), found.out_degree)
    return float(abs(sources - found.out.column_indices.astype(int)).mean()) / (graph.num_vertices / 3)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("by", [*ORDERS, "given"])
def test_arcs_and_their_weights_stay(by, directed):
    graph = grid(7, 3, directed=directed)
    by = np.random.default_rng(8).permutation(50) if by == "given" else by
    found, old_of_new, new_of_old = graph.relabelled(by)
    np.testing.assert_array_equal(new_of_old[old_of_new], np.arange(graph.num_vertices))
    want = {(int(u), int(v)): int(w) for u, v, w in zip(*arcs(graph), strict=True)}
    got = {(int(old_of_new[u]), int(old_of_new[v])): int(w) for u, v, w in zip(*arcs(found), strict=True)}
    assert got == want
    dist = vg.run(vg.algorithms.sssp, graph, source=0).dist
    for result in (
        vg.run(vg.algorithms.sssp, graph, source=0, relabel=by),
        vg.run(vg.algorithms.sssp, vg.reorder(graph, by), source=0),
    ):
        np.testing.assert_array_equal(result.dist, dist)
        assert result.stats.order == order_of(graph, by)[0]


def arcs(graph: vg.Graph) -> tuple[np.ndarray, ...]:
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return sources, graph.out.column_indices, graph.edge_properties["weight"]


@pytest.mark.parametrize("directed", [False, True])
def test_reverse_cuthill_mckee_brings_neighbors_near(directed):
    graph = grid(20, 5, directed=directed)
    assert farthest(graph) > 300
    assert farthest(graph.relabelled("rcm").graph) <= 21


def inside(graph: vg.Graph, size: int) -> float:
    """Which part of the arcs stays in one range of `size` ids."""
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    return float((sources // size == graph.out.column_indices // size).mean())


@pytest.mark.parametrize("directed", [False, True])
def test_ranges_of_ids_are_clusters(directed):
    graph = grid(64, 5, directed=directed)
    assert inside(graph, 64) < 0.05
    found = graph.relabelled("clusters").graph
    for size, least in ((16, 0.35), (64, 0.6), (256, 0.8)):  # of squares 0.75, 0.875, 0.94
        assert inside(found, size) > least


def test_clusters_of_a_graph_in_pieces():
    graph = vg.Graph.from_edges(range(0, 400, 2), range(1, 400, 2), num_vertices=500, directed=False)
    old_of_new = graph.relabelled("clusters").old_of_new
    assert sorted(old_of_new.tolist()) == list(range(500))


def test_orders_bring_neighbors_near():
    graph = grid(40, 6, directed=False)
    assert nearness(graph, "random") > 0.9
    for by, most in {
        "rcm": 0.06,
        "bfs": 0.06,
        "hilbert": 0.1,
        "morton": 0.1,
        "gorder": 0.4,
        "rabbit": 0.2,
    }.items():
        assert nearness(graph, by) < most, by


def test_hubs_come_first_and_keep_their_order():
    graph = vg.Graph.from_edges([1, 1, 1, 4, 4, 4, 4, 0], [0, 2, 3, 0, 1, 2, 3, 1])
    assert graph.relabelled("hub").old_of_new.tolist() == [1, 4, 0, 2, 3]
    assert graph.relabelled("degree").old_of_new.tolist() == [4, 1, 0, 2, 3]


def test_curves():
    """Along Hilbert's curve each cell of a square is next to the one before; Morton's goes in the shape of a Z."""
    y, x = np.indices((8, 8)).reshape(2, -1)
    square = vg.Graph.from_edges([], [], num_vertices=64, vertex_properties={"x": x, "y": y})
    order = square.relabelled("hilbert").old_of_new
    assert (abs(np.diff(x[order])) + abs(np.diff(y[order])) == 1).all()
    order = square.relabelled("morton").old_of_new
    assert [(int(x[v]), int(y[v])) for v in order[:8]] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3),
    ]  # fmt: skip
    z, y, x = np.indices((4, 4, 4)).reshape(3, -1)
    cube = vg.Graph.from_edges([], [], num_vertices=64, vertex_properties={"x": x, "y": y, "z": z})
    order = cube.relabelled("hilbert").old_of_new
    assert (sum(abs(np.diff(axis[order])) for axis in (x, y, z)) == 1).all()
    assert cells(cube)[0].max() == 2**20 - 1


@pytest.mark.parametrize("by", ["hilbert", "morton"])
@pytest.mark.parametrize("scale", [1.0, 1e308, 1.79e308, 5e-324, 1e-300])
def test_curves_go_along_lines_of_any_length(by, scale):
    """On a line a curve is the line, even if its length, or what one over it is, is no float."""
    places = np.array([2, -1, 0, 1, -2]) * (scale / 2 if scale > 1e-320 else scale)
    graph = vg.Graph.from_edges([], [], num_vertices=5, vertex_properties={"x": places})
    assert np.diff(places[graph.relabelled(by).old_of_new]).min() > 0


def test_other_coordinates_give_another_order():
    graph = grid(5, 1, directed=False)
    turned = graph.with_vertex_property("x", -graph.vertex_properties["x"])
    assert graph.relabelled("hilbert").old_of_new.tolist() != turned.relabelled("hilbert").old_of_new.tolist()
    kept = vg.reorder(graph, "hilbert")
    assert kept.with_vertex_property("x", turned.vertex_properties["x"]).order == kept.order


def test_rabbit_keeps_communities_together():
    """Cliques of 8 in a ring, their vertices scattered: each is one piece of the order."""
    ids = np.random.default_rng(2).permutation(64).reshape(8, 8)
    pairs = [(a, b) for clique in ids.tolist() for a in clique for b in clique if a < b]
    pairs += [(int(ids[i, 0]), int(ids[(i + 1) % 8, 1])) for i in range(8)]
    graph = vg.Graph.from_edges(*np.array(pairs).T, directed=False)
    order = graph.relabelled("rabbit").old_of_new
    clique = np.empty(64, int)
    clique[ids] = np.arange(8)[:, None]
    assert np.count_nonzero(np.diff(clique[order])) == 7


def test_gorder_takes_the_best_each_time(monkeypatch):
    from vgraph.orders import gorder

    monkeypatch.setattr(gorder, "HUB", 1000)
    rng = np.random.default_rng(4)
    graph = vg.Graph.from_edges(*rng.integers(0, 30, (2, 60)), num_vertices=30, directed=False, multi_edges=False,
        self_loops=False, weight=np.ones(60))  # fmt: skip
    order = gorder.order(graph).tolist()
    a = np.zeros((30, 30), int)
    sources, targets, _ = arcs(graph)
    a[sources, targets] = 1
    score = a + a @ a
    for step in range(1, 30):
        last = order[max(0, step - gorder.WINDOW) : step]
        values = {v: int(score[v, last].sum()) for v in order[step:]}
        assert values[order[step]] == max(values.values()), step


def test_graphs_without_arcs_are_reordered_too():
    for n in (0, 4):
        graph = vg.Graph.from_edges([], [], num_vertices=n, vertex_properties={"x": np.zeros(n)})
        for by in ORDERS:
            assert sorted(graph.relabelled(by).old_of_new.tolist()) == list(range(n)), by


def test_what_is_no_order_is_refused():
    graph = vg.Graph.from_edges([0, 1], [1, 2], vertex_properties={"x": [0, 1, np.nan]})
    plain = vg.Graph.from_edges([0, 1], [1, 2])
    for given, message in (
        ("size", "'degree', 'hub', 'rcm'"),
        ("given 00", "the orders are"),
        ([0, 1], "each of the 3 vertices once"),
        ([0, 1, 1], "each of the 3 vertices once"),
        ([0, 1, 3], "out of range"),
        ([[0, 1, 2]], "one-dimensional"),
        (None, "one-dimensional"),
        ("hilbert", "not finite"),
    ):
        with pytest.raises(vg.GraphError, match=message):
            vg.reorder(graph, given)
        with pytest.raises(vg.GraphError, match=message):
            graph.relabelled(given)
    with pytest.raises(vg.GraphError, match="needs coordinates"):
        vg.reorder(plain, "morton")
    with pytest.raises(vg.GraphError, match=r"no vg\.Graph"):
        vg.reorder(None, "morton")


def test_a_reordered_graph_is_the_graph_itself_but_for_runs():
    graph = grid(6, 9, directed=True)
    rng = np.random.default_rng(3)
    for by in ("rcm", "hilbert", rng.permutation(37)):
        other = vg.reorder(graph, by)
        assert graph.order is None
        assert other.topology is graph.topology
        assert "run by" in repr(other)
        for made in (
            other,
            pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(other)))),
            other.with_edge_property("z", np.arange(graph.num_arcs)),
        ):
            assert made.order == other.order
            np.testing.assert_array_equal(made.out.column_indices, graph.out.column_indices)
            want = graph.relabelled(by).old_of_new
            np.testing.assert_array_equal(made.relabelled(made.order).old_of_new, want)
            assert made.relabelled(made.order).graph.order is None


def test_the_order_that_pays(monkeypatch):
    monkeypatch.setattr(ordering, "ORDER_VERTICES", 1000)
    monkeypatch.setattr(ordering, "NEAR", 100)
    rng = np.random.default_rng(1)
    square = grid(60, 3, directed=False)
    assert ordering.order_that_pays(square) == "rcm"
    assert ordering.order_that_pays(square.relabelled("rcm").graph) is None  # its neighbors are near already
    star = vg.Graph.from_edges(rng.zipf(1.6, 20000) % 1500, rng.integers(0, 1500, 20000), num_vertices=1500)
    assert ordering.order_that_pays(star) == "degree"
    assert ordering.order_that_pays(star, on_gpu=True) is None  # a GPU's cache holds more
    monkeypatch.setattr(ordering, "CUDA_DEGREE_VERTICES", 1000)
    assert ordering.order_that_pays(star, on_gpu=True) == "degree"
    assert ordering.order_that_pays(vg.Graph.from_edges(*rng.integers(0, 1500, (2, 20000)))) is None
    monkeypatch.setattr(ordering, "ORDER_VERTICES", 10**6)
    assert ordering.order_that_pays(grid(60, 3, directed=False)) is None
    assert vg.reorder(grid(60, 3, directed=False), "auto").order is None


def test_parts_are_in_one_piece(monkeypatch):
    from vgraph.orders import partition

    monkeypatch.setattr(partition, "PART", 40)
    graph = grid(20, 4, directed=False)
    parts = vg.partition(graph, 11).parts
    assert np.count_nonzero(np.diff(parts[graph.relabelled("partition").old_of_new])) == 10


def test_parts_of_edges_in_one_piece(monkeypatch):
    """Each vertex is in a part that holds as many of its edges as any; an order of any method is the array it is."""
    from vgraph.orders import spac

    monkeypatch.setattr(spac, "PART", 40)
    graph = vg.Graph.from_edges(*np.random.default_rng(3).integers(0, 110, (2, 300)), num_vertices=120)
    for found, k in ((vg.edge_partition(graph, 3), 3), (vg.edge_partition(graph, 7, method="hdrf"), 7)):
        s, t, _ = graph.edges()
        held = np.zeros((graph.num_vertices, k), int)
        for ends in (s, t):
            np.add.at(held, (ends, found.numbered), 1)
        part = np.where(held.any(axis=1), held.argmax(axis=1), k)
        assert np.array_equal(found.order, np.lexsort((np.arange(part.size), part)))
        if k == 3:
            assert np.array_equal(graph.relabelled("spac").old_of_new, found.order)
        near = vg.run(vg.algorithms.pagerank, graph, relabel=found.order, max_rounds=5)
        np.testing.assert_allclose(
            near.rank, vg.run(vg.algorithms.pagerank, graph, max_rounds=5).rank, rtol=1e-12
        )


@pytest.mark.parametrize("n", [7, 10, 14])
def test_gorder_of_small_dense_graphs(n: int) -> None:
    for seed in range(6):
        dense = np.triu(np.random.default_rng(seed).random((n, n)) < 0.9, 1)
        graph = vg.Graph.from_edges(*np.nonzero(dense), num_vertices=n, directed=False)
        assert sorted(order_of(graph, "gorder")[1].tolist()) == list(range(n))
