import vgraph as vg


@vg.operator
def visit(v):
    v.x[0] = 1.0


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    x = graph.vertex_property(vg.vector(vg.float32, 3))
    graph.vertex_apply(visit)
    return dist
