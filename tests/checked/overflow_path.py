import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + 1)


@vg.algorithm
def main(graph):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[0] = 0
    graph.edge_apply(relax)
    return dist
