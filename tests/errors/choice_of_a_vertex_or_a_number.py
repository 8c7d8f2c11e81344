import vgraph as vg


@vg.operator
def visit(v):
    v.parent = v if v.out_degree > 3 else -1


@vg.algorithm
def main(graph, source):
    parent = graph.vertex_property(vg.vertex)
    graph.vertex_apply(visit)
    return parent
