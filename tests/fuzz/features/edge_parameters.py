"""Parameters that are properties of edges: read from the graph in another type, and one number for all.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32", "h": "float32"}, "vertices": {}}
"""

import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + abs(edge.w) + edge.one)


@vg.operator
def gather(src, edge, dst, graph):
    dst.plain += edge.one * src.plain
    dst.given += edge.w
    dst.twice += edge.two * src.dist
    graph.added += edge.two


@vg.operator
def around(v):
    for e in v.out_edges:
        v.plain += e.one
        v.given += e.w * e.two
        e.dst.twice += e.two
    if one == 1:
        v.plain += two


@vg.algorithm
def program(
    graph,
    source: vg.vertex,
    w: vg.edge_property(vg.int64) = "w",
    h: vg.edge_property(vg.float64) = "h",
    one: vg.edge_property(vg.int64) = 1,
    two: vg.edge_property(vg.int64) = 2,
):
    dist = graph.vertex_property(vg.int64, fill=1000)
    plain = graph.vertex_property(vg.int64, fill=1)
    given = graph.vertex_property(vg.int64)
    twice = graph.vertex_property(vg.int64)
    graph.added = 0
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    graph.vertex_apply(around)
    graph.edge_apply(gather)
    graph.edge_apply(gather, graph.frontier(source), reverse=True, label="back")
    return dist, plain, given, twice, graph.added
