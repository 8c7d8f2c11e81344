"""How much better than chance a partition is (Newman and Girvan 2004; resolution: Reichardt and Bornholdt 2006)."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph
from vgraph.graph.weights import (
    check_numbers,
    check_weights,
    ones_without_weights,
    own_weight,
    weighing,
)


@vg.operator
def weigh(v, graph):
    """The weight of v's arcs, and of those within its community; an undirected self-loop has two ends at v."""
    away = 0.0
    inside = 0.0
    for e in v.out_edges:
        weight = vg.float64(e.weight)
        if not graph.directed and e.dst == v:
            weight = 2 * weight
        away += weight
        if graph.directed:
            vg.vertex(e.dst.community).coming += weight
        if e.dst.community == v.community:
            inside += weight
    vg.vertex(v.community).leaving += away
    graph.inside += inside
    graph.whole += away


@vg.algorithm
def modularity(graph, community: vg.vertex_property(vg.int64), resolution=1.0):
    """The fraction of the arcs within communities, less `resolution` times what it would be by chance.

    `community`: each vertex's community, numbers from 0 to vertices - 1 as label_propagation and
    connected_components give them. Arcs weigh their edge property `weight`, or 1. Result: `modularity`, a float, with
    NetworkX's values; 0 without arcs. Raises ParameterError for other numbers, and for weights that are negative or not
    finite; their unit does not matter.
    O(vertices + arcs).
    """
    leaving, coming = graph.vertex_property(vg.float64)
    graph.inside = graph.whole = 0.0
    graph.vertex_apply(weigh)
    if not graph.directed:  # whatever leaves comes as well
        coming[:] = leaving
    by_chance = graph.sum(leaving * coming)
    modularity = 0.0
    if graph.whole > 0:
        modularity = graph.inside / graph.whole - resolution * (by_chance / (graph.whole * graph.whole))
    return modularity


@modularity.requires
def sensible(graph: Graph, community: object, resolution: float) -> None:
    """Raise ParameterError for communities that are no vertices, and for other numbers out of range."""
    given = np.asarray(community)
    if given.size and not (0 <= given.min() and given.max() < graph.num_vertices):
        raise ParameterError("modularity: communities are numbered from 0 to the number of vertices - 1")
    check_numbers(resolution=resolution)
    check_weights(graph, own_weight(graph))


@modularity.prepares
def weighted(graph: Graph) -> vg.Prepared:
    """Arcs without weight count 1."""
    return vg.Prepared(weighing(ones_without_weights(graph), "weight", scaled=True))
