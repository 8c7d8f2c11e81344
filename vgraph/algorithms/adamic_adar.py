"""The index of Adamic and Adar of pairs of vertices (Adamic and Adar 2003)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.extend import with_pairs


@vg.operator
def rarity(v):
    """The fewer neighbors v has, the more it says to share it; a self-loop counts twice."""
    degree = v.out_degree
    if v in v.out_neighbors:
        degree += 1
    if degree > 1:
        v.worth = 1 / vg.log(degree)


@vg.operator
def compare(v):
    """v stands for a pair."""
    if v.left >= 0:
        a = vg.vertex(v.left)
        b = vg.vertex(v.right)
        for w in a.out_neighbors & b.out_neighbors:
            if w != a and w != b:
                v.score += w.worth


@vg.algorithm
def adamic_adar(graph, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """The neighbors that two vertices have in common, each counting 1 / log(its degree).

    `left`, `right`: the vertices of each pair, arrays of one length. Result: `score`, float64, a number per pair. As
    NetworkX's adamic_adar_index has it, but a vertex paired with itself leaves out neighbors of degree 1, for which
    NetworkX raises an error. Parallel edges count as one; a self-loop adds 2 to the degree.
    Raises ParameterError for directed graphs and for what is no vertex. O(V + E), and the degrees of the pairs.
    """
    score = graph.vertex_property(vg.float64)
    worth = graph.vertex_property(vg.float64)
    graph.vertex_apply(rarity)
    graph.vertex_apply(compare)
    return score


@adamic_adar.requires
def undirected(graph: Graph) -> None:
    """Raise ParameterError for a directed graph."""
    if graph.directed:
        raise ParameterError("adamic_adar: of undirected graphs; build the graph with directed=False")


@adamic_adar.prepares
def paired(graph: Graph, left: object, right: object) -> vg.Prepared:
    """A vertex for each pair."""
    return with_pairs(graph, left, right)
