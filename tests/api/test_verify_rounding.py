"""How exact `vg.verify` is: as rounding explains for each vertex, however large others are, and no more nor less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.verifiers.common import close

A = vg.algorithms
KARATE = vg.read(vg.data.path("karate"), directed=False)


def refuses(result: Any, graph: vg.Graph, says: str, **values: Any) -> None:
    """Right as it is, wrong with these values."""
    vg.verify(result, graph)
    kept = dict(result._values)
    result._values.update(values)
    with pytest.raises(vg.VerificationError, match=says):
        vg.verify(result, graph)
    result._values.update(kept)


def star(leaves: int, **how: Any) -> vg.Graph:
    return vg.Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), directed=False, **how)


def tree(middles: int, leaves: int) -> vg.Graph:
    """Leaves point to their middle, middles to the hub, vertex 0, and it to the first of them."""
    middle, every = np.arange(1, middles + 1), np.arange(middles + 1, 1 + middles * (1 + leaves))
    sources, targets = np.r_[middle, every, 0], np.r_[0 * middle, np.repeat(middle, leaves), 1]
    return vg.Graph.from_edges(sources, targets)


@pytest.mark.parametrize("dtype", [vg.float32, vg.float64])
def test_small_ranks_beside_large_ones(dtype: Any) -> None:
    graph = tree(100, 1000)
    result = vg.run(A.pagerank, graph, max_rounds=20, dtype=dtype)
    rank = result.rank.copy()
    rank[101::2] *= 1.001
    rank[102::2] *= 0.999
    refuses(result, graph, "vertex 101: rank", rank=rank)


@pytest.mark.parametrize("dtype", [vg.float32, vg.float64])
@pytest.mark.parametrize("threads", [1, 2])
def test_ranks_of_hubs(dtype: Any, threads: int) -> None:
    """A hundred thousand float32s, added one by one, are off by more than a few digits."""
    graph = star(100_000)
    result = vg.run(A.pagerank, graph, max_rounds=20, dtype=dtype, threads=threads)
    rank = result.rank.copy()
    rank[0] *= 1.1
    refuses(result, graph, "vertex 0: rank", rank=rank)
    rank = result.rank.copy()
    rank[7] *= 1.1
    refuses(result, graph, "vertex 7: rank", rank=rank)


@pytest.mark.parametrize("name", ["hits", "eigenvector", "katz"])
def test_small_scores_beside_large_ones(name: str) -> None:
    """A path of light arcs leads away from heavy ones: its last scores are 10^-14 of the largest."""
    weight = np.r_[np.full(3, 1.0), np.full(3, 1e-5)]
    graph = vg.Graph.from_edges([0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 5], weight=weight)
    more: dict[str, Any] = {
        "hits": {"max_rounds": 3},
        "eigenvector": {"tolerance": 1e-15, "max_rounds": 1000},
        "katz": {"alpha": 0.5, "betas": np.eye(6)[0]},
    }
    result = vg.run(getattr(A, name), graph, weight="weight", **more[name])
    field = result.names[-1]
    values = result._values[field].copy()
    order = np.argsort(values)
    small = int(order[values[order] > 0][0])
    assert values[small] < 1e-9 * values.max()
    values[small] *= 1.5
    refuses(result, graph, f"{field} is", **{field: values})


def test_sums_that_cancel() -> None:
    """0.1 + 0.2 - 0.3 is not 0.1 - 0.3 + 0.2: of what is left no digit counts, where both signs are added."""
    ends = [0, 1, 2, 2, 2, 0, 0], [3, 3, 3, 4, 5, 4, 5]
    graph = vg.Graph.from_edges(*ends, weight=[0.1, 0.2, -0.3, 0, 0, 0, 0])
    given = {"weight": "weight", "alpha": 1.0, "betas": np.array([1.0, 1, 1, 0, 0, 0]), "normalized": False}
    found = [vg.run(A.katz, graph, relabel=how, **given) for how in (None, "degree")]
    assert found[0].centrality[3] != found[1].centrality[3]
    for result in found:
        centrality = result.centrality.copy()
        centrality[3] = 1e-9
        refuses(result, graph, "vertex 3: centrality", centrality=centrality)


def test_what_is_allowed_is_finite() -> None:
    with pytest.raises(vg.VerificationError, match="vertex 1: x is 5"):
        close(np.array([1.0, 5.0]), np.ones(2), "x", np.array([1.0, np.inf]))


def test_products_of_long_rows() -> None:
    """A number of 1 and many of 10^-16: beside 1 they are lost, and together they are not."""
    every = np.arange(200_001)
    graph = vg.Graph.from_edges(np.r_[0 * every[1:], every[2:]], np.r_[every[1:], every[2:]])
    x = np.full(every.size, 1e-16)
    x[0], x[1] = 0, 1
    result = vg.run(A.spmv, graph, x=x, threads=1, relabel="degree")
    assert result.product[0] > 1
    product = result.product * (1 + 1e-8)
    refuses(result, graph, "vertex 0: product", product=product)


def ladder(rungs: int, width: int, leaves: int) -> vg.Graph:
    """`width` ways from joint to joint, then one over each of the leaves to the last vertex."""
    step = width + 1
    joint = np.arange(0, rungs * step, step)
    inner = (joint[:, None] + np.arange(1, step)).ravel()
    last = rungs * step
    leaf = np.arange(last + 1, last + 1 + leaves)
    sources = np.r_[np.repeat(joint, width), inner, np.full(leaves, last), leaf]
    targets = np.r_[inner, np.repeat(joint + step, width), leaf, np.full(leaves, last + 1 + leaves)]
    return vg.Graph.from_edges(sources, targets)


def test_numbers_of_paths_in_float32() -> None:
    graph = ladder(20, 3, 50_000)
    result = vg.run(A.path_counts, graph, source=0, dtype=vg.float32, threads=1)
    paths = result.paths.copy()
    paths[80] *= np.float32(1.001)  # the last joint, with 3 ** 20
    refuses(result, graph, "vertex 80: paths", paths=paths)


@pytest.mark.parametrize("dtype", [vg.float32, vg.float64])
def test_numbers_of_paths_beyond_a_float(dtype: Any) -> None:
    """2 ** 1100 is infinite, and nothing else is."""
    graph = ladder(1100, 2, 1)
    result = vg.run(A.path_counts, graph, source=0, dtype=dtype)
    paths = result.paths.copy()
    assert np.isinf(paths[-1])
    paths[-1] = 5
    refuses(result, graph, f"vertex {paths.size - 1}: paths is 5", paths=paths)


@pytest.mark.parametrize(
    "x", [[1e200, -3e200, 7.0], [np.inf, 0.5, 0.75], [np.nan, 0.5, 0.75], [1e160, 0.5, 0.75]]
)
def test_solutions_that_overflow(x: list[float]) -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], directed=False, weight=[2, -1, 3, -1, 2])
    result = vg.run(A.conjugate_gradient, graph, b=np.array([1.0, 0.0, 1.0]))
    refuses(result, graph, "the residual is", x=np.array(x))


@pytest.mark.parametrize("by", [-2, -5, -7])
def test_markers_of_nothing_are_exact(by: int) -> None:
    for result, name in (
        (vg.run(A.maximal_matching, KARATE), "mate"),
        (vg.run(A.multi_source_bfs, KARATE, sources=[0], max_depth=1), "parent"),
        (vg.run(A.multi_source_bfs, KARATE, sources=[0], max_depth=1), "level"),
    ):
        values = getattr(result, name)
        assert (values == -1).any()
        refuses(result, KARATE, "vertex", **{name: np.where(values == -1, by, values)})


def test_bounds_of_few_searches() -> None:
    result = vg.run(A.diameter, KARATE, source=0, max_searches=1)
    assert (result.lower, result.upper) == (3, 6)
    refuses(result, KARATE, "bounds are 3 and 7", upper=7)
    refuses(result, KARATE, "bounds are 3 and 1000000000", upper=10**9)
    result = vg.run(A.diameter, KARATE, source=16, max_searches=1)
    assert (result.lower, result.upper) == (5, 10)
    refuses(result, KARATE, "bounds are 3 and 10; the first search gave 5", lower=3, end=0)
    path = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    refuses(vg.run(A.diameter, path, source=0), path, "end is -1, which is not a vertex", end=-1)


@pytest.mark.parametrize("name", ["leiden", "louvain", "pagerank", "hits", "label_propagation", "diameter"])
@pytest.mark.parametrize("graph", [KARATE, vg.Graph.from_edges([], [], num_vertices=0, directed=False)])
def test_converged(graph: vg.Graph, name: str) -> None:
    if name == "diameter" and not graph.num_vertices:
        return  # there is no vertex to start at
    for enough in (True, False):
        few = {"leiden": "max_levels", "louvain": "max_levels", "diameter": "max_searches"}.get(
            name, "max_rounds"
        )
        result = vg.run(getattr(A, name), graph, **({} if enough else {few: 1}))
        vg.verify(result, graph)
        result.converged = not result.converged
        with pytest.raises(vg.VerificationError, match="converged is"):
            vg.verify(result, graph)


def test_modularity_of_other_resolutions() -> None:
    """It is the difference of two numbers, neither of which need be near 1."""
    apart = np.arange(34)
    for resolution, by in ((1e-3, 1e-10), (1e12, 500.0)):
        result = vg.run(A.modularity, KARATE, community=apart, resolution=resolution)
        right = float(result.modularity)
        refuses(result, KARATE, "modularity is", modularity=right + by)


def test_scores_of_rare_pairs() -> None:
    """One common neighbor among 2,000: a score of 0.0005, wrong by 10^-7."""
    graph = vg.Graph.from_edges(np.r_[np.zeros(1000, int), np.ones(1000, int)], np.r_[2:1002, 1001:2001],
        directed=False)  # fmt: skip
    result = vg.run(A.jaccard, graph, left=[0], right=[1])
    refuses(result, graph, "pair 0, vertices 0 and 1", score=result.score * (1 + 1e-7))


@pytest.mark.parametrize("unit", [2.0**-30, 1e-9, 9e-7, 1e-4, 7.0, 1e4, 1e30])
@pytest.mark.parametrize("signed", [False, True])
def test_the_unit_of_weights_does_not_matter(unit: float, signed: bool) -> None:
    """A tree, where an iteration that is shifted too little swings, and one that is shifted too much stands still."""
    weight = np.array([1.0, 2.0, -3.0 if signed else 3.0, 4.0])
    found = []
    for factor in (1.0, unit):
        graph = vg.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4], directed=False, weight=weight * factor)
        result = vg.run(A.eigenvector, graph, weight="weight", tolerance=1e-10, max_rounds=1000)
        vg.verify(result, graph)
        found.append(result.centrality)
        rounds = result.stats.rounds
        assert rounds < 300
    np.testing.assert_allclose(found[1], found[0], atol=1e-8)
    values, vectors = np.linalg.eigh(_dense(weight))
    assert abs(abs(vectors[:, values.argmax()] @ found[0]) - 1) < 1e-8


def _dense(weight: np.ndarray) -> np.ndarray:
    a = np.zeros((5, 5))
    for (u, v), w in zip([(0, 1), (0, 2), (0, 3), (3, 4)], weight, strict=True):
        a[u, v] = a[v, u] = w
    return a


def test_weights_that_are_all_alike_are_none() -> None:
    for weight in (1.0, 3.0, 1e-7):
        graph = KARATE.with_edge_property("w", np.full(KARATE.num_arcs, weight))
        found = vg.run(A.eigenvector, graph, weight="w")
        plain = vg.run(A.eigenvector, KARATE)
        assert found.stats.rounds == plain.stats.rounds
        np.testing.assert_allclose(found.centrality, plain.centrality, rtol=1e-12)


def test_a_shift_of_the_matrix() -> None:
    """It changes the rounds, not where they lead; without one a path swings for ever."""
    path = vg.Graph.from_edges([0, 1], [1, 2], directed=False)
    start = np.array([1.0, 2.0, 1.0])
    results = [vg.run(A.eigenvector, path, shift=s, start=start, tolerance=1e-12) for s in (0.5, 1.0)]
    assert results[0].stats.rounds != results[1].stats.rounds
    for result in results:
        vg.verify(result)
        np.testing.assert_allclose(result.centrality, [0.5, np.sqrt(0.5), 0.5], atol=1e-10)
    with pytest.raises(vg.AlgorithmError, match="has not converged"):
        vg.run(A.eigenvector, path, shift=0.0, start=start)
    with pytest.raises(vg.ParameterError, match="shift"):
        vg.run(A.eigenvector, path, shift=np.inf)
