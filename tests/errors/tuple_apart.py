import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist, dst.parent = min((dst.dist, dst.parent), (src.dist + 1, src))


@vg.operator
def shorten(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + 2)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(relax)
    graph.edge_apply(shorten)
    return dist, parent
