import vgraph as vg


@vg.operator
def visit(v):
    a = vg.local(vg.int64, 2000)
    b = vg.local(vg.vertex, 500)
    v.x = a[0] + b[0].x


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int64)
    f = graph.vertex_property(vg.vector(vg.float64, 4))
    graph.vertex_apply(visit)
    return x, f
