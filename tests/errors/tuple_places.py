import vgraph as vg


@vg.operator
def relax(src, edge, dst, graph):
    dst.dist, graph.best = min((dst.dist, graph.best), (src.dist + 1, src))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.best = vg.none
    graph.edge_apply(relax)
    return dist, parent
