"""Longest paths and transitive reductions, against NetworkX's."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_arguments import acyclic
from test_algorithms_differential import graphs
from test_shortest_paths import digraph

import vgraph as vg

A = vg.algorithms
HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 3}])
EACH: list[dict[str, Any]] = [{"device": "python"}, {"threads": 1}, {"threads": 3}, {"checked": True}]


def run(algorithm: vg.AlgorithmDef, graph: vg.Graph, **how: Any) -> Any:
    """A verified answer."""
    found = vg.run(algorithm, graph, **how)
    vg.verify(found, graph)
    return found


@settings(max_examples=15)
@given(graphs(dtypes=("int32", "float64")), st.integers(0, 40), st.booleans(), HOW)
def test_longest_paths(graph: vg.Graph, less: int, weighted: bool, how: Any) -> None:
    graph = acyclic(graph)
    weight = graph.edge_properties["weight"] - graph.edge_properties["weight"].dtype.type(less)
    graph = graph.with_edge_property("weight", weight)
    found = run(A.longest_path, graph, **({"weight": "weight"} if weighted else {}), **how)
    g = digraph(graph)
    assert found.length == nx.dag_longest_path_length(g, "weight" if weighted else "none")
    assert nx.is_path(g, found.path.tolist())
    assert found.dist[found.path[-1]] == found.length == found.dist.max()


@settings(max_examples=15)
@given(graphs(), HOW)
def test_reductions(graph: vg.Graph, how: Any) -> None:
    sources, targets, _ = acyclic(graph).edges()
    graph = vg.Graph.from_edges(sources, targets, num_vertices=graph.num_vertices)
    needed = run(A.transitive_reduction, graph, **how).needed
    kept = list(zip(sources[needed].tolist(), targets[needed].tolist(), strict=True))
    g = nx.DiGraph(zip(sources.tolist(), targets.tolist(), strict=True))
    assert sorted(kept) == sorted(nx.transitive_reduction(g).edges)


def test_reductions_of_several_batches() -> None:
    """A dense order of 150 vertices comes down to a path, whatever they are called."""
    number = np.random.default_rng(3).permutation(150)
    low, high = np.triu_indices(150, 1)
    needed = run(A.transitive_reduction, vg.Graph.from_edges(number[low], number[high])).needed
    assert (needed == (high == low + 1)).all()


@pytest.mark.parametrize("how", EACH)
def test_graphs_with_little_in_them_and_cycles(how: dict[str, Any]) -> None:
    for n in (0, 1, 3):
        empty = vg.Graph.from_edges([], [], num_vertices=n)
        assert run(A.longest_path, empty, **how).path.tolist() == [0][:n]
        assert run(A.transitive_reduction, empty, **how).needed.size == 0
    parallel = vg.Graph.from_edges([2, 2, 2, 0], [0, 0, 1, 1], weight=[1.0, 4, 3, -2])
    found = run(A.longest_path, parallel, weight="weight", **how)
    assert (found.path.tolist(), float(found.length)) == ([2, 0], 4)
    assert run(A.longest_path, parallel, **how).path.tolist() == [2, 0, 1]
    assert run(A.transitive_reduction, parallel, **how).needed.tolist() == [True, False, False, True]
    below = parallel.with_edge_property("weight", [-1.0, -1, -1, -1])
    assert run(A.longest_path, below, weight="weight", **how).path.tolist() == [0]
    for ends in (([0, 1], [1, 1]), ([3, 0, 1, 2], [0, 1, 2, 1])):
        for algorithm in (A.longest_path, A.transitive_reduction):
            with pytest.raises(vg.AlgorithmError, match="has a cycle"):
                run(algorithm, vg.Graph.from_edges(*ends), **how)
            with pytest.raises(vg.ParameterError, match="directed=True"):
                run(algorithm, vg.Graph.from_edges(*ends, directed=False), **how)


def test_what_is_refused() -> None:
    for weight, words in (([1.0, np.nan], "not finite"), ([1e308, -1e308], "may add up")):
        graph = vg.Graph.from_edges([0, 1], [1, 2], weight=weight)
        with pytest.raises(vg.ParameterError, match=words):
            vg.run(A.longest_path, graph, weight="weight")
    graph = vg.Graph.from_edges([0, 1, 0, 0], [1, 2, 2, 1])
    found = run(A.longest_path, graph)
    for wrong in ([0, 2, 1], [0, 2], [1, 2], []):
        found._values["path"] = np.array(wrong, np.int64)
        with pytest.raises(vg.VerificationError):
            vg.verify(found)
    found = run(A.transitive_reduction, graph)
    for wrong in ([1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 1]):
        found._values["needed"] = np.array(wrong, bool)
        with pytest.raises(vg.VerificationError):
            vg.verify(found)
