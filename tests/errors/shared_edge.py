import vgraph as vg


@vg.operator
def tell(v):
    for u in v.out_neighbors:
        for e in u.out_edges:
            e.message = v.value


@vg.algorithm
def main(graph, source):
    value = graph.vertex_property(vg.int32)
    message = graph.edge_property(vg.int32)
    graph.vertex_apply(tell)
    return value, message
