import vgraph as vg


@vg.operator
def visit(v):
    v.f[1:3] = 0


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int64)
    f = graph.vertex_property(vg.vector(vg.float64, 4))
    graph.vertex_apply(visit)
    return x, f
