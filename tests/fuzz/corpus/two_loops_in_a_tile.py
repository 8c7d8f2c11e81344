"""A visit of a tile with a loop inside that over its arcs: the type of its rows had two names on a GPU.

graphs: {"directed": true, "id_bits": 32, "edges": {"cost": "int32"}, "vertices": {}}
way: {"device": "cuda", "schedule": {"op1": {"direction": "push", "drive": "data", "frontier": "sparse", "order": "delta", "balance": "vertex", "tiles": "4", "sync": "async"}}}
"""

import vgraph as vg


@vg.operator
def op1(src, edge, dst):
    around = 0
    for u in dst.neighbors:
        around += u.id % 3
    dst.x = min(dst.x, src.x + 1 + around)


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64, fill=100)
    x[source] = 6
    f1 = graph.frontier(source)
    while f1:
        f1 = graph.edge_apply(op1, f1)
    return x
