"""Programs in which several places are updated together."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.parent = min((dst.dist, dst.parent), (src.dist + edge.weight, src))


@vg.algorithm
def tree(graph, source: vg.vertex):
    """Shortest paths with the smallest parent: buckets, updates that are seen at once."""
    dist = graph.vertex_property(graph.weight.dtype, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    dist[source] = 0
    parent[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist, parent


@vg.operator
def spread(src, edge, dst):
    if src.dist < 10000:
        dst.dist, dst.seed = min((src.dist + 1, src.seed), (dst.dist, dst.seed))


@vg.algorithm
def nearest(graph):
    """The nearest of every seventh vertex, and its number: the second value is passed on, too."""
    dist = graph.vertex_property(vg.int32, fill=10000)
    seed = graph.vertex_property(vg.vertex)
    for k in range(graph.num_vertices // 7):
        dist[7 * k] = 0
        seed[7 * k] = 7 * k
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(spread, frontier, reverse=True)
    return seed, dist


@vg.operator
def offer(v, graph):
    for e in v.out_edges:
        if e.dst != v:
            e.dst.taken, e.dst.most, e.dst.giver = max(
                (e.dst.taken, e.dst.most, e.dst.giver),
                (v.id % 3 != 0, vg.float32(e.weight) - 20, v),
                (False, vg.float32(e.weight), v),
            )
    graph.best, graph.where = max((graph.best, graph.where), (v.out_degree, v))


@vg.operator
def lightest(src, edge, dst, graph):
    graph.light, graph.begin = min((graph.light, graph.begin), (edge.weight * 0.5, src))


@vg.algorithm
def offers(graph):
    """A triple at other vertices, and pairs of globals of up to 128 bits, each read again and changed."""
    graph.best = 0
    graph.where = vg.none
    graph.light = vg.inf
    graph.begin = vg.none
    graph.total = 0
    for k in range(2):
        taken = graph.vertex_property(vg.bool_)
        most = graph.vertex_property(vg.float32, fill=-100)
        giver = graph.vertex_property(vg.vertex)
        graph.vertex_apply(offer)
        graph.edge_apply(lightest)
        graph.total = graph.total + graph.best
        graph.best = 1 - k
    return taken, most, giver, graph.best, graph.where, graph.light, graph.begin, graph.total


@vg.operator
def heaviest(v):
    most = -1
    arg = vg.none
    for e in v.out_edges:
        if e.weight > 3:
            most, arg = max((most, arg), (int(e.weight), e.dst))
            v.count, v.last = min((v.count, v.last), (v.last, v.count), (int(e.weight), v.count + 1))
    v.arg = arg
    v.most = most


@vg.algorithm
def alone(graph):
    """Places that nobody else writes: locals, the operator's own vertex, the driver loop."""
    arg = graph.vertex_property(vg.vertex)
    most = graph.vertex_property(vg.int64)
    count = graph.vertex_property(vg.int64, fill=30)
    last = graph.vertex_property(vg.int64, fill=20)
    graph.vertex_apply(heaviest)
    best = -2
    where = 0
    for v in range(graph.num_vertices):
        best, where = max((best, where), (most[v] % 5, -v))
        graph.low = 7
        graph.at = 0
        graph.low, graph.at = min((graph.low, graph.at), (most[v], v))
    return arg, most, count, last, best, where


@vg.operator
def leave(src, edge, dst):
    dst.key, dst.who = max((dst.key, dst.who), (src.key // 2 + 1, src))


@vg.operator
def begin(v):
    v.key = v.id % 5
    v.who = v


@vg.algorithm
def peeled(graph):
    """A priority queue by what comes first of a pair, and vertex operators that write one of the two."""
    key = graph.vertex_property(vg.int32)
    who = graph.vertex_property(vg.vertex)
    graph.vertex_apply(begin)
    queue = graph.priority_queue(key)
    graph.sum = 0
    while queue:
        taken = queue.pop()
        graph.sum = graph.sum + queue.level * len(taken)
        graph.edge_apply(leave, taken)
    return key, who, graph.sum


@vg.operator
def win(src, edge, dst):
    dst.won, dst.by = max((dst.won, dst.by), (src.id % 4 == 1, src))


@vg.operator
def throw(v):
    vg.vertex(v.id % 5).least, vg.vertex(v.id % 5).thrower = min(
        (vg.vertex(v.id % 5).least, vg.vertex(v.id % 5).thrower), (v.out_degree, v)
    )


@vg.operator
def count(v):
    v.rounds += 1


@vg.algorithm
def winners(graph):
    """A bool that comes first is a set of vertices, and is made of one again."""
    won = graph.vertex_property(vg.bool_)
    by = graph.vertex_property(vg.vertex, fill=0)
    rounds = graph.vertex_property(vg.int32)
    graph.edge_apply(win)
    some = graph.frontier(won)
    graph.vertex_apply(count, some)
    least = graph.vertex_property(vg.int64, fill=7)
    thrower = graph.vertex_property(vg.vertex)
    graph.vertex_apply(throw)
    return won, by, rounds, least, thrower


@vg.operator
def near(src, edge, dst):
    dst.a, dst.b = min((dst.a, dst.b), (src.a + 1, src))


@vg.algorithm
def between(graph):
    """The two properties are declared apart, one of them in a loop, and one is written in between."""
    a = graph.vertex_property(vg.int32, fill=5)
    if graph.num_vertices > 3:
        a[3] = 2
    for _ in range(2):
        b = graph.vertex_property(vg.vertex)
        graph.edge_apply(near)
    return a, b


@vg.operator
def hand_on(src, edge, dst):
    dst.far, dst.label = min((dst.far, dst.label), (min(src.far + 1, 3), src.label))


@vg.operator
def begin_label(v):
    v.label += (v.id * 7) % 11


@vg.algorithm
def labelled(graph, source: vg.vertex):
    """The second value is passed on, and comes first where the first ones are cut off at 3."""
    far = graph.vertex_property(vg.int32, fill=9)
    label = graph.vertex_property(vg.int64, fill=far[source])
    graph.vertex_apply(begin_label)
    far[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(hand_on, frontier)
    return far, label


PROGRAMS = [tree, nearest, offers, alone, peeled, winners, between, labelled]
