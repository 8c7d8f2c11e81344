"""`vg.verify` finds wrong answers out that look right: planted ones, each of the kind that an algorithm might give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

TWO = vg.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], weight=[4, 1, 2, 7, 3, 3, 5])
"""Two circles of three vertices, and an arc from the first one to the second."""
BOTH = vg.Graph.from_edges(*TWO.edges()[:2], directed=False, weight=TWO.edges()[2]["weight"])


def wrong(result: Any, says: str, **values: Any) -> None:
    """The right result passes; with these values in place of its own it is refused."""
    vg.verify(result)
    kept = dict(result._values)
    for name, value in values.items():
        result._values[name] = np.asarray(value, getattr(kept[name], "dtype", None))
    with pytest.raises(vg.VerificationError, match=says):
        vg.verify(result)
    result._values.update(kept)
    vg.verify(result)


@pytest.mark.parametrize(
    ("component", "says"),
    [
        ([0] * 6, "vertex 3: component is 0, and should be 3"),  # weak ones
        ([0, 1, 2, 3, 3, 3], "vertex 1: component is 1, and should be 0"),  # trimmed too far
        ([0, 0, 0, 4, 4, 4], "vertex 3: component is 4, and should be 3"),  # not the smallest
        ([0, 0, 0, 3, 3, -1], "vertex 5"),
    ],
)
def test_strong_components(component: list[int], says: str) -> None:
    result = vg.run(vg.algorithms.strongly_connected_components, TWO)
    wrong(result, says, component=component)


@pytest.mark.parametrize("graph", [TWO, BOTH])
@pytest.mark.parametrize(
    ("color", "says"),
    [
        ([0, 1, 2, 2, 0, 1], "vertex 2: color 2, as 3 beside it"),
        ([0, 1, 2, 0, 1, -1], "vertex 5: color -1"),
        ([0, 1, 2, 0, 1, 3], "vertex 5: color 3, and a smaller one is free"),
        ([1, 2, 3, 1, 2, 3], "vertex 0: color 1, and a smaller one is free"),
    ],
)
def test_colors(graph: vg.Graph, color: list[int], says: str) -> None:
    result = vg.run(vg.algorithms.coloring, graph)
    wrong(result, says, color=color)


@pytest.mark.parametrize("graph", [TWO, BOTH])
@pytest.mark.parametrize(
    ("edges", "weight", "says"),
    [
        ([[0, 2], [1, 2], [2, 3], [3, 4], [4, 5]], 17, "weight is 17, and should be 16"),
        ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 18, "weight is 18, and should be 16"),  # not the lightest
        ([[0, 2], [1, 2], [1, 3], [3, 4], [4, 5]], 16, "vertex 1: there is no edge to 3"),
        ([[0, 2], [1, 2], [3, 4], [4, 5]], 9, "4 edges leave 2 components"),
        ([[0, 2], [1, 2], [0, 1], [3, 4], [4, 5]], 13, "5 edges leave 2 components"),  # a circle
        ([[0, 2], [1, 2], [2, 3], [3, 4], [4, 5], [4, 5]], 19, "6 edges leave 1 components"),
        ([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 16, "the edges weigh 18"),
    ],
)
def test_forests(graph: vg.Graph, edges: list[list[int]], weight: int, says: str) -> None:
    result = vg.run(vg.algorithms.minimum_spanning_forest, graph)
    wrong(result, says, edges=edges, weight=weight)


def test_labels() -> None:
    """One label for all stays as it is, but no rounds lead there; those of one round less are wrong as well."""
    graph = vg.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    runs = [vg.run(vg.algorithms.label_propagation, graph, max_rounds=k) for k in range(4)]
    wrong(runs[3], "vertex", label=[5] * 6)
    wrong(runs[1], "vertex", label=runs[0].label)
    wrong(runs[2], "vertex", label=runs[1].label)


def test_labels_that_take_turns() -> None:
    star = vg.Graph.from_edges([0, 0, 0], [1, 2, 3], directed=False)
    for rounds in range(6):
        result = vg.run(vg.algorithms.label_propagation, star, max_rounds=rounds)
        vg.verify(result)
    once = vg.run(vg.algorithms.label_propagation, star, max_rounds=5).label
    wrong(vg.run(vg.algorithms.label_propagation, star, max_rounds=6), "vertex", label=once)


@pytest.mark.parametrize("graph", [TWO, BOTH])
def test_numbers_of_a_whole_graph(graph: vg.Graph) -> None:
    community = np.array([0, 0, 0, 3, 3, 3])
    q = vg.run(vg.algorithms.modularity, graph, community=community, resolution=0.7)
    wrong(q, "modularity is", modularity=q.modularity + 1e-6)
    counted = vg.run(vg.algorithms.triangle_count, graph)
    wrong(counted, "total is 3, and should be 2", total=3)


def test_bounds_of_a_diameter() -> None:
    path = vg.Graph.from_edges([0, 1, 2, 3, 5], [1, 2, 3, 4, 6], directed=False)
    result = vg.run(vg.algorithms.diameter, path, source=1)
    assert (result.lower, result.upper) == (4, 4)
    wrong(result, "the farthest from end is 3 away", end=1)
    wrong(result, "end is not in the component of 1", end=5)
    wrong(result, "lower is 5", lower=5, upper=5)
    wrong(result, "bounds are 3 and 3, and the diameter is 4", lower=3, upper=3, end=1)
    wrong(result, "bounds are 4 and 6", upper=6)  # it has time enough to find out
    vg.verify(vg.run(vg.algorithms.diameter, path, source=1, max_searches=1))


@pytest.mark.parametrize("seed", range(3))
def test_diameters_of_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n, m in ((60, 70), (200, 240), (30, 200)):
        graph = vg.Graph.from_edges(*rng.integers(0, n, (2, m)), num_vertices=n, directed=False)
        for source in rng.integers(0, n, 3):
            vg.verify(vg.run(vg.algorithms.diameter, graph, source=source))


def test_walks() -> None:
    """Exact ranks are no numbers of walks; those of another source are too far away; a lost walk is missed."""
    result = vg.run(vg.algorithms.random_walks, TWO, source=0, walks=10_000)
    home = np.zeros(6)
    home[0] = 1
    ranks = vg.run(vg.algorithms.pagerank, TWO, personalization=home, tolerance=1e-14).rank
    wrong(result, "vertex 0: rank is .* of 10000 walks", rank=ranks)
    elsewhere = vg.run(vg.algorithms.random_walks, TWO, source=3, walks=10_000)
    wrong(result, "vertex 0: rank is 0.0, and should be near", rank=elsewhere.rank)
    one = np.eye(6)[2] / 10_000
    wrong(result, "all add up to 9999", rank=result.rank - one)
    wrong(elsewhere, "vertex 2: rank is 0.0001", rank=elsewhere.rank + one)


@pytest.mark.parametrize("directed", [True, False])
def test_walks_that_get_stuck_go_on_at_the_source(directed: bool) -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 2, 0], num_vertices=6, directed=directed)
    for source, damping in ((0, 0.85), (1, 0.3), (4, 0.5), (0, 0.0)):
        vg.verify(vg.run(vg.algorithms.random_walks, graph, source=source, damping=damping, walks=5000))


@pytest.mark.parametrize("normalized", [True, False])
def test_hubs_and_authorities(normalized: bool) -> None:
    for rounds in (1, 3, 100):
        result = vg.run(vg.algorithms.hits, TWO, normalized=normalized, max_rounds=rounds)
        wrong(result, "vertex", hub=result.authority, authority=result.hub)
        wrong(result, "vertex", hub=result.hub / 2)


def test_pairs_with_themselves_and_loops() -> None:
    graph = vg.Graph.from_edges([0, 0, 0, 1, 2, 2, 1], [0, 1, 2, 2, 3, 3, 1], num_vertices=5, directed=False)
    left, right = np.divmod(np.arange(25), 5)
    for name in ("jaccard", "adamic_adar", "overlap", "sorensen", "cosine", "resource_allocation"):
        result = vg.run(getattr(vg.algorithms, name), graph, left=left, right=right)
        score = result.score.copy()
        score[7] += 1e-6
        wrong(result, "pair 7, vertices 1 and 2: score is", score=score)


def test_matchings_of_light_edges() -> None:
    graph = vg.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 3, 3, 3], directed=False, weight=[2, 3, 1, 2, 9])
    result = vg.run(vg.algorithms.weighted_matching, graph)
    assert result.mate.tolist() == [-1, 2, 1, -1]
    vg.verify(result)
    wrong(result, "vertex 1: the edge from 2 outweighs those taken at its ends", mate=np.array([1, 0, 3, 2]))
    wrong(result, "vertex 1: 2 has another mate", mate=np.array([-1, 2, 3, 2]))
    wrong(result, "vertex 0: there is no edge to its mate 3", mate=np.array([3, 2, 1, 0]))


def test_products_of_matrices() -> None:
    result = vg.run(vg.algorithms.spmm, TWO, dense=np.ones((TWO.num_vertices, 2)))
    product = result.product.copy()
    product[1, 1] += 1e-9
    wrong(result, "vertex 1: product is", product=product)


def test_trusses() -> None:
    four = [(u, v) for v in range(4) for u in range(v)]
    ends = np.array([*four, (3, 4), (4, 5), (3, 5), (5, 5), (0, 1)]).T
    graph = vg.Graph.from_edges(*ends, directed=False)
    result = vg.run(vg.algorithms.k_truss, graph)
    truss = result.truss.copy()
    truss[truss == 4] = 3
    wrong(result, r"edge 0, from 0 to 1: truss is 3, and should be 4", truss=truss)
    wrong(result, "edge", truss=np.maximum(result.truss, 3))


@pytest.mark.parametrize("graph", [TWO, BOTH])
def test_values_of_edges(graph: vg.Graph) -> None:
    """Two values swapped; and those that a graph without self-loops and parallel edges gives in the user's order."""
    result = vg.run(vg.algorithms.edge_betweenness, graph)
    swapped = result.centrality.copy()
    swapped[[2, 3]] = swapped[[3, 2]]
    wrong(result, "edge 2: centrality is", centrality=swapped)
    wrong(result, "should have the shape", centrality=np.r_[swapped, 0])
    ends = [3, 1, 0, 2, 2, 3], [2, 1, 1, 1, 1, 0]
    plain = vg.Graph.from_edges(*ends, directed=graph.directed, self_loops=False, multi_edges=False)
    result = vg.run(vg.algorithms.edge_betweenness, plain)
    assert result.centrality[1] == 0
    assert result.centrality[3] == result.centrality[4]
    wrong(result, "edge 1: centrality is", centrality=result.centrality[::-1])
