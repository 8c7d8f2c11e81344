"""Biconnected components, articulation points and bridges beside NetworkX."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg
from vgraph.algorithms import biconnected_components

DATA = Path(__file__).parents[3] / "shared" / "data"
Pairs = list[tuple[int, int]]


def same_as_networkx(n: int, pairs: Pairs, **how: object) -> None:
    """All four results say what NetworkX says of the same edges."""
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    graph = vg.Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=n, directed=False)
    found = vg.run(biconnected_components, graph, **how)
    multi = nx.MultiGraph(pairs)
    multi.add_nodes_from(range(n))
    simple = nx.Graph((u, v) for u, v in pairs if u != v)
    simple.add_nodes_from(range(n))
    parent, component = found.parent.tolist(), found.component.tolist()
    assert set(np.flatnonzero(found.articulation).tolist()) == set(nx.articulation_points(simple))
    bridges = {frozenset((v, parent[v])) for v in np.flatnonzero(found.bridge).tolist()}
    assert bridges == {frozenset(e) for e in nx.bridges(simple) if multi.number_of_edges(*e) == 1}
    parts: dict[int, set[frozenset[int]]] = {}
    for u, v in simple.edges:
        if parent[u] != v and parent[v] != u:
            assert component[u] == component[v]
        parts.setdefault(component[u] if parent[u] == v else component[v], set()).add(frozenset((u, v)))
    theirs = [{frozenset(e) for e in part} for part in nx.biconnected_component_edges(simple)]
    assert len(parts) == len(theirs)
    assert all(part in theirs for part in parts.values())
    for name in parts:
        assert min(v for v in range(n) if component[v] == name) == name


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    n = draw(st.integers(1, 25))
    ids = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(ids, ids), max_size=2 * n))


@settings(max_examples=30)
@given(graphs())
def test_random_graphs(case: tuple[int, Pairs]) -> None:
    same_as_networkx(*case, threads=2)


@settings(max_examples=15)
@given(graphs())
def test_random_graphs_by_the_reference(case: tuple[int, Pairs]) -> None:
    same_as_networkx(*case, device="python")


CASES: dict[str, tuple[int, Pairs]] = {
    "empty": (0, []),
    "isolated": (3, []),
    "a loop": (2, [(0, 0), (0, 1), (1, 1)]),
    "parallel": (4, [(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (2, 3)]),
    "path": (500, [(k, k + 1) for k in range(499)]),
    "circle": (301, [(k, (k + 1) % 301) for k in range(301)]),
    "star": (2000, [(7, k) for k in range(2000) if k != 7]),
    "two triangles at a vertex": (5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]),
    "the root is where they meet": (5, [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)]),
    "complete": (9, [(u, v) for u in range(9) for v in range(u)]),
    "barbell": (20, list(nx.barbell_graph(9, 2).edges)),
}


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("name", CASES)
def test_shapes(name: str, device: str) -> None:
    same_as_networkx(*CASES[name], device=device)


def test_trees_are_all_bridges() -> None:
    rng = np.random.default_rng(3)
    v = np.arange(1, 5000)
    tree = vg.Graph.from_edges((v * rng.random(v.size)).astype(int), v, directed=False)
    found = vg.run(biconnected_components, tree)
    assert found.bridge[1:].all()
    assert not found.bridge[0]
    assert (found.component[1:] == v).all()
    assert (found.articulation == (tree.out_degree > 1)).all()


def test_directed_graphs_are_refused() -> None:
    with pytest.raises(vg.ParameterError, match="undirected"):
        vg.run(biconnected_components, vg.Graph.from_edges([0], [1]))


@pytest.mark.parametrize(
    ("file", "components", "articulations", "bridges"),
    [
        ("social/email-Enron.el.xz", 12093, 1391, 10714),
        ("road/USA-road-NY.pace.gr.xz", 53479, 46476, 52703),
    ],
)
def test_real_graphs(file: str, components: int, articulations: int, bridges: int) -> None:
    """The numbers are igraph's."""
    if not (DATA / file).exists():
        pytest.skip(f"{DATA / file} is not there")
    graph = vg.read(DATA / file, directed=False)
    found = vg.run(biconnected_components, graph)
    assert np.unique(found.component[found.component >= 0]).size == components
    assert found.articulation.sum() == articulations
    assert found.bridge.sum() == bridges
    vg.verify(found)
