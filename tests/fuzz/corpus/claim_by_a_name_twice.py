"""What was proved of a global was believed of a property of the same name: vertices were claimed again and again.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 2, "schedule": {"claim": {"direction": "push", "frontier": "sparse"}}}
"""

import vgraph as vg


@vg.operator
def claim(src, edge, dst):
    if dst.level == -1:
        dst.level = src.depth - 3


@vg.algorithm
def program(graph):
    level = graph.vertex_property(vg.int32, fill=-1)
    depth = graph.vertex_property(vg.int32, fill=2)
    graph.depth = 0
    found = graph.edge_apply(claim)
    size = len(found)
    return level, size, depth
