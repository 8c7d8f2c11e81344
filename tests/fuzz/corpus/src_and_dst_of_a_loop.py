"""At a loop `src` is `dst`, but `src.x` is not the read that makes an assignment to `dst.x` a reduction.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "interpret"}
"""

import vgraph as vg


@vg.operator
def combine(src, edge, dst):
    dst.x = 1 + dst.x + src.x
    dst.y = src.y * dst.y
    dst.z = max(src.z - 1, dst.z)


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.uint32, fill=1)
    y = graph.vertex_property(vg.int64, fill=7)
    z = graph.vertex_property(vg.int32)
    graph.edge_apply(combine)
    return x, y, z
