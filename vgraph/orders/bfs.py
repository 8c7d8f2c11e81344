"""As searches meet them: in each component from a vertex of least degree, arcs taken both ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.sequential import both_ways, sequentially


@vg.algorithm
def search(graph, offsets: vg.array(vg.int64), columns: vg.array(vg.int32), starts: vg.array(vg.int64)):
    """All vertices in the order in which searches meet them; one begins at each of `starts` that no other has met."""
    met = graph.vertex_property(vg.int64)
    seen = graph.vertex_property(vg.bool_)
    first = 0
    last = 0
    for s in starts:
        if not seen[s]:
            seen[s] = True
            met[last] = s
            last += 1
        while first < last:
            v = met[first]
            first += 1
            for i in range(offsets[v], offsets[v + 1]):
                u = columns[i]
                if not seen[u]:
                    seen[u] = True
                    met[last] = vg.int64(u)
                    last += 1
    return met


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, sequentially; O(n log n + arcs)."""
    arcs = both_ways(graph)
    starts = np.argsort(np.diff(arcs["offsets"]), kind="stable")
    found: NDArray[np.int64] = sequentially(search, graph.num_vertices, starts=starts, **arcs).met
    return found
