"""A loop over arcs that reduces at one vertex, a parameter, or at its own, was taken for one that sums up in a local.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 1, "schedule": {"far": {"vectorize": "true"}}}
way: {"device": "cpu", "threads": 1, "schedule": {"near": {"vectorize": "true"}}}
"""

import vgraph as vg


@vg.operator
def far(v):
    low = 0
    for u in v.out_neighbors:
        low += u.z
    v.w = low
    for u in v.out_neighbors:
        source.x = max(source.x, u.y)


@vg.operator
def near(v):
    low = 0
    for u in v.out_neighbors:
        low += u.z
    v.w = low
    for u in v.out_neighbors:
        v.x += u.y
    for u in v.out_neighbors:
        u.x += 1


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64)
    y = graph.vertex_property(vg.int64, fill=2)
    w = graph.vertex_property(vg.int64)
    z = graph.vertex_property(vg.int64, fill=3)
    graph.vertex_apply(near)
    graph.vertex_apply(far)
    return x, w
