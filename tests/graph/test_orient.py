"""The orientation by degree that counts of triangles and cliques run on."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph import orient


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("edges", [0, 1, 30, 300])
def test_each_edge_once_from_fewer_neighbors_to_more(
    monkeypatch: pytest.MonkeyPatch, edges: int, chunk: int
) -> None:
    """Whatever the size of the parts in which arcs are looked at; self-loops are left out."""
    monkeypatch.setattr(orient, "CHUNK", chunk)
    ends = np.random.default_rng(edges).integers(0, 25, (2, edges))
    graph = vg.Graph.from_edges(*ends, num_vertices=26, directed=False, multi_edges=False)
    found, rank = orient.oriented(graph)[:2]
    assert rank is not None
    degrees = graph.out_degree[np.argsort(rank)]
    assert (np.diff(degrees.astype(int)) <= 0).all()
    wanted = {(max(rank[s], rank[t]), min(rank[s], rank[t])) for s, t in ends.T if s != t}
    sources, targets, _ = found.edges()
    assert sorted(zip(sources.tolist(), targets.tolist(), strict=True)) == sorted(wanted)
