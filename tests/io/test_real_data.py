"""The graphs of the shared data folder have the vertices and edges that its README lists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vgraph.graph import Graph
from vgraph.io import read

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LDBC = DATA / "conformance" / "ldbc_graphalytics"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")

COUNTS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "road/osm-amsterdam.gr.xz": (68_213, 153_424, {}),
    "road/osm-rome.gr.xz": (234_496, 516_386, {}),
    "road/world-highways.gr.xz": (560_282, 1_644_468, {}),
    "road/USA-road-NY.pace.gr.xz": (264_346, 365_050, {}),
    "road/USA-road-FLA.pace.gr.xz": (1_070_376, 1_343_951, {}),
    "social/cnr-2000.el.xz": (325_557, 3_216_152, {}),
    "social/ego-Twitter-undirected.el.xz": (81_306, 1_342_310, {"directed": False}),
    "social/soc-Slashdot0902.txt.gz": (82_168, 948_464, {}),
    "social/dblp-2010.el.xz": (326_186, 1_615_400, {}),
    "social/email-Enron.el.xz": (36_692, 183_831, {"directed": False}),
    "social/facebook-combined.el.xz": (4_039, 88_234, {"directed": False}),
    "social/wiki-Vote.txt.xz": (8_298, 103_689, {}),
    "social/astro-ph.wel.xz": (16_706, 121_251, {"directed": False}),
    "mesh/mdual.graph.xz": (258_569, 513_132, {}),
    "mesh/copter2.graph.xz": (55_476, 352_238, {}),
    "mesh/wing.graph.xz": (62_032, 121_544, {}),
    "mesh/4elt.graph.xz": (15_606, 45_878, {}),
    "mesh/airfoil1.graph.xz": (4_253, 12_289, {}),
    "mesh/delaunay_n15.graph.xz": (32_768, 98_274, {}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    vertices, edges, options = COUNTS[name]
    graph = read(DATA / name, **options)
    assert (graph.num_vertices, graph.num_edges) == (vertices, edges)
    undirected = "pace" in name or "mesh" in name or options.get("directed") is False
    assert graph.directed == (not undirected)


@pytest.mark.parametrize("path", sorted((DATA / "small" / "newman").glob("*el")), ids=lambda path: path.name)
def test_newman(path: Path) -> None:
    comment = path.read_text().splitlines()[0]
    declared = re.search(r"(\d+) vertices, (\d+) edges, (un)?directed", comment)
    assert declared
    graph = read(path, directed=declared[3] is None)
    assert (graph.num_vertices, graph.num_edges) == (int(declared[1]), int(declared[2]))


@pytest.mark.parametrize(
    "path", sorted((DATA / "small" / "suitesparse").glob("*")), ids=lambda path: path.name
)
def test_matrix_market_equals_scipy(path: Path) -> None:
    import lzma

    from scipy.io import mmread

    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        expected = mmread(file, spmatrix=False).tocsr()
    expected.sort_indices()
    graph = read(path)
    np.testing.assert_array_equal(graph.out.row_offsets, expected.indptr)
    np.testing.assert_array_equal(graph.out.column_indices, expected.indices)
    if graph.edge_properties:
        np.testing.assert_array_equal(graph.edge_properties["weight"], expected.data)


def test_self_loops_of_slashdot() -> None:
    with_loops = read(DATA / "social/soc-Slashdot0902.txt.gz")
    without = read(DATA / "social/soc-Slashdot0902.txt.gz", self_loops=False)
    assert with_loops.num_edges - without.num_edges == 78_303


def test_coordinates_and_weights_of_amsterdam() -> None:
    graph = read(DATA / "road/osm-amsterdam.gr.xz")
    x, y = graph.vertex_properties["x"].astype(float), graph.vertex_properties["y"].astype(float)
    assert (x[0], y[0]) == (-1404, -2919)
    sources, targets, properties = graph.edges()
    distance = np.hypot(x[sources] - x[targets], y[sources] - y[targets])
    np.testing.assert_array_equal(properties["weight"], np.maximum(1, np.round(distance)))


def settings(name: str) -> dict[str, str]:
    lines = (LDBC / f"{name}.properties").read_text().splitlines()
    pairs = [line.split("=") for line in lines if "=" in line and not line.startswith("#")]
    return {key.strip().removeprefix(f"graph.{name}."): value.strip() for key, value in pairs}


@pytest.mark.parametrize("name", sorted(path.stem for path in LDBC.glob("*.properties")))
def test_graphalytics(name: str) -> None:
    meta = settings(name)
    for suffix in (".properties", ".v", ".e"):
        graph = read(LDBC / f"{name}{suffix}")
        assert graph.num_vertices == int(meta["meta.vertices"])
        assert graph.num_edges == int(meta["meta.edges"])
        assert graph.directed == (meta["directed"] == "true")
        assert graph.vertex_properties["id"].tolist() == [
            int(v) for v in (LDBC / f"{name}.v").read_text().split()
        ]
    assert list(graph.edge_properties) == ([] if "edge-properties.names" not in meta else ["weight"])


def arcs_by_id(graph: Graph) -> set[tuple[int, int]]:
    ids = graph.vertex_properties["id"]
    sources, targets, _ = graph.edges()
    pairs = zip(ids[sources].tolist(), ids[targets].tolist(), strict=True)
    return set(pairs) if graph.directed else {(min(pair), max(pair)) for pair in pairs}


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("algorithm", ["bfs", "cdlp", "lcc", "pr", "wcc"])
def test_validation_graphs_are_the_later_ones(kind: str, algorithm: str) -> None:
    lists = LDBC / "validation-graphs" / algorithm / f"{kind[:-5]}-input"
    graph = read(lists, format="adjacency", directed=kind == "directed")
    later = read(LDBC / f"test-{algorithm}-{kind}.v")
    assert graph.num_vertices == later.num_vertices
    assert arcs_by_id(graph) == arcs_by_id(later)
