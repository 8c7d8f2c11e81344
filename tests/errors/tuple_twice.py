import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.dist = min((dst.dist, dst.dist), (src.dist + 1, 2.0))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(relax)
    return dist, parent
