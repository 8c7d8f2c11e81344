"""What a test compares with and then writes calls a helper twice, of which the frontend looks at one.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg


@vg.function
def scaled(p):
    total = 0
    total += p
    return total * 2_000_000_000


@vg.function
def pick(c, p, q):
    if c:
        return p
    return q


@vg.operator
def lower(src, edge, dst):
    if scaled(edge.w) < dst.b:
        dst.b = scaled(edge.w)


@vg.operator
def scatter(v):
    for u in v.out_neighbors:
        pick(u.id > 3, u, v).c = min(pick(u.id > 3, u, v).c, v.id)
        if pick(u.id > 3, u, v).mark == 0:
            pick(u.id > 3, u, v).mark = 1
        if pick(u.id > 3, u, v).d < v.id:
            pick(u.id > 3, u, v).d = v.id


@vg.algorithm
def program(graph):
    b = graph.vertex_property(vg.int64, fill=vg.inf)
    c = graph.vertex_property(vg.int64, fill=100)
    d = graph.vertex_property(vg.int64)
    mark = graph.vertex_property(vg.int64)
    graph.edge_apply(lower)
    graph.vertex_apply(scatter)
    return b, c, d, mark
