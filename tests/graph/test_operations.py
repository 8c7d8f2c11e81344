"""Parts of graphs, neighborhoods, arcs turned round, simple graphs and line graphs, beside NetworkX and igraph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import vgraph as vg


def made(directed: bool, seed: int = 0, n: int = 12, m: int = 30) -> vg.Graph:
    """With self-loops, parallel edges and properties of both kinds."""
    rng = np.random.default_rng(seed)
    sources, targets = rng.integers(0, n, (2, m)) if n else np.zeros((2, 0), int)
    vertex = {"age": np.arange(n) * 10, "place": rng.random((n, 2))}
    return vg.Graph.from_edges(
        sources,
        targets,
        num_vertices=n,
        directed=directed,
        weight=rng.integers(0, 9, sources.size),
        vertex_properties=vertex,
    )


def rows(graph: Any) -> list[Any]:
    """The edges of a vgraph or NetworkX graph with their weights, sorted; ends, too, where they have no direction."""
    if isinstance(graph, vg.Graph):
        graph = graph.to_networkx()
    edges = graph.edges(data="weight")
    return sorted((u, v, w) if graph.is_directed() else (min(u, v), max(u, v), w) for u, v, w in edges)


GRAPHS = [made(directed, seed) for directed in (True, False) for seed in range(3)]
EMPTY = [made(directed, n=n, m=0) for directed in (True, False) for n in (0, 1)]


@pytest.mark.parametrize("graph", GRAPHS)
def test_subgraph(graph: vg.Graph) -> None:
    chosen = [7, 2, 3, 11, 5, 0]
    found = graph.subgraph(chosen)
    assert found.vertices.tolist() == chosen
    want = nx.relabel_nodes(graph.to_networkx().subgraph(chosen), {v: i for i, v in enumerate(chosen)})
    assert rows(found.graph) == rows(want)
    assert found.graph.directed == graph.directed
    assert found.graph.vertex_properties["age"].tolist() == [10 * v for v in chosen]
    np.testing.assert_array_equal(
        found.graph.vertex_properties["place"], graph.vertex_properties["place"][chosen]
    )
    mask = np.isin(np.arange(12), chosen)
    assert rows(graph.subgraph(mask).graph) == rows(graph.subgraph(sorted(chosen)).graph)
    assert rows(graph.subgraph(np.arange(12)).graph) == rows(graph)
    none = graph.subgraph([])
    assert (none.graph.num_vertices, none.graph.num_edges) == (0, 0)
    assert none.graph.vertex_properties["place"].shape == (0, 2)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("undirected", [True, False])
def test_neighborhoods(graph: vg.Graph, undirected: bool) -> None:
    g = graph.to_networkx()
    along = g.to_undirected() if undirected else g
    for k in range(4):
        for v in (0, 5, 11):
            hops = nx.single_source_shortest_path_length(along, v, cutoff=k)
            found = graph.k_hop(v, k, undirected=undirected)
            assert found.tolist() == sorted(hops, key=lambda u: (hops[u], u))
            part = graph.ego(v, radius=k, undirected=undirected)
            assert part.vertices.tolist() == found.tolist()
            want = nx.ego_graph(g, v, radius=k, undirected=undirected)
            assert rows(part.graph) == rows(
                nx.relabel_nodes(want, {u: i for i, u in enumerate(found.tolist())})
            )
    both = set(graph.k_hop(3, 1).tolist()) | set(graph.k_hop(8, 1).tolist())
    assert set(graph.k_hop([8, 3, 3], 1).tolist()) == both
    assert graph.k_hop([], 2).tolist() == []


@pytest.mark.parametrize("graph", GRAPHS + EMPTY)
def test_reverse(graph: vg.Graph) -> None:
    back = graph.reverse()
    if not graph.directed:
        assert back is graph
        return
    assert rows(back) == rows(graph.to_networkx().reverse())
    assert back.vertex_properties.keys() == graph.vertex_properties.keys()
    np.testing.assert_array_equal(back.in_degree, graph.out_degree)
    assert rows(back.reverse()) == rows(graph)


@vg.operator
def copy(src, edge, dst):
    """The weight as a value of the program's own."""
    edge.kept = edge.weight


@vg.algorithm
def kept_weights(graph):
    """The weight of each edge."""
    kept = graph.edge_property(vg.int64)
    graph.edge_apply(copy)
    return kept


def test_results_of_a_reversed_graph_are_in_the_users_order() -> None:
    weight = np.array([5, 3, 8, 1, 4])
    graph = vg.Graph.from_edges([3, 0, 3, 2, 0], [1, 3, 0, 2, 3], weight=weight)
    for turned in (graph.reverse(), graph.reverse().reverse()):
        assert vg.run(kept_weights, turned, device="python").kept.tolist() == weight.tolist()


@pytest.mark.parametrize("graph", GRAPHS + EMPTY)
def test_simplify(graph: vg.Graph) -> None:
    plain = nx.DiGraph(graph.to_networkx()) if graph.directed else nx.Graph(graph.to_networkx())
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    simple = graph.simplify()
    assert [r[:2] for r in rows(simple)] == [r[:2] for r in rows(plain)]
    n, (s, t, properties) = graph.num_vertices, graph.edges()
    weight = properties["weight"]
    pairs = list(zip(s.tolist(), t.tolist(), strict=True))
    igraph = pytest.importorskip("igraph")
    theirs = igraph.Graph(n=n, edges=pairs, directed=graph.directed, edge_attrs={"weight": weight.tolist()})
    for how in ("min", "max", "sum"):
        for loops in (True, False):
            want = theirs.copy().simplify(loops=not loops, combine_edges={"weight": how})
            edges = zip(want.get_edgelist(), want.es["weight"] if want.ecount() else [], strict=True)
            found = graph.simplify(self_loops=loops, multi_edges=how)
            assert rows(found) == sorted((*e, w) for e, w in edges)
            assert found.vertex_properties.keys() == graph.vertex_properties.keys()
    assert rows(graph.simplify(self_loops=True, multi_edges=True)) == rows(graph)


@pytest.mark.parametrize("graph", GRAPHS + EMPTY)
def test_line_graph(graph: vg.Graph) -> None:
    s, t, properties = graph.edges()
    line = graph.line_graph()
    assert line.num_vertices == graph.num_edges
    assert line.vertex_properties["weight"].tolist() == properties["weight"].tolist()
    g: Any = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    number = {}
    for i, (u, v) in enumerate(zip(s.tolist(), t.tolist(), strict=True)):
        key = g.add_edge(u, v)
        for ends in ((u, v),) if graph.directed else ((u, v), (v, u)):
            number[(*ends, key)] = i
    want = {tuple(number[e] for e in pair[:2]) for pair in nx.line_graph(g).edges()}
    mine = {tuple(e) for e in line.to_networkx().edges()}
    assert line.num_edges == len(want)
    if graph.directed:
        assert mine == want
    else:
        assert {frozenset(e) for e in mine} == {frozenset(e) for e in want}


def test_what_is_refused() -> None:
    graph = made(True)
    for wrong, message in (
        ([12], "out of range"),
        ([-1], "negative"),
        (np.array([1 << 63], np.uint64), "out of range"),
        ([1, 4, 1], "vertex 1 is given twice"),
        (np.ones(5, bool), "5 bools, but 12 vertices"),
        ([[1]], "one-dimensional"),
        (["a"], "integers"),
    ):
        with pytest.raises(vg.GraphError, match=message):
            graph.subgraph(wrong)
    for k in (-1, 1.5, True, "2"):
        with pytest.raises(vg.GraphError, match="no number of hops"):
            graph.k_hop(0, k)
    with pytest.raises(vg.GraphError, match="out of range"):
        graph.ego(99)
    with pytest.raises(vg.GraphError, match=r"ego: vertex=\[1, 2\]: one vertex; .*k_hop"):
        graph.ego([1, 2])
    with pytest.raises(vg.GraphError, match="multi_edges must be"):
        graph.simplify(multi_edges="mean")
