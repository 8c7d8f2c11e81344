"""PageRank, as LDBC Graphalytics defines it (Brin and Page 1998; Iosup et al. 2016, section 2.3)."""

from __future__ import annotations

import numpy as np

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def gather(src, edge, dst):
    """Every vertex hands its rank on in equal parts."""
    dst.incoming += src.part


@vg.function
def settle(v, graph, teleport):
    """The new rank of v; what it hands on in the next round."""
    rank = (1 - graph.damping) * teleport + graph.damping * (v.incoming + graph.lost * teleport)
    graph.change += abs(rank - v.rank)
    v.rank = rank
    v.incoming = 0
    if v.out_degree > 0:
        v.part = rank / v.out_degree
    else:
        v.part = 0
        graph.dangling += rank


@vg.operator
def update(v, graph):
    """Teleports lead everywhere alike."""
    settle(v, graph, 1 / graph.num_vertices)


@vg.operator
def update_personalized(v, graph):
    """Teleports lead to the favoured vertices."""
    settle(v, graph, v.teleport)


@vg.operator
def favour(v, graph):
    """The sum of all preferences."""
    graph.total += v.personalization


@vg.operator
def normalize(v, graph):
    """Preferences as probabilities."""
    v.teleport = v.personalization / graph.total


@vg.operator
def begin(v, graph):
    """All ranks alike."""
    v.rank = 1 / graph.num_vertices
    v.incoming = 0
    if v.out_degree > 0:
        v.part = v.rank / v.out_degree
    else:
        v.part = 0
        graph.dangling += v.rank


@vg.algorithm
def pagerank(
    graph,
    damping=0.85,
    tolerance=1e-9,
    max_rounds=100,
    personalization: vg.vertex_property(vg.float64) = None,
    dtype=vg.float64,
):
    """The probability that a random surfer is at a vertex; ranks sum to 1.

    Stops when the ranks change by less than `tolerance` in sum, or after `max_rounds`. The rank of vertices without
    out-arcs goes to all vertices, as teleports do: evenly, or in proportion to `personalization` (non-negative, one
    number per vertex). Result: `rank`, of type `dtype` (vg.float64 or vg.float32).
    """
    rank = graph.vertex_property(dtype)
    incoming = graph.vertex_property(dtype)
    part = graph.vertex_property(dtype)
    graph.damping = damping
    graph.lost = 0.0
    graph.dangling = 0.0
    graph.change = tolerance + 1.0
    if personalization is not None:
        teleport = graph.vertex_property(dtype)
        graph.total = 0.0
        graph.vertex_apply(favour)
        graph.vertex_apply(normalize)
    graph.vertex_apply(begin)
    rounds = 0
    while rounds < max_rounds and graph.change >= tolerance:
        graph.lost = graph.dangling
        graph.dangling = 0.0
        graph.change = 0.0
        graph.edge_apply(gather)
        if personalization is None:
            graph.vertex_apply(update)
        else:
            graph.vertex_apply(update_personalized)
        rounds += 1
    return rank


@pagerank.requires
def sensible(
    graph: Graph, damping: float, tolerance: float, max_rounds: int, personalization: object
) -> None:
    """Raise ParameterError for parameters out of range."""
    if not 0 <= damping <= 1:
        raise ParameterError(f"pagerank: damping={damping} is not between 0 and 1")
    if not tolerance >= 0:
        raise ParameterError(f"pagerank: tolerance={tolerance} is not a number of at least 0")
    if max_rounds < 0:
        raise ParameterError(f"pagerank: max_rounds={max_rounds} is negative")
    if personalization is not None:
        given = np.asarray(personalization)
        if not (np.isfinite(given).all() and (given >= 0).all()) or (graph.num_vertices and not given.any()):
            raise ParameterError("pagerank: personalization must be finite, non-negative, and not all zero")
