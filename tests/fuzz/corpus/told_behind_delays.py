"""Members that went on by themselves told others only what had changed in the last of these rounds.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "set", "threads": 3, "schedule": {"lower": {"exchange": "delayed", "volume": "changed"}}, "seed": 1}
way: {"device": "set", "threads": 2, "schedule": {"lower": {"exchange": "delayed", "volume": "changed"}}, "seed": 2}
"""

import vgraph as vg


@vg.operator
def lower(src, edge, dst):
    dst.x = min(dst.x, src.x)


@vg.operator
def add(v):
    for u in v.in_neighbors:
        v.total += u.x


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64, fill=9)
    total = graph.vertex_property(vg.int64)
    x[source] = 1
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(lower, frontier)
    graph.vertex_apply(add)
    return x, total
