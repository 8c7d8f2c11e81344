"""The index of Adamic and Adar of pairs of vertices (Adamic and Adar 2003)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired, weighing

rarity = weighing("adamic_adar")
compare = comparing("adamic_adar")


@vg.algorithm
def adamic_adar(
    graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)
):
    """The neighbors that two vertices have in common, each counting 1 / log(its degree).

    `left`, `right`: the vertices of each pair, arrays of one length. Result: `score`, float64, a number per pair. As
    NetworkX's adamic_adar_index has it, but a vertex paired with itself leaves out neighbors of degree 1, for which
    NetworkX raises an error. Parallel edges count as one; a self-loop adds 2 to the degree.
    Raises ParameterError for directed graphs and for what is no vertex. O(V + E), and the degrees of the pairs.
    """
    score, worth = graph.vertex_property(vg.float64)
    graph.vertex_apply(rarity)
    graph.vertex_apply(compare)
    return score


adamic_adar.prepares(paired)
