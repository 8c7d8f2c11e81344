"""The vertices whose neighborhoods are most like that of each vertex, by any of the measures for pairs."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._similarity import FRACTIONS, SUMS, score_of, worth_of
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.orient import without_parallel_arcs


@vg.operator
def rarity(v):
    """The fewer neighbors v has, the more it says to share it."""
    v.worth = worth_of(v, measure)


@vg.operator
def rank(v):
    """Count what v has in common with all that have something in common with it, then keep the best, in order."""
    for u in v.out_neighbors:
        for w in u.out_neighbors:
            w.both += 1
            if u != v and u != w:
                w.shared += u.worth
    for u in v.out_neighbors:
        for w in u.out_neighbors:
            if w.both > 0 and w != v and w.shared > 0:
                score = score_of(w.shared, w.both, v.out_degree, w.out_degree, measure)
                place = k
                while place > 0 and (
                    score > v.score[place - 1]
                    or (score == v.score[place - 1] and w.id < v.similar[place - 1])
                ):
                    if place < k:
                        v.score[place] = v.score[place - 1]
                        v.similar[place] = v.similar[place - 1]
                    place -= 1
                if place < k:
                    v.score[place] = score
                    v.similar[place] = w.id
            w.both = 0


@vg.algorithm
def most_similar(graph: vg.undirected, k: vg.between(1, vg.inf) = 10, measure="jaccard"):
    """For each vertex the `k` others whose neighborhoods are most like its own, the most alike first.

    `measure`: "adamic_adar", "cosine", "jaccard", "overlap", "resource_allocation" or "sorensen", with what counts as
    in the algorithms of these names. Results: `similar`, int64, of shape (vertices, k), -1 where no other vertex has a
    neighbor in common; and `score`, float64, of the same shape, 0 there. Of equal ones the smaller vertex comes first.
    Raises ParameterError for directed graphs and other measures. O(sum of the
    degrees of all neighbors of all vertices).
    """
    similar = graph.vertex_property(vg.vector(vg.int64, k), fill=-1)
    score = graph.vertex_property(vg.vector(vg.float64, k))
    worth = graph.vertex_property(vg.float64)
    both = graph.scratch(vg.int64)
    shared = graph.scratch(vg.float64)
    graph.vertex_apply(rarity)
    graph.vertex_apply(rank)
    return similar, score


@most_similar.requires
def known(graph: Graph, measure: str) -> None:
    """Raise ParameterError for a measure that there is not."""
    names = sorted(FRACTIONS + SUMS)
    if measure not in names:
        raise ParameterError(f"most_similar: measure={measure!r}: the measures are {', '.join(names)}")


@most_similar.prepares
def simple(graph: Graph) -> vg.Prepared:
    """Parallel edges count as one."""
    return vg.Prepared(without_parallel_arcs(graph))
