"""A reduction into a global beside a claim: in a phase of its own it was left out at vertices already claimed.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "interpret", "schedule": {"visit": {"phases": "gather_apply"}}, "station": "insert-barriers"}
way: {"device": "cpu", "threads": 2, "schedule": {"visit": {"phases": "gather_apply", "pipeline": "2"}}}
"""

import vgraph as vg


@vg.operator
def visit(src, edge, dst, graph):
    graph.g += 64
    if dst.mark == 0:
        dst.mark = 7


@vg.algorithm
def program(graph, source: vg.vertex):
    mark = graph.vertex_property(vg.int64, fill=1)
    mark[source] = 0
    graph.g = 6
    f = graph.edge_apply(visit, graph.frontier(source))
    size = len(f)
    return mark, graph.g, size
