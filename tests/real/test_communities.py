"""Communities of real graphs by the methods of Louvain and Leiden beside those of igraph and NetworkX."""

from __future__ import annotations

import numpy as np
import pytest
from test_real_graphs import DATA, graph_of

import vgraph as vg

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real graphs (../shared/data) are not there")
slow = pytest.mark.slow


@pytest.mark.parametrize("algorithm", [vg.algorithms.louvain, vg.algorithms.leiden], ids=lambda a: a.name)
@pytest.mark.parametrize(
    ("file", "others"),
    [
        ("social/facebook-combined.el.xz", 0.835),
        ("social/astro-ph.wel.xz", 0.763),
        ("social/email-Enron.el.xz", 0.612),
        ("road/osm-rome.gr.xz", 0.989),
        pytest.param("social/dblp-2010.el.xz", 0.877, marks=slow),
        pytest.param("social/ego-Twitter-undirected.el.xz", 0.807, marks=slow),
    ],
)
def test_modularity_is_that_of_others(file: str, others: float, algorithm: vg.AlgorithmDef) -> None:
    """`others`: what igraph's community_multilevel 1.0.0 and NetworkX's louvain_communities 3.6 reach, give or take."""
    graph = graph_of(file, False)
    found = vg.run(algorithm, graph, threads=2)
    vg.verify(found, graph)
    assert found.modularity >= 0.985 * others
    if np.issubdtype(graph.edge_properties.get("weight", np.zeros(0, int)).dtype, np.integer):
        again = vg.run(algorithm, graph, threads=1)
        assert (again.community == found.community).all()
