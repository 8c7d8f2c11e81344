"""Lanes of a warp once waited for each other inside what only the first of them does.

graphs: {"directed": true, "id_bits": 32, "edges": {"cost": "int32"}, "vertices": {}}
way: {"device": "cuda", "schedule": {"update": {"direction": "pull", "drive": "topology", "balance": "edge"}}}
"""

import vgraph as vg


@vg.operator
def start(v):
    v.x = v.id * 7 % 11 - 3
    v.y = v.id * 5 % 13


@vg.operator
def update(src, edge, dst):
    t = vg.int64(max(src.y, src.x))
    if edge.cost > 2:
        dst.x = max(dst.x, min((max(edge.cost, t) - 4), 30))
    if edge.cost > 2:
        dst.y = max(dst.y, min((src.x - 3), 30))


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64)
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(start)
    x[source] = 2
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(update, frontier)
    return x, y
