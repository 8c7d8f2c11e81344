import vgraph as vg


@vg.operator
def visit(v):
    v.x = vg.popcount(v.x)


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return x
