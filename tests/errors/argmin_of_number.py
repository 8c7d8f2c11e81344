import vgraph as vg


@vg.operator
def visit(v):
    v.y = vg.argmin(v.y)


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.vector(vg.float32, 3))
    y = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return x, y
