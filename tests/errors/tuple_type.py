import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.where = min((dst.dist, dst.where), (src.dist + 1, src.where))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    where = graph.vertex_property(vg.vector(vg.float32, 2))
    graph.edge_apply(relax)
    return dist, parent
