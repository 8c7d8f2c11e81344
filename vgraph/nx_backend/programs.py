"""Programs in the language that only NetworkX's arguments need: weights, starting values, given orders."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.coloring import count, dry, paint, release


@vg.operator
def begin(v):
    """With what is given."""
    v.value = v.start


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
        v.part = v.value / v.leaving
    else:
        graph.dangling += v.value


@vg.operator
def gather(src, edge, dst):
    """In proportion to the weight."""
    dst.incoming += src.part * edge.weight


@vg.operator
def surf(v, graph):
    """The new rank."""
    new = graph.alpha * (v.incoming + graph.dangling * v.lost) + (1 - graph.alpha) * v.jump
    graph.change += abs(new - v.value)
    v.value = new
    v.incoming = 0.0


@vg.algorithm
def weighted_pagerank(
    graph,
    start: vg.vertex_property(vg.float64),
    jump: vg.vertex_property(vg.float64),
    lost: vg.vertex_property(vg.float64),
    alpha=0.85,
    tolerance=1e-6,
    max_rounds=100,
):
    """PageRank from `start`, with jumps to `jump` and from where no arcs lead to `lost` (each sums to 1).

    Arcs weigh the edge property `weight` (float64). Result: `value`. Raises AlgorithmError if a round still changes
    it by `tolerance` per vertex or more after `max_rounds`.
    """
    leaving = graph.vertex_property(vg.float64)
    part = graph.vertex_property(vg.float64)
    incoming = graph.vertex_property(vg.float64)
    value = graph.vertex_property(vg.float64)
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
    return value


@vg.operator
def spread(src, edge, dst):
    """Whoever has an arc to dst counts for it."""
    dst.incoming += src.value * edge.weight


@vg.operator
def count_all(v, graph):
    """Katz: what comes in, and what every vertex has by itself."""
    new = graph.alpha * v.incoming + v.beta
    graph.change += abs(new - v.value)
    graph.squares += new * new
    v.value = new
    v.incoming = 0.0


@vg.operator
def scale(v, graph):
    """To length 1."""
    v.value *= graph.unit


@vg.algorithm
def weighted_katz(
    graph,
    start: vg.vertex_property(vg.float64),
    beta: vg.vertex_property(vg.float64),
    alpha=0.1,
    tolerance=1e-6,
    max_rounds=1000,
    normalized=True,
):
    """Katz centrality from `start`, with a `beta` of each vertex and the edge property `weight` (float64).

    Result: `value`. Raises AlgorithmError if a round still changes it by `tolerance` per vertex or more after
    `max_rounds`.
    """
    incoming = graph.vertex_property(vg.float64)
    value = graph.vertex_property(vg.float64)
    graph.vertex_apply(begin)
    graph.alpha = alpha
    graph.change = vg.inf
    graph.squares = 0.0
    rounds = 0
    while not graph.change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("not converged")
        graph.change = 0.0
        graph.squares = 0.0
        graph.edge_apply(spread)
        graph.vertex_apply(count_all)
        rounds += 1
    if normalized and graph.squares > 0:
        graph.unit = 1 / vg.sqrt(graph.squares)
        graph.vertex_apply(scale)
    return value


@vg.operator
def shift(v, graph):
    """Eigenvector: the matrix is shifted by 1, so that the iteration does not swing."""
    v.incoming += v.value
    graph.squares += v.incoming * v.incoming


@vg.operator
def turn(v, graph):
    """The new value, of a vector of length 1."""
    new = v.incoming * graph.unit
    graph.change += abs(new - v.value)
    v.value = new
    v.incoming = 0.0


@vg.algorithm
def weighted_eigenvector(graph, start: vg.vertex_property(vg.float64), tolerance=1e-6, max_rounds=100):
    """The leading eigenvector by power iteration from `start`, with the edge property `weight` (float64).

    Result: `value`. Raises AlgorithmError if a round still changes it by `tolerance` per vertex or more after
    `max_rounds`.
    """
    incoming = graph.vertex_property(vg.float64)
    value = graph.vertex_property(vg.float64)
    graph.vertex_apply(begin)
    graph.change = vg.inf
    rounds = 0
    while not graph.change < graph.num_vertices * tolerance:
        if rounds >= max_rounds:
            vg.fail("not converged")
        graph.change = 0.0
        graph.squares = 0.0
        graph.edge_apply(spread)
        graph.vertex_apply(shift)
        graph.unit = 1.0
        if graph.squares > 0:
            graph.unit = 1 / vg.sqrt(graph.squares)
        graph.vertex_apply(turn)
        rounds += 1
    return value


@vg.operator
def point(src, edge, dst):
    """An authority is what good hubs point to."""
    dst.authority += src.value * edge.weight


@vg.operator
def weigh(src, edge, dst):
    """A hub points to good authorities: against the arcs."""
    dst.incoming += src.authority * edge.weight


@vg.operator
def measure(v, graph):
    """How long the vector of the new hubs is."""
    graph.squares += v.incoming * v.incoming


@vg.operator
def forget(v):
    """Authorities begin anew."""
    v.authority = 0.0


@vg.algorithm
def weighted_hubs(graph, start: vg.vertex_property(vg.float64), tolerance=1e-8, max_rounds=100):
    """Hubs of HITS by power iteration from `start`, with the edge property `weight` (float64).

    Results: `value`, hubs of length 1, and `authority`, what they point to. Raises AlgorithmError if a round still
    changes the hubs by `tolerance` or more in sum after `max_rounds`.
    """
    authority = graph.vertex_property(vg.float64)
    incoming = graph.vertex_property(vg.float64)
    value = graph.vertex_property(vg.float64)
    graph.vertex_apply(begin)
    graph.change = vg.inf
    rounds = 0
    while not graph.change < tolerance:
        if rounds >= max_rounds:
            vg.fail("not converged")
        graph.change = 0.0
        graph.squares = 0.0
        graph.vertex_apply(forget)
        graph.edge_apply(point)
        graph.edge_apply(weigh, reverse=True)
        graph.vertex_apply(measure)
        graph.unit = 0.0
        if graph.squares > 0:
            graph.unit = 1 / vg.sqrt(graph.squares)
        graph.vertex_apply(turn)
        rounds += 1
    graph.vertex_apply(forget)
    graph.edge_apply(point, label="last_point")
    return value, authority


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
