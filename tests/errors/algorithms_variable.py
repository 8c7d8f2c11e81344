import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + limit)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    limit = 3
    graph.edge_apply(relax)
    return dist
