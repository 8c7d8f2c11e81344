"""Topological orders: those of NetworkX's generations, and a vertex on a cycle where there is one."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_arguments import acyclic
from test_algorithms_differential import arcs_of, graphs

import vgraph as vg

HOW = st.sampled_from([{"device": "python"}, {"threads": 1}, {"threads": 3}])
EACH: list[dict[str, Any]] = [{"device": "python"}, {"threads": 1}, {"threads": 3}, {"checked": True}]


def run(graph: vg.Graph, **how: Any) -> Any:
    """A verified answer."""
    found = vg.run(vg.algorithms.topological_order, graph, **how)
    vg.verify(found, graph)
    return found


def digraph(graph: vg.Graph) -> nx.MultiDiGraph:
    g = nx.MultiDiGraph()
    g.add_nodes_from(range(graph.num_vertices))
    g.add_edges_from(zip(*(ids.tolist() for ids in arcs_of(graph)[:2]), strict=True))
    return g


@settings(max_examples=25)
@given(graphs(), HOW)
def test_orders(graph: vg.Graph, how: Any) -> None:
    graph = acyclic(graph)
    found = run(graph, **how)
    generations = [sorted(generation) for generation in nx.topological_generations(digraph(graph))]
    assert found.order.tolist() == [v for generation in generations for v in generation]
    for level, generation in enumerate(generations):
        assert found.level[generation].tolist() == [level] * len(generation)


@settings(max_examples=25)
@given(graphs(), HOW)
def test_cycles(graph: vg.Graph, how: Any) -> None:
    if not graph.directed:
        with pytest.raises(vg.ParameterError, match="directed=True"):
            run(graph, **how)
        return
    g = digraph(graph)
    on_cycles = {v for part in nx.strongly_connected_components(g) for v in part if len(part) > 1}
    on_cycles |= set(nx.nodes_with_selfloops(g))
    if not on_cycles:
        run(graph, **how)
        return
    with pytest.raises(vg.VGraphError, match="has a cycle, through vertex") as error:
        run(graph, **how)
    assert int(re.findall(r"\d+$", str(error.value))[0]) in on_cycles


@pytest.mark.parametrize("how", EACH)
def test_what_lies_between_cycles_is_on_none(how: dict[str, Any]) -> None:
    """Vertices that a cycle leads to, and that lead to another one; the named one is on a cycle all the same."""
    first = [(8, 9), (9, 8), (8, 0), (0, 1), (1, 2), (2, 3), (3, 7), (7, 6), (6, 7), (6, 4), (4, 5)]
    graph = vg.Graph.from_edges(*zip(*first, strict=True))
    with pytest.raises(vg.AlgorithmError, match=r"through vertex [6789]$"):
        run(graph, **how)
    ring = np.arange(100)
    with pytest.raises(vg.AlgorithmError, match=r"through vertex \d+$"):
        run(vg.Graph.from_edges(ring, (ring + 1) % 100), **how)


@pytest.mark.parametrize("how", EACH)
def test_graphs_with_little_in_them(how: dict[str, Any]) -> None:
    for n in (0, 1, 3):
        found = run(vg.Graph.from_edges([], [], num_vertices=n), **how)
        assert found.order.tolist() == list(range(n))
        assert found.level.tolist() == [0] * n
    parallel = vg.Graph.from_edges([2, 2, 2, 0], [0, 0, 1, 1])
    assert run(parallel, **how).order.tolist() == [2, 0, 1]
    loop = vg.Graph.from_edges([0, 1], [1, 1])
    with pytest.raises(vg.AlgorithmError, match="through vertex 1"):
        run(loop, **how)


def test_long_paths() -> None:
    number = np.random.default_rng(2).permutation(3000)
    found = run(vg.Graph.from_edges(number[:-1], number[1:]))
    assert found.order.tolist() == number.tolist()
