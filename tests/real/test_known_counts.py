"""Figures of the data folder's README: triangles, components, levels, strongly connected components."""

from __future__ import annotations

import lzma

import numpy as np
import pytest
from test_real_graphs import DATA, graph_of

import vgraph as vg

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real graphs (../shared/data) are not there")
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("file", "triangles"),
    [
        ("facebook-combined.el.xz", 1_612_010),
        ("email-Enron.el.xz", 727_044),
        ("wiki-Vote.txt.xz", 608_389),
        ("astro-ph.wel.xz", 756_019),
        pytest.param("soc-Slashdot0902.txt.gz", 602_592, marks=slow),
        pytest.param("dblp-2010.el.xz", 1_676_652, marks=slow),
        pytest.param("ego-Twitter-undirected.el.xz", 13_082_506, marks=slow),
    ],
)
@pytest.mark.parametrize("directed", [False, True])
def test_triangles(file: str, triangles: int, directed: bool) -> None:
    """The direction of arcs does not matter, nor do the 78,303 self-loops of Slashdot."""
    found = vg.run(vg.algorithms.triangle_count, graph_of(f"social/{file}", directed))
    assert found.total == triangles
    assert int(found.triangles.sum()) == 3 * triangles


def test_strongly_connected_components_of_a_web_graph() -> None:
    """The same sets as in the reference file; 100,977 of them."""
    graph = graph_of("social/cnr-2000.el.xz")
    component = vg.run(vg.algorithms.strongly_connected_components, graph).component
    with lzma.open(DATA / "social" / "cnr-2000.scc.txt.xz", "rt") as file:
        vertex, reference = np.array(file.read().split(), np.int64).reshape(-1, 2).T
    assert np.array_equal(vertex, np.arange(graph.num_vertices))
    assert reference.size == component.size
    pairs = np.unique(np.stack((component.astype(np.int64), reference)), axis=1).shape[1]
    assert np.unique(component).size == np.unique(reference).size == pairs == 100_977
