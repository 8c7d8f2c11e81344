"""Overlap coefficients of pairs of vertices (Szymkiewicz 1934; Simpson 1943)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired

compare = comparing("overlap")


@vg.algorithm
def overlap(graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """The neighbors that two vertices have in common, as a fraction of those of the vertex that has fewer.

    Parameters, result, what counts and what is refused as of `jaccard`. O(degrees of the pairs), and V + E.
    """
    score = graph.vertex_property(vg.float64)
    graph.vertex_apply(compare)
    return score


overlap.prepares(paired)
