import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.x |= src.x


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    x = graph.vertex_property(vg.float64)
    graph.edge_apply(relax)
    return dist
