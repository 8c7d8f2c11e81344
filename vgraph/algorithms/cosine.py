"""Cosine similarity of pairs of vertices (Salton and McGill 1983)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired

compare = comparing("cosine")


@vg.algorithm
def cosine(graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """The cosine of the angle between two rows of the adjacency matrix: common neighbors / sqrt(product of degrees).

    Parameters, result, what counts and what is refused as of `jaccard`. O(degrees of the pairs), and V + E.
    """
    score = graph.vertex_property(vg.float64)
    graph.vertex_apply(compare)
    return score


cosine.prepares(paired)
