"""`vg.verify` finds wrong answers out that are made from right ones: numbers that changed places, digits, rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from library_arguments import NAMES, arguments_for, graph_for

import vgraph as vg

A = vg.algorithms
UNKNOWN = {("louvain", "levels"), ("leiden", "levels"), ("conjugate_gradient", "rounds")}
"""Counts of which only bounds are known without the same work."""


def random_graph(directed: bool, **how: Any) -> vg.Graph:
    rng = np.random.default_rng(7)
    weight = rng.integers(1, 20, 150)
    ends = rng.integers(0, 60, (2, 150))
    return vg.Graph.from_edges(*ends, num_vertices=60, directed=directed, **{"weight": weight, **how})


def planted(right: np.ndarray) -> Iterator[np.ndarray]:
    """Other answers of the same kind."""
    if right.ndim != 1 or right.size < 60:
        yield right[::-1]
        yield right[:-1]
        return
    order, middle = np.argsort(right, kind="stable"), right.size // 2
    for one, other in ((-1, middle), (middle, 0), (-2, -3)):  # such as the largest and the median
        swapped = right.copy()
        swapped[order[[one, other]]] = swapped[order[[other, one]]]
        yield swapped
    yield right[::-1].copy()
    yield np.full_like(right, right[0])
    if right.dtype.kind == "f":
        for at in (order[-1], order[middle]):
            digit = right.copy()
            digit[at] *= 1 + 1e-6
            yield digit


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_changed(name: str, directed: bool) -> None:
    algorithm = getattr(A, name)
    graph = graph_for(algorithm, random_graph(directed))
    result = vg.run(algorithm, graph, **arguments_for(algorithm, graph))
    vg.verify(result)
    for field in result.names:
        right = result._values[field]
        others = planted(right) if np.ndim(right) else iter([right + type(right)(1)])
        for other in others:
            if (name, field) in UNKNOWN or np.array_equal(other, right, equal_nan=True):
                continue
            result._values[field] = other
            with pytest.raises(vg.VerificationError):
                vg.verify(result)
        result._values[field] = right
    result.converged = not result.converged
    with pytest.raises(vg.VerificationError, match="converged is"):
        vg.verify(result)


@pytest.mark.parametrize("how", [{}, {"dtype": vg.float32}, {"weight": "weight"}, {"tolerance": 0.1}])
@pytest.mark.parametrize("max_rounds", [0, 1, 6, 20])
def test_what_so_many_rounds_give(max_rounds: int, how: dict[str, Any]) -> None:
    """A bound on what a further round would change says little after few of them."""
    graph = random_graph(True)
    result = vg.run(A.pagerank, graph, max_rounds=max_rounds, **how)
    vg.verify(result)
    right = result.rank
    order = np.argsort(right)
    wrong = []
    if max_rounds < 20:  # later on they are alike, in float32
        wrong = [vg.run(A.pagerank, graph, **{**how, "max_rounds": max_rounds + 1, "tolerance": 0.0}).rank]
    if max_rounds:
        wrong.append(right.copy())
        wrong[-1][order[[-1, 30]]] = right[order[[30, -1]]]
    for rank in wrong:
        result._values["rank"] = rank
        with pytest.raises(vg.VerificationError, match="should be"):
            vg.verify(result)


@pytest.mark.parametrize("name", ["katz", "eigenvector", "hits"])
def test_other_iterations_end_where_they_should(name: str) -> None:
    """Large tolerances allow no other values than those that the rounds give."""
    graph = random_graph(False)
    given = {"katz": {"alpha": 0.05}, "eigenvector": {}, "hits": {}}[name]
    result = vg.run(getattr(A, name), graph, tolerance=0.01, **given)
    vg.verify(result)
    finer = vg.run(getattr(A, name), graph, tolerance=1e-6, **given)
    for field in result.names:
        result._values[field] = finer._values[field]
    with pytest.raises(vg.VerificationError, match="should be"):
        vg.verify(result)


def test_sums_that_wrapped() -> None:
    """What 64 bits make of 2**62 + 2**62 is no distance, whoever says so."""
    near = vg.Graph.from_edges([0, 1, 0], [1, 2, 2], weight=np.array([2**60, 2**60, 2**60 + 1]))
    far = near.with_edge_property("weight", np.array([2**62, 2**62 + 1, 2**62]))  # in order of the arcs
    for algorithm in (A.sssp, A.bellman_ford):
        result = vg.run(algorithm, near, source=0)
        vg.verify(result)
        result._values["dist"] = np.array([0, 2**62, -(2**63)])
        with pytest.raises(vg.VerificationError, match="vertex 2: at distance -9223372036854775808"):
            vg.verify(result, far)
        result._values["dist"] = np.array([0, 2**62, 2**62 + 1])
        vg.verify(result, far)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "float32", "float64"])
def test_distances_are_right_to_the_last_bit(dtype: str) -> None:
    graph = random_graph(False, weight=(np.random.default_rng(3).random(150) * 1000).astype(dtype))
    result = vg.run(A.sssp, graph, source=5)
    vg.verify(result)
    off = result.dist.copy()
    v = int(off.argsort()[20])
    off[v] = off[v] + 1 if off.dtype.kind in "iu" else np.nextafter(off[v], np.inf, dtype=off.dtype)
    result._values["dist"] = off
    with pytest.raises(vg.VerificationError, match="vertex"):
        vg.verify(result)


def test_forests_are_compared_exactly() -> None:
    """A million beside a sum of 10**15 is no rounding."""
    weight = np.random.default_rng(4).integers(1, 2**50, 150)
    graph = random_graph(False, weight=weight)
    result = vg.run(A.minimum_spanning_forest, graph)
    vg.verify(result)
    result._values["weight"] += np.int64(1)
    with pytest.raises(vg.VerificationError, match="weight is"):
        vg.verify(result)


@pytest.mark.parametrize("dtype", [vg.int32, vg.int64, vg.uint32, vg.uint64, vg.float64])
def test_numbers_of_paths_are_exact(dtype: Any) -> None:
    """A ladder of 40 rungs has 2**40 paths, which 32 bits cannot hold: they wrap."""
    joint = np.arange(0, 120, 3)
    sources = np.concatenate([joint, joint, joint + 1, joint + 2])
    targets = np.concatenate([joint + 1, joint + 2, joint + 3, joint + 3])
    graph = vg.Graph.from_edges(sources, targets)
    result = vg.run(A.path_counts, graph, source=0, dtype=dtype)
    vg.verify(result)
    assert result.paths[60] == 2**20
    for v, by in ((60, 1), (117, 64)):
        result._values["paths"] = result.paths.copy()
        result._values["paths"][v] += by
        with pytest.raises(vg.VerificationError, match=f"vertex {v}: paths"):
            vg.verify(result)
        result._values["paths"][v] -= by


def test_forests_are_in_order() -> None:
    graph = random_graph(True)
    result = vg.run(A.minimum_spanning_forest, graph)
    for edges in (result.edges[::-1], result.edges[:, ::-1]):
        result._values["edges"] = edges
        with pytest.raises(vg.VerificationError, match="ascending order"):
            vg.verify(result)


def test_walks_are_those_of_their_seed() -> None:
    graph = random_graph(True)
    result = vg.run(A.random_walks, graph, source=3, walks=20_000, seed=-5)
    vg.verify(result)
    result._values["rank"] = vg.run(A.random_walks, graph, source=3, walks=20_000, seed=6).rank
    with pytest.raises(vg.VerificationError, match="vertex"):
        vg.verify(result)
