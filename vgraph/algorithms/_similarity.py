"""How alike the neighborhoods of two vertices are: one text for all measures, each with its own branch of it."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.extend import with_pairs
from vgraph.language.decorators import OperatorDef

SUMS = ("adamic_adar", "resource_allocation")
"""Measures that are sums of what the common neighbors are worth."""
FRACTIONS = ("cosine", "jaccard", "overlap", "sorensen")
"""Measures that are the common neighbors as a fraction of something."""


@vg.function
def worth_of(v, measure):
    """What v is worth as a neighbor in common, 1 where they are counted; a self-loop counts twice in its degree."""
    degree = v.out_degree + 1 if v in v.out_neighbors else v.out_degree
    if measure == "adamic_adar":
        return 1 / vg.log(degree) if degree > 1 else 0.0
    if measure == "resource_allocation":
        return 1 / degree if degree > 0 else 0.0
    return 1.0


@vg.function
def score_of(shared, both, a, b, measure):
    """Of vertices of degrees a and b, from what they share; `both` counts the two themselves, too."""
    if measure == "jaccard":
        return shared / (a + b - both)
    if measure == "overlap":
        return shared / min(a, b)
    if measure == "sorensen":
        return 2 * shared / (a + b)
    if measure == "cosine":
        return shared / vg.sqrt(a * b)
    return shared


def weighing(measure: str) -> OperatorDef:
    """The operator that says what a vertex is worth as a neighbor in common."""

    @vg.operator
    def rarity(v):
        """The fewer neighbors v has, the more it says to share it."""
        v.worth = worth_of(v, measure)

    return rarity


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
                v.score = score_of(shared, both, a.out_degree, b.out_degree, measure)

    return compare


def paired(graph: Graph, left: object, right: object) -> vg.Prepared:
    """A vertex for each pair of `left` and `right`."""
    return with_pairs(graph, left, right)
