"""Samples of neighborhoods, layer by layer (Hamilton, Ying and Leskovec 2017, "GraphSAGE")."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def begin(v):
    """It begins here."""
    v.hop = 0


@vg.operator
def sample(v, graph):
    """Draw some of v's arcs, none twice (Bentley and Floyd 1987)."""
    v.taken = min(graph.fan_out, v.out_degree)
    for k in range(v.taken):
        last = v.out_degree - v.taken + k
        place = vg.random_below(last + 1, v, last)
        for i in range(k):
            if v.chosen[i] == place:
                place = last
        v.chosen[k] = place
    for k in range(v.taken):
        u = v.out_neighbors[v.chosen[k]]
        v.chosen[k] = u.id
        if u.hop == -1:
            u.hop = graph.depth


@vg.algorithm
def neighbor_sampling(graph, seeds, fan_outs: vg.array(vg.int64), _slots=None):
    """Some arcs of each seed, some of each vertex that these lead to, and so on, drawn without replacement.

    `seeds`: vertices. `fan_outs`: for each layer how many arcs of a vertex are taken at most; all where it has no more.
    A vertex is sampled once, in the layer after it was first met. Results: `hop`, int32, the layer in which a vertex
    was first met, 0 for seeds, -1 for what is not in the sample; and `edges`, an array of shape (k, 2): the arcs drawn,
    layer by layer, in the order of their sources. The same in every run with the same seed. Raises
    ParameterError for fan-outs that are not above 0. O(vertices * max(fan_outs)).
    """
    hop = graph.vertex_property(vg.int32, fill=-1)
    taken = graph.vertex_property(vg.int64)
    chosen = graph.vertex_property(_slots)
    graph.depth = graph.fan_out = 0
    frontier = graph.frontier(seeds)
    graph.vertex_apply(begin, frontier)
    for fan_out in fan_outs:
        graph.fan_out = fan_out
        graph.depth += 1
        graph.vertex_apply(sample, frontier)
        frontier = graph.frontier(v for v in graph.vertices if v.hop == graph.depth)
    return hop, taken, chosen


@neighbor_sampling.finishes
def edges(hop: NDArray[Any], taken: NDArray[Any], chosen: NDArray[Any]) -> dict[str, Any]:
    """The arcs, which lie in the rows of their sources."""
    order = np.argsort(hop, kind="stable")
    drawn = np.arange(chosen.shape[1]) < taken[order, None]
    ends = np.repeat(order, taken[order]), chosen[order][drawn].astype(np.int64)
    return {"hop": hop, "edges": np.stack(ends, axis=1)}


@neighbor_sampling.requires
def sensible(graph: Graph, fan_outs: Any) -> None:
    """Raise ParameterError for fan-outs that are not above 0, or too large for rows of that many."""
    given = np.asarray(fan_outs)
    if given.ndim != 1 or (given.size and (given.dtype.kind not in "iu" or given.min() < 1)):
        raise ParameterError("neighbor_sampling: fan_outs: a list of integers above 0, one for each layer")


@neighbor_sampling.prepares
def sized(graph: Graph, fan_outs: Any) -> vg.Prepared:
    """Rows for the largest of them."""
    most = min(max(graph.max_degree, 1), int(np.max(fan_outs, initial=1)))
    return vg.Prepared(graph, arguments={"_slots": vg.vector(vg.uint32, most)})
