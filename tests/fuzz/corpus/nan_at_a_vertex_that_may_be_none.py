"""A test with NaN is false: where the vertex might have been `vg.none`, the minimum was NaN all the same.

graphs: {"directed": true, "id_bits": 32, "edges": {"h": "float64"}, "vertices": {}}
"""

import vgraph as vg


@vg.operator
def find(src, edge, dst):
    dst.parent = min(dst.parent, src)


@vg.operator
def lower(v):
    for e in v.out_edges:
        if e.h / 0.0 - e.h / 0.0 <= v.parent.b:
            v.parent.b = e.h / 0.0 - e.h / 0.0
        if e.h < v.parent.b:
            v.parent.b = e.h


@vg.algorithm
def program(graph):
    b = graph.vertex_property(vg.float32, fill=100)
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(find)
    graph.vertex_apply(lower)
    return b, parent
