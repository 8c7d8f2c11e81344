"""Each vertex behind those with which it shares most (Wei, Yu, Lu and Lin 2016, "Speedup graph processing by graph
ordering").

The next vertex is the one with most arcs to the last WINDOW, and most neighbors in common with them. Vertices wait in
lists, one for each score, so that a step up or down is a few writes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.sequential import both_ways, sequentially

WINDOW: Final = 5
"""As in the paper."""
HUB: Final = 4
"""Neighbors of more than so many times the average number of arcs are not looked through for common ones: the authors'
limit, the square root of the number of vertices, costs the square of it for each of them."""


@vg.algorithm
def greedy(
    graph,
    offsets: vg.array(vg.int64),
    columns: vg.array(vg.int32),
    window: vg.int64,
    hub: vg.int64,
    size: vg.int64,
):
    """The order; `first[s]` begins the list of those that wait with score s, numbers from 1 on, 0 for none."""
    placed = graph.vertex_property(vg.int64)
    score = graph.vertex_property(vg.int64)  # -1: placed
    first = graph.vertex_property(vg.int64)
    above = graph.vertex_property(vg.int64)
    below = graph.vertex_property(vg.int64)
    for i in range(size):
        v = size - i
        below[v] = first[0]
        above[first[0]] = v
        first[0] = v
    best = 0
    for step in range(size):
        while first[best] == 0:
            best -= 1
        chosen = first[best]
        first[best] = below[chosen]
        above[below[chosen]] = 0
        score[chosen] = -1
        placed[step] = chosen - 1
        for side in range(2):
            if side == 0 or step >= window:
                v = placed[step] if side == 0 else placed[step - window]
                change = 1 - 2 * side
                for i in range(offsets[v], offsets[v + 1]):
                    w = vg.int64(columns[i])
                    begin = offsets[w]
                    end = offsets[w + 1] if offsets[w + 1] - begin <= hub else begin
                    for k in range(begin - 1, end):
                        u = 1 + (w if k < begin else vg.int64(columns[k]))
                        known = score[u]
                        old = min(known, size)
                        if known >= 0:
                            if above[u] == 0:
                                first[old] = below[u]
                            else:
                                below[above[u]] = below[u]
                            above[below[u]] = above[u]
                            exact = known + change
                            new = min(exact, size)
                            score[u] = exact
                            above[u] = 0
                            below[u] = first[new]
                            above[first[new]] = u
                            first[new] = u
                            best = max(best, new)
    return placed


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, sequentially. Its time grows with the sum of squared degrees, those of hubs left out."""
    n, arcs = graph.num_vertices, both_ways(graph)
    hub = HUB * arcs["columns"].size // max(n, 1)
    found: NDArray[np.int64] = sequentially(greedy, n + 1, window=WINDOW, hub=hub, size=n, **arcs).placed[:n]
    return found
