"""A global that a claim reads beside a reduction into it: the second of two phases saw what the first had combined.

graphs: {"directed": true, "id_bits": 32, "edges": {"cost": "int32"}, "vertices": {}}
way: {"device": "interpret", "schedule": {"lower": {"phases": "apply_scatter"}, "raise_them": {"phases": "gather_apply"}}, "station": "insert-barriers"}
way: {"device": "cpu", "threads": 2, "schedule": {"lower": {"phases": "gather_apply"}, "raise_them": {"phases": "apply_scatter", "pipeline": "2"}}}
way: {"device": "cpu", "schedule": {"lower": {"phases": "fused"}, "again": {"phases": "gather_apply", "payload": "raw"}, "raise_them": {"phases": "apply_scatter"}}}
"""

import vgraph as vg


@vg.operator
def lower(src, edge, dst, graph):
    graph.low = min(graph.low, edge.cost)
    if dst.mark == 3:
        dst.mark = graph.low
        dst.note = graph.low - 1
    dst.x = min(dst.x, src.x - 1)


@vg.operator
def raise_them(src, edge, dst, graph):
    """What is claimed depends on the global, too."""
    graph.k += 1
    if dst.found == graph.k:
        dst.found = 9


@vg.algorithm
def program(graph, source: vg.vertex):
    mark = graph.vertex_property(vg.int64, fill=3)
    note = graph.vertex_property(vg.int64)
    found = graph.vertex_property(vg.int64, fill=5)
    x = graph.vertex_property(vg.int64)
    graph.low = 100
    graph.k = 5
    graph.edge_apply(lower, graph.frontier(source))
    graph.edge_apply(lower, label="again")
    graph.edge_apply(raise_them)
    return mark, note, found, x, graph.low, graph.k
