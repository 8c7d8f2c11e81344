import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.seen += True


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    seen = graph.vertex_property(vg.bool_)
    graph.edge_apply(relax)
    return dist
