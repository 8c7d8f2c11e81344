"""Strong components, hubs and authorities, coloring and spanning forests beside SciPy and NetworkX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms import coloring, hits, minimum_spanning_forest, strongly_connected_components

DATA = Path(__file__).parents[3] / "shared" / "data"
DEVICES = ("cpu", "python")


def ends(graph: vg.Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tail and head of every stored arc."""
    degrees = np.diff(graph.out.row_offsets.astype(np.int64))
    return np.repeat(np.arange(graph.num_vertices), degrees), graph.out.column_indices.astype(np.int64)


def random_graph(seed: int, *, directed: bool = True, n: int | None = None, degree: float = 2.0) -> vg.Graph:
    """Loops, parallel arcs, isolated vertices; integer weights of both signs, many of them equal."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50)) if n is None else n
    m = int(degree * n * rng.random())
    src, dst = rng.integers(0, n, m), rng.integers(0, n, m)
    weight = rng.integers(-3, 4, m).astype((np.int32, np.int64, np.float32, np.float64)[seed % 4])
    return vg.Graph.from_edges(src, dst, num_vertices=n, directed=directed, weight=weight)


def real(name: str, **options: Any) -> vg.Graph:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return vg.read(path, **options)


EDGELESS = [vg.Graph.from_edges([], [], num_vertices=n, weight=np.empty(0, np.int32)) for n in (0, 1, 5)]


# --- strong components


def strong(graph: vg.Graph) -> NDArray[np.int64]:
    """SciPy's components, each called by its smallest vertex."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    n = graph.num_vertices
    matrix = sp.csr_matrix((np.ones(graph.num_arcs), ends(graph)), shape=(n, n))
    _, labels = connected_components(matrix, connection="strong") if n else (0, np.empty(0, np.int32))
    first = np.full(labels.max(initial=-1) + 1, n)
    np.minimum.at(first, labels, np.arange(n))
    return first[labels]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(12))
def test_strong_components(seed: int, device: str) -> None:
    for k in range(3):
        graph = random_graph(50 * seed + k, directed=seed % 4 != 3, degree=(3.0, 2.0, 6.0)[k])
        found = vg.run(strongly_connected_components, graph, device=device).component
        np.testing.assert_array_equal(found, strong(graph))


def chain_of_circles(count: int, size: int) -> vg.Graph:
    """Circles, each with an arc to the next, and a tail at both ends: what is left by trimming and by one search."""
    n = count * size
    v = np.arange(n)
    around = np.where(v % size == size - 1, v - size + 1, v + 1)
    bridges = np.arange(0, n - size, size)
    src = np.concatenate([v, bridges, [n, n - 1]])
    dst = np.concatenate([around, bridges + size, [0, n + 1]])
    rng = np.random.default_rng(count)
    names = rng.permutation(n + 2)
    return vg.Graph.from_edges(names[src], names[dst], num_vertices=n + 2)


STRONG_SCHEDULES = {
    "default": vg.Schedule(),
    "pull": vg.Schedule().at("collect", direction=vg.PULL).at("spread", direction=vg.PULL),
    "topology": vg.Schedule().at("spread", drive=vg.TOPOLOGY).at("leave", frontier=vg.BITMAP),
    "two phases": vg.Schedule().at("spread", phases=vg.GATHER_APPLY).at("collect", phases=vg.APPLY_SCATTER),
    "edges": vg.Schedule().at("spread", balance=vg.EDGE).at("collect", balance=vg.EDGE),
    "bsp": vg.Schedule().at("spread", sync=vg.BSP),
}


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("schedule", STRONG_SCHEDULES)
def test_strong_components_on_schedules(schedule: str, threads: int) -> None:
    for graph in (chain_of_circles(20, 7), random_graph(5, n=400, degree=4)):
        options = {"schedule": STRONG_SCHEDULES[schedule], "threads": threads}
        found = vg.run(strongly_connected_components, graph, **options).component
        np.testing.assert_array_equal(found, strong(graph))


@pytest.mark.parametrize("graph", EDGELESS, ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_without_edges(graph: vg.Graph, device: str) -> None:
    n = graph.num_vertices
    found = vg.run(strongly_connected_components, graph, device=device).component
    assert found.tolist() == list(range(n))
    assert vg.run(coloring, graph, device=device).color.tolist() == [0] * n
    assert vg.run(hits, graph, device=device).hub.tolist() == [0] * n
    forest = vg.run(minimum_spanning_forest, graph, device=device)
    assert (forest.weight, forest.edges.shape) == (0, (0, 2))


def test_strong_components_of_a_web_graph() -> None:
    graph = real("social/cnr-2000.el.xz")
    found = vg.run(strongly_connected_components, graph).component
    assert np.unique(found).size == 100_977
    np.testing.assert_array_equal(found, strong(graph))


# --- hubs and authorities


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("device", DEVICES)
def test_hits(device: str, normalized: bool) -> None:
    import networkx as nx

    for seed in (1, 2, 3) if device == "cpu" else (1,):
        graph = random_graph(seed, n=40, degree=8)
        reference = nx.MultiDiGraph()
        reference.add_nodes_from(range(graph.num_vertices))
        reference.add_edges_from(zip(*(x.tolist() for x in ends(graph)), strict=True))
        hubs, authorities = nx.hits(reference, tol=1e-12, normalized=normalized)
        options = {"max_rounds": 1000, "tolerance": 1e-13, "normalized": normalized}
        found = vg.run(hits, graph, device=device, **options)
        # A singular vector has either sign, which the sum of normalised values takes away.
        np.testing.assert_allclose(found.hub, np.abs(list(hubs.values())), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.authority, np.abs(list(authorities.values())), rtol=1e-6, atol=1e-9)


def test_hits_on_schedules() -> None:
    graph = random_graph(7, n=90, degree=9)
    expected = vg.run(hits, graph, device="python")
    for options in ({"direction": vg.PUSH}, {"vectorize": True}, {"phases": vg.GATHER_APPLY}):
        schedule = vg.Schedule().at("point", **options).at("weigh", **options)
        found = vg.run(hits, graph, schedule=schedule, threads=2)
        np.testing.assert_allclose(found.hub, expected.hub, rtol=1e-9)
        np.testing.assert_allclose(found.authority, expected.authority, rtol=1e-9)


@pytest.mark.parametrize("wrong", [{"max_rounds": 0}, {"tolerance": -1.0}, {"tolerance": float("nan")}])
def test_parameters_of_hits(wrong: dict[str, Any]) -> None:
    with pytest.raises(vg.ParameterError, match="hits"):
        vg.run(hits, EDGELESS[1], **wrong)


# --- coloring


def check_coloring(graph: vg.Graph, color: NDArray[np.int32]) -> None:
    src, dst = ends(graph)
    apart = src != dst
    assert not (color[src[apart]] == color[dst[apart]]).any()
    degree = np.bincount(np.concatenate([src, dst]), minlength=graph.num_vertices)
    assert color.min(initial=0) >= 0
    assert color.max(initial=0) <= degree.max(initial=0)
    # Greedy: a vertex has neighbors of all colors below its own.
    below = {(int(v), int(color[u])) for v, u in zip(np.append(src, dst), np.append(dst, src), strict=True)}
    assert all((v, c) in below for v in range(graph.num_vertices) for c in range(int(color[v])))


@pytest.mark.parametrize("seed", range(10))
def test_coloring(seed: int) -> None:
    graph = random_graph(seed, directed=seed % 2 == 0, n=60, degree=12)
    found = [vg.run(coloring, graph, device="python").color]
    found += [vg.run(coloring, graph, threads=threads).color for threads in (1, 2, 3)]
    check_coloring(graph, found[0])
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize(
    "options", [{"direction": vg.PULL}, {"balance": vg.EDGE}, {"frontier": vg.BITMAP}], ids=str
)
def test_coloring_on_schedules(options: dict[str, Any]) -> None:
    graph = random_graph(3, n=200, degree=20)
    expected = vg.run(coloring, graph).color
    schedule = vg.Schedule().at("release", **options).at("release_in", **options)
    np.testing.assert_array_equal(vg.run(coloring, graph, schedule=schedule, threads=2).color, expected)


def test_known_chromatic_numbers() -> None:
    square = vg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False)
    clique = vg.Graph.from_edges(*np.triu_indices(7, 1), directed=False)
    star = vg.Graph.from_edges([0] * 9, range(1, 10), directed=False)
    assert [vg.run(coloring, g).color.max() + 1 for g in (square, clique, star)] == [2, 7, 2]


def test_coloring_of_a_social_graph() -> None:
    graph = real("social/email-Enron.el.xz", directed=False)
    check_coloring(graph, vg.run(coloring, graph).color)


# --- spanning forests


def check_forest(graph: vg.Graph, forest: vg.runtime.result.Result) -> None:
    """The edges are the graph's, without a circle, join what is connected, and weigh what Kruskal's do."""
    src, dst = ends(graph)
    weight = graph.edge_properties["weight"]
    lightest: dict[tuple[int, int], Any] = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True):
        pair = (min(u, v), max(u, v))
        lightest[pair] = min(w, lightest.get(pair, w))
    sets = list(range(graph.num_vertices))

    def root(v: int) -> int:
        while sets[v] != v:
            sets[v] = v = sets[sets[v]]
        return v

    expected: float = 0
    for (u, v), w in sorted(lightest.items(), key=lambda item: item[1]):
        if root(u) != root(v):
            sets[root(u)] = root(v)
            expected += w
    assert forest.weight == pytest.approx(expected)
    pairs = [tuple(map(int, pair)) for pair in forest.edges]
    assert pairs == sorted(pairs)
    assert sum(lightest[pair] for pair in pairs) == pytest.approx(expected)
    parts = len({root(v) for v in range(graph.num_vertices)})
    sets[:] = range(graph.num_vertices)
    for u, v in pairs:
        assert root(u) != root(v)
        sets[root(u)] = root(v)
    assert len(pairs) == graph.num_vertices - parts


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(16))
def test_spanning_forests(seed: int, device: str) -> None:
    for directed in (True, False):
        graph = random_graph(seed, directed=directed, degree=(2.0, 8.0)[seed % 2])
        check_forest(graph, vg.run(minimum_spanning_forest, graph, device=device))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_equal_weights_close_no_circle(threads: int) -> None:
    rng = np.random.default_rng(threads)
    src, dst = rng.integers(0, 300, (2, 3000))
    for weight in (np.zeros(3000), np.full(3000, 1e300), rng.integers(0, 2, 3000).astype(np.int64)):
        graph = vg.Graph.from_edges(src, dst, num_vertices=300, directed=False, weight=weight)
        check_forest(graph, vg.run(minimum_spanning_forest, graph, threads=threads))


@pytest.mark.parametrize(("dtype", "kind"), [("int32", "i"), ("uint64", "u"), ("float32", "f")])
def test_the_weight_is_wide_enough(dtype: str, kind: str) -> None:
    most = {"int32": 2**31 - 1, "uint64": 2**62, "float32": 16_777_217.0}[dtype]
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=np.full(3, most, dtype))
    found = vg.run(minimum_spanning_forest, graph).weight
    assert found == 3 * np.full(1, most, dtype).astype(object)[0]
    assert np.asarray(found).dtype.kind == kind


def test_spanning_forests_need_weights() -> None:
    with pytest.raises(vg.ParameterError, match="weight"):
        vg.run(minimum_spanning_forest, vg.Graph.from_edges([0], [1]))
    with pytest.raises(vg.ParameterError, match="NaN"):
        vg.run(minimum_spanning_forest, vg.Graph.from_edges([0], [1], weight=np.array([np.nan])))


@pytest.mark.parametrize(
    "name", ["road/osm-rome.gr.xz", pytest.param("road/world-highways.gr.xz", marks=pytest.mark.slow)]
)
def test_spanning_forests_of_roads(name: str) -> None:
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    graph = real(name)
    forest = vg.run(minimum_spanning_forest, graph)
    n, weight = graph.num_vertices, graph.edge_properties["weight"].astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        src, dst = ends(graph)
        order = np.argsort(
            -weight, kind="stable"
        )  # of parallel arcs SciPy shall see the lightest, which is set last
        low, high = np.minimum(src, dst)[order], np.maximum(src, dst)[order]
        _, last = np.unique((low * n + high)[::-1], return_index=True)
        keep = order.size - 1 - last
        matrix = sp.csr_matrix((weight[order][keep] + 1, (low[keep], high[keep])), shape=(n, n))
        expected = minimum_spanning_tree(matrix)
    parts, _ = connected_components(matrix, directed=False)
    assert len(forest.edges) == n - parts
    assert forest.weight == pytest.approx(expected.sum() - expected.nnz)


def test_strong_components_of_an_undirected_graph_are_its_connected_ones():
    graph = vg.Graph.from_edges([0, 1, 4, 5, 2], [1, 2, 5, 6, 2], num_vertices=8, directed=False)
    result = vg.run(strongly_connected_components, graph)
    assert result.component.tolist() == [0, 0, 0, 3, 4, 4, 4, 7]
    assert not any(r.label == "spread" for r in result.trace)
