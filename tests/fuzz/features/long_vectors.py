"""Vectors that are too long for registers: elements read, written and reduced into where they lie.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg

N = 40


@vg.operator
def start(v):
    v.near[v.id] = 0
    v.flags[v.id] = True
    for u in v.out_neighbors:
        v.counts[u.id * 7] += 1
    for i in range(len(v.counts)):
        if v.counts[i] > 2:
            v.wide = i


@vg.operator
def relax(src, edge, dst):
    for i in range(0, len(dst.near), 3):
        dst.near[i] = min(dst.near[i], src.near[i] + edge.w)
    dst.flags[edge.w] = True
    dst.sums[src.id + edge.w] += 2


@vg.operator
def whole(v):
    v.total = vg.sum(v.counts) + vg.argmin(v.near)
    for u in v.in_neighbors:
        u.given[v.id] |= 1 << (v.id % 30)
        v.given[0] |= 64


@vg.algorithm
def program(graph):
    counts = graph.vertex_property(vg.vector(vg.int32, N))
    near = graph.vertex_property(vg.vector(vg.float64, N), fill=1000)
    flags = graph.vertex_property(vg.vector(vg.bool_, N))
    sums = graph.vertex_property(vg.vector(vg.int64, N), fill=-1)
    wide = graph.vertex_property(vg.vector(vg.int64, N))
    given = graph.vertex_property(vg.vector(vg.int32, N))
    total = graph.vertex_property(vg.int64)
    sizes = 0
    graph.vertex_apply(start)
    for _ in range(2):
        frontier = graph.edge_apply(relax)
        sizes += len(frontier)
    graph.vertex_apply(whole)
    return counts, near, flags, sums, wide, given, total, sizes
