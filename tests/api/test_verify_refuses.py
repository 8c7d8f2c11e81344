"""Whatever `vg.verify` is given, it passes or raises an error of vgraph's, none of NumPy's; nothing absurd passes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from library_arguments import NAMES, arguments_for, graph_for

import vgraph as vg

A = vg.algorithms
UNKNOWN = {("louvain", "levels"), ("leiden", "levels"), ("conjugate_gradient", "rounds")}


def small(directed: bool) -> vg.Graph:
    rng = np.random.default_rng(5)
    return vg.Graph.from_edges(
        *rng.integers(0, 12, (2, 20)), num_vertices=14, directed=directed, weight=rng.integers(1, 20, 20)
    )


def made(name: str, directed: bool) -> tuple[vg.Graph, Any]:
    algorithm = getattr(A, name)
    graph = graph_for(algorithm, small(directed))
    return graph, vg.run(algorithm, graph, **arguments_for(algorithm, graph, seed=1))


def malformed(right: Any) -> Iterator[Any]:
    """Values of another shape or type, and arrays with one number that cannot be."""
    yield from (None, "x", [1.5], np.array(["a", "b"]), np.zeros((2, 3, 4)))
    if not np.ndim(right):
        yield from (np.nan, np.inf, -1, -2, 10**30, np.array([right]), np.uint64(2**64 - 1))
        return
    yield from (right[:-1], np.concatenate([right, right]), right.tolist(), right[..., None])
    yield from (right.astype(object), right.astype(complex), right[0])
    if right.dtype.kind == "b":
        return
    extremes: list[Any] = [np.nan, np.inf, -np.inf, 1e300, -1e300]
    if right.dtype.kind != "f":
        limits = np.iinfo(right.dtype)
        extremes = [-1, -2, -5, len(right), limits.max, limits.min, limits.max - 1]
    for extreme in extremes:
        other = right.copy()
        other.flat[other.size // 2] = extreme
        yield other
        yield np.full_like(right, extreme)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_malformed_results(name: str, directed: bool) -> None:
    graph, result = made(name, directed)
    vg.verify(result)
    for field in result.names:
        right = result._values[field]
        for other in malformed(right):
            plausible = (name, field) in UNKNOWN and isinstance(other, int) and other >= 0
            same = type(other) is type(right) and np.array_equal(other, right)
            if not plausible and not same:
                result._values[field] = other
                with pytest.raises(vg.VerificationError):
                    vg.verify(result, graph)
        result._values[field] = right


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))]
)
@pytest.mark.parametrize("name", ["pagerank", "spmv", "jaccard", "bfs", "conjugate_gradient", "louvain"])
def test_copies_keep_what_verify_needs(name: str, again: Callable[[Any], Any]) -> None:
    graph, result = made(name, True)
    kept = again(result)
    with pytest.raises(vg.ParameterError, match="is gone"):
        vg.verify(kept)
    vg.verify(kept, graph)
    field = result.names[0]
    kept._values[field] = kept._values[field][::-1].copy()
    with pytest.raises(vg.VerificationError):
        vg.verify(kept, graph)


@pytest.mark.parametrize("name", NAMES)
def test_another_graph(name: str) -> None:
    graph, result = made(name, False)
    ends = graph.edges()[:2]
    for other in (
        vg.Graph.from_edges([0], [1]),
        vg.Graph.from_edges(*ends, num_vertices=graph.num_vertices + 1, directed=False),
        vg.Graph.from_edges(*(ids[1:] for ids in ends), num_vertices=graph.num_vertices, directed=False),
    ):
        with pytest.raises(vg.ParameterError, match="another graph: 14 vertices and "):
            vg.verify(result, other)


@pytest.mark.parametrize("name", NAMES)
def test_other_weights(name: str) -> None:
    """The same arcs, with no weights, or some that the run would have refused: errors, where they are looked at."""
    graph, result = made(name, False)
    ends = graph.edges()[:2]
    turns = np.arange(graph.num_edges) % 2
    values = [np.nan, np.inf, -np.inf, -1e308]
    if name != "weighted_matching":  # any maximal matching is one of equal weights
        values.append(1e308)
    given = [{"weight": np.where(turns, 1e308, w)} for w in values]
    others = [vg.Graph.from_edges(*ends, num_vertices=14, directed=False, **how) for how in ({}, *given)]
    assert len({_error(result, other) is None for other in others}) == 1


def _error(result: Any, graph: vg.Graph) -> vg.VGraphError | None:
    try:
        vg.verify(result, graph)
    except vg.VGraphError as error:
        return error
    return None


def test_colors_beyond_all() -> None:
    graph, result = made("coloring", False)
    result._values["color"] = result.color.astype(np.int64)
    vg.verify(result, graph)
    result._values["color"][7] = 2**62
    with pytest.raises(vg.VerificationError, match="vertex 7: color 4611686018427387904"):
        vg.verify(result, graph)


def test_what_is_no_result_or_graph() -> None:
    graph, result = made("bfs", True)
    for given in ((3,), (None, graph), (result, 3), (graph, result)):
        with pytest.raises(vg.ParameterError, match=r"verify\(result, graph\)"):
            vg.verify(*given)
    del result._origin  # as saved by an older vgraph
    with pytest.raises(vg.ParameterError, match="does not say what it was made from"):
        vg.verify(result, graph)


def test_algorithms_of_the_same_name_are_others() -> None:
    @vg.algorithm
    def pagerank(graph):
        rank = graph.vertex_property(vg.float64)
        rank[0] = 1.0
        return rank

    with pytest.raises(vg.ParameterError, match="pagerank has no verifier"):
        vg.verify(vg.run(pagerank, small(True)))
