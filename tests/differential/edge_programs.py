"""Programs that write edge properties, each of another kind of access."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def meet(src, edge, dst):
    """Once for each active arc: sums, extremes, flags and ends."""
    edge.times += 1
    edge.low = min(edge.low, src.id + 0)
    if src.key > edge.high:
        edge.high = src.key
    edge.seen = True
    dst.level = min(dst.level, src.level + 1)


@vg.algorithm
def shared(graph, source: vg.vertex):
    """What both arcs of an undirected edge may write, beside a search: the active arcs of each round."""
    times = graph.edge_property(vg.int32, fill=10)
    low = graph.edge_property(vg.int64, fill=vg.inf)
    high = graph.edge_property(vg.float32, fill=-vg.inf)
    seen = graph.edge_property(vg.bool_)
    level = graph.vertex_property(vg.int32, fill=vg.inf)
    key = graph.vertex_property(vg.float32, fill=0.5)
    level[source] = 0
    key[source] = 2
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(meet, frontier)
    return times, low, high, seen, level


@vg.operator
def discover(src, edge, dst):
    """The edge by which dst was found is one of the tree."""
    if dst.parent == vg.none:
        dst.parent = src
        edge.tree = True


@vg.algorithm
def tree_edges(graph, source: vg.vertex):
    """A search tree as a property of edges: as many as vertices reached but one."""
    tree = graph.edge_property(vg.bool_)
    parent = graph.vertex_property(vg.vertex)
    parent[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(discover, frontier)
    return tree, parent


@vg.operator
def send(v):
    """Messages to the neighbors, along edges whose other arcs may be written at the same time."""
    for e in v.out_edges:
        e.sent += v.rank


@vg.operator
def collect(src, edge, dst):
    """What was sent is read in another round."""
    dst.got += edge.sent


@vg.operator
def further(v):
    """Reductions into edges of neighbors."""
    if v.id % 5 == 0:
        for u in v.out_neighbors:
            for e in u.in_edges:
                e.far += 1


@vg.algorithm
def passing(graph):
    """Messages by vertex operators, read by an edge operator; then with the arcs turned round."""
    sent = graph.edge_property(vg.int64)
    far = graph.edge_property(vg.int32)
    rank = graph.vertex_property(vg.int64, fill=3)
    got = graph.vertex_property(vg.int64)
    graph.vertex_apply(send)
    graph.edge_apply(collect)
    graph.edge_apply(collect, reverse=True, label="back")
    graph.vertex_apply(further)
    return sent, got, far


@vg.operator
def push_flow(src, edge, dst):
    """An arc that the visit has to itself: reads and writes of any kind."""
    old = edge.flow
    if edge.flow < edge.weight and src.excess > 0:
        edge.flow = edge.flow * 2 + 1
        edge.flow -= edge.round
    edge.round += 1
    edge.last = src
    if old != edge.flow:
        edge.pair = edge.pair + edge.step
        dst.excess += 1


@vg.operator
def cool(v):
    """Arcs that leave the own vertex, twice in one visit."""
    v.total = 0
    for e in v.out_edges:
        e.flow = e.flow // 2
        v.total += e.flow
    for e in v.out_edges:
        e.flow = max(e.flow - v.total % 2, 0)


@vg.operator
def drain(v):
    """Arcs that enter the own vertex."""
    for e in v.in_edges:
        if e.flow > 1:
            e.flow = 1
        e.last = v


@vg.algorithm
def alone(graph, rounds=3):
    """What only arcs of directed graphs may do: each is visited by one."""
    flow = graph.edge_property(vg.int32)
    round = graph.edge_property(vg.int64, fill=1)
    last = graph.edge_property(vg.vertex)
    step = graph.edge_property(vg.vector(vg.float64, 2), fill=0.5)
    pair = graph.edge_property(vg.vector(vg.float64, 2))
    excess = graph.vertex_property(vg.int64, fill=1)
    total = graph.vertex_property(vg.int32)
    for _ in range(rounds):
        graph.edge_apply(push_flow)
        graph.vertex_apply(cool)
    graph.edge_apply(push_flow, label="back", reverse=True)
    graph.vertex_apply(drain)
    return flow, round, last, pair, excess, total


@vg.operator
def relax(src, edge, dst):
    """Shortest paths by lengths that the algorithm made."""
    dst.dist = min(dst.dist, src.dist + edge.length)


@vg.operator
def measure(src, edge, dst):
    """The length of an edge, the same from both ends."""
    edge.length = max(edge.length, edge.weight // 2 + 1)


@vg.algorithm
def by_own_lengths(graph, source: vg.vertex):
    """A property of edges as weights: written in one round, read until the end."""
    length = graph.edge_property(vg.int32)
    dist = graph.vertex_property(vg.int64, fill=vg.inf)
    graph.edge_apply(measure)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist, length


@vg.operator
def propose(src, edge, dst):
    """What an arc would send is its own; the opposite one has another."""
    edge.offer = src.id % 7 + edge.weight
    edge.reverse.told += 1


@vg.operator
def net(src, edge, dst):
    """Antisymmetric: what goes one way comes back on the opposite arc, where there is one."""
    edge.flow += edge.offer - edge.reverse.offer
    edge.both = edge.reverse.weight + edge.weight * 10 + edge.reverse.unit
    dst.heavy = max(dst.heavy, edge.reverse.weight)


@vg.operator
def around(v):
    """The opposite of arcs that enter v."""
    for e in v.in_edges:
        v.seen += e.reverse.told
        e.reverse.back += v.heavy


@vg.algorithm
def opposite(graph, unit: vg.edge_property(vg.int64) = 3):
    """Opposite arcs, read and reduced into."""
    offer = graph.edge_property(vg.int64)
    told = graph.edge_property(vg.int32)
    flow = graph.edge_property(vg.int64, fill=1)
    both = graph.edge_property(vg.int64)
    back = graph.edge_property(vg.int64)
    heavy = graph.vertex_property(vg.int64)
    seen = graph.vertex_property(vg.int64)
    graph.edge_apply(propose)
    graph.edge_apply(net)
    graph.edge_apply(net, reverse=True, label="net_back")
    graph.vertex_apply(around)
    return offer, told, flow, both, back, heavy, seen
