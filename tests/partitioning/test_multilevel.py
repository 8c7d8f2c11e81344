"""The multilevel partitioner: what it promises of balance, its cuts beside METIS's, and that threads do not matter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_simple import grid

import vgraph as vg
from vgraph.partitioning import contraction, multilevel, places
from vgraph.partitioning.problem import problem_of
from vgraph.partitioning.programs.bisection import bisection

MESH = Path(__file__).parents[3] / "shared/data/mesh"


def delaunay(n: int, seed: int = 3) -> vg.Graph:
    """The Delaunay graph of random points in a square."""
    from scipy.spatial import Delaunay

    corners = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    ends = np.r_[corners[:, :2], corners[:, 1:], corners[:, ::2]]
    return vg.Graph.from_edges(*ends.T, directed=False, multi_edges=False)


def weighted(n: int, seed: int, heaviest: int, id_bits: int | None = None) -> vg.Graph:
    """A random graph with weights, of vertices too."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, 4 * n))
    load = {"load": rng.integers(1, heaviest, n)}
    weight = rng.integers(1, 9 if heaviest < 100 else heaviest, 4 * n)
    simple = {} if id_bits is None else {"id_bits": id_bits, "multi_edges": False, "self_loops": False}
    return vg.Graph.from_edges(
        *ends, num_vertices=n, directed=False, vertex_properties=load, weight=weight, **simple
    )


def cut_of(graph: vg.Graph, parts) -> int:
    sources, targets, properties = graph.edges()
    weight = properties.get("weight", np.ones(sources.size, int))
    return int(weight[parts[sources] != parts[targets]].sum())


@pytest.mark.parametrize("k", [2, 7, 16])
def test_a_grid_is_cut_almost_as_well_as_can_be(k):
    graph = grid(40)
    cuts = []
    for seed in range(3):
        found = vg.partition(graph, k, seed=seed, threads=1)
        assert found.weights.max() <= found.limit == int(1.03 * 1600 / k)
        assert found.cut == cut_of(graph, found.parts) == found.levels[0].cut
        assert found.levels[0].heaviest == found.weights.max()
        cuts.append(found.cut)
    assert np.mean(cuts) <= 1.25 * 40 * (2 * np.sqrt(k) - 2 if k > 2 else 1)  # squares, where k is one


@pytest.mark.parametrize("heaviest", [2, 50, 3000])
def test_parts_of_weighted_vertices_keep_the_limit(heaviest):
    graph = weighted(300, heaviest, heaviest)
    for k in (3, 40):
        found = vg.partition(graph, k, vertex_weight="load", edge_weight="weight", threads=1)
        assert found.weights.max() <= found.limit
        assert found.cut == cut_of(graph, found.parts)
        assert found.cut < vg.partition(graph, k, "random", vertex_weight="load", edge_weight="weight").cut


def test_what_is_too_heavy_is_packed_anew():
    graph = weighted(200, 1, 90)
    problem = problem_of(graph, 5, 1.0, 0, "load", None)
    packed = multilevel.repaired(problem, np.zeros(200, np.int32), int(problem.loads.sum()))
    assert np.bincount(packed, problem.loads).max() <= problem.limit
    rng = np.random.default_rng(6)
    for _ in range(200):
        n, k = int(rng.integers(3, 10)), int(rng.integers(2, 5))
        few = vg.Graph.from_edges([], [], num_vertices=n, directed=False)
        problem = problem_of(few, k, 1.0, 0, rng.integers(1, 10, n), None)
        parts = rng.integers(0, k, n).astype(np.int32)
        packed = multilevel.repaired(problem, parts, int(np.bincount(parts, problem.loads).max()))
        assert np.bincount(packed, problem.loads).max() <= problem.limit
    even = vg.partition(graph, 5, imbalance=1.0, vertex_weight="load", threads=1)
    assert even.weights.max() <= even.limit < 1.02 * even.vertex_weights.sum() / 5


def test_label_propagation_improves_blocks_within_the_limit():
    graph = delaunay(600)
    found = vg.partition(graph, 8, "label_propagation", threads=1)
    assert found.cut < 0.6 * vg.partition(graph, 8, "blocks").cut
    assert found.weights.max() <= found.limit


def test_bisection_reports_what_it_made():
    problem = problem_of(delaunay(150), 2, 1.03, 0, None, None, 1, "cpu")
    graph, n, tries = problem.graph, 150, 12
    region = (np.arange(n) % 3 == 0).astype(np.int32)  # two regions that are torn to pieces
    order = np.argsort(region, kind="stable")
    sizes = np.bincount(region)
    found = vg.run(
        bisection,
        graph,
        threads=1,
        agents=np.arange(2 * tries),
        region=region,
        order=order,
        starts=np.r_[0, np.cumsum(sizes)],
        low=sizes // 2 - 2,
        high=sizes // 2 + 2,
        aim=sizes // 2,
        tries=tries,
        most_passes=8,
        patience=40,
    )
    sources = np.repeat(np.arange(n), graph.out_degree)
    targets = graph.out.column_indices
    for agent in range(2 * tries):
        side = found.sides >> (agent % tries) & 1
        own = region[sources] == agent // tries
        cut = np.count_nonzero(own & (region[sources] == region[targets]) & (side[sources] != side[targets]))
        assert found.score[agent] == cut // 2
        first = np.count_nonzero((region == agent // tries) & (side == 0))
        assert found.excess[agent] == max(0, abs(first - sizes[agent // tries] // 2) - 2) == 0
    assert len(set(found.score[:tries])) > 1


def test_neighbors_are_paired_that_are_light_enough():
    graph = weighted(300, 5, 9)
    problem = problem_of(graph, 2, 1.03, 0, "load", "weight", 1, "cpu")
    mate = multilevel.paired(problem, places.Host(1), problem.graph, 12, 1)
    to_coarser = contraction.contracted(problem.graph, mate, 1)[1]
    sizes, loads = np.bincount(to_coarser), np.bincount(to_coarser, problem.loads)
    assert sorted(set(sizes)) == [1, 2]
    assert loads[sizes == 2].max() <= 12
    reach = problem.graph.to_scipy("weight").toarray() > 0
    pairs = [np.flatnonzero(to_coarser == c) for c in np.flatnonzero(sizes == 2)]
    near = [reach[a, b] for a, b in pairs]
    assert np.mean(near) > 0.9
    assert all(reach[a, b] or (reach[a] & reach[b]).any() for a, b in pairs)
    left = np.flatnonzero(sizes[to_coarser] == 1)
    free = reach[np.ix_(left, left)] & (np.add.outer(problem.loads[left], problem.loads[left]) <= 12)
    assert free.sum() < 0.1 * reach.sum()


@pytest.mark.parametrize("id_bits", [None, 64])
def test_sorting_contracts_as_the_table_does(id_bits):
    problem = problem_of(weighted(300, 5, 9, id_bits), 2, 1.03, 0, "load", "weight", 1, "cpu")
    mate = multilevel.paired(problem, places.Host(1), problem.graph, 12, 1)
    (table, into), (keys, also) = (
        contraction.contracted(problem.graph, mate, 1),
        contraction.contracted_by_keys(problem.graph, mate, np),
    )
    assert (into == also).all()
    assert keys.num_arcs == keys.num_edges == table.num_arcs
    for one, other in (
        (table.out.row_offsets, keys.out.row_offsets),
        (table.out.column_indices, keys.out.column_indices),
        (table.edge_properties["weight"], keys.edge_properties["weight"]),
        (table.vertex_properties["load"], keys.vertex_properties["load"]),
    ):
        assert one.dtype == other.dtype
        assert (one == other).all()


def test_who_weighs_nothing_but_ones_is_known():
    """A GPU makes such weights itself."""
    for graph, asked, known in (
        (grid(5), None, True),
        (vg.Graph.from_edges([0, 0], [1, 1], directed=False), None, False),
        (vg.Graph.from_edges([0, 1], [1, 1], directed=False), None, False),
        (vg.Graph.from_edges([0], [1]), None, False),
        (weighted(30, 1, 9), "weight", False),
    ):
        problem = problem_of(graph, 2, 1.03, 0, None, asked)
        assert problem.unweighted == known
        assert not known or (problem.graph.edge_properties["weight"] == 1).all()


def test_vertices_on_one_hub_are_paired():
    graph = vg.Graph.from_edges([0] * 60, range(1, 61), directed=False)
    problem = problem_of(graph, 2, 1.03, 0, [1] * 61, None, 1, "cpu")
    mate = multilevel.paired(problem, places.Host(1), problem.graph, 10, 1)
    sizes = np.bincount(contraction.contracted(problem.graph, mate, 1)[1])
    assert sizes.size == 31
    assert sizes.max() == 2


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_singles_are_paired_with_those_on_the_same_hub(dtype):
    hub = np.array([7, 5, 7, 5, 6, 7, 5, 5], dtype)
    mate = np.full(8, multilevel.NONE, np.uint32)
    multilevel._pair_singles(np, mate, hub, np.array([1, 1, 1, 9, 1, 1, 1, 1]), 10)
    none = multilevel.NONE
    assert mate.tolist() == [2, 6, 0, none, none, none, 1, none]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_spread_what_a_coarse_vertex_has(threads, monkeypatch):
    monkeypatch.setattr(places, "LEAST", 50)
    to_coarser = np.random.default_rng(threads).integers(0, 90, 203).astype(np.int32)
    for values in (np.arange(90, dtype=np.int32), np.arange(90) % 3 == 0):
        found = places.Host(threads).spread(values, to_coarser)
        assert found.dtype == values.dtype
        assert (found == values[to_coarser]).all()


@pytest.mark.parametrize("id_bits", [32, 64])
@pytest.mark.parametrize("most", [9, 2**40])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_contraction_adds_up(id_bits, most, threads, monkeypatch):
    monkeypatch.setattr(contraction, "RANGE", 50)
    problem = problem_of(weighted(200, 4, most, id_bits), 2, 1.03, 0, "load", "weight", 1, "cpu")
    ends = np.repeat(np.arange(200), problem.graph.out_degree.astype(int)), problem.graph.out.column_indices
    weights = problem.graph.edge_properties["weight"]
    assert problem.graph.id_dtype.itemsize * 8 == id_bits
    assert weights.dtype == problem.loads.dtype == (np.int32 if most == 9 else np.int64)
    rooms, before = [], None
    for singles in (0, 60, 200):
        order = np.random.default_rng(singles).permutation(200)[singles:]
        mate = np.full(200, multilevel.NONE, np.uint32)
        mate[order[::2]], mate[order[1::2]] = order[1::2], order[::2]
        coarse, to_coarser = contraction.contracted(problem.graph, mate, threads, rooms)
        assert len(rooms) == (0 if threads == 1 else threads)
        count = 200 - order.size // 2
        assert coarse.num_vertices == count
        assert (to_coarser[order[::2]] == to_coarser[order[1::2]]).all()
        assert (np.diff(np.unique(to_coarser, return_index=True)[1]) > 0).all()  # what was near stays near
        matrix = np.zeros((count, count), np.int64)
        np.add.at(matrix, tuple(to_coarser[x] for x in ends), weights)
        np.fill_diagonal(matrix, 0)
        assert (coarse.to_scipy("weight").toarray() == matrix).all()
        assert coarse.num_arcs == np.count_nonzero(matrix)
        loads = np.zeros(count, np.int64)
        np.add.at(loads, to_coarser, problem.loads)
        assert coarse.vertex_properties["load"].tolist() == loads.tolist()
        one, _ = contraction.contracted(problem.graph, mate, 1)
        assert one.out.column_indices.tolist() == coarse.out.column_indices.tolist()
        if before is not None:  # its arcs are its own
            assert before[0].out.column_indices.tolist() == before[1]
        before = coarse, coarse.out.column_indices.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 16, 64])
def test_threads_do_not_matter(k):
    graph = delaunay(20000)
    parts = [vg.partition(graph, k, seed=7, threads=threads).parts for threads in (1, 2, 5)]
    assert (parts[0] == parts[1]).all()
    assert (parts[0] == parts[2]).all()
    assert (parts[0] != vg.partition(graph, k, seed=8).parts).any()


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 16, 64])
def test_cuts_are_like_those_of_metis(k):
    pytest.importorskip("pymetis")
    if not MESH.is_dir():
        pytest.skip("needs ../shared/data")
    graph = vg.read(MESH / "airfoil1.graph.xz")
    cuts = {m: [vg.partition(graph, k, m, seed=s).cut for s in range(3)] for m in ("vgraph", "metis")}
    assert np.mean(cuts["vgraph"]) <= 1.08 * np.mean(cuts["metis"])


@pytest.mark.slow
def test_skewed_graphs_get_parts_of_equally_many_arcs():
    rng = np.random.default_rng(8)
    sources = (rng.random(60000) ** 4 * 5000).astype(int)
    graph = vg.Graph.from_edges(sources, rng.integers(0, 5000, 60000), num_vertices=5000, directed=False)
    found = vg.partition(graph, 8)
    assert found.weights.max() <= found.limit
    assert found.balance.arcs < 1.05
    assert len({level.arcs for level in found.levels}) == len(found.levels)
    assert any(level.rounds == 0 for level in found.levels)  # hardly different from the one before
    assert found.cut < 0.97 * vg.partition(graph, 8, "random").cut


@pytest.mark.slow
def test_weights_beyond_32_bits():
    graph = weighted(2000, 9, 40)
    small = vg.partition(graph, 4, vertex_weight="load", edge_weight="weight")
    load = graph.vertex_properties["load"].astype(np.int64) << 32
    weight = graph.edge_properties["weight"].astype(np.int64) << 30
    large = vg.partition(graph, 4, vertex_weight=load, edge_weight=weight)
    assert large.weights.max() <= large.limit
    assert large.cut < 1.05 * (small.cut << 30)
