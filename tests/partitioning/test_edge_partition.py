"""Partitions of edges: what is measured, that each method does what defines it, and that SPAC's is the least C."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vgraph as vg
from vgraph.partitioning import EDGE_METHODS
from vgraph.partitioning.edges import settling, spac
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.partitioning.edges.result import EdgePartition

OURS = [m for m in EDGE_METHODS if m != "hypergraph"]


def scattered(seed: int, *, directed: bool, n: int = 40, m: int = 150) -> vg.Graph:
    """Edges at random, loops and parallel ones among them, and vertices without any."""
    ends = np.random.default_rng(seed).integers(0, n, (2, m))
    return vg.Graph.from_edges(*ends, num_vertices=n + 3, directed=directed)


def mesh(side: int) -> vg.Graph:
    ids = np.random.default_rng(1).permutation(side * side).reshape(side, side)
    pairs = [(ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:]), (ids[:-1, :-1], ids[1:, 1:])]
    src, dst = (np.concatenate([p[i].ravel() for p in pairs]) for i in (0, 1))
    return vg.Graph.from_edges(src, dst, directed=False)


def copies_of(graph: vg.Graph, numbered: NDArray[Any]) -> list[set[int]]:
    """The parts that hold an edge of each vertex."""
    found: list[set[int]] = [set() for _ in range(graph.num_vertices)]
    for s, t, p in zip(*graph.edges()[:2], numbered.tolist(), strict=True):
        found[s].add(p)
        found[t].add(p)
    return found


def problem(graph: vg.Graph, k: int, imbalance: float = 1.03) -> EdgeProblem:
    return EdgeProblem(graph, k, imbalance, 0, "vgraph", None, None)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", OURS)
def test_figures(method, directed):
    graph = scattered(3, directed=directed)
    for k in (1, 3, 70):
        found = vg.edge_partition(graph, k, method, partitioner="blocks")
        parts = copies_of(graph, found.numbered)
        assert found.parts.shape == (150,)
        assert found.numbered.min() >= 0
        assert found.numbered.max() < k
        assert found.copies.tolist() == [len(p) for p in parts]
        assert found.cost == sum(len(p) - 1 for p in parts if p)
        assert found.replication == pytest.approx(np.mean([len(p) for p in parts if p]))
        assert found.sizes.tolist() == np.bincount(found.numbered, minlength=k).tolist()
        assert found.balance == pytest.approx(found.sizes.max() * k / graph.num_edges)
        again = vg.edge_partition(graph, k, method, partitioner="blocks")
        assert (found.parts == again.parts).all()


def test_parts_are_in_the_order_of_the_users_edges():
    s, t = np.array([4, 0, 2, 1, 0, 3, 3]), np.array([1, 0, 3, 4, 1, 2, 4])  # a loop, and two twice
    graph = vg.Graph.from_edges(s, t, directed=False, self_loops=False, multi_edges=False)
    found = vg.edge_partition(graph, 2, "random", seed=1)
    assert found.parts[1] == -1
    assert found.parts[0] == found.parts[3]
    assert found.parts[2] == found.parts[5]
    sources, targets, _ = graph.edges()
    by_ends = {frozenset(e): p for *e, p in zip(sources, targets, found.numbered, strict=True)}
    for i in (0, 2, 3, 4, 5, 6):
        assert found.parts[i] == by_ends[frozenset((s[i], t[i]))]
    stream = problem(graph, 2).stream
    assert [{*map(int, (sources[e], targets[e]))} for e in stream] == [{1, 4}, {2, 3}, {0, 1}, {3, 4}]


def test_graphs_without_edges():
    for method in EDGE_METHODS:
        found = vg.edge_partition(vg.Graph.from_edges([], [], num_vertices=3), 4, method)
        assert (found.parts.size, found.cost, found.replication, found.balance) == (0, 0, 1.0, 1.0)


def streamed_slowly(graph: vg.Graph, k: int, limit: int, *, hdrf: bool) -> list[int]:
    held: list[set[int]] = [set() for _ in range(graph.num_vertices)]
    degree, load, parts = [0] * graph.num_vertices, [0] * k, {}
    for e in problem(graph, k).stream.tolist():
        u, v = (int(end[e]) for end in graph.edges()[:2])
        degree[u] += 1
        degree[v] += 1
        share = degree[u] / (degree[u] + degree[v])
        scores = []
        for p in range(k):
            score = (max(load) - load[p]) / (1 + max(load) - min(load))
            score += (2 - share if hdrf else 1) * (p in held[u])
            score += (1 + share if hdrf else 1) * (p in held[v])
            scores.append((score if load[p] < limit else -1.0, -p))
        parts[e] = -max(scores)[1]
        load[parts[e]] += 1
        held[u].add(parts[e])
        held[v].add(parts[e])
    return [parts[e] for e in range(graph.num_edges)]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("k", [3, 66])
def test_streams_take_the_best_score(k, directed):
    graph = scattered(5, directed=directed)
    limit = problem(graph, k).limit
    for method in ("greedy", "hdrf"):
        found = vg.edge_partition(graph, k, method)
        assert found.numbered.tolist() == streamed_slowly(graph, k, limit, hdrf=method == "hdrf")
        assert found.sizes.max() <= limit


@pytest.mark.parametrize("method", ["weighted_random", "weighted_greedy"])
def test_edges_inside_a_part_stay_there(method):
    graph = scattered(7, directed=True)
    found = vg.edge_partition(graph, 4, method, partitioner="blocks")
    s, t = (ends.astype(int) for ends in graph.edges()[:2])
    degree = np.maximum(np.bincount(np.r_[s, t], minlength=graph.num_vertices), 1)
    home = vg.partition(graph, 4, "blocks", vertex_weight=degree).parts
    assert ((found.numbered == home[s]) | (found.numbered == home[t])).all()
    if method == "weighted_greedy":
        held: list[set[int]] = [set() for _ in range(graph.num_vertices)]
        load = [0] * 4
        inside = home[s] == home[t]
        for e in [
            *np.flatnonzero(inside).tolist(),
            *(x for x in problem(graph, 4).stream.tolist() if not inside[x]),
        ]:
            a, b = int(home[s[e]]), int(home[t[e]])
            more = (b in held[s[e]]) - (a in held[t[e]])
            p = b if more > 0 or (more == 0 and load[b] < load[a]) else a
            assert found.numbered[e] == p
            load[p] += 1
            held[s[e]].add(p)
            held[t[e]].add(p)


def test_a_grid_bounds_copies():
    found = vg.edge_partition(scattered(8, directed=True, m=2000), 12, "grid")
    assert 4 < found.copies.max() <= 3 + 4 - 1


@pytest.mark.parametrize("directed", [False, True])
def test_clones(directed):
    """Around each vertex its edges are a path, in the order that is given."""
    graph = scattered(9, directed=directed)
    place = np.random.default_rng(2).permutation(graph.num_vertices)
    s, t = (ends.astype(int) for ends in graph.edges()[:2])
    want = []
    for v in range(graph.num_vertices):
        around = [
            (place[b if a == v else a], e) for e, (a, b) in enumerate(zip(s, t, strict=True)) if v in (a, b)
        ]
        path = [e for _, e in sorted(around, key=lambda x: x[0])]
        assert len(set(path)) == len(path)  # a loop has one clone
        want += [tuple(sorted(pair)) for pair in pairwise(path)]
    made = spac.clones(graph, place)
    assert made.num_vertices == graph.num_edges
    got = [*zip(*(ends.tolist() for ends in made.edges()[:2]), strict=True)]
    assert len(got) == len(want)
    if not directed:  # else parallel arcs to and fro come in another order
        assert sorted(got) == sorted(want)
    parts = np.random.default_rng(3).integers(0, 5, graph.num_edges)
    cut = sum(parts[a] != parts[b] for a, b in got)
    assert EdgePartition(graph, parts.astype(np.int32), 5, "", 0, 0.0).cost <= cut


@pytest.mark.parametrize("directed", [False, True])
def test_settling_saves_copies_and_keeps_the_limit(directed):
    for seed in range(4):
        graph = scattered(seed, directed=directed)
        rng = np.random.default_rng(seed)
        given = (rng.permutation(graph.num_edges) % 5).astype(np.int32)
        before = EdgePartition(graph, given, 5, "", 0, 0.0)
        asked = problem(graph, 5, 1.2)
        after = EdgePartition(graph, settling.settled(asked, given), 5, "", 0, 0.0)
        assert after.cost < 0.9 * before.cost
        assert after.sizes.max() <= asked.limit
        again = EdgePartition(graph, settling.settled(asked, after.numbered), 5, "", 0, 0.0)
        assert again.cost <= after.cost


def test_settling_counts_what_it_saves():
    """Two triangles with vertex 2 in common: an edge of one lies with the other, and goes home."""
    graph = vg.Graph.from_edges([0, 0, 1, 2, 2, 3], [1, 2, 2, 3, 4, 4], directed=False)
    given = np.array([0, 0, 1, 1, 1, 1], np.int32)
    assert settling.settled(problem(graph, 2, 1.0), given).tolist() == [0, 0, 0, 1, 1, 1]


def test_where_there_is_no_room_to_settle(monkeypatch):
    monkeypatch.setattr(settling, "MOST", 10)
    graph = scattered(1, directed=False)
    given = (np.arange(graph.num_edges) % 5).astype(np.int32)
    assert settling.settled(problem(graph, 5), given) is given


def test_spac_has_the_least_cost():
    graph = mesh(24)
    found = {method: vg.edge_partition(graph, 7, method) for method in OURS}
    assert found["spac"].cost <= 1.05 * min(e.cost for e in found.values())
    assert found["spac"].cost < 0.4 * min(found[m].cost for m in ("random", "greedy", "hdrf", "grid"))
    assert found["spac"].balance <= 1.031


def test_spac_over_metis():
    pytest.importorskip("pymetis", reason="METIS is not installed")
    found = vg.edge_partition(mesh(24), 6, partitioner="metis")
    assert found.cost < 0.4 * vg.edge_partition(mesh(24), 6, "greedy").cost


def test_hypergraph():
    pytest.importorskip("mtkahypar", reason="Mt-KaHyPar is not installed")
    graph = mesh(12)
    found = vg.edge_partition(graph, 4, "hypergraph")
    assert found.cost < vg.edge_partition(graph, 4, "greedy").cost
    assert found.balance <= 1.04
    vg.edge_partition(scattered(1, directed=True), 3, "hypergraph")


def test_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(vg.VGraphError, match=r"vgraph\[mtkahypar\]"):
        vg.edge_partition(mesh(4), 3, "hypergraph")


def test_what_is_refused():
    graph = mesh(4)
    for given, message in (
        (((), 3), r"not a vg\.Graph"),
        ((graph, 0), "k=0"),
        ((graph, 3, "best"), "the methods are spac, random"),
        ((graph, 3, ["spac"]), "the methods are spac, random"),
        ((graph, 3, "spac", 0.5), "imbalance=0.5"),
        ((graph, 3, "spac", 1.03, -1), "seed=-1"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.edge_partition(*given)
    for wrong in ("best", ["vgraph"]):
        with pytest.raises(vg.ParameterError, match="partitioner="):
            vg.edge_partition(graph, 3, partitioner=wrong)


@pytest.mark.parametrize("method", OURS)
def test_any_imbalance_is_taken(method):
    assert vg.edge_partition(mesh(4), 3, method, imbalance=1e300).sizes.sum() == mesh(4).num_edges
