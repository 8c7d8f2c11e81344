import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dst, src.dist + 1)


@vg.algorithm
def main(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.edge_apply(relax)
    return dist
