"""A claim takes effect although it writes what was there: the reference left the vertex out of the frontier, and a push put it in
once for each arc, beyond the end of the queue.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 2, "schedule": {"claim": {"direction": "push", "phases": "apply_scatter"}}}
way: {"device": "cpu", "threads": 1, "schedule": {"claim": {"direction": "push", "frontier": "sparse"}}}
"""

import vgraph as vg


@vg.operator
def claim(src, edge, dst):
    if dst.mark == 5:
        dst.mark = dst


@vg.algorithm
def program(graph):
    mark = graph.vertex_property(vg.uint32, fill=5)
    found = graph.edge_apply(claim)
    size = len(found)
    return mark, size
