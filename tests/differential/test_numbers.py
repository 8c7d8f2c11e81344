"""Numbers at the edge of their types: sums along paths that might not fit, weights of any size, NaN and infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from library_arguments import ACYCLIC, NAMES, UNDIRECTED, acyclic, arguments_for

import vgraph as vg

A = vg.algorithms
DEVICES = ["cpu", "python"]
NAMED = ("a_star", "bipartite_matching", "eigenvector", "hits", "katz", "longest_path", "pagerank")
"""Algorithms that take the name of their weights."""
LENGTHS = ("sssp", "bellman_ford", "weighted_closeness", "weighted_betweenness")
OTHERS = (
    "max_flow",
    "minimum_spanning_forest",
    "widest_path",
    "leiden",
    "louvain",
    "modularity",
    "spmm",
    "spmv",
    "conjugate_gradient",
    "weighted_matching",
)
"""Algorithms that read the edge property `weight`."""
TINY = 5e-324


def random_graph(weight: Any, directed: bool = True, n: int = 12, m: int = 40) -> vg.Graph:
    ends = np.random.default_rng(0).integers(0, n, (2, m))
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, weight=weight)


def run(name: str, graph: vg.Graph, **given: Any) -> Any:
    algorithm = getattr(A, name)
    if name in NAMED:
        given = {"weight": "weight", **given}
    result = vg.run(algorithm, graph, **{**arguments_for(algorithm, graph), **given})
    vg.verify(result)
    return result


# --- sums along paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [*LENGTHS, "minimum_spanning_forest"])
def test_sums_that_may_not_fit_are_refused(name: str, device: str) -> None:
    ends = [0, 1, 0], [1, 2, 2]
    for weight in (
        np.array([2**62, 2**62, 2**62 + 1]),
        np.array([2**63 - 1, 1, 1]),
        np.full(3, 2**63, np.uint64),
        np.full(3, 2e38, np.float32),
        np.full(3, 1e308),
    ):
        with pytest.raises(vg.ParameterError, match="may add up to more than"):
            run(name, vg.Graph.from_edges(*ends, weight=weight), device=device)


@pytest.mark.parametrize("name", ["bellman_ford", "minimum_spanning_forest"])
def test_sums_that_may_not_fit_below_zero(name: str) -> None:
    for weight in (np.array([-(2**62), -(2**62), -(2**62)]), np.array([-(2**63), 1, 1])):
        with pytest.raises(vg.ParameterError, match="may add up to more than"):
            run(name, vg.Graph.from_edges([0, 1, 0], [1, 2, 2], weight=weight))


@pytest.mark.parametrize("device", DEVICES)
def test_sums_that_fit_are_exact(device: str) -> None:
    """One heavy arc among many does not count for all: what they come to together is a bound, too."""
    n = 40
    weight = np.arange(1, n)
    weight[17] = 2**61  # n times that would be too much
    graph = vg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weight=weight)
    want = np.r_[0, np.cumsum(weight)]
    for name in ("sssp", "bellman_ford"):
        assert (run(name, graph, source=0, device=device).dist == want).all()
    assert int(run("minimum_spanning_forest", graph, device=device).weight) == int(weight.sum())
    centrality = run("weighted_closeness", graph, wf_improved=False, device=device).centrality
    assert np.isclose(centrality[-1], (n - 1) / float(np.sum(want[-1] - want)))
    path = vg.Graph.from_edges([0, 1], [1, 2], weight=np.full(2, 2**62, np.uint64))
    assert run("sssp", path, source=0, device=device).dist.tolist() == [0, 2**62, 2**63]


def test_the_largest_sum() -> None:
    """Of three vertices: as many weights may be added up, one of them to see that there is no shorter way."""
    most = (2**63 - 2) // 3
    ring = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], weight=np.full(3, most))
    assert run("sssp", ring, source=0).dist.tolist() == [0, most, 2 * most]
    with pytest.raises(vg.ParameterError, match="may add up"):
        run("sssp", ring.with_edge_property("weight", np.full(3, most + 1)), source=0)


# --- weights of any size --------------------------------------------------------------------------------------

UNITS = [1e-290, TINY, 2.0**1015]
"""By these, integers up to 99 are numbers that a float64 holds exactly."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["pagerank", "hits", "leiden", "louvain", "modularity", "eigenvector"])
def test_the_unit_of_weights_does_not_matter(name: str, unit: float) -> None:
    weight = np.random.default_rng(1).integers(0, 100, 40).astype(np.float64)
    directed = name not in UNDIRECTED
    # The matrix of eigenvector centrality is shifted by 1, so only weights that are scaled come to the same values.
    given = {"max_rounds": 3000, "tolerance": 1e-12} if name == "eigenvector" else {}
    want = run(name, random_graph(weight, directed), **given)
    got = run(name, random_graph(weight * unit, directed), **given)
    for field in want.names:
        np.testing.assert_allclose(getattr(got, field), getattr(want, field), rtol=1e-8, atol=1e-9)
    assert got.converged == want.converged


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [vg.float32, vg.float64])
@pytest.mark.parametrize("unit", [*UNITS, 1e-35, 1e35])
def test_ranks_of_any_unit_sum_to_1(unit: float, dtype: Any, device: str) -> None:
    weight = np.random.default_rng(1).integers(0, 100, 40).astype(np.float64)
    graph = random_graph(weight * unit)
    result = run("pagerank", graph, dtype=dtype, device=device, max_rounds=30)
    assert abs(result.rank.sum(dtype=np.float64) - 1) < 1e-5
    near = run(
        "pagerank", graph, personalization=np.arange(12) * unit, dtype=dtype, device=device, max_rounds=30
    )
    assert near.rank.argmax() == run("pagerank", graph, personalization=np.arange(12)).rank.argmax()


def test_starts_of_any_unit() -> None:
    graph = random_graph(np.random.default_rng(1).integers(1, 9, 40))
    start = np.arange(1.0, 13)
    for name in ("hits", "eigenvector"):
        given = {"max_rounds": 3000}
        want = run(name, graph, start=start, **given)
        for unit in UNITS:
            got = run(name, graph, start=start * unit, **given)
            for field in want.names:
                np.testing.assert_allclose(getattr(got, field), getattr(want, field), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-250, 1e250])
def test_katz_and_equations_are_linear(unit: float) -> None:
    graph = random_graph(np.random.default_rng(1).integers(1, 9, 40))
    given = {"alpha": 1e-3, "tolerance": 1e-14 * unit}
    want = run("katz", graph, alpha=1e-3, tolerance=1e-14).centrality
    np.testing.assert_allclose(run("katz", graph, beta=unit, **given).centrality, want, rtol=1e-9)
    weight = [2, -1, 3, -1, 2]
    equations = vg.Graph.from_edges([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], directed=False, weight=weight)
    b = np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(
        run("conjugate_gradient", equations, b=b * unit).x, unit * np.array([0.75, 0.5, 0.75]), rtol=1e-7
    )
    scaled = equations.with_edge_property("weight", equations.edge_properties["weight"] / unit)
    found = run("conjugate_gradient", scaled, b=b).x
    np.testing.assert_allclose(found, unit * np.array([0.75, 0.5, 0.75]), rtol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
def test_weights_too_far_apart(device: str) -> None:
    weight = np.ones(40)
    weight[::2] = TINY
    for name in ("hits", "eigenvector", "leiden", "louvain", "modularity"):
        run(name, random_graph(weight, directed=False), device=device)
        with pytest.raises(vg.ParameterError, match="others are lost"):
            run(name, random_graph(np.where(weight == 1, 1e308, TINY), directed=False), device=device)
    ends = [0, 1, 1, 2], [1, 0, 2, 0]
    for dtype, least, too_little in ((vg.float64, 1e-290, 1e-310), (vg.float32, 1e-28, 1e-35)):
        usual = vg.Graph.from_edges(*ends, weight=[1.0, least, 3 * least, 1.0])
        rank = run("pagerank", usual, dtype=dtype, device=device, max_rounds=300).rank
        alike = vg.Graph.from_edges(*ends, weight=[1.0, 1.0, 3.0, 1.0])
        np.testing.assert_allclose(rank, run("pagerank", alike, max_rounds=300).rank, rtol=1e-5)
        light = vg.Graph.from_edges(*ends, weight=[1.0, too_little, 3 * too_little, 1.0])
        with pytest.raises(vg.AlgorithmError, match="weigh too little"):
            run("pagerank", light, dtype=dtype, device=device)
    with pytest.raises(vg.ParameterError, match="others are lost"):
        run("pagerank", vg.Graph.from_edges(*ends, weight=[1e308, TINY, 1, 1]), device=device)


def test_scaled_weights_are_kept_until_they_change() -> None:
    weight = np.random.default_rng(1).integers(1, 100, 40) * 1e300
    graph = random_graph(weight)
    first = run("pagerank", graph).rank
    other = graph.with_edge_property("weight", graph.edge_properties["weight"][::-1].copy())
    assert (run("pagerank", other).rank != first).any()
    assert (run("pagerank", graph, threads=1).rank == run("pagerank", graph, threads=1).rank).all()


def test_hubs_that_are_not_normalized_have_the_unit_of_weights() -> None:
    weight = np.random.default_rng(1).integers(1, 100, 40)
    given = {"normalized": False, "max_rounds": 20}
    want = run("hits", random_graph(weight), **given)
    got = run("hits", random_graph(weight * 2.0**100), **given)
    np.testing.assert_allclose(got.authority, want.authority, rtol=1e-12)
    np.testing.assert_allclose(got.hub, want.hub * 2.0**100, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_results_beyond_a_float64(device: str) -> None:
    small = random_graph(np.full(40, TINY), directed=False)
    large = random_graph(np.full(40, 1e306), directed=False)
    with pytest.raises(vg.AlgorithmError, match="scale the weights"):
        run("weighted_closeness", small, device=device)
    path = vg.Graph.from_edges(np.arange(99), np.arange(1, 100), weight=np.full(99, 1.7e306))
    with pytest.raises(vg.AlgorithmError, match="scale the weights"):
        run("weighted_closeness", path, device=device)
    with pytest.raises(vg.ParameterError, match="beyond what a float64 holds"):
        run("spmv", large, x=np.full(12, 1e10), device=device)
    assert np.isfinite(run("spmv", large, x=np.full(12, 0.1), device=device).product).all()
    for graph in (small, large):
        with pytest.raises(vg.AlgorithmError, match="too large or small"):
            run("conjugate_gradient", graph, b=np.full(12, 1e10), device=device)
        with pytest.raises(vg.ParameterError, match="not normalized"):
            run("hits", graph, normalized=False, device=device)
    loops = vg.Graph.from_edges([0] * 4 + [1] * 4, [0] * 4 + [1] * 4, directed=False, weight=[1e308] * 8)
    with pytest.raises(vg.AlgorithmError, match="too large or small"):  # the first step is 0, the next NaN
        run("conjugate_gradient", loops, b=np.ones(2), device=device)
    for unit, b in ((1e-300, 1e20), (1e300, 1e-20)):
        diagonal = vg.Graph.from_edges([0, 1], [0, 1], directed=False, weight=[unit, 2 * unit])
        with pytest.raises(vg.AlgorithmError, match="x is too large or small"):
            run("conjugate_gradient", diagonal, b=np.full(2, b), device=device)
    with pytest.raises(vg.AlgorithmError, match="not converged"):
        run("katz", large, device=device, max_rounds=20)


def test_power_iteration_that_comes_to_nothing() -> None:
    graph = vg.Graph.from_edges([0, 1], [0, 1], weight=[-1.0, -1.0])
    with pytest.raises(vg.AlgorithmError, match="come to nothing"):
        run("eigenvector", graph)


# --- NaN and infinity -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", [*NAMED, *LENGTHS, *OTHERS])
def test_weights_are_finite(name: str, value: float, device: str) -> None:
    for dtype in (np.float32, np.float64):
        weight = np.ones(40, dtype)
        weight[3] = value
        with pytest.raises(vg.ParameterError, match=r"a (weight|capacity) is not finite"):
            run(name, random_graph(weight, directed=name not in UNDIRECTED), device=device)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_other_numbers_are_finite(value: float) -> None:
    graph = random_graph(np.ones(40), directed=False)
    one = np.ones(12)
    one[5] = value
    for name, parameters in {
        "pagerank": ("personalization",),
        "hits": ("start",),
        "eigenvector": ("start",),
        "katz": ("start", "betas", "beta", "alpha"),
        "spmv": ("x",),
        "conjugate_gradient": ("b",),
        "modularity": ("resolution",),
        "leiden": ("resolution",),
        "louvain": ("resolution",),
    }.items():
        for parameter in parameters:
            given = value if parameter in ("beta", "alpha", "resolution") else one
            with pytest.raises(vg.ParameterError, match=parameter):
                run(name, graph, **{parameter: given})
    with pytest.raises(vg.ParameterError, match="tolerance"):
        run("conjugate_gradient", graph, b=np.ones(12), tolerance=-1e-8)


def test_every_algorithm_that_reads_weights_is_here() -> None:
    """Those whose results, or errors, depend on the edge property `weight`."""
    weight = np.ones(40)
    weight[3] = np.nan
    readers = []
    for name in NAMES:
        try:
            graph = random_graph(weight, directed=name not in UNDIRECTED)
            run(name, acyclic(graph) if name in ACYCLIC else graph, device="python")
        except vg.ParameterError:
            readers.append(name)
    assert sorted(readers) == sorted([*NAMED, *LENGTHS, *OTHERS])
