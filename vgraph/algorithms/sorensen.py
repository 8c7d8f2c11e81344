"""Sorensen coefficients of pairs of vertices (Dice 1945; Sorensen 1948)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired

compare = comparing("sorensen")


@vg.algorithm
def sorensen(graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """The neighbors that two vertices have in common, as a fraction of the mean of their numbers of neighbors.

    Parameters, result, what counts and what is refused as of `jaccard`. O(degrees of the pairs), and V + E.
    """
    score = graph.vertex_property(vg.float64)
    graph.vertex_apply(compare)
    return score


sorensen.prepares(paired)
