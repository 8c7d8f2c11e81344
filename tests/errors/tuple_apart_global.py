import vgraph as vg


@vg.operator
def best(v, graph):
    graph.most, graph.where = max((graph.most, graph.where), (v.dist, v))
    graph.most = max(graph.most, 3.0)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.most = 0.0
    graph.where = vg.none
    graph.vertex_apply(best)
    return dist, parent
