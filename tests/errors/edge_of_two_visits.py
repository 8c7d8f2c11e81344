import vgraph as vg


@vg.operator
def both(v):
    for e in v.out_edges:
        e.x += 1
    for e in v.in_edges:
        v.total += e.x


@vg.algorithm
def main(graph, source):
    x = graph.edge_property(vg.int32)
    total = graph.vertex_property(vg.int32)
    graph.vertex_apply(both)
    return x, total
