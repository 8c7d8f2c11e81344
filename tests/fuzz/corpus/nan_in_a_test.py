"""`if e < x: x = e` is not `min`, which gives NaN where e is: the test is false.

graphs: {"directed": true, "id_bits": 32, "edges": {"h": "float64"}, "vertices": {}}
way: {"device": "cpu", "threads": 2, "schedule": {"lower": {"direction": "pull"}}}
way: {"device": "cpu", "threads": 2, "schedule": {"lower": {"direction": "push"}}}
"""

import vgraph as vg


@vg.operator
def lower(src, edge, dst):
    if edge.h * 0.0 + 0.5 < dst.x:
        dst.x = edge.h * 0.0 + 0.5
    if edge.h / 0.0 * 0.0 < dst.y:
        dst.y = edge.h / 0.0 * 0.0


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.float64, fill=1.0)
    y = graph.vertex_property(vg.float64, fill=1.0)
    graph.edge_apply(lower)
    return x, y
