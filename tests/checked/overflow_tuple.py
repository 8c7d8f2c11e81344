import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.parent = min((dst.dist, dst.parent), (src.dist + 1, src))


@vg.algorithm
def main(graph):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    dist[0] = 0
    graph.edge_apply(relax)
    return dist, parent
