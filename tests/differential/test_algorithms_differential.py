"""The library's algorithms under every schedule, against the reference interpreter, SciPy and NetworkX."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg

A = vg.algorithms
WEIGHTS = ("int32", "int64", "float32", "float64")
SHAPES = ("random", "star", "path", "clique", "loops", "parallel", "two parts", "no edges")
quick = settings(max_examples=12)
many = settings(max_examples=600)


def ends_of(shape: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges of a graph of `n` vertices."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(n)
    every = np.arange(n)
    match shape:
        case "star":
            pairs = np.zeros(max(n - 1, 0), int), every[1:]
        case "path":
            pairs = every[:-1], every[1:]
        case "clique":
            pairs = np.nonzero(~np.eye(n, dtype=bool))
        case "loops":
            pairs = np.r_[every, every[:-1]], np.r_[every, every[1:]]
        case "parallel":
            pairs = np.repeat(every[:-1], 3), np.repeat(every[1:], 3)
        case "two parts":
            half = max(n // 2, 1)
            s = rng.integers(0, half, n)
            pairs = (
                np.r_[s, s + n - half],
                np.r_[rng.integers(0, half, n), rng.integers(0, half, n) + n - half],
            )
        case "no edges":
            pairs = every[:0], every[:0]
        case _:
            pairs = rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n)
    return names[pairs[0]], names[pairs[1]]


def make(shape: str, n: int, seed: int, directed: bool, wide: bool, dtype: str, low: int = 0) -> vg.Graph:
    s, t = ends_of(shape, n, seed) if n else (np.zeros(0, int), np.zeros(0, int))
    weight = np.random.default_rng(seed + 1).integers(low, 50, s.size).astype(dtype)
    if dtype.startswith("float"):
        weight = (weight / 8).astype(dtype)  # eighths: every sum is exact
    bits = 64 if wide else None
    return vg.Graph.from_edges(s, t, num_vertices=n, directed=directed, id_bits=bits, weight=weight)


def graphs(least: int = 1, dtypes: tuple[str, ...] = ("int32",)) -> st.SearchStrategy[vg.Graph]:
    """Graphs of few vertices and every shape; few types, as each is a program of its own."""
    return st.builds(
        make,
        st.sampled_from(SHAPES),
        st.integers(least, 14),
        st.integers(0, 10**6),
        st.booleans(),
        st.booleans(),
        st.sampled_from(dtypes),
    )


def schedules(label: str) -> list[vg.Schedule]:
    """Every combination of direction, drive and frontier, and the defaults."""
    axes = product((vg.PUSH, vg.PULL), (vg.TOPOLOGY, vg.DATA), (vg.SPARSE, vg.BITMAP))
    every = [vg.Schedule().at(label, direction=d, drive=w, frontier=f) for d, w, f in axes]
    return [vg.Schedule(), *every]


FEW = [
    vg.Schedule(),
    vg.Schedule().at("relax", direction=vg.PULL, drive=vg.TOPOLOGY),
    vg.Schedule().at("relax", sync=vg.BSP),
]
threads_used = st.sampled_from([1, 2, 3])


def arcs_of(graph: vg.Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and weights of all arcs."""
    s, t, rest = graph.edges()
    w = rest["weight"]
    if graph.directed:
        return s, t, w
    return np.r_[s, t], np.r_[t, s], np.r_[w, w]


def check_tree(graph: vg.Graph, source: int, level: np.ndarray, parent: np.ndarray) -> None:
    """Any parent one level above, over an arc that exists."""
    arcs = set(zip(*(x.tolist() for x in arcs_of(graph)[:2]), strict=True))
    assert parent[source] == source
    for v, (depth, above) in enumerate(zip(level.tolist(), parent.tolist(), strict=True)):
        if depth < 0:
            assert above == -1
        elif v != source:
            assert level[above] + 1 == depth
            assert (above, v) in arcs


def same(found: np.ndarray, expected: np.ndarray, rtol: float = 0.0) -> None:
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol) if rtol else np.testing.assert_array_equal(
        found, expected
    )


def bfs_agrees(graph: vg.Graph, source: int, schedule: vg.Schedule, threads: int) -> None:
    expected = vg.run(A.bfs, graph, device="python", source=source)
    found = vg.run(A.bfs, graph, schedule=schedule, threads=threads, source=source)
    same(found.level, expected.level)
    check_tree(graph, source, expected.level, expected.parent)
    check_tree(graph, source, found.level, found.parent)


def paths_agree(graph: vg.Graph, source: int, schedule: vg.Schedule, threads: int) -> None:
    expected = vg.run(A.sssp, graph, device="python", source=source).dist
    for algorithm in (A.sssp, A.bellman_ford):
        given = schedule
        if algorithm is A.bellman_ford:
            given = vg.Schedule({k: v for k, v in schedule.labels.items() if v.sync is vg.schedule.Sync.AUTO})
        same(vg.run(algorithm, graph, schedule=given, threads=threads, source=source).dist, expected)


def components_agree(graph: vg.Graph, schedule: vg.Schedule, threads: int) -> None:
    expected = vg.run(A.connected_components, graph, device="python").component
    labels = schedule if not graph.directed else vg.Schedule()
    same(vg.run(A.connected_components, graph, threads=threads).component, expected)
    same(vg.run(A.label_components, graph, threads=threads, schedule=labels).component, expected)
    same(vg.run(A.label_components, graph, device="python").component, expected)
    g = nx.Graph(list(zip(*(x.tolist() for x in arcs_of(graph)[:2]), strict=True)))
    g.add_nodes_from(range(graph.num_vertices))
    smallest = {v: min(members) for members in nx.connected_components(g) for v in members}
    assert expected.tolist() == [smallest[v] for v in range(graph.num_vertices)]


def ranks_agree(graph: vg.Graph, schedule: vg.Schedule, threads: int) -> None:
    how: dict[str, Any] = {"max_rounds": 20, "tolerance": 0.0}
    expected = vg.run(A.pagerank, graph, device="python", **how).rank
    same(vg.run(A.pagerank, graph, schedule=schedule, threads=threads, **how).rank, expected, rtol=1e-12)


@quick
@given(graphs(), st.integers(0, 13), st.sampled_from(schedules("visit")), threads_used)
def test_bfs(graph: vg.Graph, source: int, schedule: vg.Schedule, threads: int) -> None:
    bfs_agrees(graph, source % graph.num_vertices, schedule, threads)


@quick
@given(graphs(dtypes=WEIGHTS), st.integers(0, 13), st.sampled_from(FEW), threads_used)
def test_shortest_paths(graph: vg.Graph, source: int, schedule: vg.Schedule, threads: int) -> None:
    paths_agree(graph, source % graph.num_vertices, schedule, threads)


@quick
@given(graphs(least=0), st.sampled_from(schedules("lower")[:5]), threads_used)
def test_components(graph: vg.Graph, schedule: vg.Schedule, threads: int) -> None:
    components_agree(graph, schedule, threads)


GATHER = [vg.Schedule(), *(vg.Schedule().at("gather", direction=d) for d in (vg.PUSH, vg.PULL))]


@quick
@given(graphs(least=0), st.sampled_from(GATHER), threads_used)
def test_pagerank(graph: vg.Graph, schedule: vg.Schedule, threads: int) -> None:
    ranks_agree(graph, schedule, threads)


@pytest.mark.slow
@many
@given(
    graphs(dtypes=WEIGHTS),
    st.integers(0, 13),
    st.integers(0, 8),
    st.sampled_from([None, vg.BSP, vg.ASYNC]),
    threads_used,
)
def test_everything(graph: vg.Graph, source: int, number: int, sync: Any, threads: int) -> None:
    source %= graph.num_vertices
    bfs_agrees(graph, source, schedules("visit")[number], threads)
    relax = schedules("relax")[number]
    paths_agree(graph, source, relax if sync is None else relax.at("relax", sync=sync), threads)
    components_agree(graph, schedules("lower")[number], threads)
    ranks_agree(graph, GATHER[number % 3], threads)


@pytest.mark.parametrize(
    ("algorithm", "schedule"),
    [
        (A.bellman_ford, vg.Schedule().at("relax", sync=vg.ASYNC)),
        (A.pagerank, vg.Schedule().at("gather", drive=vg.DATA)),
        (A.pagerank, vg.Schedule().at("update", direction=vg.PUSH)),
        (A.sssp, vg.Schedule().at("relax", order=vg.UNORDERED, deduplicate=False)),
        (A.sssp, vg.Schedule().at("visit", direction=vg.PUSH)),
        (A.connected_components, vg.Schedule().at("sample", direction=vg.PUSH)),
    ],
)
def test_illegal_schedules_are_refused(algorithm: vg.AlgorithmDef, schedule: vg.Schedule) -> None:
    graph = make("path", 5, 0, True, False, "int32")
    params = {"source": 0} if algorithm in (A.sssp, A.bellman_ford) else {}
    with pytest.raises(vg.ScheduleError):
        vg.run(algorithm, graph, schedule=schedule, **params)


def larger(seed: int, directed: bool, dtype: str, low: int = 1) -> vg.Graph:
    rng = np.random.default_rng(seed)
    n, m = 3000, 9000
    weight = rng.integers(low, 100, m).astype(dtype)
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, multi_edges="min", weight=weight)


def scipy_matrix(graph: vg.Graph) -> Any:
    from scipy.sparse import csr_array

    s, t, w = arcs_of(graph)
    order = np.lexsort((w, t, s))
    s, t, w = s[order], t[order], w[order].astype(float)
    first = np.r_[True, (s[1:] != s[:-1]) | (t[1:] != t[:-1])]
    return csr_array((w[first], (s[first], t[first])), shape=(graph.num_vertices,) * 2)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", WEIGHTS)
def test_shortest_paths_equal_scipys(dtype: str, directed: bool, threads: int) -> None:
    from scipy.sparse.csgraph import dijkstra

    graph = larger(7, directed, dtype)
    expected = dijkstra(scipy_matrix(graph), indices=5)
    for algorithm in (A.sssp, A.bellman_ford):
        dist = vg.run(algorithm, graph, threads=threads, source=5).dist
        unreached = np.inf if dist.dtype.kind == "f" else np.iinfo(dist.dtype).max
        assert np.array_equal(dist == unreached, np.isinf(expected))
        reached = np.isfinite(expected)
        np.testing.assert_array_equal(dist[reached], expected[reached].astype(dist.dtype))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs_equal_scipy_and_networkx(directed: bool, threads: int) -> None:
    from scipy.sparse.csgraph import connected_components, dijkstra

    graph = larger(11, directed, "int32")
    matrix = scipy_matrix(graph)
    hops = dijkstra(matrix, indices=0, unweighted=True)
    result = vg.run(A.bfs, graph, threads=threads, source=0)
    np.testing.assert_array_equal(result.level, np.where(np.isinf(hops), -1, hops))
    check_tree(graph, 0, result.level, result.parent)
    count, labels = connected_components(matrix, directed=False)
    smallest = np.full(count, graph.num_vertices)
    np.minimum.at(smallest, labels, np.arange(graph.num_vertices))
    for algorithm in (A.connected_components, A.label_components):
        np.testing.assert_array_equal(vg.run(algorithm, graph, threads=threads).component, smallest[labels])
    g = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    ranks = nx.pagerank(g, tol=1e-14, max_iter=500, weight=None)
    rank = vg.run(A.pagerank, graph, threads=threads, tolerance=1e-13, max_rounds=500).rank
    np.testing.assert_allclose(rank, [ranks[v] for v in range(graph.num_vertices)], rtol=1e-9)


@pytest.mark.parametrize("threads", [1, 2])
def test_negative_weights(threads: int) -> None:
    from scipy.sparse.csgraph import bellman_ford

    rng = np.random.default_rng(3)
    s, t = rng.integers(0, 300, 1500), rng.integers(0, 300, 1500)
    s, t = np.minimum(s, t)[s != t], np.maximum(s, t)[s != t]
    weight = rng.integers(-20, 40, s.size)
    weight[weight == 0] = 1
    graph = vg.Graph.from_edges(s, t, num_vertices=300, multi_edges="min", weight=weight)
    expected = bellman_ford(scipy_matrix(graph), indices=0)
    dist = vg.run(A.bellman_ford, graph, threads=threads, source=0).dist
    np.testing.assert_array_equal(np.where(dist == np.iinfo(np.int64).max, np.inf, dist), expected)
    cycle = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], weight=np.array([1, 1, -3]))
    for device in ("cpu", "python"):
        with pytest.raises(vg.AlgorithmError):
            vg.run(A.bellman_ford, cycle, device=device, threads=threads, source=0)
        with pytest.raises(vg.ParameterError):
            vg.run(A.sssp, cycle, device=device, threads=threads, source=0)
