"""Scratch memory on a GPU: what a visit has written is gone when it ends, however often it was zero in between."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.operator
def flip(v, graph):
    """Turn every neighbor's flag often enough that there are more notes than vertices, and count those left on."""
    on = 0
    for u in v.out_neighbors:
        if u.flag:
            on += 1
    for _ in range(graph.times):
        for u in v.out_neighbors:
            u.flag = not u.flag
            u.weight = 0
    for u in v.out_neighbors:
        if u.flag:
            on += 1
    v.on = on


@vg.algorithm
def flips(graph, times=1):
    """How many flags are on before, and after an odd number of turns."""
    on = graph.vertex_property(vg.int64)
    flag = graph.scratch(vg.bool_)
    weight = graph.scratch(vg.float64)
    graph.times = times
    graph.vertex_apply(flip)
    return on


def test_zeros_do_not_fill_the_notes(gpu: Any) -> None:
    n = 40
    s, t = np.divmod(np.arange(n * n), n)
    graph = vg.Graph.from_edges(s, t, num_vertices=n)
    for times in (1, 3, 9):
        found = vg.run(flips, graph, times=times, device="cuda").on
        assert found.tolist() == [n] * n
        assert vg.run(flips, graph, times=times).on.tolist() == [n] * n
