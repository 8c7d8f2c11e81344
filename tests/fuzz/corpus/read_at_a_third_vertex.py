"""An edge operator that reads what it writes at a third vertex: outside of the frontier that was never copied.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 1}
way: {"device": "cpu", "threads": 2, "schedule": {"widen": {"direction": "pull"}}}
"""

import vgraph as vg


@vg.operator
def start(v):
    v.x = v.id * 7 % 11 + 1


@vg.operator
def widen(src, edge, dst):
    third = src.in_neighbors[0] if src.in_degree > 0 else vg.vertex(0)
    dst.x += 100 * third.x


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(start)
    f = graph.edge_apply(widen, graph.frontier(source))
    size = len(f)
    return x, size
