import vgraph as vg

DIRECTED = False


@vg.operator
def tell(src, edge, dst):
    edge.message = src.value


@vg.algorithm
def main(graph, source):
    value = graph.vertex_property(vg.int32)
    message = graph.edge_property(vg.int32)
    graph.edge_apply(tell)
    return value, message
