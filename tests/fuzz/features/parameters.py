"""Operators and helpers read parameters of the algorithm: numbers, vertices, and what is known at compile time.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg


@vg.function
def shifted(x):
    return x + rounds


@vg.operator
def start(v):
    v.sum = 0 if v != source else rounds
    if dtype == vg.int32:
        v.kind = dtype(rounds) + 1
    else:
        v.kind = 7


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, max(src.dist, shifted(edge.w)))


@vg.operator
def claim(src, edge, dst):
    if dst.mark == rounds:
        dst.mark = src.id + 10
        dst.by = src


@vg.operator
def unclaimed(v):
    if v.mark != rounds:
        v.mark = 0 if v.by == vg.none else 1


@vg.operator
def add(src, edge, dst, graph):
    if dst != source and src.dist < 100 * rounds:
        dst.sum += src.dist * rounds
        graph.added += rounds


@vg.operator
def near(v):
    for u in v.out_neighbors:
        if u == source:
            v.kind += rounds
        u.sum += shifted(v.kind)
    return v.dist > rounds


@vg.algorithm
def program(graph, source: vg.vertex, rounds=2, dtype=vg.int32):
    dist = graph.vertex_property(vg.int64, fill=1000)
    sum = graph.vertex_property(vg.int64)
    kind = graph.vertex_property(dtype)
    mark = graph.vertex_property(vg.int64, fill=rounds)
    by = graph.vertex_property(vg.vertex)
    graph.added = 0
    graph.vertex_apply(start)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    graph.edge_apply(claim)
    graph.vertex_apply(unclaimed)
    size = len(graph.edge_apply(add))
    found = graph.vertex_filter(near)
    left = len(found)
    return dist, sum, kind, mark, graph.added, size, left
