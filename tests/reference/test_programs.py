"""Whole programs under the reference interpreter, against NetworkX and SciPy."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from reference_harness import run_reference
from scipy.sparse.csgraph import dijkstra

from vgraph.errors import AlgorithmError
from vgraph.graph import Graph
from vgraph.language import names as vg
from vgraph.language.decorators import algorithm, function, operator


def random_graph(seed, n=40, m=150, *, directed=True, weight=np.int32, **options):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 30, m).astype(weight)
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    options = {"self_loops": False, "multi_edges": "min", **options}
    return Graph.from_edges(*ends, num_vertices=n, directed=directed, weight=weights, **options)


def networkx_of(graph):
    g = nx.DiGraph() if graph.directed else nx.Graph()
    g.add_nodes_from(range(graph.num_vertices))
    sources, targets, properties = graph.edges()
    weights = properties["weight"]
    g.add_weighted_edges_from(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))
    return g


# --- shortest paths -------------------------------------------------------------------------------------


@operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@operator
def relax_by_test(src, edge, dst):
    if src.dist + edge.weight < dst.dist:
        dst.dist = src.dist + edge.weight


@algorithm
def sssp(graph, source, op_is_test=False):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        if op_is_test:
            frontier = graph.edge_apply(relax_by_test, frontier)
        else:
            frontier = graph.edge_apply(relax, frontier)
    return dist


@pytest.mark.parametrize("test", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sssp(seed, test):
    graph = random_graph(seed)
    results, trace = run_reference(sssp, graph, {"source": 3, "op_is_test": test})
    expected = dijkstra(graph.to_scipy("weight").astype(float), indices=3)
    found = results["dist"]
    assert found.dtype == np.int32
    assert np.array_equal(np.where(found == 2**31 - 1, np.inf, found), expected)
    assert trace[0] == ("relax_by_test" if test else "relax", "push", 1, int(graph.out_degree[3]))


# --- breadth-first search -------------------------------------------------------------------------------


@operator
def visit(src, edge, dst, graph):
    if dst.parent == vg.none:
        dst.parent = src
        dst.level = graph.depth


@algorithm
def bfs(graph, source: vg.vertex):
    parent = graph.vertex_property(vg.vertex)
    level = graph.vertex_property(vg.int32, fill=-1)
    parent[source] = source
    level[source] = 0
    graph.depth = 0
    frontier = graph.frontier(source)
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier, label="visit level")
    return parent, level, graph.depth


@pytest.mark.parametrize("directed", [True, False])
def test_bfs(directed):
    graph = random_graph(7, 60, 90, directed=directed)
    results, trace = run_reference(bfs, graph, {"source": 5})
    g = networkx_of(graph)
    levels = nx.single_source_shortest_path_length(g, 5)
    assert {v: int(x) for v, x in enumerate(results["level"]) if x >= 0} == levels
    parent = results["parent"]
    assert parent.dtype == np.int32
    assert parent[5] == 5
    for v in range(60):
        if v not in levels:
            assert parent[v] == -1
        elif v != 5:
            assert g.has_edge(int(parent[v]), v)
            assert levels[int(parent[v])] == levels[v] - 1
    assert results["depth"] == max(levels.values()) + 1
    assert {r.label for r in trace} == {"visit level"}


# --- PageRank -------------------------------------------------------------------------------------------


@operator
def give(v, graph):
    v.received = 0.0
    if v.out_degree == 0:
        graph.dangling += v.rank
    else:
        v.gift = v.rank / v.out_degree


@operator
def receive(src, edge, dst):
    dst.received += src.gift


@operator
def update(v, graph):
    rank = graph.base + graph.damping * v.received
    graph.error += abs(rank - v.rank)
    v.rank = rank


@algorithm
def pagerank(graph, damping=0.85, tolerance=1e-12):
    rank = graph.vertex_property(vg.float64, fill=1.0 / graph.num_vertices)
    gift = graph.vertex_property(vg.float64)
    received = graph.vertex_property(vg.float64)
    graph.damping = damping
    graph.error = vg.inf
    rounds = 0
    while graph.error > tolerance:
        graph.dangling = 0.0
        graph.vertex_apply(give)
        graph.base = (1.0 - damping + damping * graph.dangling) / graph.num_vertices
        graph.edge_apply(receive)
        graph.error = 0.0
        graph.vertex_apply(update)
        rounds += 1
    return rank, rounds, graph.error


def test_pagerank():
    graph = random_graph(2, 30, 80)
    results, _ = run_reference(pagerank, graph, {})
    expected = nx.pagerank(networkx_of(graph), tol=1e-14, max_iter=1000, weight=None)
    assert np.allclose(results["rank"], [expected[v] for v in range(30)], atol=1e-10)
    assert results["error"] <= 1e-12
    assert results["rounds"].dtype == np.int64


# --- components -----------------------------------------------------------------------------------------


@operator
def join(src, edge, dst):
    vg.union(src.component, dst.component)


@algorithm
def components(graph):
    component = graph.disjoint_sets()
    graph.edge_apply(join)
    return component


@operator
def spread(src, edge, dst):
    dst.label = min(dst.label, src.label)


@operator
def number(v):
    v.label = v.id


@algorithm
def labels(graph):
    label = graph.vertex_property(vg.vertex)
    graph.vertex_apply(number)
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(spread, frontier)
    return label


@pytest.mark.parametrize(("program", "name"), [(components, "component"), (labels, "label")])
def test_connected_components(program, name):
    graph = random_graph(4, 80, 60, directed=False)
    results, _ = run_reference(program, graph, {})
    expected = np.empty(80, int)
    for members in nx.connected_components(networkx_of(graph)):
        expected[list(members)] = min(members)
    assert np.array_equal(results[name], expected)


# --- triangles, cores, betweenness ----------------------------------------------------------------------


@operator
def count_triangles(v, graph):
    for u in v.out_neighbors:
        if v.id < u.id:
            for w in v.out_neighbors & u.out_neighbors:
                if u < w:
                    graph.triangles += 1


@algorithm
def triangles(graph):
    graph.triangles = 0
    graph.vertex_apply(count_triangles)
    return graph.triangles


def test_triangles():
    graph = random_graph(5, 40, 250, directed=False)
    results, _ = run_reference(triangles, graph, {})
    assert results["triangles"] == sum(nx.triangles(networkx_of(graph)).values()) // 3 > 0


@operator
def start(v):
    v.left = v.degree


@operator
def peel(v, graph):
    ready = v.core == -1 and v.left <= graph.k
    if ready:
        v.core = graph.k
    return ready


@operator
def drop(src, edge, dst):
    dst.left -= 1


@algorithm
def k_core(graph):
    core = graph.vertex_property(vg.int64, fill=-1)
    left = graph.vertex_property(vg.int64)
    graph.k = 0
    graph.vertex_apply(start)
    remaining = graph.num_vertices
    while remaining > 0:
        peeled = graph.vertex_filter(peel)
        while peeled:
            remaining -= len(peeled)
            graph.edge_apply(drop, peeled)
            peeled = graph.vertex_filter(peel)
        graph.k += 1
    return core


def test_k_core():
    graph = random_graph(6, 40, 160, directed=False)
    results, _ = run_reference(k_core, graph, {})
    assert dict(enumerate(results["core"].tolist())) == nx.core_number(networkx_of(graph))


@operator
def reset(v):
    v.level = -1
    v.paths = 0.0
    v.share = 0.0


@operator
def reach(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth


@operator
def add_paths(src, edge, dst, graph):
    if dst.level == graph.depth:
        dst.paths += src.paths


@function
def part(mine, theirs, share):
    return mine / theirs * (1.0 + share)


@operator
def collect(v):
    for w in v.out_neighbors:
        if w.level == v.level + 1:
            v.share += part(v.paths, w.paths, w.share)
    if v.level > 0:
        v.centrality += v.share


@algorithm
def betweenness(graph, sources):
    centrality = graph.vertex_property(vg.float64)
    level = graph.vertex_property(vg.int64)
    paths = graph.vertex_property(vg.float64)
    share = graph.vertex_property(vg.float64)
    for s in sources:
        graph.vertex_apply(reset)
        level[s] = 0
        paths[s] = 1.0
        graph.depth = 0
        frontier = graph.frontier(s)
        levels = [frontier]
        while frontier:
            graph.depth += 1
            reached = graph.edge_apply(reach, frontier)
            graph.edge_apply(add_paths, frontier)
            frontier = reached
            levels.append(frontier)
        for frontier in reversed(levels):
            graph.vertex_apply(collect, frontier)
    return centrality


def test_betweenness():
    graph = random_graph(8, 25, 60, directed=False)
    results, _ = run_reference(betweenness, graph, {"sources": range(25)})
    expected = nx.betweenness_centrality(networkx_of(graph), normalized=False)
    assert np.allclose(results["centrality"] / 2, [expected[v] for v in range(25)])


# --- the end by will ------------------------------------------------------------------------------------


@algorithm
def refuse(graph, limit=3):
    if graph.num_vertices > limit:
        vg.fail("too many vertices")
    return graph.num_vertices


def test_fail_ends_the_run_with_its_message():
    with pytest.raises(AlgorithmError, match="too many vertices"):
        run_reference(refuse, random_graph(1), {})
