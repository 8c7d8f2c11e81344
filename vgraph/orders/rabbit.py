"""Communities of communities, each in one piece (Arai et al. 2016, "Rabbit order: just-in-time parallel reordering").

From the vertex of fewest arcs to that of most, each joins the community with which modularity rises most, with all
that have joined it. Who joined whom is a forest, and the order is that in which a walk in depth meets it. Theirs is
parallel; this one goes over the vertices one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.sequential import both_ways, sequentially


@vg.algorithm
def aggregate(
    graph, offsets: vg.array(vg.int64), columns: vg.array(vg.int32), turns: vg.array(vg.int64), arcs: vg.int64
):
    """The order. A community is a list of its members, from its leader on: who joins brings a list to its end."""
    placed = graph.vertex_property(vg.int64)
    leader = graph.vertex_property(vg.int64)
    weight = graph.vertex_property(vg.int64)  # arcs of a community's members
    shared = graph.vertex_property(vg.int64)  # arcs to a community from the one whose turn it is
    met = graph.vertex_property(vg.int64)
    after = graph.vertex_property(vg.int64)
    last = graph.vertex_property(vg.int64)
    for v in turns:
        leader[v] = v
        last[v] = v
        after[v] = -1
        weight[v] = offsets[v + 1] - offsets[v]
    for v in turns:
        count = 0
        member = v
        while member >= 0:
            for i in range(offsets[member], offsets[member + 1]):
                root = vg.int64(columns[i])
                while leader[root] != root:
                    leader[root] = leader[leader[root]]
                    root = leader[root]
                if root != v:
                    if shared[root] == 0:
                        met[count] = root
                        count += 1
                    shared[root] += 1
            member = after[member]
        best = v
        gain = 0.0
        for i in range(count):
            root = met[i]
            more = vg.float64(shared[root]) - vg.float64(weight[v]) * vg.float64(weight[root]) / vg.float64(
                arcs
            )
            shared[root] = 0
            if more > gain:
                gain = more
                best = root
        if best != v:
            leader[v] = best
            weight[best] += weight[v]
            after[last[best]] = v
            last[best] = last[v]
    at = 0
    for v in range(len(turns)):
        if leader[v] == v:
            member = v
            while member >= 0:
                placed[at] = member
                at += 1
                member = after[member]
    return placed


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, sequentially; O(depth of the forest * arcs)."""
    arcs = both_ways(graph)
    turns = np.argsort(np.diff(arcs["offsets"]), kind="stable")
    found: NDArray[np.int64] = sequentially(
        aggregate, graph.num_vertices, turns=turns, arcs=max(1, arcs["columns"].size), **arcs
    ).placed
    return found
