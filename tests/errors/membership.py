import vgraph as vg


@vg.operator
def visit(v, graph):
    if v in v.out_edges:
        v.dist = 1


@vg.algorithm
def main(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist
