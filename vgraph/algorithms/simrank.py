"""SimRank: vertices are alike if what leads to them is alike (Jeh and Widom 2002; Lizorkin et al. 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.extend import extended
from vgraph.graph.weights import non_negative

RELATIVE = 1e-5  # of its value a similarity may change, too, where it ends: as in NumPy's `allclose`


@vg.operator
def begin(v):
    """What leads to v weighs this; v is a pair (a, b) if its number is (a + 1) * _size + b, and a is like itself."""
    for e in v.out_edges:
        v.total += e.weight
    if v.id // _size - 1 == v.id % _size:
        v.similarity = 1.0


@vg.operator
def average(v):
    """How alike b and what leads to a are on average; what is no pair has no a, and nothing leads there."""
    a = vg.vertex(v.id // _size - 1)
    total = 0.0
    for e in a.out_edges:
        total += e.weight * vg.vertex((e.dst.id + 1) * _size + v.id % _size).similarity
    v.partial = total / a.total if total > 0 else 0.0


@vg.operator
def update(v, graph):
    """And that on average over what leads to b."""
    b = vg.vertex(v.id % _size)
    if v.id >= _size and v.id // _size - 1 != b.id:
        total = 0.0
        for e in b.out_edges:
            total += e.weight * vg.vertex(v.id // _size * _size + e.dst.id).partial
        new = importance * total / b.total if total > 0 else 0.0
        graph.change = max(graph.change, abs(new - v.similarity) - RELATIVE * new)
        v.similarity = new


@vg.algorithm
def simrank(
    graph,
    importance: vg.between(0, 1) = 0.9,
    tolerance: vg.between(0, vg.inf) = 1e-4,
    max_rounds=1000,
    weight: vg.edge_property(vg.float64) = 1,
    _size=0,
):
    """How alike any two vertices are: `importance` times how alike what leads to them is, on average; 1 to themselves.

    `weight`: the name of an edge property of numbers of at least 0, in proportion to which arcs count; parallel ones
    add up. It ends when no similarity changes by more than `tolerance` and 1e-5 of itself, or after `max_rounds`, when
    it has not `converged`. Result: `similarity`, float64, an array of shape (vertices, vertices), as NetworkX's
    simrank_similarity has it. O(vertices * arcs) per round; memory for two such arrays. Raises ParameterError for
    weights that are negative or not finite.
    """
    similarity, partial, total = graph.vertex_property(vg.float64)
    graph.change = 1.0
    graph.vertex_apply(begin)
    for _ in range(max_rounds):
        if graph.change <= tolerance:
            break
        graph.change = 0.0
        graph.vertex_apply(average)
        graph.vertex_apply(update)
    converged = graph.change <= tolerance
    return similarity, converged


simrank.requires(non_negative)


@simrank.finishes
def square(similarity: NDArray[np.float64], _size: int) -> dict[str, NDArray[np.float64]]:
    """A row for each vertex."""
    return {"similarity": similarity.reshape(_size, _size)}


@simrank.prepares
def paired(graph: Graph) -> vg.Prepared:
    """What leads to a vertex as its arcs, and a further vertex for each pair."""
    n, back = graph.num_vertices, graph.reverse()
    pairs = extended(back, n * n, edge=back.edge_properties)
    return vg.Prepared(pairs, n + np.arange(n * n), {"_size": n})
