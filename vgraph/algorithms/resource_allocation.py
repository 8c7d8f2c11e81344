"""The resource allocation index of pairs of vertices (Zhou, Lu and Zhang 2009)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import comparing, paired, weighing

rarity = weighing("resource_allocation")
compare = comparing("resource_allocation")


@vg.algorithm
def resource_allocation(
    graph: vg.undirected, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)
):
    """The neighbors that two vertices have in common, each counting 1 / its degree.

    Parameters, result, what counts and what is refused as of `adamic_adar`, and NetworkX's resource_allocation_index.
    O(V + E), and the degrees of the pairs.
    """
    score, worth = graph.vertex_property(vg.float64)
    graph.vertex_apply(rarity)
    graph.vertex_apply(compare)
    return score


resource_allocation.prepares(paired)
