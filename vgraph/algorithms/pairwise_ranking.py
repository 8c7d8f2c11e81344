"""Scores from comparisons of pairs, by the method of Kaczmarz (1937) on the edges' equations (Jiang et al. 2011)."""

from __future__ import annotations

from typing import Any

import vgraph as vg
from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.weights import check_numbers, check_weights


@vg.operator
def project(src, edge, dst, graph):
    """Both ends go half of the way to where their difference is the margin."""
    half = 0.5 * graph.step * (edge.margin - (src.score - dst.score))
    src.score += half
    dst.score -= half


@vg.operator
def judge(v, graph):
    """How far differences are off, squared."""
    for e in v.out_edges:
        error = e.margin - (v.score - e.dst.score)
        graph.off += error * error


@vg.algorithm
def pairwise_ranking(
    graph: vg.directed,
    epochs=50,
    margin: vg.edge_property(vg.float64) = 1,
    relaxation: vg.between(0, 2) = 1.0,
    cooling: vg.between(0, vg.inf) = 0.1,
):
    """Scores whose differences are close to the margins by which one vertex was found ahead of another.

    The graph is directed: an edge leads from the vertex that is ahead to the other, by `margin`, the name of an edge
    property, an array or a number. Each edge is an equation, src.score - dst.score = margin. `epochs`: how often all of
    them are gone through; each moves both ends until it holds, times a relaxation, which in epoch k (from 0) is
    `relaxation / (1 + cooling * k)`. Where no scores meet all equations they come to those of the least sum of squares
    (Censor, Eggermont and Gordon 1983); where some do, `cooling=0` is quicker.

    Results: `score` (float64; the sum over each connected component is 0, but for rounding) and `error`, the root
    of the mean square of what differences are off by. The axis `conflict` at label `project` gives the order of edges.
    Raises ParameterError for undirected graphs and margins that are missing or not finite. O(epochs * arcs).
    """
    score = graph.vertex_property(vg.float64)
    graph.off = 0.0
    for k in range(epochs):
        graph.step = relaxation / (1 + cooling * k)
        graph.edge_apply(project)
    graph.vertex_apply(judge)
    error = vg.sqrt(graph.off / max(graph.num_edges, 1))
    return score, error


@pairwise_ranking.requires
def comparisons(graph: Graph, epochs: Any, margin: Any, cooling: Any) -> None:
    """Raise ParameterError for numbers out of range."""
    if epochs < 0:
        raise ParameterError(f"epochs={shown(epochs)} is below 0")
    check_numbers(cooling=cooling)
    check_weights(graph, margin, negative=True, of="margin")
