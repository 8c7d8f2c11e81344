"""How alike the neighborhoods of two vertices are: one text for all measures, each with its own branch of it."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.extend import with_pairs
from vgraph.language.decorators import AlgorithmDef, OperatorDef

SUMS = ("adamic_adar", "resource_allocation")
"""Measures that are sums of what the common neighbors are worth; the others are the common part of something."""


@vg.function
def degree_of(v):
    """The number of v's neighbors; a self-loop counts twice."""
    return v.out_degree + 1 if v in v.out_neighbors else v.out_degree


def comparing(measure: str) -> OperatorDef:
    """The operator that compares the two vertices of a pair."""
    summed = measure in SUMS

    @vg.operator
    def compare(v):
        """v stands for a pair; its two vertices are not among those that they have in common."""
        if v.left >= 0:
            a = vg.vertex(v.left)
            b = vg.vertex(v.right)
            shared = 0
            both = 0
            for w in a.out_neighbors & b.out_neighbors:
                both += 1
                if w != a and w != b:
                    if summed:
                        v.score += w.worth
                    else:
                        shared += 1
            if not summed and shared > 0:
                if measure == "jaccard":
                    v.score = shared / (a.out_degree + b.out_degree - both)
                if measure == "overlap":
                    v.score = shared / min(a.out_degree, b.out_degree)
                if measure == "sorensen":
                    v.score = 2 * shared / (a.out_degree + b.out_degree)
                if measure == "cosine":
                    v.score = shared / vg.sqrt(a.out_degree * b.out_degree)

    return compare


def of_pairs(algorithm: AlgorithmDef) -> None:
    """A vertex for each pair of `left` and `right`; directed graphs are refused."""

    @algorithm.requires
    def undirected(graph: Graph) -> None:
        if graph.directed:
            raise ParameterError(
                f"{algorithm.name}: of undirected graphs; build the graph with directed=False"
            )

    @algorithm.prepares
    def paired(graph: Graph, left: object, right: object) -> vg.Prepared:
        return with_pairs(graph, left, right)
