"""Real graphs: figures that are known from elsewhere, and SciPy's answers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vgraph as vg

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real graphs (../shared/data) are not there")
slow = pytest.mark.slow


@lru_cache(maxsize=2)
def graph_of(name: str, directed: bool | None = None) -> vg.Graph:
    options: dict[str, Any] = {} if directed is None else {"directed": directed}
    return vg.read(DATA / name, **options)


def arcs_of(graph: vg.Graph) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Ends and properties of all arcs, both ways where the graph is undirected."""
    sources, targets, rest = graph.edges()
    if graph.directed:
        return sources, targets, rest
    both = {name: np.concatenate([x, x]) for name, x in rest.items()}
    return np.concatenate([sources, targets]), np.concatenate([targets, sources]), both


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("name", "deepest", "total"),
    [
        ("road/USA-road-NY.pace.gr.xz", 619, 90_771_609),
        pytest.param("road/USA-road-FLA.pace.gr.xz", 1_920, 1_206_725_808, marks=slow),
    ],
)
def test_bfs_checksums_of_road_networks(name: str, deepest: int, total: int, threads: int) -> None:
    graph = graph_of(name)
    result = vg.run(vg.algorithms.bfs, graph, source=0, threads=threads)
    level, parent = result.level, result.parent
    assert level.min() == 0
    assert (int(level.max()), int(level.sum(dtype=np.int64))) == (deepest, total)
    others = np.flatnonzero(np.arange(graph.num_vertices))
    assert parent[0] == 0
    assert (level[parent[others]] + 1 == level[others]).all()
    sources, targets, _ = arcs_of(graph)
    keys = np.sort(sources.astype(np.int64) * graph.num_vertices + targets)
    wanted = parent[others].astype(np.int64) * graph.num_vertices + others
    assert (keys[np.searchsorted(keys, wanted).clip(max=keys.size - 1)] == wanted).all()


def dijkstra(graph: vg.Graph, source: int) -> np.ndarray:
    """SciPy's distances; exact, as all sums are whole numbers below 2**53. Unreached: int64's largest value."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

    sources, targets, rest = arcs_of(graph)
    weights = rest["weight"].astype(np.float64)
    assert weights.min() >= 0
    order = np.lexsort((weights, targets, sources))
    s, t, w = sources[order], targets[order], weights[order]
    first = np.r_[True, (s[1:] != s[:-1]) | (t[1:] != t[:-1])]
    # SciPy drops explicit zeros: a weight of 0 becomes one too small to change any sum once it is floored.
    w = np.where(w == 0, 2.0**-20, w)
    n = graph.num_vertices
    found = scipy_dijkstra(csr_array((w[first], (s[first], t[first])), shape=(n, n)), indices=source)
    reached = np.isfinite(found)
    result = np.full(n, np.iinfo(np.int64).max)
    result[reached] = np.floor(found[reached]).astype(np.int64)
    return result


@pytest.mark.parametrize(
    "schedule",
    [
        vg.Schedule(),
        pytest.param(vg.Schedule().at("relax", sync=vg.BSP, frontier=vg.BITMAP), marks=slow),
        pytest.param(vg.Schedule().at("relax", direction=vg.PULL, drive=vg.TOPOLOGY), marks=slow),
    ],
    ids=["default", "bsp", "pull"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_shortest_paths_on_the_highways_of_the_world(threads: int, schedule: vg.Schedule) -> None:
    graph = graph_of("road/world-highways.gr.xz")
    sources, targets, rest = graph.edges()
    wide = vg.Graph.from_edges(
        sources, targets, num_vertices=graph.num_vertices, weight=rest["weight"].astype(np.int64)
    )
    result = vg.run(vg.algorithms.sssp, wide, source=0, threads=threads, schedule=schedule)
    assert result.dist.dtype == np.int64
    np.testing.assert_array_equal(result.dist, dijkstra(wide, 0))


def test_the_largest_distance_on_the_highways_of_the_world_needs_more_than_float32() -> None:
    graph = graph_of("road/world-highways.gr.xz")
    component = vg.run(vg.algorithms.connected_components, graph).component
    giant = np.bincount(component).argmax()
    dist = vg.run(vg.algorithms.sssp, graph, source=int(giant)).dist
    reached = dist[component == giant]
    assert reached.max() > 2**24
    assert reached.max() < 20_038_000 * 2


@pytest.mark.parametrize("name", ["connected_components", pytest.param("label_components", marks=slow)])
@pytest.mark.parametrize(
    ("file", "directed", "count"),
    [
        ("road/world-highways.gr.xz", None, 1_198),
        # 48,490 among the ids that arcs mention; the file declares three more vertices, without arcs, at the end.
        ("social/dblp-2010.el.xz", None, 48_490 + 3),
        pytest.param("social/dblp-2010.el.xz", False, 48_490 + 3, marks=slow),
        pytest.param("road/USA-road-NY.pace.gr.xz", None, 1, marks=slow),
        pytest.param("social/cnr-2000.el.xz", None, None, marks=slow),
        pytest.param("social/soc-Slashdot0902.txt.gz", None, None, marks=slow),
    ],
)
def test_components(file: str, directed: bool | None, count: int | None, name: str) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = graph_of(file, directed)
    component = vg.run(getattr(vg.algorithms, name), graph).component
    sources, targets, _ = graph.edges()
    n = graph.num_vertices
    matrix = coo_array((np.ones(sources.size, np.int8), (sources, targets)), shape=(n, n))
    found, labels = connected_components(matrix.tocsr(), directed=False)
    assert count is None or found == count
    smallest = np.full(found, n)
    np.minimum.at(smallest, labels, np.arange(n))
    np.testing.assert_array_equal(component, smallest[labels])


@pytest.mark.parametrize(
    "file", ["social/facebook-combined.el.xz", pytest.param("social/cnr-2000.el.xz", marks=slow)]
)
def test_pagerank_on_social_graphs(file: str) -> None:
    from scipy.sparse import coo_array

    graph = graph_of(file)
    rank = vg.run(vg.algorithms.pagerank, graph, tolerance=0.0, max_rounds=30).rank
    sources, targets, _ = arcs_of(graph)
    n = graph.num_vertices
    into = coo_array((np.ones(sources.size), (targets, sources)), shape=(n, n)).tocsr()
    degree = np.bincount(sources, minlength=n)
    expected = np.full(n, 1 / n)
    for _ in range(30):
        part = np.divide(expected, degree, out=np.zeros(n), where=degree > 0)
        expected = (0.15 + 0.85 * expected[degree == 0].sum()) / n + 0.85 * (into @ part)
    np.testing.assert_allclose(rank, expected, rtol=1e-9)
    assert abs(rank.sum() - 1) < 1e-9
