import vgraph as vg


@vg.operator
def visit(v):
    v.dist = int(vg.sum(v.a + v.b))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    a = graph.vertex_property(vg.vector(vg.float32, 3))
    b = graph.vertex_property(vg.vector(vg.float32, 4))
    graph.vertex_apply(visit)
    return dist
