"""Jaccard coefficients of pairs of vertices (Jaccard 1901; to predict links, Liben-Nowell and Kleinberg 2003)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.extend import with_pairs


@vg.operator
def compare(v):
    """v stands for a pair: of the vertices that are neighbors of one of them, the fraction that are of both."""
    if v.left >= 0:
        a = vg.vertex(v.left)
        b = vg.vertex(v.right)
        shared = 0
        both = 0
        for w in a.out_neighbors & b.out_neighbors:
            both += 1
            if w != a and w != b:
                shared += 1
        either = a.out_degree + b.out_degree - both
        if either > 0:
            v.score = shared / either


@vg.algorithm
def jaccard(graph, left: vg.vertex_property(vg.int64), right: vg.vertex_property(vg.int64)):
    """How alike the neighborhoods of two vertices are: neighbors in common, as a fraction of all their neighbors.

    `left`, `right`: the vertices of each pair, arrays of one length. Result: `score`, float64, a number per pair; 0
    without neighbors. As NetworkX's jaccard_coefficient has it: parallel edges count as one, and a self-loop makes a
    vertex a neighbor of its own, but the vertices of a pair are not in common. Raises ParameterError for directed
    graphs and for what is no vertex. O(degrees of the pairs), and V + E for the vertices that stand for them.
    """
    score = graph.vertex_property(vg.float64)
    graph.vertex_apply(compare)
    return score


@jaccard.requires
def undirected(graph: Graph) -> None:
    """Raise ParameterError for a directed graph."""
    if graph.directed:
        raise ParameterError("jaccard: of undirected graphs; build the graph with directed=False")


@jaccard.prepares
def paired(graph: Graph, left: object, right: object) -> vg.Prepared:
    """A vertex for each pair."""
    return with_pairs(graph, left, right)
