import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.hops, dst.parent = min((dst.dist, dst.hops, dst.parent), (src.dist + 1, src.hops + 1, src))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    hops = graph.vertex_property(vg.int64)
    graph.edge_apply(relax)
    return dist, parent
