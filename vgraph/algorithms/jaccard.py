"""Jaccard coefficients of pairs of vertices (Jaccard 1901; to predict links, Liben-Nowell and Kleinberg 2003)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired

compare = comparing("jaccard")


@vg.algorithm
def jaccard(graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """How alike the neighborhoods of two vertices are: neighbors in common, as a fraction of all their neighbors.

    `left`, `right`: the vertices of each pair, arrays of one length. Result: `score`, float64, a number per pair; 0
    without neighbors. As NetworkX's jaccard_coefficient has it: parallel edges count as one, and a self-loop makes a
    vertex a neighbor of its own, but the vertices of a pair are not in common. Raises ParameterError for directed
    graphs and for what is no vertex. O(degrees of the pairs), and V + E for the vertices that stand for them.
    """
    score = graph.vertex_property(vg.float64)
    graph.vertex_apply(compare)
    return score


jaccard.prepares(paired)
