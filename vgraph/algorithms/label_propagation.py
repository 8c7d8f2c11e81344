"""Communities by label propagation, as LDBC Graphalytics defines it (Raghavan et al. 2007; Iosup et al. 2016)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.operator
def start(v):
    """Every vertex begins with a label of its own."""
    v.label = v


@vg.operator
def adopt(v, graph):
    """v takes the label that most of its neighbors have; the smallest of several."""
    best = v.label
    most = 0
    for u in v.out_neighbors:
        u.label.count += 1
        if u.label.count > most or (u.label.count == most and u.label < best):
            best = u.label
            most = u.label.count
    if graph.directed:
        for u in v.in_neighbors:
            u.label.count += 1
            if u.label.count > most or (u.label.count == most and u.label < best):
                best = u.label
                most = u.label.count
    if best != v.label:
        graph.changed += 1
    v.label = best


@vg.algorithm
def label_propagation(graph, max_rounds=10):
    """Each vertex takes the most frequent label around it, all at once, for `max_rounds` rounds or until none changes.

    In a directed graph a neighbor counts once for each direction in which there is an arc. Result: `label`, a vertex
    id. Deterministic. O(max_rounds * (vertices + arcs)).
    """
    label = graph.vertex_property(vg.vertex)
    count = graph.scratch(vg.int32)
    graph.vertex_apply(start)
    graph.changed = 1
    rounds = 0
    while rounds < max_rounds and graph.changed > 0:
        graph.changed = 0
        graph.vertex_apply(adopt)
        rounds += 1
    return label


@label_propagation.requires
def sensible(graph: Graph, max_rounds: int) -> None:
    """Raise ParameterError for a negative number of rounds."""
    if max_rounds < 0:
        raise ParameterError(f"label_propagation: max_rounds={max_rounds} is negative")
