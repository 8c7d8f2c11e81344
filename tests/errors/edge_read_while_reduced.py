import vgraph as vg


@vg.operator
def count(v):
    for u in v.out_neighbors:
        for e in u.out_edges:
            e.x += 1
            v.total += e.x


@vg.algorithm
def main(graph, source):
    x = graph.edge_property(vg.int32)
    total = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    return x, total
