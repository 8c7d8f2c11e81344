import vgraph as vg


@vg.operator
def visit(v, graph):
    seen = graph.edge_property(vg.bool_)
    v.dist = 0


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist
