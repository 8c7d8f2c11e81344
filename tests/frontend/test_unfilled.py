"""Properties that are declared in a branch or loop: where it is not taken, they are zero."""

from __future__ import annotations

from typing import Any

import pytest

import vgraph as vg
from vgraph.algorithms import bfs

GRAPH = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2])


@vg.operator
def carry(src, edge, dst):
    dst.height += edge.toll


@vg.algorithm
def declared(graph, times=0):
    height = graph.vertex_property(vg.int32, fill=7)
    for _ in range(times):
        toll = graph.edge_property(vg.int32, fill=3)
        found = bfs(graph, 0)
        sets = graph.disjoint_sets()
        double = height * 2
    graph.edge_apply(carry)
    first = found.level[0]
    return height, toll, found.level, found.parent, sets, double, first


@pytest.mark.parametrize("how", [{}, {"threads": 3}, {"checked": True}])
def test_what_no_way_has_declared_is_zero(how: dict[str, Any]) -> None:
    """Also behind a run whose memory the next one gets."""
    assert vg.run(declared, GRAPH, times=1, **how).height.tolist() == [7, 10, 13, 10]
    found = vg.run(declared, GRAPH, times=0, **how)
    assert found.height.tolist() == [7] * 4
    assert found.toll.tolist() == found.level.tolist() == found.double.tolist() == [0] * 4
    assert found.parent.tolist() == [-1] * 4
    assert found.sets.tolist() == [0, 1, 2, 3]
    assert found.first == 0
