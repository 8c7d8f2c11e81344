"""A small program, run as a new process would run it."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph import cache
from vgraph.runtime.devices import compiled
from vgraph.runtime.devices.threads import native_runtime


@vg.operator
def double(v):
    v.x = 2 * v.number


@vg.algorithm
def doubles(graph, number: vg.vertex_property(vg.int64)):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(double)
    return x


GRAPH = vg.Graph.from_edges([0, 1], [1, 2], num_vertices=5)


def run_as_a_new_process() -> bool:
    """Run with nothing in memory; whether the code came from the cache. The result is checked."""
    cache._cache_at.cache_clear()
    compiled._loaded.clear()
    compiled.code_stamp.cache_clear()
    assert "vg_barrier" in native_runtime.__wrapped__().symbols  # it is read as well, and not used
    result = vg.run(doubles, GRAPH, number=np.arange(5), threads=1)
    assert result.x.tolist() == [0, 2, 4, 6, 8]
    return result.stats.cached
