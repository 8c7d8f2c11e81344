"""Clustering by squares, triads, rich clubs, assortativity: against NetworkX, on graphs of every shape."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_arguments import graph_for
from test_algorithms_differential import graphs
from test_library_wide import same, simple

import vgraph as vg

A = vg.algorithms
quick = settings(max_examples=12)
HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 2}])


def without_loops(graph: vg.Graph, directed: bool) -> Any:
    """The NetworkX graph, parallel arcs once."""
    g = simple(graph)
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    return g.to_directed() if directed else g.to_undirected()


@quick
@given(graphs(), HOW)
def test_square_clustering(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.square_clustering, graph, **how)
    g = without_loops(graph, False)
    same(found.coefficient, nx.square_clustering(g))
    cycles = [c for c in nx.simple_cycles(g, length_bound=4) if len(c) == 4]
    same(found.squares, {v: sum(v in c for c in cycles) for v in g})
    vg.verify(found)


def peeled(graph: vg.Graph, value: Any, mode: str) -> list[float]:
    """Core numbers, one vertex taken away at a time."""
    s, t, _ = graph.edges()
    core, left, k = np.zeros(graph.num_vertices), set(range(graph.num_vertices)), 0.0
    sides = {"in": (t,), "out": (s,), "all": (s, t)}[mode if graph.directed else "all"]
    while left:
        counts = (s != t) & np.isin(s, list(left)) & np.isin(t, list(left))
        degree = sum(np.bincount(ends[counts], value[counts], graph.num_vertices) for ends in sides)
        v = min(left, key=degree.__getitem__)
        k = core[v] = max(k, degree[v])
        left.remove(v)
    return core.tolist()


@quick
@given(graphs(), st.sampled_from(["all", "in", "out"]), st.booleans(), HOW)
def test_cores(graph: vg.Graph, mode: str, weighted: bool, how: Any) -> None:
    found = vg.run(A.k_core, graph, mode=mode, weight="weight" if weighted else None, **how)
    assert found.core.dtype == (np.float64 if weighted else np.int32)
    value = graph.edges()[2]["weight"] if weighted else np.ones(graph.num_edges)
    assert found.core.tolist() == peeled(graph, value, mode)
    vg.verify(found)


def test_cores_of_weights_that_round() -> None:
    """Sums of tenths; the core of a vertex does not hang on their last digits, nor do right ones fail."""
    rng = np.random.default_rng(6)
    graph = vg.Graph.from_edges(*rng.integers(0, 40, (2, 300)), share=rng.integers(1, 30, 300) / 10)
    for how in ({"device": "python"}, {"threads": 2}):
        found = vg.run(A.k_core, graph, weight="share", mode="in", **how)
        np.testing.assert_allclose(found.core, peeled(graph, graph.edges()[2]["share"], "in"), rtol=1e-12)
        vg.verify(found)


@pytest.mark.parametrize(
    ("weight", "mode", "message"),
    [(None, "both", "none of"), ([-1.0, 1], "all", "negative"), ([1e308, 1e308], "all", "scale them down")],
)
def test_refused_cores(weight: Any, mode: str, message: str) -> None:
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(A.k_core, vg.Graph.from_edges([0, 1], [1, 2]), weight=weight, mode=mode)


@quick
@given(graphs(), st.integers(1, 6), HOW)
def test_cliques(graph: vg.Graph, size: int, how: Any) -> None:
    g = without_loops(graph, False)
    cliques = Counter(len(c) for c in nx.enumerate_all_cliques(g))
    found = vg.run(A.clique_count, graph, size=size, **how)
    assert found.total == cliques[size]
    vg.verify(found)
    found = vg.run(A.maximum_clique, graph, **how)
    assert found.size == max(cliques)
    members = np.flatnonzero(found.member).tolist()
    assert len(members) == found.size
    assert all(g.has_edge(u, v) for u in members for v in members if u < v)
    vg.verify(found)


def near_clique(n: int, missing: int) -> vg.Graph:
    """All edges but those between 2k and 2k + 1 for the first vertices."""
    s, t = np.triu_indices(n, 1)
    kept = (s % 2 == 1) | (t != s + 1) | (s >= 2 * missing)
    return vg.Graph.from_edges(s[kept], t[kept], num_vertices=n, directed=False)


@pytest.mark.parametrize("missing", [0, 9])
def test_cliques_of_more_vertices_than_colors(missing: int) -> None:
    """64 colors are bits; of vertices without one each counts by itself."""
    graph = near_clique(90, missing)
    found = vg.run(A.maximum_clique, graph)
    assert found.size == found.member.sum() == 90 - missing
    counts = [vg.run(A.clique_count, graph, size=k).total for k in (1, 2, 3)]
    assert counts == [90, math.comb(90, 2) - missing, math.comb(90, 3) - 88 * missing]


def test_a_clique_that_is_not_the_largest_is_found_out() -> None:
    graph = near_clique(12, 3)
    found = vg.run(A.maximum_clique, graph)
    vg.verify(found)
    member = found.member.copy()
    member[np.flatnonzero(member)[0]] = False
    found._values |= {"size": found.size - 1, "member": member}
    with pytest.raises(vg.VerificationError, match="in a clique of 9, and size is 8"):
        vg.verify(found)


def test_refused_sizes_of_cliques() -> None:
    with pytest.raises(vg.ParameterError, match="size=0"):
        vg.run(A.clique_count, vg.Graph.from_edges([0], [1]), size=0)


@quick
@given(graphs(), HOW)
def test_triads(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.triad_census, graph, **how)
    want = nx.triadic_census(without_loops(graph, True))
    assert {name[1:]: getattr(found, name) for name in found.names} == want
    vg.verify(found)


def test_all_triads() -> None:
    """Each kind by itself, its vertices in every order: no other one is counted."""
    for name in nx.algorithms.triads.TRIAD_NAMES:
        arcs = np.array(nx.triad_graph(name).edges)
        ids = np.searchsorted(["a", "b", "c"], arcs.reshape(-1, 2))
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            s, t = np.array(order)[ids.astype(int)].T
            found = vg.run(A.triad_census, vg.Graph.from_edges(s, t, num_vertices=3))
            assert [kind for kind in found.names if getattr(found, kind)] == [f"t{name}"]


def test_triads_beyond_64_bits() -> None:
    """There may be more without arcs than any integer of NumPy's holds: they are counted in Python."""
    n = 5_000_000
    kinds = list(vg.run(A.triad_census, vg.Graph.from_edges([], [])).names)[1:]
    found = A.triad_census.finish({"n": n, **dict.fromkeys(kinds, 0), "t012": 1}, {})
    assert (found["t012"], found["t003"]) == (n - 2, n * (n - 1) * (n - 2) // 6 - (n - 2))
    assert found["t003"] > 2**64


def motifs(graph: nx.Graph) -> dict[str, int]:
    """By definition: sets of four vertices, by their degrees among themselves."""
    kinds = {"1122": "p4", "1113": "claw", "2222": "c4", "1223": "paw", "2233": "diamond", "3333": "k4"}
    found = dict.fromkeys(("p4", "claw", "c4", "paw", "diamond", "k4"), 0)
    for four in combinations(graph, 4):
        kind = kinds.get("".join(map(str, sorted(d for _, d in graph.subgraph(four).degree))))
        if kind is not None:
            found[kind] += 1
    return found


@quick
@given(graphs(), HOW)
def test_motifs(graph: vg.Graph, how: Any) -> None:
    found = vg.run(A.motif_census, graph, **how)
    assert {name: getattr(found, name) for name in found.names} == motifs(without_loops(graph, False))
    vg.verify(found)


def test_each_motif() -> None:
    """Each by itself, and what all of them have of others inside: complete graphs, wheels and grids."""
    for made in (nx.complete_graph(7), nx.wheel_graph(9), nx.grid_2d_graph(3, 4), nx.star_graph(6)):
        plain = nx.convert_node_labels_to_integers(made)
        graph = vg.Graph.from_networkx(plain)
        found = vg.run(A.motif_census, graph)
        assert {name: getattr(found, name) for name in found.names} == motifs(plain)
        vg.verify(found)


@quick
@given(graphs(), HOW)
def test_rich_clubs(graph: vg.Graph, how: Any) -> None:
    graph = graph_for(A.rich_club, graph)
    found = vg.run(A.rich_club, graph, **how)
    want = nx.rich_club_coefficient(without_loops(graph, False), normalized=False)
    if want:  # NetworkX says nothing of graphs without edges
        assert list(want) == list(range(len(found.coefficient)))
        same(found.coefficient, want)
    vg.verify(found)


@quick
@given(graphs(), st.booleans(), HOW)
def test_assortativity(graph: vg.Graph, by_value: bool, how: Any) -> None:
    value = np.random.default_rng(3).integers(0, 4, graph.num_vertices).astype(float) if by_value else None
    found = vg.run(A.assortativity, graph, value=value, **how)
    s, t = np.repeat(np.arange(graph.num_vertices), graph.out_degree.astype(int)), graph.out.column_indices
    if value is None:
        ends = np.bincount(s, minlength=graph.num_vertices), np.bincount(t, minlength=graph.num_vertices)
        twice = 0 if graph.directed else np.bincount(s[s == t], minlength=graph.num_vertices)
        tail, head = (ends[0] + twice)[s], (ends[1] + twice)[t]
    else:
        tail, head = value[s], value[t]
    if tail.size and np.ptp(tail) and np.ptp(head):
        assert found.assortativity == pytest.approx(np.corrcoef(tail, head)[0, 1], abs=1e-9)
    else:
        assert np.isnan(found.assortativity)
    vg.verify(found)


def test_values_of_every_size() -> None:
    """Their unit does not matter; equal ones have no correlation, however they are rounded."""
    graph = vg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    value = np.array([1.0, 2.0, 4.0, -3.0])
    want = vg.run(A.assortativity, graph, value=value).assortativity
    for scale in (1e-300, 1e300):
        found = vg.run(A.assortativity, graph, value=value * scale)
        assert found.assortativity == pytest.approx(want, rel=1e-12)
        vg.verify(found)
    alone = vg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], num_vertices=5)
    assert np.isnan(vg.run(A.assortativity, alone, value=np.array([0.1, 0.1, 0.1, 0.1, 7.0])).assortativity)
    with pytest.raises(vg.ParameterError, match="not finite"):
        vg.run(A.assortativity, graph, value=np.array([1, 2, np.inf, 3]))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(n: int) -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=n, directed=False)
    for how in ({"device": "python"}, {}):
        assert vg.run(A.square_clustering, graph, **how).coefficient.tolist() == [0] * n
        assert vg.run(A.triad_census, graph, **how).t003 == (n == 3)
        assert vg.run(A.rich_club, graph, **how).coefficient.tolist() == []
        assert [vg.run(A.clique_count, graph, size=k, **how).total for k in (1, 2, 3)] == [n, 0, 0]
        found = vg.run(A.maximum_clique, graph, **how)
        assert found.size == found.member.sum() == min(n, 1)
        assert np.isnan(vg.run(A.assortativity, graph, **how).assortativity)


def test_directed_graphs_have_no_rich_clubs() -> None:
    with pytest.raises(vg.ParameterError, match="directed=False"):
        vg.run(A.rich_club, vg.Graph.from_edges([0], [1]))
