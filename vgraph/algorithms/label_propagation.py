"""Communities by label propagation, as LDBC Graphalytics defines it (Raghavan et al. 2007; Iosup et al. 2016)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def start(v):
    """Every vertex begins with a label of its own."""
    v.label = v


@vg.operator
def adopt(v, graph):
    """v takes the label at the other end of most of its arcs; the smallest of several."""
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
def label_propagation(graph, max_rounds: vg.between(0, vg.inf) = 10):
    """Each vertex takes the most frequent label around it, all at once, for `max_rounds` rounds or until none changes.

    Each arc counts, in either direction: a neighbor counts as often as there are arcs between it and the vertex (twice
    for an arc each way, k times for k parallel edges), and a vertex for itself if it has a self-loop (once if
    undirected, else twice). Result: `label`, a vertex id; `converged`: the last round changed none. Deterministic.
    O(max_rounds * (vertices + arcs)).
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
    converged = graph.changed == 0
    return label, converged
