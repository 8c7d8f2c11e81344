import vgraph as vg


@vg.operator
def visit(v):
    z = v.x
    z[0] = 1.0


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.vector(vg.float32, 3))
    y = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return x, y
