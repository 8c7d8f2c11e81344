"""Programs in the language that only NetworkX's arguments need: starting values, ends of arcs, given orders."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.coloring import count, dry, paint, release


@vg.operator
def begin(v):
    """With what is given."""
    v.centrality = v.start


@vg.operator
def add_up(v):
    """What the arcs from v weigh together."""
    v.leaving = 0.0
    for e in v.out_edges:
        v.leaving += e.weight


@vg.operator
def share(v, graph):
    """What v hands on along its arcs, or, if they weigh nothing, to the graph."""
    v.part = 0.0
    if v.leaving != 0:
        v.part = v.centrality / v.leaving
    else:
        graph.dangling += v.centrality


@vg.operator
def gather(src, edge, dst):
    """In proportion to the weight."""
    dst.incoming += src.part * edge.weight


@vg.operator
def surf(v, graph):
    """The new rank."""
    new = graph.alpha * (v.incoming + graph.dangling * v.lost) + (1 - graph.alpha) * v.jump
    graph.change += abs(new - v.centrality)
    v.centrality = new
    v.incoming = 0.0


@vg.algorithm
def pagerank_from(
    graph,
    start: vg.vertex_property(vg.float64),
    jump: vg.vertex_property(vg.float64),
    lost: vg.vertex_property(vg.float64),
    alpha=0.85,
    tolerance=1e-6,
    max_rounds=100,
):
    """PageRank from `start`, with jumps to `jump` and from where no arcs lead to `lost` (each sums to 1).

    Arcs weigh the edge property `weight` (float64, of any sign). Result: `centrality`. Raises AlgorithmError if a round
    still changes it by `tolerance` per vertex or more after `max_rounds`.
    """
    leaving = graph.vertex_property(vg.float64)
    part = graph.vertex_property(vg.float64)
    incoming = graph.vertex_property(vg.float64)
    centrality = graph.vertex_property(vg.float64)
    graph.vertex_apply(begin)
    graph.alpha = alpha
    graph.change = vg.inf
    graph.vertex_apply(add_up)
    rounds = 0
    while not graph.change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("not converged")
        graph.dangling = 0.0
        graph.change = 0.0
        graph.vertex_apply(share)
        graph.edge_apply(gather)
        graph.vertex_apply(surf)
        rounds += 1
    return centrality


@vg.operator
def ready(v):
    """All neighbors that go first have their color."""
    return v.color < 0 and v.waits == 0


@vg.algorithm
def color_by_rank(graph, rank: vg.vertex_property(vg.uint64), max_rounds=2000):
    """The colors of an undirected graph if vertices take the first free one by falling `rank`, which no two share.

    Result: `color` (int32). As `vg.algorithms.coloring`, in a given order: as many rounds as the longest path along
    which ranks fall. Raises AlgorithmError if that is more than `max_rounds`.
    """
    waits = graph.vertex_property(vg.int32)
    color = graph.vertex_property(vg.int32, fill=-1)
    fresh = graph.vertex_property(vg.int32)
    taken = graph.scratch(vg.bool_)
    graph.vertex_apply(count)
    turn = graph.vertex_filter(ready)
    rounds = 0
    while turn:
        if rounds >= max_rounds:
            vg.fail("too many rounds")
        rounds += 1
        graph.vertex_apply(paint, turn)
        graph.vertex_apply(dry, turn)
        turn = graph.vertex_filter(ready, graph.edge_apply(release, turn))
    return color
