"""min and max of vertices in operators: `vg.none` is larger than every vertex, also as a local."""

from __future__ import annotations

import pytest

import vgraph as vg


@vg.operator
def look(v):
    least = vg.none
    for u in v.out_neighbors:
        least = min(least, u)
    v.least = least
    v.back = min(v, vg.none)
    v.most = max(v, vg.none)


@vg.algorithm
def neighbors(graph):
    least = graph.vertex_property(vg.vertex)
    back = graph.vertex_property(vg.vertex)
    most = graph.vertex_property(vg.vertex)
    graph.vertex_apply(look)
    return least, back, most


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("id_bits", [32, 64])
def test_none_is_larger_than_every_vertex(device: str, id_bits: int) -> None:
    graph = vg.Graph.from_edges([0, 0, 1], [2, 1, 0], num_vertices=3, id_bits=id_bits)
    result = vg.run(neighbors, graph, device=device)
    assert result.least.tolist() == [1, 0, -1]
    assert result.back.tolist() == [0, 1, 2]
    assert result.most.tolist() == [-1, -1, -1]
