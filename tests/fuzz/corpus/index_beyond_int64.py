"""An index that is a uint64 beyond int64 was taken modulo the length as the negative number of the same bits.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "uint64"}, "vertices": {"given": "uint64"}}
way: {"device": "interpret"}
way: {"device": "cpu", "threads": 2}
"""

import vgraph as vg


@vg.operator
def add(src, edge, dst):
    dst.x[1 - edge.w] += src.id


@vg.operator
def own(v):
    a = vg.local(vg.int64, 3)
    a[1 - v.given] += 5
    v.x[0 - v.given] = a[2] + 2 * a[vg.uint64(0) - v.given]


@vg.operator
def gathered(v, graph):
    near = vg.local_list(vg.vertex, 8)
    for i in range(5):
        near.append(vg.vertex((v.id * i) % graph.num_vertices))
    v.last = near[0 - v.given]


@vg.algorithm
def program(graph, dtype=vg.int64):
    x = graph.vertex_property(vg.vector(vg.int64, 5))
    last = graph.vertex_property(vg.vertex)
    graph.edge_apply(add)
    graph.vertex_apply(own)
    graph.vertex_apply(gathered)
    return x, last
