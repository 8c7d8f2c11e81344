"""Names by which programs outside know the library: algorithms, their results and parameters."""

from __future__ import annotations

import pytest

import vgraph as vg

NAMES = {
    "triangle_count": (("total", "triangles"), ()),
    "local_clustering": (("lcc",), ()),
    "label_propagation": (("label",), ("max_rounds",)),
    "betweenness": (("centrality",), ("sources",)),
    "k_core": (("core",), ()),
    "strongly_connected_components": (("component",), ()),
    "minimum_spanning_forest": (("weight", "edges"), ()),
    "coloring": (("color",), ()),
    "maximal_independent_set": (("member",), ()),
}


@pytest.mark.parametrize("name", NAMES)
def test_results_and_parameters(name: str) -> None:
    algorithm = getattr(vg.algorithms, name)
    results, parameters = NAMES[name]
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False, weight=[1, 2, 3])
    assert set(results) <= set(vg.run(algorithm, graph).names)
    assert set(parameters) <= set(algorithm.signature.parameters)
    vg.run(algorithm, graph, **{p: {"sources": [0], "max_rounds": 2}[p] for p in parameters})
