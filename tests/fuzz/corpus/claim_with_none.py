"""A local that may be none was taken for a vertex: what was claimed with it was claimed again for each arc.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 1, "schedule": {"claim": {"direction": "push", "frontier": "sparse"}}}
"""

import vgraph as vg


@vg.operator
def claim(src, edge, dst):
    x = src.q
    if dst.p == vg.none:
        dst.p = x


@vg.algorithm
def program(graph):
    p = graph.vertex_property(vg.vertex, vg.none)
    q = graph.vertex_property(vg.vertex, vg.none)
    found = graph.edge_apply(claim)
    size = len(found)
    return p, q, size
