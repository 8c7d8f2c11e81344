"""Communities by the methods of Louvain and Leiden: valid, the same everywhere, and about as good as NetworkX's."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_algorithms_differential import graphs

import vgraph as vg

A = vg.algorithms


BOTH = pytest.mark.parametrize("algorithm", [A.louvain, A.leiden], ids=lambda a: a.name)


def run(graph: vg.Graph, algorithm: vg.AlgorithmDef = A.louvain, **how: Any) -> Any:
    """A verified answer: its communities are connected."""
    found = vg.run(algorithm, graph, **how)
    vg.verify(found, graph)
    return found


def made(g: nx.Graph) -> vg.Graph:
    ends = np.array(nx.convert_node_labels_to_integers(g).edges).reshape(-1, 2)
    return vg.Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=len(g), directed=False)


@BOTH
@settings(max_examples=8)
@given(graphs(dtypes=("int32", "float64")), st.sampled_from([1.0, 0.5, 2.0]), st.integers(1, 3))
def test_communities_everywhere(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, resolution: float, threads: int
) -> None:
    weight = graph.edge_properties["weight"]
    if (weight < 0).any():
        with pytest.raises(vg.ParameterError, match="negative"):
            vg.run(algorithm, graph)
        return
    if graph.directed and weight.dtype.kind == "f":
        return  # a program of its own, which takes long to compile
    found = run(graph, algorithm, resolution=resolution, threads=threads)
    known = {"community": found.community.astype(int), "resolution": resolution}
    again = vg.run(A.modularity, graph, **known).modularity
    assert found.modularity == pytest.approx(again, abs=1e-12)
    if weight.dtype.kind == "i":
        plain = run(graph, algorithm, resolution=resolution, device="python")
        assert found.community.tolist() == plain.community.tolist()
        assert found.levels == plain.levels


@BOTH
@pytest.mark.parametrize("dtype", [None, np.int32, np.float32, np.float64])
def test_the_same_with_any_number_of_threads(dtype: Any, algorithm: vg.AlgorithmDef) -> None:
    """Floats are eighths: their sums are exact."""
    rng = np.random.default_rng(4)
    ends = np.minimum(rng.geometric(0.004, (2, 6000)), 1500) - 1
    weight = rng.integers(1, 64, 6000)
    scale = 8 if dtype in (np.float32, np.float64) else 1
    given_weight = {} if dtype is None else {"weight": (weight / scale).astype(dtype)}
    graph = vg.Graph.from_edges(*ends, num_vertices=1500, directed=False, **given_weight)
    one = run(graph, algorithm, threads=1)
    assert one.levels > 1
    for threads in (2, 3):
        other = run(graph, algorithm, threads=threads)
        assert other.community.tolist() == one.community.tolist()
        assert other.modularity == pytest.approx(one.modularity, abs=1e-12)


GRAPHS = {
    "karate": nx.karate_club_graph,
    "lesmis": nx.les_miserables_graph,
    "florentine": nx.florentine_families_graph,
    "cliques": lambda: nx.ring_of_cliques(20, 6),
    "planted": lambda: nx.random_partition_graph([50] * 6, 0.3, 0.02, seed=3),
    "relaxed": lambda: nx.relaxed_caveman_graph(30, 8, 0.2, seed=4),
    "small world": lambda: nx.watts_strogatz_graph(300, 6, 0.1, seed=5),
    "random": lambda: nx.gnm_random_graph(500, 2500, seed=1),
    "grid": lambda: nx.grid_2d_graph(20, 20),
    "tree": lambda: nx.balanced_tree(3, 5),
    "pairs": lambda: nx.from_edgelist((2 * i, 2 * i + 1) for i in range(100)),
    "two sides": lambda: nx.complete_bipartite_graph(20, 20),
}


@BOTH
@pytest.mark.parametrize("name", GRAPHS)
def test_about_as_good_as_networkx(name: str, algorithm: vg.AlgorithmDef) -> None:
    graph = made(GRAPHS[name]())
    found = run(graph, algorithm).modularity
    s, t, _ = graph.edges()
    g = nx.Graph(zip(s.tolist(), t.tolist(), strict=True))
    theirs = [nx.community.modularity(g, nx.community.louvain_communities(g, seed=k)) for k in range(5)]
    assert found >= 0.98 * min(theirs)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
def test_about_as_good_as_networkx_on_directed_graphs(weighted: bool, algorithm: vg.AlgorithmDef) -> None:
    """Communities planted, and hubs that all others lead to."""
    g = nx.random_partition_graph([25] * 5, 0.3, 0.02, seed=3, directed=True)
    g.add_edges_from((v, 25 * (v % 5)) for v in range(1, 125, 2) if v != 25 * (v % 5))
    weight = {"weight": np.random.default_rng(2).integers(1, 9, len(g.edges))} if weighted else {}
    ends = np.array(g.edges).T
    graph = vg.Graph.from_edges(*ends, num_vertices=125, **weight)
    if weighted:
        nx.set_edge_attributes(g, dict(zip(g.edges, weight["weight"].tolist(), strict=True)), "weight")
    found = run(graph, algorithm)
    theirs = [nx.community.modularity(g, nx.community.louvain_communities(g, seed=k)) for k in range(3)]
    assert found.modularity >= 0.98 * min(theirs)
    other = run(graph, algorithm, threads=3)
    assert other.community.tolist() == found.community.tolist()


@BOTH
def test_directions_matter(algorithm: vg.AlgorithmDef) -> None:
    """Two vertices that all lead to are expected to have no arcs between them: one arc is much."""
    s, t = [0, 1, 2, 3, 0, 1, 2, 3, 4], [4, 4, 4, 4, 5, 5, 5, 5, 5]
    both = [run(vg.Graph.from_edges(s, t, directed=d), algorithm, resolution=1.5) for d in (True, False)]
    assert both[0].community[4] == both[0].community[5]
    assert both[1].community[4] != both[1].community[5]


def test_parts_of_communities_move_on() -> None:
    """Leiden's: single vertices alone would not move a second time."""
    graph = made(nx.grid_2d_graph(20, 20))
    first, full = run(graph, A.leiden, max_levels=1), run(graph, A.leiden)
    assert full.levels > 2
    assert full.modularity > 1.05 * first.modularity


def test_planted_communities_are_found() -> None:
    cliques = run(made(nx.ring_of_cliques(12, 6)))
    assert cliques.community.tolist() == np.repeat(np.arange(12) * 6, 6).tolist()
    weight = np.r_[np.full(5, 10), 1]  # a path of heavy edges, and a light one that closes it
    ends = [0, 1, 3, 4, 2, 5], [1, 2, 4, 5, 0, 0]
    heavy = vg.Graph.from_edges(*ends, directed=False, weight=weight)
    assert run(heavy).community.tolist() == [0, 0, 0, 3, 3, 3]


@BOTH
def test_resolution(algorithm: vg.AlgorithmDef) -> None:
    """At 0 nothing speaks against a community but that no arc leads there; far above 1 everything does."""
    graph = vg.Graph.from_edges([0, 1, 2, 3, 5, 5], [1, 2, 3, 0, 6, 5], num_vertices=8, directed=False)
    parts = vg.run(A.connected_components, graph).component
    assert run(graph, algorithm, resolution=0.0).community.tolist() == parts.tolist()
    assert run(graph, algorithm, resolution=50.0).community.tolist() == list(range(8))
    counts = [
        len(set(run(made(nx.karate_club_graph()), algorithm, resolution=r).community))
        for r in (0.5, 1.0, 2.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


@BOTH
def test_self_loops_and_parallel_edges_weigh_as_in_modularity(algorithm: vg.AlgorithmDef) -> None:
    """A vertex whose self-loop is heavy stays alone; of two edges side by side both count."""
    loops = vg.Graph.from_edges([0, 1, 0, 1], [0, 1, 1, 2], directed=False, weight=[50, 50, 1, 1])
    assert run(loops, algorithm).community.tolist() == [0, 1, 1]
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    assert run(path, algorithm).community.tolist() == [0, 0, 2, 2]
    parallel = vg.Graph.from_edges([0, 1, 1, 1, 2], [1, 2, 2, 2, 3], directed=False)
    assert run(parallel, algorithm).community.tolist() == [0, 0, 0, 0]


def test_levels() -> None:
    graph = made(nx.grid_2d_graph(20, 20))
    full = run(graph)
    assert full.levels > 2
    steps = [run(graph, max_levels=k) for k in range(1, int(full.levels) + 3)]
    qs = [s.modularity for s in steps]
    assert qs == sorted(qs)
    assert [s.levels for s in steps] == [min(k, full.levels) for k in range(1, int(full.levels) + 3)]
    assert steps[-1].community.tolist() == full.community.tolist()
    for upper, lower in zip(steps[1:], steps[:-1], strict=True):  # communities merge whole
        assert len(set(zip(lower.community, upper.community, strict=True))) == len(set(lower.community))
    none = run(graph, tolerance=2.0)  # no level adds so much
    assert none.community.tolist() == list(range(400))
    assert none.levels == 0


@BOTH
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_graphs_with_little_in_them(device: str, algorithm: vg.AlgorithmDef) -> None:
    for n in (0, 1, 3):
        graph = vg.Graph.from_edges([], [], num_vertices=n, directed=False)
        found = run(graph, algorithm, device=device)
        assert found.community.tolist() == list(range(n))
        assert (found.modularity, found.levels) == (0, 0)
    nothing = vg.Graph.from_edges([0, 1], [1, 2], directed=False, weight=[0, 0])
    assert run(nothing, algorithm, device=device).community.tolist() == [0, 1, 2]
    apart = vg.Graph.from_edges([4, 1, 2], [1, 2, 4], num_vertices=6, directed=False)
    assert run(apart, algorithm, device=device).community.tolist() == [0, 1, 1, 3, 1, 5]


@BOTH
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_refused(device: str, algorithm: vg.AlgorithmDef) -> None:
    ends = [0, 1], [1, 2]
    graph = vg.Graph.from_edges(*ends, directed=False)
    for given_wrong, says in (
        ({"resolution": -0.5}, "resolution=-0.5"),
        ({"resolution": float("nan")}, "resolution=nan"),
        ({"tolerance": -1.0}, "tolerance=-1.0"),
        ({"max_levels": 0}, "max_levels=0"),
    ):
        with pytest.raises(vg.ParameterError, match=says):
            vg.run(algorithm, graph, device=device, **given_wrong)
    for weight, says in (([1.0, -1.0], "negative"), ([1.0, np.nan], "NaN"), ([1.0, np.inf], "infinite")):
        with pytest.raises(vg.ParameterError, match=says):
            vg.run(algorithm, vg.Graph.from_edges(*ends, directed=False, weight=weight), device=device)
